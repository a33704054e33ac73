"""Which rows and columns of tables a part of a sentence names.

A row is named by a text of one of the columns that readers find it by, or by a number there that stands with its noun
or unit, as `63 tools` or `a 63-tool test`; a column by the words of its header. Names count as words, in code as well.
Those that every sentence has name nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.pages.prose.benchmarknames import list_own_names
from mongo_tables.pages.prose.directions import is_name
from mongo_tables.pages.prose.evidence import measured_unit, number_unit
from mongo_tables.pages.prose.nameindex import NameIndex
from mongo_tables.pages.prose.numbers import Figure, Unit, drop_unit
from mongo_tables.pages.prose.settings import Measure, Setting, list_said, measure_of
from mongo_tables.render.column import column_value
from mongo_tables.render.values import finite_decimal
from mongo_tables.specs.model import TableSpec

if TYPE_CHECKING:
    from mongo_tables.specs.model import PipelineSpec

    Rows = Sequence[Mapping[str, Any]]

_MEASURED: Final = ("%", "times", "time", "IOPS")
_NO_WORD: Final = re.compile(r"^\W+|\W+$")
_BARE: Final = re.compile(r"(?<![\w.,%-])\d{2,}(?![\w%]|[.,]\d)")
"""A number of two digits and more that may be what a row is called: `74 % at 63, 91 % at 183`."""


class TableNames(NamedTuple):
    """What the rows of a table are called, each name with its rows, and its columns with their headers.

    ``labels`` has the names of each column by itself; ``calling`` are these columns.
    """

    spec: TableSpec
    calling: tuple[str, ...]
    rows: Mapping[str, frozenset[int]]
    labels: tuple[Mapping[str, frozenset[int]], ...]
    names: NameIndex
    measures: tuple[Measure, ...]
    columns: Mapping[str, str]


class Named(NamedTuple):
    """The rows, from 0, and the columns of a table that are named.

    ``pairs``: those of which each first is compared with the second, where it is said. ``by_order``: of more rows that
    are named, the order of words makes these the figure's own. ``field``: what a typed header names, where no column
    shows that.
    """

    rows: frozenset[int] = frozenset()
    columns: frozenset[str] = frozenset()
    pairs: frozenset[tuple[int, int]] = frozenset()
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
    called = [_names_in(name, values, rows) for name, values in columns.items()]
    headers = header_words(spec)
    measures = (
        measure_of(number_unit(spec, name, rows), values, (name.rpartition(".")[2], headers.get(name, name)))
        for name, values in columns.items()
    )
    rows_by_name = _rows_by_name(called)
    return TableNames(
        spec,
        tuple(labels),
        rows_by_name,
        tuple(_rows_by_name([names]) for names in called),
        NameIndex(rows_by_name),
        tuple(one for one in measures if one.values),
        {name: words for name, words in headers.items() if name not in labels and is_name(words.lower())},
    )


def _names_in(column: str, values: Sequence[object], rows: Rows) -> list[tuple[str, ...]]:
    """What each row is called by its text in a column; by that of a benchmark also all that this one is called."""
    own = [list_own_names(column, row) for row in rows]
    return [
        tuple(one for one in (value, *names) if isinstance(one, str) and is_name(one))
        for value, names in zip(values, own, strict=True)
    ]


def _rows_by_name(columns: Iterable[Sequence[tuple[str, ...]]]) -> dict[str, frozenset[int]]:
    """The rows of each name; what is the whole name of one is not what others are also called."""
    first: dict[str, set[int]] = {}
    also: dict[str, set[int]] = {}
    for called in columns:
        for number, names in enumerate(called):
            for name in names:
                (first if name == names[0] else also).setdefault(name, set()).add(number)
    return {name: frozenset(rows) for name, rows in (also | first).items()}


def _is_chosen(spec: TableSpec, column: str, rows: Rows) -> bool:
    """Whether readers find rows by a column, and it does not only sort them by what was measured."""
    unit = measured_unit(spec, column, rows)
    return (
        column == spec.columns[0] or unit is None or not (unit.kind in _MEASURED or unit.kind.endswith("/s"))
    )


def _is_setting(spec: TableSpec, column: str, rows: Rows) -> bool:
    """Whether a column has the numbers that benchmarks were called with, or whole ones of which rows share some.

    So have the threads of each of two caches.
    """
    if column.startswith("parameters."):
        return True
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
    said = list_said(text, nouns)
    bare = [float(found[0]) for found in _BARE.finditer(text)] if loosely else []
    found = {id(one.spec): _find_in(text, one, said, bare) for one in tables}
    return {key: named for key, named in found.items() if named.rows or named.columns}


def find_settings(
    text: str, table: TableNames, nouns: Collection[str]
) -> list[tuple[Unit | None, list[Setting]]]:
    """Where a text says numbers that the rows of a table are called by, those of each column with their unit."""
    said = list_said(text, nouns)
    found = ((measure.unit, measure.find_settings(text, said)) for measure in table.measures)
    return [one for one in found if one[1]]


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
    from mongo_tables.lint.rules_rows import find_naming_columns  # and with it the linter

    return find_naming_columns(table, rows)
