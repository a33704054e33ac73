"""A factor between two names is the ratio of their rows, whichever words say so, and goes the way that they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pages.prose.telling import judge, list_quoted, tell

LIBRARIES = {
    "collection": "libraries",
    "columns": ["name", "ops", "ms", "mb"],
    "headers": ["Library", "Ops/s", "Time (ms)", "Memory (MB)"],
}
LIBRARY_ROWS = [
    {"name": "orjson", "ops": 412300, "ms": 2.425, "mb": 12.4},
    {"name": "ujson", "ops": 199180, "ms": 5.021, "mb": 18.9},
    {"name": "simplejson", "ops": 21700, "ms": 46.08, "mb": 25.3},
]
SCANS = {
    "collection": "scans",
    "columns": ["scan", "threads", "seconds"],
    "headers": ["Scan", "Threads", "Time (s)"],
}
SCAN_ROWS = [
    {"scan": "full", "threads": 1, "seconds": 6.6},
    {"scan": "full", "threads": 4, "seconds": 2.2},
    {"scan": "full", "threads": 16, "seconds": 1.0},
    {"scan": "index", "threads": 1, "seconds": 0.8},
    {"scan": "index", "threads": 4, "seconds": 0.3},
    {"scan": "index", "threads": 16, "seconds": 0.25},
]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    (folder / "libraries.json").write_text(json.dumps(LIBRARY_ROWS))
    (folder / "scans.json").write_text(json.dumps(SCAN_ROWS))
    return folder


def beside(table: dict[str, object], prose: str) -> str:
    return f"# Tool\n\n## Results\n\n{prose}\n\n<!-- RESULT_TABLE: {json.dumps(table)} -->\n"


@pytest.mark.parametrize(
    "prose",
    [
        "orjson beats ujson by {}x.",
        "orjson outperforms ujson by a factor of {}.",
        "orjson is faster than ujson by a factor of {}.",
        "ujson is beaten by orjson by {}x.",
        "Switching from ujson to orjson gives a {}x speedup.",
        "Switching to orjson from ujson gives a {}x speedup.",
        "Replacing ujson with orjson makes it {}x faster.",
        "With orjson instead of ujson it is {}x faster.",
        "Compared to ujson, orjson is {}x faster.",
        "orjson's speedup over ujson is {}x.",
        "orjson is {} times as fast as ujson.",
        "orjson is {} times ujson's speed.",
        "orjson is {}-fold faster than ujson.",
        "The throughput of orjson is {}x that of ujson.",
        "orjson is 19x faster than simplejson and {}x faster than ujson.",
        "orjson beats simplejson by 19x and ujson by {}x.",
    ],
)
def test_a_factor_is_that_of_the_two_rows_that_its_words_compare(prose: str, results: Path) -> None:
    assert tell(beside(LIBRARIES, prose.format("2.07")), results) == []
    (told,) = tell(beside(LIBRARIES, prose.format("9.2")), results)  # of ujson and simplejson
    assert told.startswith("9.2")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("ujson is nine times faster than simplejson.", "orjson is nine times faster than ujson."),
        ("ujson brings a ninefold gain over simplejson.", "orjson brings a ninefold gain over ujson."),
        ("ujson beats simplejson by a factor of nine.", "orjson beats ujson by a factor of nine."),
        ("simplejson takes twice as much memory as orjson.", "ujson takes twice as much memory as orjson."),
        ("ujson takes twice the time of orjson.", "simplejson takes twice the time of ujson."),
    ],
)
def test_a_factor_may_be_spelled(right: str, wrong: str, results: Path) -> None:
    assert tell(beside(LIBRARIES, right), results) == []
    assert len(tell(beside(LIBRARIES, wrong), results)) == 1


@pytest.mark.parametrize(
    ("prose", "one", "other", "figure"),
    [
        ("{} has twice the throughput of {}.", "orjson", "ujson", "twice"),
        ("{} doubles the throughput of {}.", "orjson", "ujson", "doubles"),
        ("{} has half the throughput of {}.", "ujson", "orjson", "half"),
        ("{} has 48 % of the throughput of {}.", "ujson", "orjson", "48 %"),
        ("{} beats {} by 2.07x.", "orjson", "ujson", "2.07x"),
        ("{} takes 2.07x the time of {}.", "ujson", "orjson", "2.07x"),
        ("{} takes twice as long as {}.", "ujson", "orjson", "twice"),
        ("{}'s latency is 2.07x lower than that of {}.", "orjson", "ujson", "2.07x"),
        ("{} does 2.07x more ops per second than {}.", "orjson", "ujson", "2.07x"),
        ("{} uses 34 % less memory than {}.", "orjson", "ujson", "34 %"),
        ("{} uses twice the memory of {}.", "simplejson", "orjson", "twice"),
        ("Switching from {} to {} gives a 2.07x speedup.", "ujson", "orjson", "2.07x"),
        ("Switching from {} to {} means a 2.07x slowdown.", "orjson", "ujson", "2.07x"),
        ("{} is 2.07x faster than {}.", "orjson", "ujson", "faster"),  # once, for its word
    ],
)
def test_a_factor_that_goes_the_other_way_round_than_the_rows_is_told(
    prose: str, one: str, other: str, figure: str, results: Path
) -> None:
    assert tell(beside(LIBRARIES, prose.format(one, other)), results) == []
    found = judge(beside(LIBRARIES, prose.format(other, one)), results)
    assert ([told.rule for told in found], list_quoted(found)) == (["MT327"], [figure])


def test_what_is_told_of_such_a_factor_is_what_the_rows_say(results: Path) -> None:
    (told,) = judge(beside(LIBRARIES, "ujson has twice the throughput of orjson."), results)
    assert told.message == "`twice` is not what the rows say: `ops` is 199180 in row 2, 412300 in row 1"


@pytest.mark.parametrize(
    "prose",
    [
        "ujson reduces the time of simplejson by a factor of 9.2.",
        "orjson cuts memory by 34 % compared to ujson.",
        "If ujson had twice the throughput of orjson it would win.",
        "ujson never has twice the throughput of orjson.",
        "orjson vs. ujson: 2.07x.",
        "ujson : orjson = 2.07x.",
        "orjson is not 9x faster than ujson but 2.07x.",
        "We scaled the input by a factor of 10.",
        "The input is multiplied by a factor of 8.",
        "We ran each of them nine times.",
        "`rapidjson` beats orjson by 1.3x.",  # which the table does not have
        "orjson beats `rapidjson` by 1.3x.",
        "orjson ran\n2.07 ± 0.03 times faster than ujson\n19.00 ± 0.20 times faster than simplejson",
    ],
)
def test_where_words_do_not_tell_of_two_rows_what_is_more_nothing_is_told(prose: str, results: Path) -> None:
    assert tell(beside(LIBRARIES, prose), results) == []


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("A full scan is 6.6 times faster with 16 threads than with 1 thread.", []),
        ("A full scan is 6.6 times faster with 1 thread than with 16 threads.", ["6.6 times"]),
        ("A full scan is 3.2 times faster with 16 threads than with 1 thread.", ["3.2 times"]),
        ("An index scan is 3.2 times faster with 16 threads than with 1 thread.", []),
        ("It is 8.3 times faster with 16 threads than with 1 thread.", ["8.3 times"]),  # full against index
        ("Going from 1 to 16 threads makes the full scan 6.6x faster.", []),
        ("Going from 1 to 16 threads makes the full scan 3x faster.", ["3x"]),
        ("Going from 1 to 4 threads makes the full scan 3x faster.", []),
        ("The index beats the full scan by 8.3x with 1 thread and by 4x with 16 threads.", []),
        ("The index beats the full scan by 4x with 1 thread and by 8.3x with 16 threads.", ["4x", "8.3x"]),
        ("The index is 8.3x faster than the full scan for 1 thread and 4x for 16 threads.", []),
        ("The index is 8.3x faster than the full scan.", []),
        ("The index is 26x faster than the full scan.", ["26x"]),  # with 16 threads against 1
    ],
)
def test_of_two_settings_the_rows_that_have_most_in_common_are_compared(
    prose: str, figures: list[str], results: Path
) -> None:
    assert tell(beside(SCANS, prose), results) == figures
