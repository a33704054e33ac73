"""Numbers with the server's addition, promotion and overflow.

The order of promotion is int32 → int64 → double → Decimal128. An int32 result that does not fit becomes an
int64, an int64 result that does not fit becomes a double (except in `$add` and `$subtract` of dates).
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from typing import Any

from bson.decimal128 import Decimal128
from bson.int64 import Int64

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
    if kind is bool or not isinstance(value, int | float):
        return 0
    if isinstance(value, float):
        return DOUBLE
    return INT32 if INT32_MIN <= value <= INT32_MAX else INT64


def number_rank(name: str, value: Any, code: int = 28765, what: str = "numbers only") -> int:
    """Return the rank of a number. Raises AggregationError for other values."""
    found = rank(value)
    if not found:
        raise mistyped(f"{name} works on {what}, not on", value, code)
    return found


def integer(value: int, at_least: int = INT32) -> int | float:
    """Return ``value`` as int32, as int64 if necessary or requested, or as double if it fits neither."""
    if at_least == INT32 and INT32_MIN <= value <= INT32_MAX:
        return int(value)
    if INT64_MIN <= value <= INT64_MAX:
        return Int64(value)
    return float(value)


def to_decimal(value: Any) -> Decimal:
    """Return any number as a ``Decimal``; a double through its 15-digit form, as the server converts it."""
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


def is_nan(value: Any) -> bool:
    """Return whether a number is NaN."""
    if isinstance(value, Decimal128):
        return value.to_decimal().is_nan()
    return isinstance(value, float) and value != value


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


def decimal_to_long(value: Decimal128) -> int:
    """Convert a Decimal128 to int64 as the server does: rounded, or the least int64 if it does not fit."""
    exact = value.to_decimal()
    if not exact.is_finite() or exact.adjusted() > 19:
        return INT64_MIN
    number = int(exact.to_integral_value(decimal.ROUND_HALF_EVEN))
    return number if INT64_MIN <= number <= INT64_MAX else INT64_MIN
