"""The values of a field or a column that can be named: texts and numbers, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mongo_tables.render.column import column_value

Plain = str | int | float


def order_values(values: Iterable[Plain]) -> list[Plain]:
    """The values in order: numbers, then texts."""
    return sorted(values, key=lambda value: (isinstance(value, str), value))


def values_of_column(rows: Sequence[Mapping[str, Any]], column: str) -> frozenset[Plain]:
    """The texts and numbers that rows have in a column."""
    values = (column_value(row, column) for row in rows)
    return frozenset(value for value in values if isinstance(value, (str, int, float)))
