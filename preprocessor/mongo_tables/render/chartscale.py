"""Axes: where a value stands on them, and at which values they are marked.

Marks are 1, 2 or 5 times a power of ten, computed in decimals: no axis says 0.30000000000000004.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

_STEPS: Final = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from the value ``low`` to ``high``, drawn from the coordinate ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The coordinate of a value."""
        low, high = self._on_axis(self.low), self._on_axis(self.high)
        share = (self._on_axis(value) - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def _on_axis(self, value: float) -> float:
        return math.log10(value) if self.log else value


def linear_marks(low: float, high: float, most: int) -> list[float]:
    """Round values from the last below ``low`` to the first above ``high``, about ``most`` of them.

    Around zero there may be one more: both ends lie beyond the values.
    """
    most += low < 0 < high
    step = _step((high - low) / most if high > low else max(abs(high), 1) / most)
    first = math.floor(Decimal(low) / step)
    last = max(math.ceil(Decimal(high) / step), first + 1)
    return [float(number * step) for number in range(first, last + 1)]


def _step(raw: float) -> Decimal:
    power = Decimal(1).scaleb(math.floor(math.log10(raw)) if raw > 0 else 0)
    return next(factor * power for factor in _STEPS if factor * power >= Decimal(raw) or factor == _STEPS[-1])


def log_marks(low: float, high: float, most: int) -> list[float]:
    """Powers of ten around the values; where these are few, their double and fivefold as well."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    if last - first <= 2:
        fine = [_times(factor, power) for power in range(first, last) for factor in (1, 2, 5)]
        return _around([*fine, _times(1, last)], low, high)
    every = math.ceil((last - first) / most)
    return [_times(1, power) for power in range(first, last + every, every)]


def _times(factor: int, power: int) -> float:
    return float(Decimal(factor).scaleb(power))


def _around(marks: Sequence[float], low: float, high: float) -> list[float]:
    """The marks from the last that is not above ``low`` to the first that is not below ``high``."""
    first = max((index for index, mark in enumerate(marks) if mark <= low), default=0)
    last = min((index for index, mark in enumerate(marks) if mark >= high), default=len(marks) - 1)
    return list(marks[first : max(last, first + 1) + 1])


def apart(at: Sequence[float], room: float, low: float, high: float) -> list[float]:
    """The coordinates moved as little as may be until neighbours are ``room`` apart, within the limits.

    They stay in their order. Where they do not all fit, they share the space between the limits.
    """
    room = min(room, (high - low) / max(len(at) - 1, 1))
    order = sorted(range(len(at)), key=lambda index: at[index])
    placed = [0.0] * len(at)
    below = low
    for index in order:
        placed[index] = below = max(at[index], below)
        below += room
    above = high
    for index in reversed(order):
        placed[index] = above = min(placed[index], above)
        above -= room
    return placed
