"""Preferred numbers for the bounds of `$bucketAuto`: Renard, E and 1-2-5 series, powers of two.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucketAuto/#granularity, with the
figures of ISO 3 (Renard) and IEC 60063 (E series).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from bson.decimal128 import Decimal128

from preprocessor.aggregation.compiler import did_you_mean
from preprocessor.aggregation.errors import AggregationError, Path
from preprocessor.aggregation.numbers import CONTEXT, decimal128, is_nan, to_double
from preprocessor.aggregation.values import is_number, type_name

_R80 = tuple(
    """
    1.00 1.03 1.06 1.09 1.12 1.15 1.18 1.22 1.25 1.28 1.32 1.36 1.40 1.45 1.50 1.55 1.60 1.65 1.70 1.75
    1.80 1.85 1.90 1.95 2.00 2.06 2.12 2.18 2.24 2.30 2.36 2.43 2.50 2.58 2.65 2.72 2.80 2.90 3.00 3.07
    3.15 3.25 3.35 3.45 3.55 3.65 3.75 3.87 4.00 4.12 4.25 4.37 4.50 4.62 4.75 4.87 5.00 5.15 5.30 5.45
    5.60 5.80 6.00 6.15 6.30 6.50 6.70 6.90 7.10 7.30 7.50 7.75 8.00 8.25 8.50 8.75 9.00 9.25 9.50 9.75
    """.split()  # noqa: SIM905
)
_E24 = (
    "1.0 1.1 1.2 1.3 1.5 1.6 1.8 2.0 2.2 2.4 2.7 3.0 3.3 3.6 3.9 4.3 4.7 5.1 5.6 6.2 6.8 7.5 8.2 9.1".split()  # noqa: SIM905
)
# E192 is 10^(n/192) to three figures, but for one figure that the standard has otherwise.
_E192 = [f"{10 ** (step / 192):.2f}".replace("9.19", "9.20") for step in range(192)]

_SERIES = {
    "R5": _R80[::16], "R10": _R80[::8], "R20": _R80[::4], "R40": _R80[::2], "R80": _R80,
    "1-2-5": ["1.0", "2.0", "5.0"],
    "E6": _E24[::4], "E12": _E24[::2], "E24": _E24, "E48": _E192[::4], "E96": _E192[::2], "E192": _E192,
}  # fmt: skip


class Series(Protocol):
    """How a bound is moved to a preferred number; zero stays zero."""

    def round_up(self, value: Any) -> Any:
        """The least preferred number above the value."""

    def round_down(self, value: Any) -> Any:
        """The greatest preferred number below the value."""


@dataclass(frozen=True, slots=True)
class _Preferred:
    figures: tuple[Any, ...]

    def round_up(self, value: Any) -> Any:
        figures, number, ten = self._arithmetic(value)
        if not number:
            return value
        scale = ten / ten
        while number >= figures[-1] * scale:
            scale *= ten
        while number < figures[0] * scale:
            above = figures[0] * scale
            scale /= ten
            if number >= figures[-1] * scale:
                return _like(value, above)
        place = bisect_right(figures, number, key=lambda figure: figure * scale)
        return _like(value, figures[place] * scale)

    def round_down(self, value: Any) -> Any:
        figures, number, ten = self._arithmetic(value)
        if not number:
            return value
        scale = ten / ten
        while number <= figures[0] * scale:
            scale /= ten
        while number > figures[-1] * scale:
            below = figures[-1] * scale
            scale *= ten
            if number <= figures[0] * scale:
                return _like(value, below)
        return _like(
            value, figures[bisect_left(figures, number, key=lambda figure: figure * scale) - 1] * scale
        )

    def _arithmetic(self, value: Any) -> tuple[Any, Any, Any]:
        """Figures, value and ten as doubles, or as decimals for a Decimal128."""
        if isinstance(value, Decimal128):
            return [Decimal(figure) for figure in self.figures], value.to_decimal(), Decimal(10)
        return [float(figure) for figure in self.figures], float(value), 10.0


def _like(value: Any, number: Any) -> Any:
    return decimal128(number) if isinstance(value, Decimal128) else number


@dataclass(frozen=True, slots=True)
class _Powers:
    def round_up(self, value: Any) -> Any:
        if not to_double(value):
            return value
        return self._power(value, math.floor(math.log2(to_double(value))) + 1)

    def round_down(self, value: Any) -> Any:
        if not to_double(value):
            return value
        return self._power(value, math.ceil(math.log2(to_double(value))) - 1)

    def _power(self, value: Any, exponent: int) -> Any:
        if isinstance(value, Decimal128):
            return decimal128(CONTEXT.power(Decimal(2), exponent))
        return 2.0**exponent


def series(name: Any, path: Path) -> Series:
    """The series of this name. Raises AggregationError when there is none."""
    if not isinstance(name, str):
        raise AggregationError("granularity of $bucketAuto is the name of a series", path, 40261)
    if name == "POWERSOF2":
        return _Powers()
    if name not in _SERIES:
        hint = did_you_mean(name, _SERIES)
        raise AggregationError(f"there is no granularity '{name}'{hint}", path, 40257)
    return _Preferred(tuple(_SERIES[name]))


def check(value: Any, path: Path) -> None:
    """Raises AggregationError for a value that has no place in a series: no number, not a number, below zero."""
    if not is_number(value):
        raise AggregationError(f"a granularity needs numbers, not {type_name(value)}", path, 40258)
    if is_nan(value):
        raise AggregationError("a granularity needs numbers, not NaN", path, 40259)
    if to_double(value) < 0:
        raise AggregationError("a granularity needs numbers from 0 on", path, 40260)
