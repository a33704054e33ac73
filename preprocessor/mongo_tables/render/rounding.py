"""Decimal numbers with fewer digits: half away from zero, on the decimal text that a reader of the raw rows sees.

So people and spreadsheets round: 0.9745 is 0.975 with three decimals. By its binary value, which nobody sees, it would
be 0.974; half to even is the rule of MongoDB's `$round`, which goes on to calculate with what it gives.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

# As many digits as any Decimal128 or any double spelled out can need, so that rounding is never done twice.
WIDE: Final = Context(prec=400, rounding=ROUND_HALF_UP)

FEW_DIGITS: Final = 4
"""The significant digits of numbers whose author asks for none, where a column of plain files has long fractions."""


def wide_for(number: Decimal) -> Context:
    """Decimal128 reaches 1E+6144: quantize() refuses a result longer than the context's precision."""
    needed = number.adjusted() + 60
    return WIDE if needed <= WIDE.prec else Context(prec=needed, rounding=ROUND_HALF_UP)


def round_decimals(number: Decimal, decimals: int) -> Decimal:
    """The number with so many digits behind its decimal sign; what rounds to zero has no sign."""
    rounded = number.quantize(Decimal(1).scaleb(-decimals), context=wide_for(number))
    return abs(rounded) if rounded.is_zero() else rounded


def signed_decimals(number: Decimal, decimals: int) -> str:
    """The same in digits with its sign; what rounds to zero has none."""
    rounded = round_decimals(number, decimals)
    return format(rounded, "+f" if rounded else "f")


def round_significant(number: Decimal, digits: int, *, pad: bool) -> Decimal:
    """The number with so many digits from its first that is not 0; ``pad`` adds zeros to one that has fewer."""
    if number.is_zero():
        return abs(number)
    rounded = _to_digits(number, digits, pad)
    # 9.996 is 10.00 with the last of three digits where it was.
    return rounded if rounded.adjusted() == number.adjusted() else _to_digits(rounded, digits, pad)


def shorten_fraction(number: Decimal, *, pad: bool) -> Decimal:
    """The number with ``FEW_DIGITS`` from its first that is not 0; digits before the decimal sign all stay.

    ``pad`` adds zeros to one that has fewer.
    """
    if number.adjusted() < FEW_DIGITS - 1:
        return round_significant(number, FEW_DIGITS, pad=pad)
    return (
        number if number == number.to_integral_value(context=wide_for(number)) else round_decimals(number, 0)
    )


def _to_digits(number: Decimal, digits: int, pad: bool) -> Decimal:
    last = number.adjusted() - digits + 1
    exponent = number.as_tuple().exponent
    if not pad and isinstance(exponent, int) and exponent >= last:
        return number
    return number.quantize(Decimal(1).scaleb(last), context=wide_for(number))
