"""Arithmetic with the server's promotion and overflow, bits of integers, and rounding.

`$abs`, `$add`, `$divide`, `$mod`, `$multiply`, `$subtract`; `$bitAnd`, `$bitNot`, `$bitOr`, `$bitXor`;
`$ceil`, `$floor`, `$round`, `$trunc`, which round a number as it is stored (2.675 is slightly less: 2.67).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from bson.int64 import Int64

from mongo_tables.aggregation.compiler import associative, lazy, operator
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.numbers import (
    CONTEXT,
    DECIMAL,
    DOUBLE,
    INT32,
    INT64,
    DoubleDouble,
    decimal128,
    half_away,
    halves,
    integer,
    integral,
    number_rank,
    plain,
    rank,
    to_decimal,
    to_double,
)
from mongo_tables.aggregation.values import (
    INT64_MAX,
    INT64_MIN,
    Document,
    Evaluate,
    date_from_millis,
    is_date,
    is_nullish,
    millis,
    mistyped,
    type_name,
)

_DATE_OVERFLOW = 15
_NUMBERS_AND_DATES = "numbers and dates"
_WIDE = Context(prec=13000, Emin=-20000, Emax=20000, traps=[])


@operator("$abs")
def _abs(value: Any) -> Any:
    kind = number_rank("$abs", value)
    if kind == DECIMAL:
        return decimal128(value.to_decimal().copy_abs())
    if kind == DOUBLE:
        return abs(value)
    if value == INT64_MIN:
        raise AggregationError("$abs of the smallest int64 does not fit an int64", code=28680)
    return integer(abs(int(value)), kind)


@associative("$add", commutative=True)
def add(values: Iterable[Any]) -> Any:
    """Return the server's `$add`: with compensation or, if one of the numbers is a Decimal128, in Decimal128."""
    widest = INT32
    rest = iter(values)
    seen: list[Any] = []
    for value in rest:
        kind = rank(value)
        if kind == DECIMAL:
            return _add_widest([*seen, value, *_until_null(rest)])
        if not kind:
            if is_nullish(value):
                return None
            if is_date(value):
                return _add_to_date([*seen, value, *_until_null(rest)], len(seen))
            raise mistyped(f"$add requires {_NUMBERS_AND_DATES}, not", value, 16554)
        if kind > widest:
            widest = kind
        seen.append(value)
    if widest != DOUBLE and INT64_MIN <= (exact := sum(seen)) <= INT64_MAX:
        return integer(exact, widest)
    total = DoubleDouble()
    for value in seen:
        total.add(*((value,) if isinstance(value, float) else halves(value)))
    return total.double


def _until_null(values: Iterator[Any]) -> Iterator[Any]:
    """Yield the values up to the first null, which ends the sum."""
    for value in values:
        yield value
        if is_nullish(value):
            return


def _add_widest(values: Sequence[Any]) -> Any:
    """Return the sum of values that include a Decimal128. The first Decimal128 converts the sum of the values before
    it.
    """
    total: Any = 0
    widest = INT32
    for position, value in enumerate(values):
        if is_nullish(value):
            return None
        if is_date(value):
            return _add_to_date(values, position)
        widest = max(widest, number_rank("$add", value, 16554, _NUMBERS_AND_DATES))
        if widest == DECIMAL:
            total = CONTEXT.add(total if isinstance(total, Decimal) else to_decimal(total), to_decimal(value))
        elif widest == DOUBLE:
            total = float(total) + float(value)
        else:
            total = integer(total + int(value), INT64)
            widest = max(widest, rank(total) if isinstance(total, float) else widest)
    return decimal128(total)


def _add_to_date(values: Sequence[Any], position: int) -> Any:
    """Return the sum of values with a date at ``position``. Each number after the date is rounded to whole
    milliseconds.
    """
    total = millis(values[position])
    if position:
        before = add(values[:position])
        if before is None:
            return None
        total = _plus_millis(_milliseconds(before), total)
    for value in values[position + 1 :]:
        if is_nullish(value):
            return None
        if is_date(value):
            raise AggregationError("$add accepts only one date", code=16612)
        kind = number_rank("$add", value, 16554, _NUMBERS_AND_DATES)
        if kind == DECIMAL and _is_out_of_range(value):
            return date_from_millis(INT64_MIN)
        total = _plus_millis(total, _milliseconds(value))
    return date_from_millis(total)


def _is_out_of_range(value: Any) -> bool:
    """Return whether the value is a Decimal128 that is NaN or beyond 64 bits. Such a value makes the date the
    smallest one.
    """
    if rank(value) != DECIMAL:
        return False
    exact = value.to_decimal()
    return not exact.is_finite() or not INT64_MIN <= exact <= INT64_MAX


