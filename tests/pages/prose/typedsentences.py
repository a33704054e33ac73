"""Sentences of READMEs with figures that cells of tables have: those that quote the cell, and those that do not.

``ORDINARY`` has what becomes of each: the columns and rows of the values in it. ``HARMFUL`` ones would say something
else, or be false, once the cell changes.
"""

from __future__ import annotations

import json
from typing import Any, Final

ROWS: Final[dict[str, list[dict[str, Any]]]] = {
    "decode": [
        {"name": "orjson", "ms": 1.62, "p99": 2.31, "mib": 12.4},
        {"name": "ujson", "ms": 3.94, "p99": 5.87, "mib": 18.9},
        {"name": "msgspec", "ms": 1.13, "p99": 1.71, "mib": 9.85},
    ],
    "search": [
        {"command": "rg -n pattern", "mean": 81.2},
        {"command": "git grep -n pattern", "mean": 225.4},
        {"command": "ag -n pattern", "mean": 432.1},
        {"command": "grep -rn pattern", "mean": 1270.5},
    ],
    "resolve": [
        {"tool": "pip-tools", "time": 2.14},
        {"tool": "uv", "time": 0.31},
        {"tool": "poetry", "time": 8.73},
    ],
    "plus": [
        {"name": "test_plus[10]", "mean": 361.4},
        {"name": "test_plus[1000]", "mean": 3120.8},
        {"name": "test_minus[10]", "mean": 402.7},
    ],
    "cache": [
        {"name": "lru", "threads": 1, "ops": 8305},
        {"name": "lru", "threads": 16, "ops": 41821},
        {"name": "arc", "threads": 1, "ops": 7114},
        {"name": "arc", "threads": 16, "ops": 52480},
    ],
    "only": [{"case": "quickparse", "ms": 12.7}],
}
HEADERS: Final = {
    "decode": {"name": "Library", "ms": "Time (ms)", "p99": "p99 (ms)", "mib": "Memory (MiB)"},
    "search": {"command": "Command", "mean": "Mean (ms)"},
    "resolve": {"tool": "Tool", "time": "Time (s)"},
    "plus": {"name": "Benchmark", "mean": "Mean (ns)"},
    "cache": {"name": "Cache", "threads": "Threads", "ops": "Speed (ops/s)"},
    "only": {"case": "Case", "ms": "Time (ms)"},
}


def comment_of(table: str) -> str:
    """The comment of a table."""
    body = {
        "id": table,
        "collection": table,
        "columns": [*HEADERS[table]],
        "headers": [*HEADERS[table].values()],
    }
    return f"<!-- RESULT_TABLE: {json.dumps(body)} -->"


