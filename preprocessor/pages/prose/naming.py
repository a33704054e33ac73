"""Which rows and columns of tables a part of a sentence names.

A row is named by a text of one of the columns that readers find it by, or by a number there that stands with its noun
or unit, as `63 tools` or `a 63-tool test`; a column by the words of its header. Names count as words, in code as well.
Those that every sentence has name nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from preprocessor.pages.prose.directions import is_name
from preprocessor.pages.prose.evidence import measured_unit, number_unit
from preprocessor.pages.prose.nameindex import NameIndex
from preprocessor.pages.prose.numbers import NUMBER, Figure, Unit, drop_unit, figures, read_number
from preprocessor.pages.prose.numberwords import spelled_figures
from preprocessor.render.column import column_value
from preprocessor.render.values import finite_decimal
from preprocessor.specs.model import TableSpec

if TYPE_CHECKING:
    from preprocessor.specs.model import PipelineSpec

    Rows = Sequence[Mapping[str, Any]]

_MEASURED: Final = ("%", "times", "time", "IOPS")
_NO_WORD: Final = re.compile(r"^\W+|\W+$")
_BARE: Final = re.compile(r"(?<![\w.,%-])\d{2,}(?![\w%]|[.,]\d)")
"""A number of two digits and more that may be what a row is called: `74 % at 63, 91 % at 183`."""


class Measure(NamedTuple):
    """A column of numbers that rows are called by, with its unit or noun: the rows of each, and all in order.

    ``words`` are what the column is called, as in `n = 10`.
    """

    unit: Unit | None
    rows: Mapping[float, frozenset[int]]
    values: Sequence[float]
    words: tuple[str, ...]

    def find(self, text: str, said: Sequence[Figure], bare: Sequence[float]) -> Iterator[int]:
        """The rows that are called by a figure of that unit, by the column and a number, or by a bare number."""
        called = [value for value in (*bare, *self._find_called(text)) if value in self.rows]
        for figure in said:
            if figure.unit == self.unit:
                low, high = figure.span()
                called += self.values[bisect_left(self.values, low) : bisect_right(self.values, high)]
        return (row for value in called for row in self.rows[value])

    def _find_called(self, text: str) -> Iterator[float]:
        for word in self.words:
            for found in re.finditer(
                rf"(?<!\w){re.escape(word)}\s*[=:]\s*({NUMBER})(?!\w)", text, re.IGNORECASE
            ):
                yield read_number(found[1])


class TableNames(NamedTuple):
    """What the rows of a table are called, each name with its rows, and its columns with their headers.

    ``labels`` has the names of each column by itself.
    """

    spec: TableSpec
    rows: Mapping[str, frozenset[int]]
    labels: tuple[Mapping[str, frozenset[int]], ...]
    names: NameIndex
    measures: tuple[Measure, ...]
    columns: Mapping[str, str]


class Named(NamedTuple):
    """The rows, from 0, and the columns of a table that are named.

    ``against``: those of the rows that the others are compared with, where it is said. ``by_order``: of more rows that
    are named, the order of words makes these the figure's own. ``field``: what a typed header names, where no column
    shows that.
    """

    rows: frozenset[int] = frozenset()
    columns: frozenset[str] = frozenset()
    against: frozenset[int] = frozenset()
    by_order: bool = False
    field: str = ""


def read_names(shown: Iterable[tuple[PipelineSpec, Rows]]) -> tuple[TableNames, ...]:
    """The names in the tables among some tables and charts."""
    return tuple(_names_of(spec, rows) for spec, rows in shown if isinstance(spec, TableSpec))


def _names_of(spec: TableSpec, rows: Rows) -> TableNames:
    naming = naming_columns(spec, rows)
    labels = [
        name
        for name in spec.columns
        if (name in naming and _is_chosen(spec, name, rows)) or _is_setting(spec, name, rows)
    ]
    columns = {name: [column_value(row, name) for row in rows] for name in labels}
    headers = header_words(spec)
    measures = (
        _measure_of(number_unit(spec, name, rows), values, (name.rpartition(".")[2], headers.get(name, name)))
        for name, values in columns.items()
    )
    rows_by_name = _rows_by_name(columns.values())
    return TableNames(
        spec,
        rows_by_name,
        tuple(_rows_by_name([values]) for values in columns.values()),
        NameIndex(rows_by_name),
        tuple(one for one in measures if one.values),
        {name: words for name, words in headers.items() if name not in labels and is_name(words.lower())},
    )


def _rows_by_name(columns: Iterable[Sequence[object]]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for values in columns:
        for number, value in enumerate(values):
            if isinstance(value, str) and is_name(value):
                found.setdefault(value, set()).add(number)
    return {name: frozenset(rows) for name, rows in found.items()}


def _measure_of(unit: Unit | None, values: Sequence[object], words: tuple[str, ...]) -> Measure:
    found: dict[float, set[int]] = {}
    for row, value in enumerate(values):
        if (number := finite_decimal(value)) is not None:
            found.setdefault(float(number), set()).add(row)
    by_value = {value: frozenset(rows) for value, rows in found.items()}
    return Measure(unit, by_value, sorted(found), tuple(filter(None, dict.fromkeys(words))))


def _is_chosen(spec: TableSpec, column: str, rows: Rows) -> bool:
    """Whether readers find rows by a column, and it does not only sort them by what was measured."""
    unit = measured_unit(spec, column, rows)
    return (
        column == spec.columns[0] or unit is None or not (unit.kind in _MEASURED or unit.kind.endswith("/s"))
    )


def _is_setting(spec: TableSpec, column: str, rows: Rows) -> bool:
    """Whether a column has whole numbers of which rows share some, as the threads of each of two caches."""
    values = [finite_decimal(column_value(row, column)) for row in rows]
    whole = [one for one in values if one is not None and one == one.to_integral_value()]
    if len(whole) < len(values) or len({*whole}) == len(whole):
        return False
    unit = number_unit(spec, column, rows)
    return unit is None or not (unit.kind in (*_MEASURED, "byte") or unit.kind.endswith("/s"))


def find_names(
    text: str, tables: Sequence[TableNames], nouns: Collection[str], *, loosely: bool = False
) -> dict[int, Named]:
    """What a text names in each table, by the id of its spec; tables of which it names nothing are left out.

    ``loosely``: a number of two digits and more names a row without its noun as well.
    """
    said = [one for one in (*figures(text, nouns), *spelled_figures(text)) if one.unit is not None]
    bare = [float(found[0]) for found in _BARE.finditer(text)] if loosely else []
    found = {id(one.spec): _find_in(text, one, said, bare) for one in tables}
    return {key: named for key, named in found.items() if named.rows or named.columns}


def _find_in(text: str, table: TableNames, said: Sequence[Figure], bare: Sequence[float]) -> Named:
    names = table.names.find(text, whole=True)
    by_column = [
        *(
            frozenset[int]().union(*(label[name] for name in names if name in label))
            for label in table.labels
        ),
        *(frozenset(measure.find(text, said, bare)) for measure in table.measures),
    ]
    rows = _rows_of_all([one for one in by_column if one])
    headers = set(find_words(text, table.columns.values()))
    return Named(rows, frozenset(name for name, header in table.columns.items() if header in headers))


def _rows_of_all(by_column: Sequence[frozenset[int]]) -> frozenset[int]:
    """The rows that are named by each of some columns: `lru at 16 threads`; those of any, where no row is."""
    both = frozenset.intersection(*by_column) if by_column else frozenset[int]()
    return both or frozenset[int]().union(*by_column)


def find_words(text: str, names: Iterable[str]) -> list[str]:
    """The names, longest first, that stand in a text as words; a number names nothing."""
    return NameIndex(names).find(text, whole=False)


def header_words(table: TableSpec) -> dict[str, str]:
    """The header of each column without its unit, and without signs around its words."""
    return {
        name: _NO_WORD.sub("", drop_unit(header))
        for name, header in zip(table.columns, table.headers, strict=True)
    }


def naming_columns(table: TableSpec, rows: Rows) -> Sequence[str]:
    """The columns that name a row, as the rule about rows of the same name has them."""
    from preprocessor.lint.rules_rows import find_naming_columns  # and with it the linter

    return find_naming_columns(table, rows)
