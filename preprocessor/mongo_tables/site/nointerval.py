"""Whether there is an interval where a tolerance goes by one: without, each change of a number is one too many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mongo_tables.directives.specs import TableSpec, ValueSpec
from mongo_tables.findings.rules import finding
from mongo_tables.render.column import column_value
from mongo_tables.render.conclusions import conclusion_of
from mongo_tables.render.values import finite_decimal

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.results.model import Rows


def find_no_interval(spec: TableSpec | ValueSpec, table: TableSpec, rows: Rows) -> list[Finding]:
    """MT336: the tolerance of a table, or of a value of it, goes by an interval, and none of the ``rows`` has one."""
    if spec.tolerance is None or spec.tolerance.share is not None:
        return []
    columns = spec.columns if isinstance(spec, TableSpec) else (spec.column,)
    if any(_has_interval(table, row, column) for row in rows for column in columns):
        return []
    which = "no row has one" if isinstance(spec, TableSpec) else f"`{spec.column}` has none"
    message = f"`tolerance` goes by an interval, and {which}"
    hint = 'name the ends in `spread` of the table, or say how far numbers may move, such as "5 %"'
    return [finding("MT336", spec.file, spec.locate(("tolerance",)), message, hint)]


def _has_interval(table: TableSpec, row: Mapping[str, Any], column: str) -> bool:
    ends = [finite_decimal(column_value(row, field)) for field in table.spread.get(column, ())[:2]]
    return (len(ends) == 2 and None not in ends) or conclusion_of(column_value(row, column)) is not None
