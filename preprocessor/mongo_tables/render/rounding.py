"""Decimal numbers with fewer digits: half away from zero, on the decimal text that a reader of the raw rows sees.

So people and spreadsheets round: 0.9745 is 0.975 with three decimals. By its binary value, which nobody sees, it would
be 0.974; half to even is the rule of MongoDB's `$round`, which goes on to calculate with what it gives.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mongo_tables.directives.column_format import ColumnFormat

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


def _to_digits(number: Decimal, digits: int, pad: bool) -> Decimal:
    last = number.adjusted() - digits + 1
    if not pad and _exponent(number) >= last:
        return number
    return number.quantize(Decimal(1).scaleb(last), context=wide_for(number))


def shorten_fraction(number: Decimal, *, pad: bool) -> Decimal:
    """The number with ``FEW_DIGITS`` from its first that is not 0; digits before the decimal sign all stay.

    ``pad`` adds zeros to one that has fewer.
    """
    if number.adjusted() < FEW_DIGITS - 1:
        return round_significant(number, FEW_DIGITS, pad=pad)
    is_whole = number == number.to_integral_value(context=wide_for(number))
    return number if is_whole else round_decimals(number, 0)


def round_as(number: Decimal, form: ColumnFormat, *, whole: bool) -> Decimal:
    """The number as a column's format rounds it; itself where it does not.

    ``whole``: it is of an integer type, and gets no zeros that would make it look measured.
    """
    if form.decimals is not None:
        return round_decimals(number, form.decimals)
    if form.significant is not None:
        return round_significant(number, form.significant, pad=not whole)
    least = form.notation.least_decimals
    shortened = shorten_fraction(number, pad=not whole and not least) if form.few_digits else number
    return round_decimals(number, least) if least and _exponent(shortened) > -least else shortened


def _exponent(number: Decimal) -> int:
    """The power of ten of the last digit of a finite number."""
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0
