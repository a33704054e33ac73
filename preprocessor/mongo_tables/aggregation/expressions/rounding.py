"""Rounding: `$ceil`, `$floor`, `$round`, `$trunc`, on the number as it is stored (2.675 is a little less: 2.67)."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

from mongo_tables.aggregation.compiler import operator
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.expressions.lazy import lazy
from mongo_tables.aggregation.numbers import (
    CONTEXT,
    DECIMAL,
    DOUBLE,
    decimal128,
    integer,
    integral,
    number_rank,
    rank,
)
from mongo_tables.aggregation.values import INT64_MAX, INT64_MIN, Document, Evaluate, is_nullish, type_name

_ONE = Decimal(1)
# From here on a double has no fraction.
_WHOLE = 2.0**52


def _whole(name: str, value: Any, towards: str) -> Any:
    if is_nullish(value):
        return None
    kind = number_rank(name, value)
    if kind == DECIMAL:
        # Past 34 digits there is no whole form: the server's quantize gives NaN, and so for infinities.
        return decimal128(value.to_decimal().quantize(_ONE, rounding=towards, context=CONTEXT))
    if kind != DOUBLE:
        return value
    if not abs(value) < _WHOLE:
        return value
    whole = math.floor(value) if towards == ROUND_FLOOR else math.ceil(value)
    return math.copysign(whole, value)


@operator("$floor")
def _floor(value: Any) -> Any:
    return _whole("$floor", value, ROUND_FLOOR)


@operator("$ceil")
def _ceil(value: Any) -> Any:
    return _whole("$ceil", value, ROUND_CEILING)


@lazy("$round")
def _round(document: Document, number: Evaluate, *digits: Evaluate) -> Any:
    value = number(document)
    if is_nullish(value):
        return None
    places = digits[0](document) if digits else 0
    if type(value) is float and type(places) is int and -20 <= places <= 100:
        # Correctly rounded from the exact value, halves to even: what the server does through Decimal128.
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
    digits = _places(name, places)
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


def _places(name: str, places: Any) -> int:
    if not rank(places):
        raise AggregationError(f"{name} takes a number of places, not {type_name(places)}", code=16004)
    digits = integral(places)
    if digits is None:
        raise AggregationError(f"{name} takes a whole number of places, not {places}", code=51082)
    if not -20 <= digits <= 100:
        raise AggregationError(f"{name} takes -20 to 100 places, not {places}", code=51083)
    return digits


def _quantize(value: Decimal, digits: int, rounding: str) -> Decimal:
    """``value`` with so many decimal places, or with all 34 digits when that many do not fit."""
    if not value.is_finite():
        return value
    # All 34 digits, when so many places would take more.
    exponent = value.adjusted() - 33 if value and value.adjusted() + digits >= 34 else -digits
    result = value.quantize(Decimal((0, (1,), exponent)), rounding=rounding, context=CONTEXT)
    if result.is_nan():
        # 9.99…9 rounded up to one digit too many.
        return value.quantize(Decimal((0, (1,), exponent + 1)), rounding=rounding, context=CONTEXT)
    return result
