"""Numbers with the server's addition, promotion and overflow.

The order of promotion is int32 → int64 → double → Decimal128. An int32 result that does not fit becomes an
int64, an int64 result that does not fit becomes a double (except in `$add` and `$subtract` of dates).

The module computes sums and standard deviations of mixed numbers bit for bit as the server does. Doubles are added
with compensation: a sum is a pair of doubles, and the second one holds the rounding error. The operations run in the
server's order, so the result is the same double, not merely a near one.

Source: the server's DoubleDoubleSummation and sum accumulator, and Welford's method.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from types import NoneType
from typing import Any

from bson.decimal128 import Decimal128
from bson.int64 import Int64

from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.values import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, mistyped

INT32, INT64, DOUBLE, DECIMAL = 1, 2, 3, 4

# IEEE 754-2008 decimal128: 34 digits, no traps, as on the server.
CONTEXT = decimal.Context(
    prec=34, rounding=decimal.ROUND_HALF_EVEN, Emin=-6143, Emax=6144, capitals=1, clamp=1, traps=[]
)
# A double becomes a Decimal128 of 15 digits, as in the server's Decimal128(double) constructor.
_FIFTEEN = decimal.Context(prec=15, rounding=decimal.ROUND_HALF_EVEN, traps=[])


def rank(value: Any) -> int:
    """Return INT32, INT64, DOUBLE or DECIMAL, the number's type in order of promotion, or 0 for non-numbers."""
    kind = type(value)
    if kind is float:
        return DOUBLE
    if kind is Int64:
        return INT64
    if kind is Decimal128:
        return DECIMAL
    if kind is int or (isinstance(value, int) and kind is not bool):
        return INT32 if INT32_MIN <= value <= INT32_MAX else INT64
    return DOUBLE if isinstance(value, float) else 0


def number_rank(name: str, value: Any, code: int = 28765, what: str = "numbers only") -> int:
    """Return the ``rank`` of a number. Raises AggregationError for other values."""
    found = rank(value)
    if not found:
        raise mistyped(f"{name} works on {what}, not on", value, code)
    return found


def integer(value: int, at_least: int = INT32) -> int | float:
    """Return ``value`` as int32, or as int64 if necessary or requested. A value beyond int64 becomes a double."""
    if at_least == INT32 and INT32_MIN <= value <= INT32_MAX:
        return int(value)
    if INT64_MIN <= value <= INT64_MAX:
        return Int64(value)
    return float(value)


def to_decimal(value: Any) -> Decimal:
    """Return any number as a ``Decimal``. A double is converted through its 15-digit form, as on the server."""
    if isinstance(value, Decimal128):
        return value.to_decimal()
    if isinstance(value, float):
        return double_to_decimal(value)
    return Decimal(int(value))


def double_to_decimal(value: float) -> Decimal:
    """Return the server's Decimal128 of a double: 15 significant digits, trailing zeros included."""
    if math.isnan(value) or math.isinf(value):
        return Decimal(value)
    exact = Decimal(value)
    rounded = _FIFTEEN.create_decimal(exact)
    if not rounded:
        return rounded
    # The server quantizes to 15 digits and keeps them all: 0.1 → 0.100000000000000.
    return rounded.quantize(Decimal((0, (1,), rounded.adjusted() - 14)), context=CONTEXT)


def decimal128(value: Decimal) -> Decimal128:
    """Return a ``Decimal`` rounded to a Decimal128."""
    with decimal.localcontext(CONTEXT):
        return Decimal128(CONTEXT.create_decimal(value) if value.is_finite() else value)


def to_double(value: Any) -> float:
    """Return any number as a double. A Decimal128 out of range becomes an infinity."""
    if isinstance(value, Decimal128):
        return float(value.to_decimal())
    return float(value)


def integral(value: Any) -> int | None:
    """Return the integer that equals a number, or None for fractions and numbers that are not finite."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value == math.floor(value) else None
    if isinstance(value, Decimal128):
        exact = value.to_decimal()
        return int(exact) if exact.is_finite() and exact == exact.to_integral_value() else None
    return None


def whole(value: Any, bits: int = 64) -> int | None:
    """Return the integer of ``bits`` bits that equals a number, or None.

    Example:
        >>> whole(3.0), whole(2**40, bits=32)
        (3, None)
    """
    number = integral(value)
    return number if number is not None and -(2 ** (bits - 1)) <= number < 2 ** (bits - 1) else None


def int32(what: str, value: Any, not_number: int, not_int32: int) -> int:
    """Return an argument as a whole number of 32 bits. Raises AggregationError, with a code, for anything else."""
    if not rank(value):
        raise mistyped(f"{what} must be a number, not", value, not_number)
    number = whole(value, bits=32)
    if number is None:
        raise AggregationError(f"{what} must be a whole number of 32 bits, not {value}", code=not_int32)
    return number


def position(what: str, value: Any) -> int:
    """Return a position in an array or a text. Raises AggregationError unless it is a whole number of 0 or more."""
    number = whole(value, bits=32)
    if number is None:
        raise AggregationError(f"{what} must be a whole number, not {value!r}", code=40096)
    if number < 0:
        raise AggregationError(f"{what} must not be negative", code=40097)
    return number


def decimal_to_long(value: Decimal128) -> int:
    """Convert a Decimal128 to int64 as the server does: rounded, or the smallest int64 if it does not fit."""
    exact = value.to_decimal()
    if not exact.is_finite() or exact.adjusted() > 19:
        return INT64_MIN
    number = int(exact.to_integral_value(decimal.ROUND_HALF_EVEN))
    return number if INT64_MIN <= number <= INT64_MAX else INT64_MIN


_COMMON = frozenset((float, int, NoneType))
_ZERO = Decimal(0)


class DoubleDouble:
    """A running sum of doubles and integers that keeps about 106 bits."""

    __slots__ = ("addend", "special", "total")

    def __init__(self) -> None:
        self.total = 0.0
        self.addend = 0.0
        # The plain sum, which is the result once infinities have made the compensated sum NaN.
        self.special = 0.0

    def add(self, *values: float) -> None:
        """Add doubles; an int64 as its ``halves``."""
        total, addend, special = self.total, self.addend, self.special
        for value in values:
            special += value
            # A fast two-sum of value and addend, then Knuth's two-sum of the total and the result.
            a = value + addend
            lost = addend - (a - value)
            s = total + a
            b = s - total
            addend = ((total - (s - b)) + (a - b)) + lost
            total = s
        self.total, self.addend, self.special = total, addend, special

    @property
    def double(self) -> float:
        """Return the sum as a double."""
        return plain(self.special if self.total != self.total else self.total)

    @property
    def exact(self) -> int | None:
        """Return the sum as an integer, rounded half away from zero, or None if it does not fit an int64."""
        if not (math.isfinite(self.total) and math.isfinite(self.addend)):
            return None
        number = half_away(self.total) + half_away(self.addend)
        return number if INT64_MIN <= number <= INT64_MAX else None

    @property
    def decimal(self) -> Decimal:
        """Return the sum with 34 digits."""
        if not math.isfinite(self.total):
            return Decimal(self.double)
        return CONTEXT.add(CONTEXT.create_decimal(self.total), CONTEXT.create_decimal(self.addend))


def halves(value: int) -> tuple[float, float]:
    """Return the low and the high 32 bits of an int64 as doubles, which ``DoubleDouble.add`` adds without loss."""
    high = (abs(value) >> 32) << 32
    if value < 0:
        high = -high
    return float(value - high), float(high)


def plain(value: float) -> float:
    """Return the value, but NaN always without a sign, because the sign of a sum's NaN depends on the machine."""
    return value if value == value else math.nan


