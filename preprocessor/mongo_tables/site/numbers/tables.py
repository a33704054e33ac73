"""The cells of tables as readers see them: in the region under a comment, else as they would be written today."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from mongo_tables.lint.shape.units import Unit
from mongo_tables.site.numbers.tokens import (
    Heading,
    Notation,
    Number,
    normalized,
    read_heading,
    read_numbers,
)
from mongo_tables.site.writtentables import WrittenTable, read_cell

_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_TAG: Final = re.compile(r"<[^>]*>")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in a cell, with its place; ``units`` is empty where the table does not say one."""

    number: Number
    units: tuple[Unit, ...]
    row: int
    column: int
    is_first: bool

    @property
    def is_measure(self) -> bool:
        """Whether cells of its column are compared: it is no share, and neither 0 nor the end of a range."""
        return self.is_first and self.number.value != 0 and all(unit.powers for unit in self.units)


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table, its headings, and by row the names that a sentence may call it by.

    ``alike`` are the cells by column and unit. ``naming`` is how many columns have names of rows.
    """

    cells: tuple[Cell, ...]
    alike: tuple[tuple[Cell, ...], ...]
    headings: tuple[Heading, ...]
    names: tuple[tuple[str, ...], ...]
    naming: int

    @property
    def nouns(self) -> frozenset[str]:
        """What its columns count."""
        return frozenset[str]().union(*(one.nouns for one in self.headings))

    def named_rows(self, words: str) -> frozenset[int]:
        """The rows that a sentence names; ``words`` are those of the sentence, normalized, between two blanks."""
        return frozenset(
            row for row, names in enumerate(self.names) if any(f" {one} " in words for one in names)
        )

    def named_columns(self, words: str) -> frozenset[int]:
        """The columns whose headers are in a sentence."""
        return frozenset(
            column for column, one in enumerate(self.headings) if one.words and f" {one.words} " in words
        )


def read_table(lines: Iterable[str], notation: Notation) -> Table:
    """Read the lines of a table in Markdown."""
    written = WrittenTable.of(lines)
    headings = tuple(read_heading(_plain(one)) for one in written.headers)
    rows = [[_plain(cell) for cell in row[: len(headings)]] for row in written.rows]
    nouns = frozenset[str]().union(*(one.nouns for one in headings))
    cells = tuple(
        Cell(number, number.units or headings[column].units, at, column, place == 0)
        for at, row in enumerate(rows)
        for column, text in enumerate(row)
        for place, number in enumerate(read_numbers(text, notation, nouns))
    )
    alike: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        alike.setdefault((cell.column, cell.units, cell.number.noun), []).append(cell)
    naming = _count_naming(rows)
    names = tuple(_names(row[:naming], written.headers) for row in rows)
    return Table(cells, tuple(map(tuple, alike.values())), headings, names, naming)


def _count_naming(rows: Sequence[Sequence[str]]) -> int:
    """How many columns name the rows: the first, and those behind it up to one without words."""
    columns = list(zip(*rows, strict=False))
    texts = (any(_HAS_LETTER.search(cell) for cell in column) for column in columns[1:])
    return 1 + sum(takewhile(bool, texts))


def _plain(cell: str) -> str:
    """A cell as one reads it."""
    return _ESCAPE.sub(r"\1", _TAG.sub(" ", read_cell(cell))).replace("`", "").strip()


def _names(row: Sequence[str], headers: Sequence[str]) -> tuple[str, ...]:
    """The texts of a row; its first cell is a name with its unit, its noun or its header: ``16 threads``, ``n 10``."""
    found: dict[str, None] = {}
    for text, header in zip(row, headers, strict=False):
        if _HAS_LETTER.search(text):
            found[normalized(text)] = None
        else:
            words = [*re.findall(r"[^\W\d_]+", header)]
            unit = header.rpartition("(")[2].rstrip(")") if header.endswith(")") else ""
            for word in filter(None, (unit, *words)):
                found[normalized(f"{text} {word}")] = None
                found[normalized(f"{word} {text}")] = None
                found[normalized(f"{text} {word.removesuffix('s')}")] = None
    return tuple(name for name in found if len(name) > 1)
