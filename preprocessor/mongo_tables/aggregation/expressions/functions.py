"""Functions of numbers.

`$exp`, `$ln`, `$log`, `$log10`, `$pow`, `$sqrt`; `$sin`, `$cos`, `$tan`, their inverse and hyperbolic
functions, `$atan2`, `$degreesToRadians`, `$radiansToDegrees`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bson.decimal128 import Decimal128

from mongo_tables.aggregation.compiler import lazy, operator
from mongo_tables.aggregation.errors import AggregationError, NotOffline
from mongo_tables.aggregation.numbers import (
    CONTEXT,
    DECIMAL,
    DOUBLE,
    decimal128,
    integer,
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
    is_nan,
    is_nullish,
    mistyped,
)


def in_doubles(function: Callable[..., float], *values: float) -> float:
    """Call a function of doubles and return its result as C does: infinity on overflow, NaN outside the domain."""
    try:
        return function(*values)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def of_decimals(name: str) -> NotOffline:
    """Return the error for a function of Decimal128 that cannot be computed exactly as on a server.

    The server uses its own library with binary quadruple precision. The last of the 34 digits often differs from the
    correctly rounded value, without a known rule.
    """
    return NotOffline(f"{name} of a Decimal128 is not available offline: convert it with $toDouble first")


@operator("$exp")
def _exp(value: Any) -> Any:
    if number_rank("$exp", value) == DECIMAL:
        if is_nan(value):
            return value
        if not value.to_decimal():
            return Decimal128("1")
        raise of_decimals("$exp")
    return in_doubles(math.exp, float(value))


@operator("$sqrt")
def _sqrt(value: Any) -> Any:
    kind = number_rank("$sqrt", value)
    if not is_nan(value) and to_decimal(value) < 0:
        raise AggregationError("$sqrt does not accept a negative number", code=28714)
    if kind == DECIMAL:
        return decimal128(CONTEXT.sqrt(value.to_decimal()))
    return in_doubles(math.sqrt, float(value))


def _logarithm(name: str, value: Any, code: int, double: Callable[[float], float]) -> Any:
    kind = number_rank(name, value)
    if is_nan(value):
        # NaN of either type becomes a double.
        return math.nan
    if to_decimal(value) <= 0:
        raise AggregationError(f"{name} requires a positive number, not {value}", code=code)
    if kind == DECIMAL:
        raise of_decimals(name)
    return double(float(value))


operator("$ln")(lambda value: _logarithm("$ln", value, 28766, math.log))
operator("$log10")(lambda value: _logarithm("$log10", value, 28761, math.log10))


@operator("$log")
def _log(value: Any, base: Any) -> Any:
    number_rank("$log", value, 28756)
    number_rank("$log", base, 28757)
    exact, foot = to_decimal(value), to_decimal(base)
    one = base == 1 if isinstance(base, float) else foot == 1
    if not exact.is_nan() and exact <= 0:
        raise AggregationError(f"$log requires a positive number, not {value}", code=28758)
    if not foot.is_nan() and (foot <= 0 or one):
        raise AggregationError(f"the base of $log must be positive and not 1, not {base}", code=28759)
    if DECIMAL in (rank(value), rank(base)):
        raise of_decimals("$log")
    if is_nan(value) or is_nan(base):
        return math.nan
    return plain(math.log(float(value)) / math.log(float(base)))


@operator("$pow")
def _pow(base: Any, exponent: Any) -> Any:
    a, b = rank(base), rank(exponent)
    if not a:
        raise mistyped("the base of $pow must be a number, not", base, 28762)
    if not b:
        raise mistyped("the exponent of $pow must be a number, not", exponent, 28763)
    widest = max(a, b)
    if not is_nan(base) and not is_nan(exponent) and to_decimal(base) == 0:
        power = to_decimal(exponent)
        # For Decimal128, the server tests only the sign of the exponent, even of -0.
        if power.is_signed() if widest == DECIMAL else power < 0:
            raise AggregationError("$pow does not accept base 0 with a negative exponent", code=28764)
    if widest == DECIMAL:
        raise of_decimals("$pow")
    if widest == DOUBLE:
        return _double_power(float(base), float(exponent))
    return _whole_power(int(base), int(exponent), widest)


def _double_power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:
        return math.nan


def _whole_power(base: int, exponent: int, widest: int) -> Any:
    if abs(base) <= 1:
        return integer(base ** (abs(exponent) % 2) if base == -1 else base ** min(abs(exponent), 1), widest)
    if 0 <= exponent <= 63:
        exact: int = base**exponent
        if INT64_MIN <= exact <= INT64_MAX:
            return integer(exact, widest)
    return _double_power(float(base), float(exponent))


_PI = Decimal("3.141592653589793238462643383279502884197169399375105820974945")


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of one number, and its domain."""

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
    @operator(name)
    def compute(value: Any) -> Any:
        kind = number_rank(name, value)
        if is_nan(value):
            return value
        number = value.to_decimal() if kind == DECIMAL else float(value)
        infinite = function.finite and abs(number) == math.inf
        if infinite or not function.least <= number <= function.most:
            raise AggregationError(f"{name} is undefined at {value}", code=50989)
        if kind == DECIMAL:
            raise of_decimals(name)
        if function.double is math.atanh and abs(number) == 1:
            return math.copysign(math.inf, number)
        result = in_doubles(function.double, float(number))
        # ``sinh`` of a large negative number is a negative infinity.
        return math.copysign(result, number) if function.double is math.sinh else result


for _name, _known in _FUNCTIONS.items():
    _register(_name, _known)


@lazy("$atan2")
def _atan2(document: Document, ordinate: Evaluate, abscissa: Evaluate) -> Any:
    values = []
    for code, read in ((51044, ordinate), (51045, abscissa)):
        value = read(document)
        if is_nullish(value):
            return None
        number_rank("$atan2", value, code)
        values.append(value)
    if not any(isinstance(value, Decimal128) for value in values):
        return math.atan2(*map(to_double, values))
    if any(map(is_nan, values)):
        return decimal128(Decimal("NaN"))
    raise of_decimals("$atan2")


def _register_scale(name: str, factor: float, exact: Decimal) -> None:
    @operator(name)
    def compute(value: Any) -> Any:
        if number_rank(name, value) == DECIMAL:
            return decimal128(CONTEXT.multiply(value.to_decimal(), exact))
        return float(value) * factor


_register_scale("$degreesToRadians", math.pi / 180, CONTEXT.divide(_PI, Decimal(180)))
_register_scale("$radiansToDegrees", 180 / math.pi, CONTEXT.divide(Decimal(180), CONTEXT.create_decimal(_PI)))
