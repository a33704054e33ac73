"""Tables as numbers are looked up in them: cells with units, and the names of rows and columns.

Texts that have no tables of their own have the collections of a results source: a document is a row and a scalar field
a column; entries of lists inside a document are rows of another table.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import islice, takewhile
from math import isfinite, log10
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation.values import is_number
from mongo_tables.directives.columns import field_words
from mongo_tables.directives.row_paths import find_rows, rows_stages
from mongo_tables.lint.shape.units import Unit, find_base_unit, of_name, select_measured
from mongo_tables.render.values import raw_text
from mongo_tables.results.model import Query
from mongo_tables.results.row_names import ORDER, is_benchmark
from mongo_tables.site.drift import WrittenTable, read_cell
from mongo_tables.site.numbers.text import (
    RATIO,
    Heading,
    Notation,
    Number,
    Precision,
    normalized,
    read_heading,
    read_numbers,
)

if TYPE_CHECKING:
    from mongo_tables.results.model import ResultsSource

_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_TAG: Final = re.compile(r"<[^>]*>")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
_TELLING: Final = 3
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
    telling: int = _TELLING
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
        rows=Names.of(_name_row(row[:naming], written.headers) for row in rows),
        columns=Names.of([one.words] if one.words else [] for one in headings),
        naming=naming,
        size=len(rows),
        labels=tuple(_plain(one) for one in written.headers),
        title=title,
    )


def _count_naming(rows: Sequence[Sequence[str]]) -> int:
    """Return how many columns name the rows: the first, and the following ones that contain words."""
    columns = list(zip(*rows, strict=False))
    texts = (any(_HAS_LETTER.search(cell) for cell in column) for column in columns[1:])
    return 1 + sum(takewhile(bool, texts))


def _plain(cell: str) -> str:
    """Return a cell's text as readers see it."""
    return _ESCAPE.sub(r"\1", _TAG.sub(" ", read_cell(cell))).replace("`", "").strip()


def _name_row(row: Sequence[str], headers: Sequence[str]) -> tuple[str, ...]:
    """Return a row's names: its texts, and numbers with unit or header, as ``16 threads`` or ``n 10``."""
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


# -- collections of results --

Document = Mapping[str, Any]

_AT_HAND: Final = 10_000
"""The most documents of a collection, or entries of a list, that a query returns."""
_LOOKED_AT: Final = 50
_LONGEST: Final = 8
"""The most words of a name: longer texts are remarks."""
_MEANINGS: Final[Mapping[str, str]] = {
    "pct": "%", "percentage": "%", "usd": "$", "eur": "€", "rps": "requests/s", "qps": "queries/s",
    "tps": "transactions/s", "msec": "ms", "usec": "µs", "nanos": "ns", "micros": "µs", "kb": "KB", "mb": "MB",
    "gb": "GB", "tb": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB", "b": "B",
}  # fmt: skip
"""Words of field names that mean a unit which is written otherwise."""
_RATIOS: Final = frozenset({"ratio", "factor", "speedup", "share", "fraction", "rate"})
_NO_UNITS: Final = frozenset({"min", "h"})
"""Last words of field names that are no units: ``min`` is a minimum."""
_COUNTS: Final = frozenset({"count", "total", "number", "n", "failed"})
_MEASURES: Final = ("time", "throughput")
"""The measures of benchmarks that a number is about if its sentence names none."""
_APART: Final = ("parameters.", "extra.", "_id.")
"""Fields that do not have the unit of the document around them."""


def read_collections(source: ResultsSource) -> list[Table]:
    """Return a table of each collection, and of each list or map inside its documents.

    Raises ResultsError for a source that cannot be read. Of a database, the first documents are read.
    """
    found = [table for name in source.collections() for table in _read_collection(source, name)]
    cells = sum(len(table.cells) for table in found)
    telling = max(_TELLING, 2 + int(log10(cells or 1)))
    return [replace(table, telling=telling) for table in found]


def _read_collection(source: ResultsSource, name: str) -> Iterator[Table]:
    local = source.local
    documents: Sequence[Document] = (
        local.documents(name) if local else source.aggregate(Query(name, ({"$limit": _AT_HAND},)))
    )
    paths = list(dict.fromkeys(path for one in documents[:_LOOKED_AT] for path in find_rows(one)))
    benchmarks = _by_measure(documents)
    for measure, own in benchmarks.items():
        is_main = measure == next((one for one in _MEASURES if one in benchmarks), measure)
        yield _table_of(f"{name} {measure}", own, measure=measure, is_main=is_main)
    if benchmarks:
        return
    yield _table_of(name, documents, tuple(f"{path.partition('.*')[0]}." for path in paths))
    around = {name for one in documents for name in one}
    for path in paths:
        rows = source.aggregate(Query(name, (*rows_stages(path), {"$limit": _AT_HAND})))
        # What surrounds a list names its entries, but its figures are those of the document.
        entries = [
            {key: one for key, one in row.items() if key not in around or isinstance(one, str)}
            for row in rows
        ]
        yield _table_of(f"{name} {path}", entries)


def _by_measure(documents: Sequence[Document]) -> Mapping[str, Sequence[Document]]:
    """Return the documents of benchmarks by what they measure, or none for others."""
    found: dict[str, list[Document]] = {}
    for one in documents if all(map(is_benchmark, documents)) else ():
        found.setdefault(str(one["_id"]["metric"]), []).append(one)
    return found


