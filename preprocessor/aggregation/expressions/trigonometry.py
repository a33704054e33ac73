"""Trigonometry: `$sin`, `$cos`, `$tan` and their inverse and hyperbolic kin, `$atan2`, `$degreesToRadians`,
`$radiansToDegrees`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from preprocessor.aggregation import decimalmath
from preprocessor.aggregation.compiler import operator
from preprocessor.aggregation.errors import AggregationError
from preprocessor.aggregation.expressions.arithmetic import number_rank
from preprocessor.aggregation.expressions.lazy import lazy
from preprocessor.aggregation.expressions.powers import in_doubles
from preprocessor.aggregation.numbers import CONTEXT, DECIMAL, decimal128, is_nan, rank, to_decimal, to_double
from preprocessor.aggregation.values import Document, Evaluate, is_nullish, type_name


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of one number: of doubles, of decimals, and where it is defined."""

    double: Callable[[float], float]
    exact: decimalmath.Function
    least: float = -math.inf
    most: float = math.inf
    finite: bool = False


_FUNCTIONS = {
    "$sin": _Function(math.sin, decimalmath.sin, finite=True),
    "$cos": _Function(math.cos, decimalmath.cos, finite=True),
    "$tan": _Function(math.tan, decimalmath.tan, finite=True),
    "$asin": _Function(math.asin, decimalmath.asin, -1, 1),
    "$acos": _Function(math.acos, decimalmath.acos, -1, 1),
    "$atan": _Function(math.atan, decimalmath.atan),
    "$sinh": _Function(math.sinh, decimalmath.sinh),
    "$cosh": _Function(math.cosh, decimalmath.cosh),
    "$tanh": _Function(math.tanh, decimalmath.tanh),
    "$asinh": _Function(math.asinh, decimalmath.asinh),
    "$acosh": _Function(math.acosh, decimalmath.acosh, 1),
    "$atanh": _Function(math.atanh, decimalmath.atanh, -1, 1),
}


_NEVER_EXACT = ("$cos", "$cosh")


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
        if isinstance(number, float):
            return _double(function.double, number)
        result = decimalmath.precisely(function.exact, number)
        # Where a function comes to a whole number at its edge, that is exact.
        return decimal128(result if name in _NEVER_EXACT else decimalmath.shortest(result))

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
    rise, run = to_decimal(y), to_decimal(x)
    if rise.is_nan() or run.is_nan():
        return decimal128(Decimal("NaN"))
    return decimal128(decimalmath.precisely(lambda up: _angle(up, run), rise))


def _angle(rise: Decimal, run: Decimal) -> Decimal:
    """The angle of the point (run, rise), with the signs and infinities of C's ``atan2``."""
    pi = decimalmath.pi(70)
    if rise.is_infinite() or run.is_infinite() or not rise or not run:
        quarters = math.atan2(_direction(rise), _direction(run)) / (math.pi / 4)
        return (round(abs(quarters)) * pi / 4).copy_sign(rise)
    angle = decimalmath.atan(rise / run)
    return angle if run > 0 else angle + pi.copy_sign(rise)


def _direction(number: Decimal) -> float:
    """A zero or an infinity as it is, any other number as one: a double of it might be a zero or an infinity."""
    return float(number) if number.is_infinite() or not number else math.copysign(1.0, number)


def _scaled(name: str, value: Any, factor: float, exact: Decimal) -> Any:
    if is_nullish(value):
        return None
    if number_rank(name, value) == DECIMAL:
        return decimal128(CONTEXT.multiply(value.to_decimal(), exact))
    return float(value) * factor


@operator("$degreesToRadians")
def _degrees_to_radians(value: Any) -> Any:
    exact = CONTEXT.divide(decimalmath.pi(60), Decimal(180))
    return _scaled("$degreesToRadians", value, math.pi / 180, exact)


@operator("$radiansToDegrees")
def _radians_to_degrees(value: Any) -> Any:
    exact = CONTEXT.divide(Decimal(180), CONTEXT.create_decimal(decimalmath.pi(60)))
    return _scaled("$radiansToDegrees", value, 180 / math.pi, exact)