ORDINARY: Final = [
    ("decode", "`orjson` decodes the file in 1.62 ms.", ["ms of orjson"]),
    ("decode", "ujson needs 3.94 ms.", ["ms of ujson"]),
    ("decode", "orjson takes 1.62 ms and ujson takes 3.94 ms.", ["ms of orjson", "ms of ujson"]),
    ("decode", "orjson takes 1.62 ms, ujson 3.94 ms.", ["ms of orjson", "ms of ujson"]),
    ("decode", "- **orjson**: 1.62 ms\n- **ujson**: 3.94 ms", ["ms of orjson", "ms of ujson"]),
    ("decode", "* `orjson` – 1.62 ms\n* `ujson` – 3.94 ms", ["ms of orjson", "ms of ujson"]),
    ("decode", "With orjson it takes 1.62 ms.", ["ms of orjson"]),
    ("decode", "It takes 1.62 ms with orjson, and 3.94 ms with ujson.", ["ms of orjson", "ms of ujson"]),
    ("decode", "Decoding takes 3.94 ms in ujson.", ["ms of ujson"]),
    ("decode", "We measured 1.62 ms for `orjson`.", ["ms of orjson"]),
    ("decode", "In our benchmark, msgspec parses the document in 1.13 ms.", ["ms of msgspec"]),
    ("decode", "[orjson](https://example.com/orjson) needs **1.62 ms**.", ["ms of orjson"]),
    ("decode", "The p99 of ujson is 5.87 ms.", ["p99 of ujson"]),
    ("decode", "ujson uses 18.9 MiB of memory.", ["mib of ujson"]),
    ("decode", "orjson needs 12.4 MiB, ujson 18.9 MiB.", ["mib of orjson", "mib of ujson"]),
    ("decode", "ujson (3.94 ms) and orjson (1.62 ms) are written in C and Rust.", []),
    ("decode", "msgspec loads the same file in about 1.13 ms.", ["ms of msgspec"]),
    ("decode", "A run of orjson takes 1.62 ms on average.", []),
    ("decode", "For ujson we get 3.94 ms.", ["ms of ujson"]),
    ("decode", "The library orjson reads the file in 1.62 ms.", ["ms of orjson"]),
    ("decode", "ujson comes in at 3.94 ms.", ["ms of ujson"]),
    ("decode", "ujson's time is 3.94 ms.", ["ms of ujson"]),
    ("decode", "Time of `msgspec`: 1.13 ms.", ["ms of msgspec"]),
    ("decode", "| Library | Time |\n| --- | --- |\n| orjson | 1.62 ms |\n| ujson | 3.94 ms |", ["ms of orjson", "ms of ujson"]),
    ("decode", "| | Memory |\n| --- | --- |\n| `ujson` | 18.9 MiB |", ["mib of ujson"]),
    ("decode", "| Library | Time (ms) | p99 (ms) |\n| --- | --- | --- |\n| **ujson** | 3.94 | 5.87 |", ["ms of ujson", "p99 of ujson"]),
    ("search", "`rg -n pattern` takes 81.2 ms.", ["mean of rg -n pattern"]),
    ("search", "`rg -n pattern` takes 81.2 ms, `ag -n pattern` 432.1 ms.", ["mean of rg -n pattern", "mean of ag -n pattern"]),
    ("search", "- **rg**: 81.2 ms\n- **ag**: 432.1 ms", ["mean of rg -n pattern", "mean of ag -n pattern"]),
    ("search", "`rg` searches the tree in 81.2 ms, `git grep` in 225.4 ms.", ["mean of rg -n pattern", "mean of git grep -n pattern"]),
    ("search", "On average `rg -n pattern` takes 81.2 ms.", ["mean of rg -n pattern"]),
    ("resolve", "pip-tools resolves in 2.14 s, uv in 0.31 s.", ["time of pip-tools", "time of uv"]),
    ("resolve", "Here `poetry` takes 8.73 s to resolve the dependencies.", ["time of poetry"]),
    ("resolve", "uv resolves the whole project in 0.31 seconds.", ["time of uv"]),
    ("resolve", "Resolving takes 8.73 s with poetry.", ["time of poetry"]),
    ("plus", "`test_plus[10]` takes 361.4 ns.", ["mean of test_plus[10]"]),
    ("plus", "`test_plus[10]` runs in 361.4 ns and `test_plus[1000]` in 3,120.8 ns.", ["mean of test_plus[10]", "mean of test_plus[1000]"]),
    ("plus", "The mean of `test_minus[10]` is 402.7 ns.", ["mean of test_minus[10]"]),
    ("cache", "With 16 threads arc reaches 52,480 ops/s.", ["ops of arc 16"]),
    ("cache", "lru does 8,305 ops/s with one thread and 41,821 ops/s with 16 threads.", ["ops of lru 1", "ops of lru 16"]),
    ("cache", "The lru cache handles 41,821 operations per second with 16 threads.", ["ops of lru 16"]),
    ("cache", "- arc, 16 threads: 52,480 ops/s", ["ops of arc 16"]),
    ("cache", "| Cache | Threads | Speed |\n| --- | --- | --- |\n| lru | 16 | 41,821 ops/s |", []),
    ("only", "quickparse parses the file in 12.7 ms.", ["ms of quickparse"]),
    ("only", "`quickparse` takes 12.7 ms for a document.", ["ms of quickparse"]),
    ("only", "- quickparse: 12.7 ms", ["ms of quickparse"]),
]  # fmt: skip

