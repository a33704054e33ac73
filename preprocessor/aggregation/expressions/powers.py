"""Powers, roots and logarithms: `$exp`, `$ln`, `$log`, `$log10`, `$pow`, `$sqrt`."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from bson.decimal128 import Decimal128

from preprocessor.aggregation import decimalmath
from preprocessor.aggregation.compiler import operator
from preprocessor.aggregation.errors import AggregationError
from preprocessor.aggregation.expressions.arithmetic import number_rank
from preprocessor.aggregation.numbers import (
    CONTEXT,
    DECIMAL,
    DOUBLE,
    decimal128,
    integer,
    is_nan,
    rank,
    to_decimal,
)
from preprocessor.aggregation.summation import plain
from preprocessor.aggregation.values import INT64_MAX, INT64_MIN, is_nullish, type_name


def in_doubles(function: Callable[..., float], *values: float) -> float:
    """C's result of a function of doubles: an infinity where Python says overflow, NaN where it has no value."""
    try:
        return function(*values)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


@operator("$exp")
def _exp(value: Any) -> Any:
    if is_nullish(value):
        return None
    if number_rank("$exp", value) == DECIMAL:
        exact = value.to_decimal()
        if not exact:
            return Decimal128("1")
        return decimal128(decimalmath.shortest(decimalmath.precisely(lambda x: x.exp(), exact)))
    return in_doubles(math.exp, float(value))


@operator("$sqrt")
def _sqrt(value: Any) -> Any:
    if is_nullish(value):
        return None
    kind = number_rank("$sqrt", value)
    if not is_nan(value) and to_decimal(value) < 0:
        raise AggregationError("$sqrt takes no negative number", code=28714)
    if kind == DECIMAL:
        return decimal128(CONTEXT.sqrt(value.to_decimal()))
    return in_doubles(math.sqrt, float(value))


def _logarithm(name: str, value: Any, code: int, double: Callable[[float], float], exact: Any) -> Any:
    if is_nullish(value):
        return None
    kind = number_rank(name, value)
    if is_nan(value):
        # A NaN of either type comes out as a double.
        return math.nan
    if to_decimal(value) <= 0:
        raise AggregationError(f"{name} takes a positive number, not {value}", code=code)
    if kind != DECIMAL:
        return double(float(value))
    number = value.to_decimal()
    return decimal128(decimalmath.shortest(decimalmath.precisely(exact, number)))


@operator("$ln")
def _ln(value: Any) -> Any:
    return _logarithm("$ln", value, 28766, math.log, lambda x: x.ln())


@operator("$log10")
def _log10(value: Any) -> Any:
    return _logarithm("$log10", value, 28761, math.log10, lambda x: x.log10())


@operator("$log")
def _log(value: Any, base: Any) -> Any:
    if is_nullish(value) or is_nullish(base):
        return None
    number_rank("$log", value, 28756)
    number_rank("$log", base, 28757)
    exact, foot = to_decimal(value), to_decimal(base)
    one = base == 1 if isinstance(base, float) else foot == 1
    if not exact.is_nan() and exact <= 0:
        raise AggregationError(f"$log takes a positive number, not {value}", code=28758)
    if not foot.is_nan() and (foot <= 0 or one):
        raise AggregationError(f"the base of $log is positive and not 1: {base}", code=28759)
    if is_nan(value) or is_nan(base):
        return math.nan
    if DECIMAL in (rank(value), rank(base)):
        above, below = (decimalmath.precisely(lambda x: x.ln(), number) for number in (exact, foot))
        return decimal128(CONTEXT.divide(above, below))
    return plain(math.log(float(value)) / math.log(float(base)))


@operator("$pow")
def _pow(base: Any, exponent: Any) -> Any:
    if is_nullish(base) or is_nullish(exponent):
        return None
    a, b = rank(base), rank(exponent)
    if not a:
        raise AggregationError(f"the base of $pow is a number, not {type_name(base)}", code=28762)
    if not b:
        raise AggregationError(f"the exponent of $pow is a number, not {type_name(exponent)}", code=28763)
    widest = max(a, b)
    if not is_nan(base) and not is_nan(exponent) and to_decimal(base) == 0:
        power = to_decimal(exponent)
        # Of Decimal128 the sign alone counts, that of -0 as well.
        if power.is_signed() if widest == DECIMAL else power < 0:
            raise AggregationError("$pow takes no base 0 with a negative exponent", code=28764)
    if widest == DECIMAL:
        return _decimal_power(base, exponent)
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


_ONE, _ZERO = Decimal("1.000000000000000000000000000000000"), Decimal("0E-6176")


def _decimal_power(base: Any, exponent: Any) -> Any:
    """As the server's library has it: ones with all their places, zeros and infinities without a sign."""
    foot, times = to_decimal(base), to_decimal(exponent)
    if not times or foot == 1:
        return decimal128(_ONE)
    if times.is_infinite() and not foot.is_nan():
        return decimal128(_endless_power(foot.copy_abs(), upward=times > 0))
    if foot.is_infinite() and times != times.to_integral_value():
        foot = foot.copy_abs()
    found = decimalmath.precisely(lambda x: decimalmath.power(x, times), foot)
    if not found:
        return decimal128(_ZERO)
    return decimal128(found.copy_abs() if found.is_infinite() and foot.is_finite() else found)


def _endless_power(size: Decimal, *, upward: bool) -> Decimal:
    """A positive number to the power of an infinity."""
    if size == 1:
        return _ONE
    return Decimal("Infinity") if (size > 1) == upward else _ZERO
