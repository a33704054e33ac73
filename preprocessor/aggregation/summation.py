"""Sums of mixed numbers, bit for bit as the server adds them (its DoubleDoubleSummation and sum accumulator).

Doubles are added with compensation: a sum is a pair of doubles, of which the second holds what rounding lost.
The order of the operations is the server's: the result is the same double, not merely a near one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from bson.decimal128 import Decimal128

from preprocessor.aggregation.numbers import (
    CONTEXT,
    DECIMAL,
    DOUBLE,
    INT32,
    decimal128,
    integer,
    rank,
)
from preprocessor.aggregation.values import INT64_MAX, INT64_MIN

_TWO_32 = 2**32
_ZERO = Decimal(0)


class DoubleDouble:
    """A running sum of doubles and integers that keeps about 106 bits."""

    __slots__ = ("addend", "special", "total")

    def __init__(self) -> None:
        self.total = 0.0
        self.addend = 0.0
        # The plain sum: what the result is once infinities have made the others NaN.
        self.special = 0.0

    def add(self, *values: float) -> None:
        """Adds doubles (or int32 values: they are exact)."""
        total, addend, special = self.total, self.addend, self.special
        for value in values:
            special += value
            # Knuth's two-sum, twice: value and addend, then the total and that.
            a = value + addend
            b = a - value
            lost = (value - (a - b)) + (addend - b)
            s = total + a
            b = s - total
            addend = ((total - (s - b)) + (a - b)) + lost
            total = s
        self.total, self.addend, self.special = total, addend, special

    def add_long(self, value: int) -> None:
        """Adds an integer of up to 64 bits without loss: its halves one after the other."""
        high = (abs(value) >> 32) << 32
        if value < 0:
            high = -high
        self.add(float(value - high), float(high))

    @property
    def double(self) -> float:
        """The sum as a double."""
        return plain(self.special if self.total != self.total else self.total)

    @property
    def exact(self) -> int | None:
        """The sum as an integer, fractions rounded half away from zero; None when it does not fit an int64."""
        if not (math.isfinite(self.total) and math.isfinite(self.addend)):
            return None
        number = half_away(self.total) + half_away(self.addend)
        return number if INT64_MIN <= number <= INT64_MAX else None

    @property
    def decimal(self) -> Decimal:
        """The sum with 34 digits."""
        if not math.isfinite(self.total):
            return Decimal(self.double)
        return CONTEXT.add(CONTEXT.create_decimal(self.total), CONTEXT.create_decimal(self.addend))


def plain(value: float) -> float:
    """The double, and any NaN as the one without a sign: which sign a sum gives depends on the machine."""
    return value if value == value else math.nan


def half_away(value: float) -> int:
    """The nearest integer, halves away from zero (C's ``llround``)."""
    whole = int(value)
    if abs(value - whole) >= 0.5:
        whole += 1 if value > 0 else -1
    return whole


class MixedSum:
    """A running sum of numbers of all types, for `$sum` and `$avg`; ``widest`` is the widest type seen."""

    __slots__ = ("decimals", "numbers", "widest")

    def __init__(self) -> None:
        self.numbers = DoubleDouble()
        self.decimals = _ZERO
        self.widest = INT32

    def add(self, value: Any) -> None:
        """Adds one number; every other value must have been left out."""
        kind = rank(value)
        self.widest = max(kind, self.widest)
        if kind == DOUBLE:
            self.numbers.add(value)
        elif kind == DECIMAL:
            self.decimals = CONTEXT.add(self.decimals, value.to_decimal())
        else:
            self.numbers.add_long(int(value))

    @property
    def decimal(self) -> Decimal:
        """The sum of all that was added, with 34 digits."""
        return CONTEXT.add(self.decimals, self.numbers.decimal)

    @property
    def value(self) -> int | float | Decimal128:
        """The sum in the widest type seen; integers that fit no int64 become a double."""
        if self.widest == DECIMAL:
            return decimal128(self.decimal)
        if self.widest != DOUBLE:
            exact = self.numbers.exact
            if exact is not None:
                return integer(exact, self.widest)
        return self.numbers.double


def total(values: Iterable[Any]) -> int | float | Decimal128:
    """The server's `$sum` of the numbers among ``values``; 0 when there is none."""
    found = list(values)
    kinds = set(map(type, found))
    if kinds == {float}:
        return _doubles(found).double
    if kinds <= {int}:
        whole = sum(found)
        if abs(whole) < _TWO_32 and all(abs(value) < 2**31 for value in found):
            return integer(whole)
    mixed = MixedSum()
    for value in found:
        if rank(value):
            mixed.add(value)
    return mixed.value


def mean(values: Iterable[Any]) -> float | Decimal128 | None:
    """The server's `$avg` of the numbers among ``values``; None when there is none."""
    found = [value for value in values if type(value) is float or rank(value)]
    if not found:
        return None
    kinds = set(map(type, found))
    if kinds == {float}:
        return _doubles(found).double / len(found)
    mixed = MixedSum()
    for value in found:
        mixed.add(value)
    return mixed_mean(mixed, len(found))


def mixed_mean(mixed: MixedSum, count: int) -> float | Decimal128:
    """The mean of ``count`` numbers of which ``mixed`` is the sum: a double, or a Decimal128 if one was among them."""
    if mixed.widest == DECIMAL:
        return decimal128(CONTEXT.divide(mixed.decimal, Decimal(count)))
    return mixed.numbers.double / count


def _doubles(values: list[float]) -> DoubleDouble:
    numbers = DoubleDouble()
    numbers.add(*values)
    return numbers
