"""Where the values of a column lead to, by the ``link`` of its format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.addresses import fill_template
from mongo_tables.render.column import column_value
from mongo_tables.render.values import raw_or_nothing

Row = Mapping[str, object]


def address_in(template: str, row: Row) -> str:
    """The address that a column's ``link`` makes of a row; "" for none, and for one that must not become a link."""
    return fill_template(template, lambda field: raw_or_nothing(column_value(row, field)))


def addresses_of(template: str, values: Sequence[object], rows: Sequence[Row]) -> tuple[str, ...]:
    """Where each value of a column leads to; what stands for no value leads nowhere."""
    return tuple(
        "" if value is None or value is MISSING else address_in(template, row)
        for value, row in zip(values, rows, strict=True)
    )