def half_away(value: float) -> int:
    """Return the nearest integer, halves away from zero (C's ``llround``).

    Example:
        >>> half_away(2.5), half_away(-2.5)
        (3, -3)
    """
    whole = int(value)
    if abs(value - whole) >= 0.5:
        whole += 1 if value > 0 else -1
    return whole


class MixedSum:
    """A running sum of numbers of all types, for `$sum` and `$avg`. ``widest`` is the widest type so far."""

    __slots__ = ("count", "decimals", "numbers", "widest")

    def __init__(self, values: Sequence[Any] = ()) -> None:
        self.numbers = DoubleDouble()
        self.decimals = _ZERO
        self.widest = INT32
        self.count = 0
        self.add(*values)

    def add(self, *values: Any) -> None:
        """Add the numbers among ``values``, in order."""
        parts = _plain_parts(values)
        if parts is not None:
            self.count += len(parts)
            if float in map(type, parts):
                self.widest = max(self.widest, DOUBLE)
        else:
            parts = [part for value in values for part in self._parts(value)]
        self.numbers.add(*parts)

    def _parts(self, value: Any) -> Sequence[float]:
        """Return the doubles to add for one value. A Decimal128 is added to its own sum at once."""
        kind = rank(value)
        if not kind:
            return ()
        self.count += 1
        if kind > self.widest:
            self.widest = kind
        if kind == DOUBLE:
            return (value,)
        if kind == DECIMAL:
            self.decimals = CONTEXT.add(self.decimals, value.to_decimal())
            return ()
        return halves(int(value)) if kind == INT64 else (float(value),)

    @property
    def decimal(self) -> Decimal:
        """Return the sum of all numbers, with 34 digits."""
        return CONTEXT.add(self.decimals, self.numbers.decimal)

    @property
    def value(self) -> int | float | Decimal128:
        """Return the sum in the widest type so far. A sum of integers that does not fit an int64 becomes a double."""
        if self.widest == DECIMAL:
            return decimal128(self.decimal)
        if self.widest != DOUBLE:
            exact = self.numbers.exact
            if exact is not None:
                return integer(exact, self.widest)
        return self.numbers.double

    @property
    def mean(self) -> float | Decimal128 | None:
        """Return the mean as a double, or as a Decimal128 if a number was a Decimal128. Return None without numbers."""
        if not self.count:
            return None
        if self.widest == DECIMAL:
            return decimal128(CONTEXT.divide(self.decimal, Decimal(self.count)))
        return self.numbers.double / self.count


def _plain_parts(values: Sequence[Any]) -> list[float] | None:
    """Return the numbers in ``values``, or None if a value is neither a double, an int32 nor null.

    Nearly all measurements have only these types. An int32 needs no ``halves``, because a double holds it exactly.
    """
    kinds = set(map(type, values))
    within = (type(value) is not int or INT32_MIN <= value <= INT32_MAX for value in values)
    if not kinds <= _COMMON or (int in kinds and not all(within)):
        return None
    return [value for value in values if value is not None] if NoneType in kinds else list(values)


class Spread:
    """The count, the mean and the sum of squared distances of the numbers added so far."""

    __slots__ = ("count", "mean", "squares")

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self.count = 0
        self.mean = self.squares = 0.0
        for value in values:
            self.add(value)

    def add(self, value: Any) -> None:
        """Add a value. Ignore values that are not numbers."""
        if not rank(value):
            return
        number = to_double(value)
        self.count += 1
        delta = number - self.mean
        self.mean += delta / self.count
        self.squares += delta * (number - self.mean)

    def deviation(self, *, sample: bool) -> float | None:
        """Return the standard deviation of a population or a sample, or None for too few numbers."""
        count = self.count - 1 if sample else self.count
        return plain(math.sqrt(self.squares / count)) if count > 0 else None
