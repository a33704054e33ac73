"""Tables written into pages: their parts, and their differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from math import inf
from typing import Final, NamedTuple

from mongo_tables.directives.comments import list_blocks, read_signs, read_words
from mongo_tables.files.folders import shorten
from mongo_tables.render.number_text import read_numbers

_BETWEEN_CELLS: Final = re.compile(r"(?<!\\)\|")
_ADDRESS: Final = re.compile(r"\]\([^()\s]*\)")
_NO_DIGITS: Final = str.maketrans("0123456789", "abcdefghij")


class WrittenTable(NamedTuple):
    """The lines of a table by ``pipe_table``: those above it, its headers, alignments and cells.

    All are without escapes. ``below`` has the words of its notes, because their numbers follow from the rows.
    """

    above: list[str]
    headers: list[str]
    alignments: list[str]
    rows: list[list[str]]
    below: list[str]

    @classmethod
    def of(cls, lines: Iterable[str], read: Callable[[str], str] = read_words) -> WrittenTable:
        """Parse the lines of a table. ``read`` removes the escapes of a cell."""
        written = list_blocks("\n".join(lines))
        above = list(takewhile(lambda line: not line.startswith("|"), written))
        rows = list(takewhile(lambda line: line.startswith("|"), written[len(above) :]))
        cells = [[*map(read, _BETWEEN_CELLS.split(row[1:].removesuffix("|")))] for row in rows]
        notes = [
            read_numbers(read_cell(read_words(line))).words for line in written[len(above) + len(rows) :]
        ]
        headers, alignments = (cells[at] if len(cells) > at else [] for at in (0, 1))
        return cls([*map(read_words, above)], headers, alignments, cells[2:], notes)

    @property
    def texts(self) -> list[list[str]]:
        """Return the cells of its rows as readers see them."""
        return [[read_cell(cell) for cell in row] for row in self.rows]


def read_cell(markdown: str) -> str:
    """Return a cell as readers see it, with the digits of addresses replaced, since they are not numbers."""
    return _ADDRESS.sub(lambda found: found[0].translate(_NO_DIGITS), read_words(markdown))


def describe_difference(standing: Iterable[str], today: Iterable[str]) -> str:
    """Describe how two tables differ: rows, their order, or a cell before and now, or "" for no tables.

    Of several cells, the one that moved farthest is named: another may be within the tolerance.
    """
    standing, today = list(standing), list(today)
    then, now = WrittenTable.of(standing), WrittenTable.of(today)
    if not then.rows or not now.rows:
        return ""
    if then.headers != now.headers:
        return "its columns are others"
    if len(then.rows) != len(now.rows):
        return f"it has {len(then.rows)} {_rows(len(then.rows))}, and {len(now.rows)} now"
    if sorted(then.rows) == sorted(now.rows):
        return "only the order of its rows changed" if then.rows != now.rows else ""
    differing = [
        (row, at)
        for row, (old, new) in enumerate(zip(then.rows, now.rows, strict=True))
        for at, (cell, today_cell) in enumerate(zip(old, new, strict=False))
        if cell != today_cell
    ]
    if not differing:
        return ""
    row, at = max(differing, key=lambda one: _distance(then.rows[one[0]][one[1]], now.rows[one[0]][one[1]]))
    # What is compared has one sign for emphasis; what is quoted has the signs of the rows.
    then, now = (WrittenTable.of(lines, read_signs) for lines in (standing, today))
    named = _count_names(now.rows)
    names = ", ".join(now.rows[row][: named if at >= named else 1])
    figures = then.rows[row][at], now.rows[row][at], now.headers[at], names
    cell, today_cell, header, name = (shorten(one) or "nothing" for one in figures)
    return f"`{header}` of `{name}` is {cell}, and {today_cell} now"


def _count_names(rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first cells tell the rows apart, or 1 if no two or three do."""
    for count in range(1, min(4, len(rows[0]))):
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count
    return 1


def _distance(standing: str, today: str) -> float:
    """Return the relative change of a cell's first number, or infinity if the words differ."""
    then, now = read_numbers(read_cell(standing)), read_numbers(read_cell(today))
    if then.words != now.words or not then.numbers or not then.numbers[0]:
        return inf
    return float(abs(now.numbers[0] - then.numbers[0]) / abs(then.numbers[0]))


def describe_change(standing: str, today: str) -> str:
    """Describe the change of a value, or return "" if there is none.

    Example:
        >>> describe_change("120 ms", "125 ms")
        'it is 120 ms, and 125 ms now'
    """
    if shorten(read_words(standing)) == shorten(read_words(today)):
        return ""
    then, now = (shorten(read_signs(one)) or "nothing" for one in (standing, today))
    return f"it is {then}, and {now} now"


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"
