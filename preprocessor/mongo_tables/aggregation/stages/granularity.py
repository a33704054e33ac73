"""Preferred numbers for the bounds of `$bucketAuto`: Renard, E and 1-2-5 series, powers of two.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucketAuto/#granularity, with the
figures of ISO 3 (Renard) and IEC 60063 (E series).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

from bson.decimal128 import Decimal128

from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import CONTEXT, decimal128, double_to_decimal, is_nan, to_double
from mongo_tables.aggregation.values import is_number, is_string, type_name

_R40 = (
    "100 106 112 118 125 132 140 150 160 170 180 190 200 212 224 236 250 265 280 300 315 355 375 400 425 450 "
    "475 500 530 560 600 630 670 710 750 800 850 900 950"
)
_R80 = (
    "103 109 115 122 128 136 145 155 165 175 185 195 206 218 230 243 258 272 290 307 325 345 365 387 412 437 "
    "462 487 515 545 575 615 650 690 730 775 825 875 925 975"
)
_R20 = "100 112 125 140 160 180 200 224 250 280 315 355 400 450 500 560 630 710 800 900"
_R5 = "10 16 25 40 63"
_E24 = "10 11 12 13 15 16 18 20 22 24 27 30 33 36 39 43 47 51 56 62 68 75 82 91"


def _figures(text: str, step: int = 1) -> tuple[int, ...]:
    return tuple(int(figure) for figure in text.split())[::step]


# E192 is 10^(n/192) to three figures, but for one figure that the standard has otherwise.
_E192 = tuple(920 if step == 185 else round(100 * 10 ** (step / 192)) for step in range(192))

# Figures as the server holds them, two or three digits each: a bound is a figure times a power of ten, and which
# double that is depends on the figure. Its R40 lacks 335, its R80 has none of R40's and 575 for 580.
_SERIES = {
    "R5": _figures(_R5), "R10": _figures(_R20, 2), "R20": _figures(_R20), "R40": _figures(_R40),
    "R80": _figures(_R80), "1-2-5": (10, 20, 50),
    "E6": _figures(_E24, 4), "E12": _figures(_E24, 2), "E24": _figures(_E24),
    "E48": _E192[::4], "E96": _E192[::2], "E192": _E192,
}  # fmt: skip


class Series(Protocol):
    """How a bound is moved to a preferred number; zero stays zero."""

    def round_up(self, value: Any) -> Any:
        """The least preferred number above the value."""

    def round_down(self, value: Any) -> Any:
        """The greatest preferred number below the value."""


@dataclass(frozen=True, slots=True)
class _Preferred:
    figures: tuple[int, ...]

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
            return (
                [double_to_decimal(float(figure)) for figure in self.figures],
                value.to_decimal(),
                Decimal(10),
            )
        return [float(figure) for figure in self.figures], float(value), 10.0


def _like(value: Any, number: Any) -> Any:
    return decimal128(number) if isinstance(value, Decimal128) else number


@dataclass(frozen=True, slots=True)
class _Powers:
    def round_up(self, value: Any) -> Any:
        return _power(value, _floor_log2(value) + 1) if to_double(value) else value

    def round_down(self, value: Any) -> Any:
        if not to_double(value):
            return value
        exponent = _floor_log2(value)
        return _power(value, exponent - 1 if to_exact(value) == Fraction(2) ** exponent else exponent)


def _floor_log2(value: Any) -> int:
    exact = to_exact(value)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= exact else exponent - 1


def to_exact(value: Any) -> Fraction:
    """A finite number without rounding."""
    return Fraction(value.to_decimal() if isinstance(value, Decimal128) else value)


def _power(value: Any, exponent: int) -> Any:
    """Two to the power: an integer where it is one of 64 bits, else a double; of 34 digits for a Decimal128."""
    if isinstance(value, Decimal128):
        exact = CONTEXT.power(Decimal(2), exponent)
        return decimal128(exact.quantize(Decimal((0, (1,), exact.adjusted() - 33)), context=CONTEXT))
    if 0 <= exponent < 63:
        return 2**exponent
    return 2.0**exponent


def series(name: Any, path: Path) -> Series:
    """The series of this name. Raises AggregationError when there is none."""
    if not is_string(name):
        raise AggregationError("granularity of $bucketAuto is the name of a series", path, 40261)
    if name == "POWERSOF2":
        return _Powers()
    if name not in _SERIES:
        raise AggregationError(f"there is no granularity '{name}'", path, 40257, unknown=name, known=_SERIES)
    return _Preferred(_SERIES[name])


def check(value: Any, path: Path) -> None:
    """Raises AggregationError for a value that has no place in a series: no number, not a number, below zero."""
    if not is_number(value):
        raise AggregationError(f"a granularity needs numbers, not {type_name(value)}", path, 40258)
    if is_nan(value):
        raise AggregationError("a granularity needs numbers, not NaN", path, 40259)
    if to_double(value) < 0:
        raise AggregationError("a granularity needs numbers from 0 on", path, 40260)
