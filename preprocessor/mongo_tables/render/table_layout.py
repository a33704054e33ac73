"""The parts of a table in any output format: columns, rows below group headings, totals and notes.

Adjacent rows with the same value of the grouping column form a group. Totals are computed with MongoDB's ``$sum``,
``$avg``, ``$min`` and ``$max``, which define how types mix and which values are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mongo_tables.aggregation import aggregate
from mongo_tables.aggregation.values import MISSING, is_number
from mongo_tables.directives.columns import ColumnFormat
from mongo_tables.findings.reporters import format_count
from mongo_tables.render.column import Column, Rows
from mongo_tables.render.columns import columns_of
from mongo_tables.render.number_text import notation_of, rounds
from mongo_tables.render.values import cell_text, raw_text

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec

_LABELS: Final = {"sum": "Sum", "avg": "Mean", "min": "Minimum", "max": "Maximum", "count": "Count"}
_MOST_DECIMALS: Final = 15


class RowGroup(NamedTuple):
    """The heading of a group, and the numbers of its rows, from 0. A table without groups is one group without a
    heading.
    """

    heading: str | None
    rows: range


class Total(NamedTuple):
    """A cell in a row of totals: its value, its text in the column's format, and its raw text."""

    value: Any
    text: str
    raw: str


class TotalRow(NamedTuple):
    """A row of totals: its label, and its cells by column name."""

    label: str
    cells: Mapping[str, Total]


class TableLayout(NamedTuple):
    """The layout of a table.

    Attributes:
        columns: The shown columns.
        all_columns: The shown columns, and the column whose values are the group headings.
        groups: The groups of rows.
        totals: The rows of totals.
        notes: The notes on ``n/a`` cells, comparisons and totals to print below the table, as plain text.
        headings: The text ("" for none) and the span of each cell above the headers.
    """

    columns: Sequence[Column]
    all_columns: Sequence[Column]
    groups: Sequence[RowGroup]
    totals: Sequence[TotalRow]
    notes: Sequence[str]
    headings: Sequence[tuple[str, int]]


def lay_out(spec: TableSpec, rows: Rows, columns: Sequence[Column] | None = None) -> TableLayout:
    """Return the layout of a table with these rows. Pass ``columns`` (of ``columns_of``) if they are known already."""
    known = columns or columns_of(spec, rows)
    grouping = None
    shown: list[Column] = []
    lacking: list[str] = []
    of_columns: dict[str, None] = {}
    # Columns with the same reason for the same placeholder share a note.
    unknown: dict[tuple[str, str], list[str]] = {}
    for column in known:
        if spec.group_rows and grouping is None and column.name == spec.group_rows:
            grouping = column
            continue
        shown.append(column)
        of_columns |= dict.fromkeys(column.notes)
        is_total = spec.totals.get(column.name, "count") != "count"
        if is_total and (None in column.values or MISSING in column.values):
            lacking.append(column.header)
        if column.reason:
            pairs = zip(column.values, column.texts, strict=True)
            for text in dict.fromkeys(text for value, text in pairs if value is None or value is MISSING):
                unknown.setdefault((text, column.reason), []).append(column.header)
    notes = []
    for (text, reason), headers in unknown.items():
        notes.append(f"{text} in “{'”, “'.join(headers)}”: {reason}")
    notes += of_columns
    if lacking:
        notes.append(f"The totals of “{'”, “'.join(lacking)}” leave out rows without a value.")
    groups = [RowGroup(None, range(len(rows)))] if grouping is None else _group_rows(grouping)
    totals = total_rows(spec, shown) if spec.totals else ()
    headings = [one.heading for one in shown] if spec.header_groups else []
    spans = [(text, len(list(same))) for text, same in groupby(headings)] if any(headings) else []
    return TableLayout(shown, known, groups, totals, notes, spans)


def _group_rows(column: Column) -> list[RowGroup]:
    """Return the groups by a column. A heading that is a number includes the column's header, which explains it."""
    groups = []
    for (_, text), same in groupby(
        range(len(column.values)), key=lambda row: (column.raws[row], column.texts[row])
    ):
        first, *others = same
        heading = text
        if not isinstance(column.values[first], str):
            unit = f" {column.unit}" if column.unit and is_number(column.values[first]) else ""
            heading = f"{column.header}: {text}{unit}"
        groups.append(RowGroup(heading, range(first, first + 1 + len(others))))
    return groups


def total_rows(spec: TableSpec, columns: Sequence[Column]) -> list[TotalRow]:
    """Return a row for each kind of total that the table has."""
    found = []
    named = [column for column in columns if column.name in spec.totals]
    for kind, label in _LABELS.items() if named else ():
        cells = {
            column.name: _total(kind, column, spec.format.get(column.name))
            for column in named
            if spec.totals[column.name] == kind
        }
        if cells:
            count = len(columns[0].values)
            found.append(TotalRow(f"{label} of {format_count(count, 'row')}", cells))
    return found


def _total(kind: str, column: Column, form: ColumnFormat | None) -> Total:
    present: list[Any] = [value for value in column.values if value is not None and value is not MISSING]
    if kind == "count":
        form = ColumnFormat(thousands=form.thousands, locale=form.locale) if form else None
        return Total(len(present), cell_text(len(present), form), str(len(present)))
    if not present:
        return Total(None, cell_text(None, form), "")
    group = {"$group": {"_id": None, "total": {f"${kind}": "$value"}}}
    (row,) = aggregate([{"value": value} for value in present], [group])
    value = row["total"]
    form = _with_decimals(form, present, kind) if kind in ("sum", "avg") else form
    return Total(value, cell_text(value, form), raw_text(value))


def _with_decimals(form: ColumnFormat | None, values: Sequence[Any], kind: str) -> ColumnFormat:
    """Return the format with as many decimals as the values have, for a sum, or one more, for a mean.

    Further digits are errors of binary fractions. A format that already rounds is returned unchanged.
    """
    form = form or ColumnFormat()
    if rounds(form):
        return form
    exponents = (Decimal(raw_text(value)).as_tuple().exponent for value in values if is_number(value))
    most = max((-one for one in exponents if isinstance(one, int) and one < 0), default=0)
    notation = notation_of(form)
    decimals = most + (kind == "avg") - notation.power
    if decimals > _MOST_DECIMALS:
        return form
    return form._replace(decimals=max(decimals, notation.least_decimals))