HARMFUL: Final = [
    # No name of the row, or the name of something else.
    ("decode", "simplejson loads in 3.94 ms."),
    ("decode", "It takes 3.94 ms."),
    ("decode", "We decode the file in 1.62 ms."),
    ("decode", "rapidjson, unlike ujson, needs 3.94 ms."),
    ("decode", "A fork of ujson takes 3.94 ms."),
    ("decode", "ujson and simplejson take 3.94 ms."),
    ("decode", "ujson and orjson take 3.94 ms."),
    ("decode", "Our old wrapper around ujson takes 3.94 ms."),
    ("decode", "python-ujson takes 3.94 ms."),
    ("decode", "ujson-ng takes 3.94 ms."),
    ("decode", "`ujson.dumps` takes 3.94 ms."),
    ("decode", "ujson 5.8 takes 3.94 ms."),
    ("decode", "Importing ujson takes 3.94 ms."),
    ("decode", "It takes 3.94 ms to import ujson."),
    ("decode", "A call from ujson to Rust takes 3.94 ms."),
    ("decode", "ujson's parser starts in 3.94 ms."),
    ("decode", "ujson's author needs 3.94 ms."),
    ("decode", "simplejson takes 3.94 ms without ujson."),
    ("decode", "The pause after ujson lasts 3.94 ms."),
    ("decode", "Before ujson it took 3.94 ms."),
    ("only", "It takes 12.7 ms."),
    ("only", "slowparse takes 12.7 ms."),
    ("resolve", "Bundler resolves in 2.14 s, as pip-tools does."),
    ("plus", "`test_plus[100]` takes 361.4 ns."),
    ("plus", "`test_plus` takes 361.4 ns."),
    ("cache", "lru reaches 41,821 ops/s."),
    ("cache", "With 8 threads lru reaches 41,821 ops/s."),
    # Another measure than that of the cell.
    ("decode", "The median of ujson is 3.94 ms."),
    ("decode", "The p99 of ujson is 3.94 ms."),
    ("decode", "ujson takes 5.87 ms."),
    ("decode", "At worst ujson takes 3.94 ms."),
    ("decode", "ujson starts in 3.94 ms."),
    ("decode", "ujson adds 3.94 ms to each request."),
    ("decode", "ujson saves 3.94 ms."),
    ("decode", "ujson is 3.94 ms slower."),
    ("decode", "The standard deviation of ujson is 3.94 ms."),
    ("decode", "ujson sleeps 3.94 ms between two runs."),
    ("decode", "The build of ujson produces 18.9 MiB."),
    ("decode", "The wheel of ujson is 18.9 MiB."),
    ("search", "The minimum of `rg -n pattern` is 81.2 ms."),
    # Conditions that the results need not have.
    ("decode", "On Windows, ujson takes 3.94 ms."),
    ("decode", "ujson takes 3.94 ms on a Raspberry Pi."),
    ("decode", "With a cold cache ujson takes 3.94 ms."),
    ("decode", "ujson takes 3.94 ms in debug mode."),
    ("decode", "With 4 threads ujson takes 3.94 ms."),
    ("decode", "ujson takes 3.94 ms for 1,000 documents."),
    ("decode", "Under PyPy ujson needs 3.94 ms."),
    # Another time, and what is wanted or doubtful.
    ("decode", "In 2023 ujson took 3.94 ms."),
    ("decode", "ujson used to take 3.94 ms."),
    ("decode", "Soon ujson will take 3.94 ms."),
    ("decode", "ujson would take 3.94 ms."),
    ("decode", "Does ujson take 3.94 ms?"),
    ("decode", "ujson does not take 3.94 ms."),
    ("decode", "Our goal for ujson is 3.94 ms."),
    ("decode", "Its authors claim that ujson takes 3.94 ms."),
    ("decode", '"ujson takes 3.94 ms", says the README.'),
    ("decode", "~~ujson takes 3.94 ms.~~"),
    ("decode", "We tested an old release. ujson takes 3.94 ms."),
    ("decode", "Before the rewrite:\n\n- ujson: 3.94 ms\n- orjson: 1.62 ms"),
    ("decode", "- On Windows\n  - ujson: 3.94 ms"),
    ("decode", "Import time:\n\n- ujson: 3.94 ms"),
    ("decode", "## Roadmap\n\nujson takes 3.94 ms."),
    ("decode", "## On a Raspberry Pi\n\n- ujson: 3.94 ms"),
    # Words that are true of this figure only.
    ("decode", "ujson takes only 3.94 ms."),
    ("decode", "ujson needs just 3.94 ms."),
    ("decode", "ujson takes 3.94 ms, which is half of what simplejson takes."),
    ("decode", "ujson is the slowest, with 3.94 ms."),
    ("decode", "ujson takes a whopping 3.94 ms."),
    ("decode", "ujson takes less than 3.94 ms."),
    ("decode", "ujson takes 3.94 ms, twice as long as orjson."),
    ("decode", "ujson takes 3.94 ms. That is too slow for games."),
    ("decode", "orjson takes 1.62 ms, so it is faster than ujson."),
    ("decode", "ujson takes 3.94 ms, 143 % more than orjson."),
    ("decode", "orjson decodes the file in a mere 1.62 ms."),
    ("decode", "orjson takes 1.62 ms and wins."),
    ("decode", "orjson stays within a few milliseconds, 1.62 ms."),
    ("decode", "Sub-millisecond it is not: orjson takes 1.62 ms."),
    ("search", "`rg -n pattern` beats the others with 81.2 ms."),
    # Typed tables of something else.
    ("decode", "| Library | Target |\n| --- | --- |\n| ujson | 3.94 ms |"),
    ("decode", "| Library | Last release |\n| --- | --- |\n| ujson | 3.94 ms |"),
    ("decode", "| Library | p99 |\n| --- | --- |\n| ujson | 3.94 ms |"),
    ("decode", "| Library | Start-up |\n| --- | --- |\n| ujson | 3.94 ms |"),
    ("decode", "| Library | Time |\n| --- | --- |\n| ujson (PyPy) | 3.94 ms |"),
    ("decode", "| Library | Time |\n| --- | --- |\n| simplejson | 3.94 ms |"),
    ("decode", "| Library | Windows |\n| --- | --- |\n| ujson | 3.94 ms |"),
]  # fmt: skip