def _table_of(
    title: str,
    documents: Sequence[Document],
    without: tuple[str, ...] = (),
    measure: str = "",
    is_main: bool = True,
) -> Table:
    rows = [dict(_leaves(document, without)) for document in documents]
    paths = {path: at for at, path in enumerate(dict.fromkeys(path for row in rows for path in row))}
    headings = tuple(read_field(path) for path in paths)
    cells = [
        cell
        for at, row in enumerate(rows)
        for path, value in row.items()
        if (cell := _read_cell(row, path, value, at, paths[path], headings[paths[path]]))
    ]
    return Table(
        tuple(cells),
        group_alike(cells),
        headings,
        rows=Names.of(_name_rows(rows)),
        columns=Names.of(_name_column(path, measure) for path in paths),
        naming=0,
        size=len(rows),
        labels=tuple(measure if measure and path == "value" else path for path in paths),
        title=title,
        main=paths.get("value") if measure else None,
        is_main=is_main,
    )


def _leaves(value: Document, without: tuple[str, ...] = (), path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted path and value of each scalar field, at any depth."""
    for name, one in value.items():
        if name == ORDER or f"{path}{name}.".startswith(without or ("\0",)):
            continue
        if isinstance(one, Mapping):
            yield from _leaves(one, without, f"{path}{name}.")
        elif isinstance(one, str) or is_number(one):
            yield f"{path}{name}", one


def _read_cell(row: Document, path: str, value: Any, at: int, column: int, heading: Heading) -> Cell | None:
    if isinstance(value, str) or path in ("_id", "_key") or path.startswith("_id."):
        return None
    text = raw_text(value)
    read = read_numbers(f"{abs(Decimal(text)):f}", Notation()) if isfinite(float(text)) else []
    if not read:
        return None
    units = heading.units or (() if heading.nouns else _units_beside(row, path))
    if units == (RATIO,) and heading.words.split()[-1:] == ["rate"] and read[0].value > 1:
        units = ()  # such as a rate in per cent, or per second
    exact = replace(read[0], precisions=(Precision(0.0, read[0].precisions[0].digits),))
    return Cell(exact, units, at, column, is_first=True)


def _units_beside(row: Document, path: str) -> tuple[Unit, ...]:
    """Return the units that a field ``unit`` names, beside a number or around it."""
    parts = path.split(".")[:-1]
    if field_words(path.rpartition(".")[2]).lower().split()[-1] in _COUNTS:
        return ()
    around = range(len(parts), -1 if not path.startswith(_APART) else len(parts) - 1, -1)
    for depth in around:
        for name in ("unit", "units"):
            said = row.get(".".join([*parts[:depth], name]))
            if isinstance(said, str) and (units := read_heading(f"({said})").units):
                return units
    return ()


def _name_rows(rows: Sequence[Document]) -> Iterator[list[str]]:
    """Yield the names of each row: its texts, without those that all rows share, and its parameters."""
    named = [[name for path, value in row.items() for name in _names_of(path, value)] for row in rows]
    shared = set[str]().union(*named[:1]).intersection(*named[1:]) if len(rows) > 1 else set()
    for names in named:
        own = (name for name in dict.fromkeys(names) if name not in shared)
        yield [name for name in own if len(name) > 1 and name.count(" ") < _LONGEST]


def _names_of(path: str, value: Any) -> Iterable[str]:
    if not isinstance(value, str):
        last = path.rpartition(".")[2]
        return _name_row([raw_text(value)], [last]) if path.startswith("parameters.") else ()
    if not _HAS_LETTER.search(value) or path.rpartition(".")[2] in ("unit", "units"):
        return ()
    return normalized(value), normalized(value.replace("_", " ").replace("-", " "))


def _name_column(path: str, measure: str) -> Iterator[str]:
    """Yield the names of a column: each part of its path, as it is and in words; what the value of a benchmark is."""
    for part in path.split(".") if not measure or path != "value" else (measure,):
        words = read_field(part).words
        yield from dict.fromkeys(name for name in (normalized(part), words) if len(name) > 1)


@lru_cache(maxsize=2048)
def read_field(path: str) -> Heading:
    """Parse the name of a field as a column header. The unit may come from a field around it.

    Example:
        >>> heading = read_field("latency.median_ms")
        >>> heading.words, heading.units[0].factor
        ('median', 0.001)
    """
    *around, last = path.split(".")
    own = _read_name(last)
    units = own.units
    for part in reversed(around) if not own.nouns else ():
        units = units or _read_name(part).units
    return Heading(own.words, units, own.nouns)


def _read_name(name: str) -> Heading:
    """Parse one part of a path: ``median_ms``, ``ops_per_sec``, or a header of CSV such as ``Time (ms)``."""
    words = field_words(name).lower().split()
    last = words[-1]
    if last in _RATIOS:
        return Heading(" ".join(words), (RATIO,), frozenset())
    if last not in _NO_UNITS | _COUNTS and name != "x":
        if units := read_heading(name).units:
            return Heading(read_heading(name).words if name[-1] in ")]" else "", units, frozenset())
        named = tuple(unit for unit in of_name(name) if select_measured(unit))
        for tail in (max(words.index("per") - 1, 0) if "per" in words else -1, -1):
            unit = " ".join(_MEANINGS.get(word, word) for word in words[tail:])
            if units := named or read_heading(f"({unit})").units:
                return Heading(" ".join(words[:tail]), units, frozenset())
    nouns = {find_base_unit(one) for one in words if one[-1] == "s" and len(one) > len("abc")}
    nouns |= {find_base_unit(words[-2])} if last in _COUNTS and len(words) > 1 else set()
    return Heading(" ".join(words), (), frozenset(nouns))
