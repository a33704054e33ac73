"""Tables in which numbers are looked up: cells with units, and the names of rows and columns.

For texts without tables, they are made from the collections of a results source: a document is a row, a scalar field a
column. The entries of lists inside documents are rows of another table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import takewhile
from math import isfinite, log10
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation.values import is_number
from mongo_tables.directives.columns import field_words
from mongo_tables.directives.comments import read_signs
from mongo_tables.directives.row_paths import find_rows, rows_stages
from mongo_tables.lint.shape.units import Unit
from mongo_tables.render.values import raw_text
from mongo_tables.results.model import Query, ResultsSource
from mongo_tables.results.row_names import ORDER, is_benchmark
from mongo_tables.site.drift import WrittenTable
from mongo_tables.site.numbers.text import (
    COUNTS,
    RATIO,
    RATIOS,
    Heading,
    Notation,
    Number,
    normalized,
    read_heading,
    read_numbers,
    read_unit,
)

if TYPE_CHECKING:
    from mongo_tables.directives.specs import PipelineSpec

_MARKUP: Final = re.compile(r"\]\([^()\s]*\)|<[^>]*>|`")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
_TELLING: Final = 3
"""Numbers with at least this many digits rarely match by chance, so their sentence need not name a row or column."""


_Figure = tuple[str, tuple[Unit, ...]]
"""The text of a cell, and the unit of those numbers in the text that are written without a unit."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in a cell, with the position of the cell. ``units`` is empty if the table states none.

    ``is_figure`` is true for the first number of a cell that does not name its row.
    """

    number: Number
    units: tuple[Unit, ...]
    row: int
    column: int
    is_figure: bool = True

    @property
    def value(self) -> float:
        """Return the value of the number, multiplied by its scale."""
        return self.number.value * self.number.scale


class Names(NamedTuple):
    """For each normalized name, the positions of the rows or columns that have it.

    ``longest`` is the number of words in the longest name.
    """

    numbers: Mapping[str, frozenset[int]]
    longest: int

    @classmethod
    def of(cls, names: Iterable[Iterable[str]]) -> Names:
        """Return an index of ``names``: all names of the first row or column, then those of the next, and so on.

        A single character is not a name.
        """
        found: dict[str, set[int]] = {}
        for number, own in enumerate(names):
            for name in own:
                if len(name) > 1:
                    found.setdefault(name, set()).add(number)
        longest = max((name.count(" ") + 1 for name in found), default=0)
        return cls({name: frozenset(numbers) for name, numbers in found.items()}, longest)

    def find_compared(self, words: str) -> frozenset[int]:
        """Return the rows or columns that a normalized sentence compares.

        These are the rows or columns with the most names in the sentence. If only one has the most, return all that
        have a name in the sentence.
        """
        named = Counter(one for name in self.said_in(words) for one in self.numbers[name])
        most = frozenset(one for one, count in named.items() if count == max(named.values()))
        return most if len(most) > 1 else frozenset(named)

    def find_any(self, words: str) -> frozenset[int]:
        """Return the rows or columns of which a normalized sentence has at least one name."""
        return frozenset[int]().union(*map(self.numbers.__getitem__, self.said_in(words)))

    def find_common(self, words: str) -> frozenset[int]:
        """Return the rows or columns that share all the names in a normalized sentence."""
        numbers = [self.numbers[name] for name in self.said_in(words)]
        return frozenset.intersection(*numbers) if numbers else frozenset()

    def said_in(self, words: str) -> list[str]:
        """Return the names in a normalized sentence.

        A name within a longer name does not count: ``sort`` in ``merge sort``.
        """
        parts, said, at = words.split(), dict[str, None](), 0
        while at < len(parts):
            names = (" ".join(parts[at:end]) for end in range(at + self.longest, at, -1))
            name = next((one for one in names if one in self.numbers), "")
            said |= {name: None} if name else {}
            at += name.count(" ") + 1
        return list(said)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The cells of a table, its headings, and the names by which a sentence may refer to rows and columns.

    Attributes:
        title: The name of the table in messages.
        alike: For each column, its cells grouped by units and noun, sorted by value.
        size: The number of rows.
        meant: The columns that a number may be about if its sentence names no column. None means any column.
        telling: Numbers with at least this many digits match without a name in their sentence.
        shares: The columns of fractions up to 1 without a unit. In texts, they are in per cent.
    """

    title: str
    headings: Sequence[Heading]
    cells: Sequence[Cell]
    alike: Sequence[Sequence[Cell]]
    rows: Names
    columns: Names
    size: int
    meant: frozenset[int] | None = None
    telling: int = _TELLING
    shares: frozenset[int] = frozenset()

    @property
    def nouns(self) -> frozenset[str]:
        """Return the nouns that the columns count."""
        return frozenset[str]().union(*(one.nouns for one in self.headings))