def _milliseconds(value: Any) -> int:
    """Round a number to whole milliseconds: halves of a double away from zero, halves of a Decimal128 to even."""
    kind = rank(value)
    if kind in (INT32, INT64):
        return int(value)
    if kind == DOUBLE:
        if not INT64_MIN <= value < 2.0**63:
            raise AggregationError("the date does not fit 64 bits of milliseconds", code=_DATE_OVERFLOW)
        return half_away(value)
    if _is_out_of_range(value):
        # The result of the server's conversion.
        return INT64_MIN
    return int(value.to_decimal().to_integral_value(ROUND_HALF_EVEN))


def _plus_millis(total: int, more: int) -> int:
    if not INT64_MIN <= total + more <= INT64_MAX:
        raise AggregationError("the date does not fit 64 bits of milliseconds", code=_DATE_OVERFLOW)
    return total + more


@operator("$subtract")
def subtract(left: Any, right: Any) -> Any:
    """Return the server's `$subtract` of numbers and dates."""
    if left is None or right is None or is_nullish(left) or is_nullish(right):
        return None
    a, b = rank(left), rank(right)
    if a and b:
        widest = max(a, b)
        if widest == DECIMAL:
            return decimal128(CONTEXT.subtract(to_decimal(left), to_decimal(right)))
        if widest == DOUBLE:
            return plain(float(left) - float(right))
        return integer(int(left) - int(right), widest)
    if is_date(left):
        return _subtract_from_date(left, right)
    raise mistyped(f"$subtract cannot subtract {type_name(right)} from", left, 14)


def _subtract_from_date(left: Any, right: Any) -> Any:
    if is_date(right):
        difference = millis(left) - millis(right)
        if not INT64_MIN <= difference <= INT64_MAX:
            message = "the difference of the dates overflows 64 bits of milliseconds"
            raise AggregationError(message, code=_DATE_OVERFLOW)
        return Int64(difference)
    if not rank(right):
        raise AggregationError(f"$subtract cannot subtract {type_name(right)} from a date", code=14)
    less = _milliseconds(right)
    if less == INT64_MIN:
        message = "the milliseconds that $subtract takes from a date do not fit 64 bits"
        raise AggregationError(message, code=159)
    return date_from_millis(_plus_millis(millis(left), -less))


@associative("$multiply", commutative=True)
def multiply(values: Iterable[Any]) -> Any:
    """Return the server's `$multiply`, factor by factor."""
    product: Any = 1
    widest = INT32
    for value in values:
        kind = rank(value)
        if not kind:
            if is_nullish(value):
                return None
            raise mistyped("$multiply requires numbers, not", value, 14)
        widest = max(widest, kind)
        if widest == DOUBLE:
            product = float(product) * float(value)
        elif widest == DECIMAL:
            product = decimal128(CONTEXT.multiply(to_decimal(product), to_decimal(value)))
        else:
            product = integer(int(product) * int(value), widest)
            widest = max(widest, rank(product)) if isinstance(product, float) else widest
    if widest == DOUBLE:
        return plain(product)
    return product if widest == DECIMAL else integer(product, widest)


@operator("$divide")
def divide(left: Any, right: Any) -> Any:
    """Return the server's `$divide`. Raises AggregationError for a division by zero."""
    a, b = rank(left), rank(right)
    if a and b:
        if a == DECIMAL or b == DECIMAL:
            divisor = to_decimal(right)
            if not divisor and not divisor.is_nan():
                raise AggregationError("$divide by zero", code=2)
            return decimal128(CONTEXT.divide(to_decimal(left), divisor))
        if right == 0:
            raise AggregationError("$divide by zero", code=2)
        return plain(float(left) / float(right))
    raise mistyped(f"$divide cannot divide {type_name(left)} by", right, 14)


@operator("$mod")
def remainder(left: Any, right: Any) -> Any:
    """Return the server's `$mod`. The sign is the dividend's, as in C."""
    a, b = rank(left), rank(right)
    if not (a and b):
        raise mistyped(f"$mod cannot divide {type_name(left)} by", right, 16611)
    widest = max(a, b)
    if widest == DECIMAL:
        return _decimal_mod(to_decimal(left), to_decimal(right))
    if right == 0:
        raise AggregationError("$mod by zero", code=16610)
    if widest == DOUBLE:
        dividend, divisor = to_double(left), to_double(right)
        return math.fmod(dividend, divisor) if math.isfinite(dividend) and divisor == divisor else math.nan
    rest = abs(int(left)) % abs(int(right))
    return integer(-rest if left < 0 else rest, widest)


