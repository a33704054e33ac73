"""Trigonometry: `$sin`, `$cos`, `$tan` and their inverse and hyperbolic kin, `$atan2`, `$degreesToRadians`,
`$radiansToDegrees`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mongo_tables.aggregation.compiler import operator
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.expressions.lazy import lazy
from mongo_tables.aggregation.expressions.powers import in_doubles, of_decimals
from mongo_tables.aggregation.numbers import (
    CONTEXT,
    DECIMAL,
    decimal128,
    is_nan,
    number_rank,
    rank,
    to_double,
)
from mongo_tables.aggregation.values import Document, Evaluate, is_nullish, type_name

_PI = Decimal("3.141592653589793238462643383279502884197169399375105820974945")


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of one number, and where it is defined."""

    double: Callable[[float], float]
    least: float = -math.inf
    most: float = math.inf
    finite: bool = False


_FUNCTIONS = {
    "$sin": _Function(math.sin, finite=True),
    "$cos": _Function(math.cos, finite=True),
    "$tan": _Function(math.tan, finite=True),
    "$asin": _Function(math.asin, -1, 1),
    "$acos": _Function(math.acos, -1, 1),
    "$atan": _Function(math.atan),
    "$sinh": _Function(math.sinh),
    "$cosh": _Function(math.cosh),
    "$tanh": _Function(math.tanh),
    "$asinh": _Function(math.asinh),
    "$acosh": _Function(math.acosh, 1),
    "$atanh": _Function(math.atanh, -1, 1),
}


def _register(name: str, function: _Function) -> None:
    def compute(value: Any) -> Any:
        if is_nullish(value):
            return None
        kind = number_rank(name, value)
        if is_nan(value):
            return value
        number = value.to_decimal() if kind == DECIMAL else float(value)
        infinite = function.finite and abs(number) == math.inf
        if infinite or not function.least <= number <= function.most:
            raise AggregationError(f"{name} has no value at {value}", code=50989)
        if kind == DECIMAL:
            raise of_decimals(name)
        return _double(function.double, float(number))

    operator(name)(compute)


def _double(function: Callable[[float], float], value: float) -> float:
    if function is math.atanh and abs(value) == 1:
        return math.copysign(math.inf, value)
    result = in_doubles(function, value)
    # sinh of a large negative number: the infinity has its sign.
    return math.copysign(result, value) if function is math.sinh else result


for _name, _known in _FUNCTIONS.items():
    _register(_name, _known)


@lazy("$atan2")
def _atan2(document: Document, ordinate: Evaluate, abscissa: Evaluate) -> Any:
    y = ordinate(document)
    if is_nullish(y):
        return None
    if not rank(y):
        raise AggregationError(f"$atan2 works on numbers only, not on {type_name(y)}", code=51044)
    x = abscissa(document)
    if is_nullish(x):
        return None
    if not rank(x):
        raise AggregationError(f"$atan2 works on numbers only, not on {type_name(x)}", code=51045)
    if DECIMAL not in (rank(y), rank(x)):
        return math.atan2(to_double(y), to_double(x))
    if is_nan(y) or is_nan(x):
        return decimal128(Decimal("NaN"))
    raise of_decimals("$atan2")


def _scale(name: str, value: Any, factor: float, exact: Decimal) -> Any:
    if is_nullish(value):
        return None
    if number_rank(name, value) == DECIMAL:
        return decimal128(CONTEXT.multiply(value.to_decimal(), exact))
    return float(value) * factor


@operator("$degreesToRadians")
def _degrees_to_radians(value: Any) -> Any:
    exact = CONTEXT.divide(_PI, Decimal(180))
    return _scale("$degreesToRadians", value, math.pi / 180, exact)


@operator("$radiansToDegrees")
def _radians_to_degrees(value: Any) -> Any:
    exact = CONTEXT.divide(Decimal(180), CONTEXT.create_decimal(_PI))
    return _scale("$radiansToDegrees", value, 180 / math.pi, exact)
