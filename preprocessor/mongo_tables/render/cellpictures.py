"""How large a number of a column is beside the others: the length of a bar, or how strong a colour is.

The number itself stays in the cell, so that nobody has to see either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mongo_tables.render.column import Column
from mongo_tables.render.text import with_minus_signs
from mongo_tables.render.values import finite_decimal

STRONGEST: Final = 5
_LARGEST: Final = 1e300
"""Beyond it the distance of two numbers may be no number."""


def bars(values: Sequence[object]) -> tuple[float, ...]:
    """For each value its part of the largest, from 0 to 1; 0 for what is no positive number."""
    numbers = [max(one or 0.0, 0.0) for one in _numbers(values)]
    largest = max(numbers, default=0.0)
    return tuple(number / largest if largest else 0.0 for number in numbers)


def shades(values: Sequence[object], scale: str) -> tuple[int, ...]:
    """For each value how strong its colour is: 0 for none, up to 5, and in a diverging scale down to -5.

    A sequential scale goes from the lowest value, which has 1, to the highest; a diverging one goes to both sides of 0.
    """
    numbers = _numbers(values)
    known = [number for number in numbers if number is not None]
    if scale == "diverging":
        farthest = max(map(abs, known), default=0.0)
        return tuple(round(number / farthest * STRONGEST) if number and farthest else 0 for number in numbers)
    low, high = min(known, default=0.0), max(known, default=0.0)
    if low == high:
        return (0,) * len(numbers)
    steps = (STRONGEST - 1) / (high - low)
    return tuple(0 if number is None else 1 + round((number - low) * steps) for number in numbers)


def shade_note(column: Column) -> str:
    """What the shades of a column mean; "" where it has none."""
    if not column.scale or not any(shades(column.values, column.scale)):
        return ""
    if column.scale == "diverging":
        return f"Shades under {column.full_header}: blue below 0, orange above, stronger with the distance from 0."
    numbers = _numbers(column.values)
    known = [number for number in numbers if number is not None]
    low, high = (with_minus_signs(column.texts[numbers.index(end)]) for end in (min(known), max(known)))
    return f"Shades under {column.full_header}: from {low}, faint, to {high}, strong."


def _numbers(values: Sequence[object]) -> list[float | None]:
    """Numbers near enough to draw them; None for what is none, and for those that no double holds."""
    decimals = map(finite_decimal, values)
    floats = [None if one is None else float(one) for one in decimals]
    return [one if one is not None and abs(one) < _LARGEST else None for one in floats]