def _decimal_mod(left: Decimal, right: Decimal) -> Any:
    if not right and not right.is_nan():
        raise AggregationError("$mod by zero", code=5733415)
    if left.is_finite() and right.is_finite():
        # Exact for any exponents: Decimal's own % gives up if the quotient is too long.
        exponent = min(int(left.as_tuple().exponent), int(right.as_tuple().exponent))
        a, b = int(left.copy_abs().scaleb(-exponent, _WIDE)), int(right.copy_abs().scaleb(-exponent, _WIDE))
        return decimal128(Decimal(a % b).scaleb(exponent, _WIDE).copy_sign(left))
    return decimal128(CONTEXT.remainder(left, right))


def _integer_rank(name: str, value: Any) -> int:
    kind = rank(value)
    if kind not in (INT32, INT64):
        raise mistyped(f"{name} requires int32 or int64, not", value, 14)
    return kind


def _combining(name: str, neutral: int, combine: Callable[[int, int], int]) -> None:
    @associative(name, commutative=True)
    def compute(values: Iterable[Any]) -> Any:
        widest, result = INT32, neutral
        for value in values:
            if is_nullish(value):
                return None
            widest = max(widest, _integer_rank(name, value))
            result = combine(result, int(value))
        return integer(result, widest)


_combining("$bitAnd", -1, lambda left, right: left & right)
_combining("$bitOr", 0, lambda left, right: left | right)
_combining("$bitXor", 0, lambda left, right: left ^ right)


@operator("$bitNot")
def _bit_not(value: Any) -> Any:
    kind = _integer_rank("$bitNot", value)
    return integer(~int(value), kind)


_ONE = Decimal(1)
# From this value on, a double has no fraction.
_WHOLE = 2.0**52


def _whole(name: str, value: Any, towards: str) -> Any:
    kind = number_rank(name, value)
    if kind == DECIMAL:
        # The server's quantize gives NaN for infinities, and beyond 34 digits.
        return decimal128(value.to_decimal().quantize(_ONE, rounding=towards, context=CONTEXT))
    if kind != DOUBLE:
        return value
    if not abs(value) < _WHOLE:
        return value
    whole = math.floor(value) if towards == ROUND_FLOOR else math.ceil(value)
    return math.copysign(whole, value)


operator("$floor")(lambda value: _whole("$floor", value, ROUND_FLOOR))
operator("$ceil")(lambda value: _whole("$ceil", value, ROUND_CEILING))


@lazy("$round")
def _round(document: Document, number: Evaluate, *digits: Evaluate) -> Any:
    value = number(document)
    if is_nullish(value):
        return None
    places = digits[0](document) if digits else 0
    if type(value) is float and type(places) is int and -20 <= places <= 100:
        # Correctly rounded from the exact value, halves to even, as the server does through Decimal128.
        return round(value, places) if math.isfinite(value) else value
    return _to_places("$round", value, places, ROUND_HALF_EVEN)


@lazy("$trunc")
def _trunc(document: Document, number: Evaluate, *digits: Evaluate) -> Any:
    value = number(document)
    if is_nullish(value):
        return None
    return _to_places("$trunc", value, digits[0](document) if digits else 0, ROUND_DOWN)


def _to_places(name: str, value: Any, places: Any, rounding: str) -> Any:
    kind = number_rank(name, value, 51081)
    if is_nullish(places):
        return None
    if not rank(places):
        raise mistyped(f"{name} requires a number of places, not", places, 16004)
    digits = integral(places)
    if digits is None:
        raise AggregationError(f"{name} requires a whole number of places, not {places}", code=51082)
    if not -20 <= digits <= 100:
        raise AggregationError(f"{name} requires from -20 to 100 places, not {places}", code=51083)
    if kind == DECIMAL:
        return decimal128(_quantize(value.to_decimal(), digits, rounding))
    if kind == DOUBLE:
        if not math.isfinite(value):
            return value
        return float(_quantize(CONTEXT.create_decimal(value), digits, rounding))
    if digits >= 0:
        return value
    number = int(_quantize(Decimal(int(value)), digits, rounding))
    if not INT64_MIN <= number <= INT64_MAX:
        raise AggregationError(f"{name} of {value} to {digits} places does not fit an int64", code=51080)
    return integer(number, kind)


def _quantize(value: Decimal, digits: int, rounding: str) -> Decimal:
    """Return ``value`` with ``digits`` decimal places, or with 34 digits in all if that would take more than 34."""
    if not value.is_finite():
        return value
    # Use all 34 digits if the places would need more.
    exponent = value.adjusted() - 33 if value and value.adjusted() + digits >= 34 else -digits
    result = value.quantize(Decimal((0, (1,), exponent)), rounding=rounding, context=CONTEXT)
    if result.is_nan():
        # 9.99…9 was rounded up to one digit too many.
        return value.quantize(Decimal((0, (1,), exponent + 1)), rounding=rounding, context=CONTEXT)
    return result