def _build(
    title: str,
    headings: Sequence[Heading],
    rows: Sequence[Sequence[_Figure]],
    names: Iterable[Iterable[str]],
    notation: Notation = Notation(),  # noqa: B008 - it is immutable
    naming: int = 0,
) -> Table:
    """Return the table of the texts of cells. The first ``naming`` columns name rows."""
    nouns = frozenset[str]().union(*(one.nouns for one in headings))
    cells = [
        Cell(number, number.units or units, at, column, place == 0 and column >= naming)
        for at, row in enumerate(rows)
        for column, (text, units) in enumerate(row)
        for place, number in enumerate(read_numbers(text, notation, nouns) if text else ())
    ]
    alike: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        alike.setdefault((cell.column, cell.units, cell.number.noun), []).append(cell)
    columns = Names.of(one.names for one in headings)
    groups = [sorted(one, key=lambda cell: cell.value) for one in alike.values()]
    amounts: dict[int, list[float]] = {}
    for cell in cells:
        amounts.setdefault(cell.column, []).append(2.0 if cell.units else cell.value)
    shares = frozenset(
        at for at, own in amounts.items() if max(own) <= 1 and not all(map(float.is_integer, own))
    )
    return Table(title, headings, cells, groups, Names.of(names), columns, len(rows), shares=shares)


def read_table(
    lines: Iterable[str],
    notation: Notation,
    title: str = "",
    known: Mapping[str, tuple[Unit, ...]] | None = None,
) -> Table:
    """Parse the lines of a Markdown table. The first column, and columns of words directly after it, name the rows.

    ``known`` has the units of columns whose headers have none.
    """
    written = WrittenTable.of(lines, read_signs)
    labels = [_plain(one) for one in written.headers]
    headings = [
        replace(one, units=one.units or (known or {}).get(one.label, ())) for one in map(read_heading, labels)
    ]
    rows = [[_plain(cell) for cell in row[: len(headings)]] for row in written.rows]
    texts = (any(map(_HAS_LETTER.search, column)) for column in list(zip(*rows, strict=False))[1:])
    naming = 1 + sum(takewhile(bool, texts))
    names = (
        [name for text, header in zip(row[:naming], labels, strict=False) for name in _names_of(text, header)]
        for row in rows
    )
    figures = [[(cell, one.units) for cell, one in zip(row, headings, strict=False)] for row in rows]
    return _build(title, headings, figures, names, notation, naming)


def known_units(spec: PipelineSpec, rows: Iterable[Document]) -> dict[str, tuple[Unit, ...]]:
    """Return the units of columns by header, if all rows have the same field ``unit``."""
    said = {str(row.get("unit")).strip() for row in rows}
    own = read_unit(said.pop()) if len(said) == 1 else ()
    return {
        header: own
        for _, name, header in spec.headings
        for heading, form in [(read_field(name), spec.format.get(name))]
        if not (heading.units or heading.nouns or name in COUNTS or name.startswith(_APART))
        and not (form and form.scale)
    }


def _plain(cell: str) -> str:
    return _MARKUP.sub(" ", cell).strip()


def _names_of(text: str, header: str) -> Iterator[str]:
    """Yield the names that a cell gives its row: the text or, for a number, the number with a word of the header.

    For example, a row may be called ``16 threads`` or ``n 10``.
    """
    if _HAS_LETTER.search(text):
        yield normalized(text)
        yield normalized(text.replace("_", " ").replace("-", " "))
        return
    for word in re.findall(r"[^\W\d_]+|[%×]", header):
        yield from (normalized(f"{text} {one}") for one in (word, word.removesuffix("s")))
        yield normalized(f"{word} {text}")


# -- collections of results --

Document = Mapping[str, Any]

_AT_HAND: Final = 10_000
"""The maximum number of rows that a query returns: documents of a collection, or entries of lists in documents."""
_LOOKED_AT: Final = 50
_MEASURES: Final = ("time", "throughput")
"""The measures of benchmarks that a number may be about if its sentence names no measure."""
_APART: Final = ("parameters.", "extra.")
"""Fields whose names begin like this do not have the unit of their document."""


