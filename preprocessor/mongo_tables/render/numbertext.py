"""A number as a column's format writes it: rounded, in its unit or currency, with the signs of a language."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mongo_tables.directives.column_format import Convention, convention_of
from mongo_tables.render.amounts import fit_bytes, fit_duration
from mongo_tables.render.rounding import WIDE, round_decimals, round_significant, shorten_fraction

if TYPE_CHECKING:
    from mongo_tables.directives.column_format import ColumnFormat

_DIGITS_OF_AMOUNTS: Final = 3
_SMALLEST_OF_FOUR: Final = 1000
_KIBIBYTE: Final = 1024
_CENTS: Final = 2
_TINY: Final = -7
"""The greatest power of ten that is written as an exponent, as in JavaScript."""


@lru_cache(maxsize=8192)
def number_text(raw: str, form: ColumnFormat, whole: bool) -> str:
    """The text of a number that is given as its raw text; NaN and the infinities stay.

    ``whole``: it is of an integer type, and gets no zeros that would make it look measured.
    """
    number = Decimal(raw)
    if not number.is_finite():
        return raw
    convention = convention_of(form.locale)
    if form.duration or form.bytes:
        return _amount_text(number, form, whole, convention)
    if form.percent:
        number = number.scaleb(2, context=WIDE)
    rounded = _round(number, form, whole)
    if rounded is number and not (form.percent or form.currency or form.thousands or form.locale):
        return raw
    text = _write(rounded, form, convention)
    if form.percent:
        return f"{text}{convention.percent}%"
    return _with_currency(text, form, convention) if form.currency else text


def _amount_text(number: Decimal, form: ColumnFormat, whole: bool, convention: Convention) -> str:
    if form.decimals is None and form.significant is None:
        # 1023 bytes are no 1020 B, where they are not 1.02 kB.
        is_large = form.bytes == "IEC" and _SMALLEST_OF_FOUR <= abs(number) < _KIBIBYTE
        form = form._replace(decimals=0) if is_large else form._replace(significant=_DIGITS_OF_AMOUNTS)
    if form.duration:
        amount, unit = fit_duration(number, form.duration, lambda one: _round(one, form, whole))
    else:
        amount, unit = fit_bytes(number, form.bytes or "", lambda one: _round(one, form, whole))
    return f"{_write(amount, form, convention)} {unit}"


def _round(number: Decimal, form: ColumnFormat, whole: bool) -> Decimal:
    if form.decimals is not None:
        return round_decimals(number, form.decimals)
    if form.significant is not None:
        return round_significant(number, form.significant, pad=not whole)
    shortened = shorten_fraction(number, pad=not whole and not form.currency) if form.few_digits else number
    exponent = shortened.as_tuple().exponent
    if form.currency and isinstance(exponent, int) and exponent > -_CENTS:
        return round_decimals(number, _CENTS)
    return shortened


def _write(number: Decimal, form: ColumnFormat, convention: Convention) -> str:
    """The digits with the signs between them."""
    power = number.adjusted()
    if form.few_digits and number and power <= _TINY:
        return f"{_write(number.scaleb(-power, context=WIDE), form, convention)}e{power}"
    whole, _, fraction = format(number, "f").partition(".")
    if form.thousands:
        separator = convention.group if form.thousands is True else form.thousands
        whole = _group(whole, separator, lakhs=convention.lakhs)
    return f"{whole}{convention.decimal}{fraction}" if fraction else whole


def _group(whole: str, separator: str, *, lakhs: bool) -> str:
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    rest, groups, size = digits[:-3], [digits[-3:]], 2 if lakhs else 3
    while rest:
        groups.append(rest[-size:])
        rest = rest[:-size]
    return sign + separator.join(reversed(groups))


def _with_currency(text: str, form: ColumnFormat, convention: Convention) -> str:
    currency = form.currency or ""
    if form.currency_place == "after" or (form.currency_place is None and not convention.currency_first):
        return f"{text}{convention.gap}{currency}"
    gap = convention.gap if convention.spaced or currency[-1].isalpha() else ""
    sign = "-" if text.startswith("-") else ""
    return f"{sign}{currency}{gap}{text.removeprefix('-')}"
