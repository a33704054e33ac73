"""The ranges that a table or a chart shows with its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from mongo_tables.render.column import column_value
from mongo_tables.render.fault import Fault
from mongo_tables.render.values import finite_decimal

if TYPE_CHECKING:
    from mongo_tables.directives.specs import ChartSpec, TableSpec

_ROUNDING: Final = Decimal("1e-9")
"""How far a value may be from its range, as a part of it: two ways to compute one double differ in the last digit."""


def range_faults(spec: TableSpec | ChartSpec, rows: Sequence[Mapping[str, object]]) -> list[Fault]:
    """Values that lie outside the range that is shown with them: the first of each column."""
    found: list[Fault] = []
    for name, fields in spec.spread.items():
        for number, row in enumerate(rows, 1):
            value, low, high = (finite_decimal(column_value(row, each)) for each in (name, *fields[:2]))
            if value is None or low is None or high is None or _within(value, low, high):
                continue
            message = f"row {number} has {value} in `{name}`, outside its range from {low} to {high}"
            hint = "name the fields of the lowest and the highest value of the same measure, in this order"
            found.append((("spread", name), message, hint))
            break
    return found


def _within(value: Decimal, low: Decimal, high: Decimal) -> bool:
    off = abs(value) * _ROUNDING
    return low - off <= value <= high + off
