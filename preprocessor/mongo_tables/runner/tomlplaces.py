"""On which line of a TOML text a value stands: ``tomllib`` reads values and forgets where they were.

It is enough to see table headers and keys at the beginnings of lines: a value inside an inline table or an
array has the place of the key that holds it.
"""

from __future__ import annotations

import re
from collections import Counter

Path = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[|\[)\s*([A-Za-z0-9_.\-\"' ]+?)\s*\]")
_KEY = re.compile(r"""\s*([A-Za-z0-9_\-]+|"[^"]*"|'[^']*')\s*=\s*""")
_QUOTES = re.compile('"""|\'' + "''")


def places(text: str) -> dict[Path, tuple[int, int]]:
    """Give line and column, from 1, of every table and of every key that begins a line."""
    found: dict[Path, tuple[int, int]] = {(): (1, 1)}
    counts: Counter[Path] = Counter()
    table: Path = ()
    quoted = False
    for number, line in enumerate(text.split("\n"), 1):
        quotes = len(_QUOTES.findall(line))
        if quoted:
            quoted = quotes % 2 == 0
            continue
        column = len(line) - len(line.lstrip()) + 1
        if header := _HEADER.match(line):
            table = _table(header, counts)
            found[table] = (number, column)
        elif key := _KEY.match(line):
            found[(*table, key[1].strip("\"'"))] = (number, column)
        quoted = quotes % 2 == 1
    return found


def nearest(found: dict[Path, tuple[int, int]], path: Path) -> tuple[int, int]:
    """The place of the value at ``path``, or of what holds it."""
    while path not in found:
        path = path[:-1]
    return found[path]


def _table(header: re.Match[str], counts: Counter[Path]) -> Path:
    table: Path = ()
    names = [name.strip().strip("\"'") for name in header[2].split(".")]
    for name in names[:-1]:
        table = (*table, name)
        if counts[table]:
            table = (*table, counts[table] - 1)
    table = (*table, names[-1])
    if header[1] == "[[":
        counts[table] += 1
        table = (*table, counts[table] - 1)
    return table
