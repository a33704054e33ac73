"""The rows of a table below headings: consecutive rows with the same value of the column that they are grouped by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from mongo_tables.render.column import Column, column_value
from mongo_tables.render.fault import Fault
from mongo_tables.render.values import cell_text, is_number, raw_or_nothing

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec


class RowGroup(NamedTuple):
    """Rows that stand together: ``heading`` above them, None in a table without groups, and their numbers from 0."""

    heading: str | None
    rows: range


def row_groups(spec: TableSpec, columns: Sequence[Column], count: int) -> list[RowGroup]:
    """The groups of a table of ``count`` rows: one without a heading where rows are not grouped.

    A number has the column's header before it: it would mean nothing alone.
    """
    column = next((one for one in columns if spec.group_rows and one.name == spec.group_rows), None)
    if column is None:
        return [RowGroup(None, range(count))]
    same = groupby(range(count), key=lambda row: (column.raws[row], column.texts[row]))
    runs = [list(numbers) for _, numbers in same]
    return [RowGroup(_heading(column, run[0]), range(run[0], run[-1] + 1)) for run in runs]


def _heading(column: Column, row: int) -> str:
    text = column.texts[row]
    if isinstance(column.values[row], str):
        return text
    unit = f" {column.unit}" if column.unit and is_number(column.values[row]) else ""
    return f"{column.header}: {text}{unit}"


def group_faults(spec: TableSpec, rows: Sequence[Mapping[str, object]]) -> list[Fault]:
    """Groups whose rows do not all stand together: readers take each part for all of it."""
    if not spec.group_rows:
        return []
    values = [column_value(row, spec.group_rows) for row in rows]
    seen: set[str] = set()
    for (_, raw), run in groupby(
        enumerate(values, 1), key=lambda pair: (type(pair[1]), raw_or_nothing(pair[1]))
    ):
        number, value = next(run)
        if raw in seen:
            text = cell_text(value, spec.form_of(spec.group_rows))
            message = (
                f"the rows of {text} stand apart: from row {number} on they get the same heading once more"
            )
            return [(("group_rows",), message, f"sort by `{spec.group_rows}` first")]
        seen.add(raw)
    return []
