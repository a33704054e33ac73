"""Elementary functions of Decimal128 values, rounded correctly to 34 digits.

The server computes them in binary quadruple precision, so that its last digit may be another one.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal
from functools import cache

from preprocessor.aggregation.numbers import CONTEXT

_GUARD = 60
_ZERO, _ONE, _TWO = Decimal(0), Decimal(1), Decimal(2)

Function = Callable[[Decimal], Decimal]


def rounded(value: Decimal) -> Decimal:
    """``value`` with 34 digits, trailing zeros included: what comes out of quadruple precision."""
    result = CONTEXT.create_decimal(value)
    if not result or not result.is_finite():
        return result
    full = Decimal((0, (1,), max(result.adjusted() - 33, -6176)))
    return result.quantize(full, context=CONTEXT)


def shortest(value: Decimal) -> Decimal:
    """A whole number without the zeros after its point: what is exact comes out of quadruple precision so."""
    whole = value.is_finite() and value == value.to_integral_value()
    return value.to_integral_value() if whole else value


def precisely(function: Function, value: Decimal, extra: int = 0) -> Decimal:
    """``function`` of ``value`` computed with guard digits, rounded."""
    with decimal.localcontext() as context:
        context.prec = _GUARD + extra
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        context.clear_traps()
        result = function(value)
    return rounded(result)


@cache
def pi(digits: int) -> Decimal:
    """π to so many digits (Machin: 16 arctan(1/5) - 4 arctan(1/239))."""
    unit = 10 ** (digits + 10)

    def arctan_of_inverse(n: int) -> int:
        term = total = unit // n
        step, sign = 3, -1
        while term:
            term //= n * n
            total += sign * (term // step)
            step, sign = step + 2, -sign
        return int(total)

    return Decimal(4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))).scaleb(
        -(digits + 10), decimal.Context(prec=digits + 20)
    )


def _series(first: Decimal, square: Decimal, start: int) -> Decimal:
    """first - first·square/(start·(start+1)) + …: sine from 2, cosine from 1."""
    total = term = first
    step = start
    while term and term.adjusted() > total.adjusted() - _GUARD - 5:
        term = -term * square / (step * (step + 1))
        total += term
        step += 2
    return total


def _reduced(value: Decimal) -> Decimal:
    """``value`` less whole turns, between -π and π."""
    if abs(value) < 3:
        return value
    digits = _GUARD + max(value.adjusted(), 0) + 5
    with decimal.localcontext() as context:
        context.prec = digits
        turn = 2 * pi(digits)
        return value - turn * (value / turn).to_integral_value()


def sin(value: Decimal) -> Decimal:
    """The sine."""
    angle = _reduced(value)
    return _series(angle, angle * angle, 2)


def cos(value: Decimal) -> Decimal:
    """The cosine."""
    angle = _reduced(value)
    return _series(_ONE, angle * angle, 1)


def tan(value: Decimal) -> Decimal:
    """The tangent."""
    return sin(value) / cos(value)


def atan(value: Decimal) -> Decimal:
    """The inverse tangent: its argument halved until the series is short."""
    if abs(value) > 1:
        half_pi = pi(_GUARD + 10) / 2
        return half_pi.copy_sign(value) - atan(_ONE / value)
    doublings = 0
    while abs(value) > Decimal("0.05"):
        value = value / (1 + (1 + value * value).sqrt())
        doublings += 1
    total = term = value
    step = 3
    square = value * value
    while term and term.adjusted() > total.adjusted() - _GUARD - 5:
        term = -term * square
        total += term / step
        step += 2
    return total * Decimal(2**doublings)


def asin(value: Decimal) -> Decimal:
    """The inverse sine of -1 to 1."""
    if abs(value) == 1:
        return (pi(_GUARD + 10) / 2).copy_sign(value)
    return atan(value / ((1 - value) * (1 + value)).sqrt())


def acos(value: Decimal) -> Decimal:
    """The inverse cosine of -1 to 1."""
    if value == 1:
        return _ZERO
    return 2 * atan(((1 - value) / (1 + value)).sqrt()) if value != -1 else pi(_GUARD + 10)


def sinh(value: Decimal) -> Decimal:
    """The hyperbolic sine."""
    if value.is_finite() and abs(value) < 1:
        return _series_of_sinh(value)
    return (value.exp() - (-value).exp()) / 2


def _series_of_sinh(value: Decimal) -> Decimal:
    total = term = value
    step = 2
    while term and term.adjusted() > total.adjusted() - _GUARD - 5:
        term = term * value * value / (step * (step + 1))
        total += term
        step += 2
    return total


def cosh(value: Decimal) -> Decimal:
    """The hyperbolic cosine."""
    return (value.exp() + (-value).exp()) / 2


def tanh(value: Decimal) -> Decimal:
    """The hyperbolic tangent."""
    if abs(value) > 100:
        return _ONE.copy_sign(value)
    return sinh(value) / cosh(value)


def asinh(value: Decimal) -> Decimal:
    """The inverse hyperbolic sine."""
    if not value.is_finite() or not value:
        return value
    size = abs(value)
    if size < Decimal("1E-20"):
        return value
    return (size + (size * size + 1).sqrt()).ln().copy_sign(value)


def acosh(value: Decimal) -> Decimal:
    """The inverse hyperbolic cosine of 1 and more."""
    return (value + (value * value - 1).sqrt()).ln() if value.is_finite() else value


def atanh(value: Decimal) -> Decimal:
    """The inverse hyperbolic tangent of -1 to 1."""
    if abs(value) == 1:
        return Decimal("Infinity").copy_sign(value)
    if abs(value) < Decimal("1E-20"):
        return value
    return ((1 + value) / (1 - value)).ln() / 2


def power(base: Decimal, exponent: Decimal) -> Decimal:
    """``base`` to the power of ``exponent``; a negative base needs a whole exponent."""
    whole = exponent.is_finite() and exponent == exponent.to_integral_value()
    if base.is_finite() and base < 0 and whole:
        size = (exponent * (-base).ln()).exp()
        return -size if int(exponent) % 2 else size
    if base.is_finite() and base > 0 and exponent.is_finite():
        return base**exponent if whole and abs(exponent) < 1000 else (exponent * base.ln()).exp()
    return base**exponent