def read_collections(source: ResultsSource) -> list[Table]:
    """Return a table of each collection, and of each list or map inside its documents.

    Of a database, only the first documents are read. Raises ResultsError for a source that cannot be read.
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
    if documents and all(map(is_benchmark, documents)):
        measures = list(dict.fromkeys(str(one["_id"]["metric"]) for one in documents))
        main = next((one for one in _MEASURES if one in measures), "")
        for measure in measures:
            own = [one for one in documents if str(one["_id"]["metric"]) == measure]
            table = _of_documents(f"{name} {measure}", own, measure=measure)
            yield table if measure == main or not main else replace(table, meant=frozenset())
        return
    paths = dict.fromkeys(path for one in documents[:_LOOKED_AT] for path in find_rows(one))
    around = {name for one in documents for name in one}
    maps = {name for one in documents for name, value in one.items() if isinstance(value, Mapping)}
    listed = (maps if path.startswith("*") else {path.partition(".*")[0]} for path in paths)
    yield _of_documents(name, documents, tuple(f"{one}." for one in set[str]().union(*listed)))
    for path in paths:
        rows = source.aggregate(Query(name, (*rows_stages(path), {"$limit": _AT_HAND})))
        # Texts around a list name its entries. Figures around it are in the table of the documents.
        entries = [
            {
                path: one
                for path, one in _leaves(row, ("\0",))
                if isinstance(one, str) or path.partition(".")[0] not in around
            }
            for row in rows
        ]
        yield _of_documents(f"{name} {path}", entries)


def _of_documents(
    title: str, documents: Sequence[Document], without: tuple[str, ...] = ("\0",), measure: str = ""
) -> Table:
    """Return the table of documents. Documents of benchmarks have one ``measure``."""
    rows = [dict(_leaves(document, without)) for document in documents]
    paths = list(dict.fromkeys(path for row in rows for path in row))
    figures = [[_figure_of(row, path) for path in paths] for row in rows]
    labels = [measure if measure and path == "value" else path for path in paths]
    found = _build(title, [*map(read_field, labels)], figures, _name_rows(rows))
    meant = frozenset(at for at, path in enumerate(paths) if path == "value")
    return replace(found, meant=meant) if measure else found


def _leaves(value: Document, without: tuple[str, ...], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of each scalar field, at any depth."""
    for name, one in value.items():
        if name == ORDER or f"{path}{name}.".startswith(without):
            continue
        if isinstance(one, Mapping):
            yield from _leaves(one, without, f"{path}{name}.")
        elif isinstance(one, str) or is_number(one):
            yield f"{path}{name}", one


def _figure_of(row: Document, path: str) -> _Figure:
    """Return the text of a number, and its unit, or "" for any other value.

    The unit is in the name of the field, or in a field ``unit`` of the document.
    """
    value = row.get(path, "")
    if isinstance(value, str) or path in ("_id", "_key") or path.startswith("_id."):
        return "", ()
    digits = raw_text(value)
    if not isfinite(float(digits)):
        return "", ()
    digits = f"{abs(Decimal(digits)):f}"
    *around, last = path.split(".")
    heading, word = read_field(path), field_words(last).lower().split()[-1]
    if word == "rate" and float(digits) <= 1:  # A larger rate is in per cent, or per second.
        return digits, (RATIO,)
    if heading.units or heading.nouns or word in COUNTS:
        return digits, heading.units
    for depth in range(len(around), path.startswith(_APART) - 1, -1):
        said = row.get(".".join([*around[:depth], "unit"]))
        if isinstance(said, str) and (units := read_unit(said.strip())):
            return digits, units
    return digits, ()


def _name_in_tool(row: Document) -> str:
    """Return the name of a benchmark in its source code, without parameters: `BenchmarkPrint` for `Print`."""
    key, name, base = (str(row.get(path, "")) for path in ("_id.name", "name", "benchmark"))
    return key.removesuffix(name) + base if base and key.endswith(name) else base


def _name_rows(rows: Sequence[Document]) -> Iterator[list[str]]:
    """Yield the names of each row: from its parameters, and from its texts unless all rows have the same text."""
    named = [
        [
            name
            for path, value in row.items()
            if path.startswith("parameters.") or (isinstance(value, str) and _HAS_LETTER.search(value))
            for last in [path.rpartition(".")[2]]
            if last != "unit"
            for name in _names_of(raw_text(value), last)
        ]
        + [*_names_of(_name_in_tool(row), "")]
        for row in rows
    ]
    shared = set[str]().union(*named[:1]).intersection(*named[1:]) if len(rows) > 1 else set()
    for names in named:
        yield [name for name in names if name not in shared]


@lru_cache(maxsize=2048)
def read_field(path: str) -> Heading:
    """Parse the path of a field as a header. Each part is a name, and the unit may be in any part."""
    parts = [read_heading(part) for part in path.split(".")]
    names = dict.fromkeys(name for part in parts for name in part.names)
    is_count = parts[-1].label.lower() in COUNTS  # It counts the field around it: `tests.passed`.
    nouns = next((part.nouns for part in parts[: -3 if is_count else -2 : -1] if part.nouns), frozenset())
    units = next((part.units for part in reversed(parts) if part.units), ())
    if (
        ratios := ()
        if units
        else [*filter(RATIOS.__contains__, field_words(parts[-1].label).lower().split())]
    ):
        return Heading(path, (*names, *ratios), (RATIO,), frozenset())  # `speedup_vs_pandas`
    return Heading(path, tuple(names), () if nouns else units, nouns)
