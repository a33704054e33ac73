"""Tables as numbers are looked up in them: cells with units, and the names of rows and columns."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.site.drift import WrittenTable, read_cell
from mongo_tables.site.numbers.text import Heading, Notation, Number, normalized, read_heading, read_numbers

if TYPE_CHECKING:
    from mongo_tables.lint.shape.units import Unit

_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_TAG: Final = re.compile(r"<[^>]*>")
HAS_LETTER: Final = re.compile(r"[^\W\d_]")
TELLING: Final = 3
"""Numbers with at least this many digits need no name in their sentence: chance matches are rare."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in a cell, with its position. ``units`` is empty if the table does not say one."""

    number: Number
    units: tuple[Unit, ...]
    row: int
    column: int
    is_first: bool

    @property
    def value(self) -> float:
        """Return the number's value."""
        return self.number.value

    @property
    def is_measure(self) -> bool:
        """Return whether cells of its column can be compared: no share, not 0, not the end of a range."""
        return self.is_first and self.number.value != 0 and all(unit.powers for unit in self.units)


class Names(NamedTuple):
    """The rows, or the columns, that each normalized name stands for. ``longest`` is in words."""

    numbers: Mapping[str, frozenset[int]]
    longest: int

    @classmethod
    def of(cls, names: Iterable[Iterable[str]]) -> Names:
        """Return the names of things in order; each may have several."""
        found: dict[str, set[int]] = {}
        for number, own in enumerate(names):
            for name in own:
                found.setdefault(name, set()).add(number)
        longest = max((name.count(" ") + 1 for name in found), default=0)
        return cls({name: frozenset(numbers) for name, numbers in found.items()}, longest)

    def find_any(self, words: str) -> frozenset[int]:
        """Return what has one of the names in a normalized sentence."""
        return frozenset[int]().union(*(self.numbers[name] for _, _, name in self._spans(words)))

    def find_common(self, words: str) -> tuple[frozenset[int], list[str]]:
        """Return what has all names in a normalized sentence, and these names.

        A name inside a longer one does not count: ``sort`` in ``merge sort``.
        """
        spans = list(self._spans(words))
        said = dict.fromkeys(
            name
            for start, end, name in spans
            if not any(
                first <= start and end <= last and (first, last) != (start, end) for first, last, _ in spans
            )
        )
        numbers = [self.numbers[name] for name in said]
        return (frozenset.intersection(*numbers) if numbers else frozenset()), list(said)

    def _spans(self, words: str) -> Iterator[tuple[int, int, str]]:
        parts = words.split()
        for start in range(len(parts)):
            for end in range(start + 1, min(len(parts), start + self.longest) + 1):
                if (name := " ".join(parts[start:end])) in self.numbers:
                    yield start, end, name


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table, its headings, and the names by which a sentence may refer to rows and columns.

    Cells are in the order of rows. ``alike`` has them grouped by column and unit, sorted by value. ``naming``
    is the number of columns that name rows, ``size`` the number of rows. Messages name the table by ``title``
    and columns by ``labels``. Numbers with ``telling`` digits need no name in their sentence. ``main`` is the
    column that is meant if several have the unit. ``is_main``: a number may be about the table though no
    column is named.
    """

    cells: tuple[Cell, ...]
    alike: tuple[tuple[Cell, ...], ...]
    headings: tuple[Heading, ...]
    rows: Names
    columns: Names
    naming: int
    size: int
    labels: tuple[str, ...]
    title: str = ""
    telling: int = TELLING
    main: int | None = None
    is_main: bool = True

    def cells_of(self, row: int) -> Iterator[Cell]:
        """Yield the cells of a row."""
        first = bisect_left(self.cells, row, key=attrgetter("row"))
        return takewhile(lambda cell: cell.row == row, islice(self.cells, first, None))

    @property
    def nouns(self) -> frozenset[str]:
        """Return the nouns that its columns count."""
        return frozenset[str]().union(*(one.nouns for one in self.headings))


def group_alike(cells: Iterable[Cell]) -> tuple[tuple[Cell, ...], ...]:
    """Return cells by column, unit and noun, each group sorted by value."""
    alike: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        alike.setdefault((cell.column, cell.units, cell.number.noun), []).append(cell)
    return tuple(tuple(sorted(one, key=lambda cell: cell.value)) for one in alike.values())


def read_table(lines: Iterable[str], notation: Notation, title: str = "") -> Table:
    """Parse the lines of a Markdown table."""
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
    naming = _count_naming(rows)
    return Table(
        cells,
        group_alike(cells),
        headings,
        rows=Names.of(name_row(row[:naming], written.headers) for row in rows),
        columns=Names.of([one.words] if one.words else [] for one in headings),
        naming=naming,
        size=len(rows),
        labels=tuple(_plain(one) for one in written.headers),
        title=title,
    )


def _count_naming(rows: Sequence[Sequence[str]]) -> int:
    """Return how many columns name the rows: the first, and the following ones that contain words."""
    columns = list(zip(*rows, strict=False))
    texts = (any(HAS_LETTER.search(cell) for cell in column) for column in columns[1:])
    return 1 + sum(takewhile(bool, texts))


def _plain(cell: str) -> str:
    """Return a cell's text as readers see it."""
    return _ESCAPE.sub(r"\1", _TAG.sub(" ", read_cell(cell))).replace("`", "").strip()


def name_row(row: Sequence[str], headers: Sequence[str]) -> tuple[str, ...]:
    """Return a row's names: its texts, and numbers with unit or header, as ``16 threads`` or ``n 10``."""
    found: dict[str, None] = {}
    for text, header in zip(row, headers, strict=False):
        if HAS_LETTER.search(text):
            found[normalized(text)] = None
        else:
            words = [*re.findall(r"[^\W\d_]+", header)]
            unit = header.rpartition("(")[2].rstrip(")") if header.endswith(")") else ""
            for word in filter(None, (unit, *words)):
                found[normalized(f"{text} {word}")] = None
                found[normalized(f"{word} {text}")] = None
                found[normalized(f"{text} {word.removesuffix('s')}")] = None
    return tuple(name for name in found if len(name) > 1)
