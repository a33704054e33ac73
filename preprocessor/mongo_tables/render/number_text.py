"""A number as a column's format writes it, and numbers as they are read back from such texts."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache, partial
from typing import Final, NamedTuple

from mongo_tables.directives.column_format import ColumnFormat, Convention, convention_of
from mongo_tables.render.notations import amount_text
from mongo_tables.render.rounding import WIDE, round_as, shorten_fraction

_TINY: Final = -7
"""The greatest power of ten that is written as an exponent, as in JavaScript."""
_BEFORE_SIGN: Final = r"(?<![\w.,)])"
"""A hyphen behind a word or a number is none."""
_GROUPED_FROM: Final = 4
"""Digits before the decimal sign, from which they are grouped."""


@lru_cache(maxsize=8192)
def number_text(raw: str, form: ColumnFormat, whole: bool) -> str:
    """The text of a number that is given as its raw text; NaN and the infinities stay.

    ``whole``: it is of an integer type, and gets no zeros that would make it look measured.
    """
    number = Decimal(raw)
    if not number.is_finite():
        return raw
    convention = convention_of(form.locale)
    if form.names_unit:
        return amount_text(number, form, whole, convention, partial(_write, form=form, convention=convention))
    rounded = round_as(number, form, whole=whole)
    if rounded is number and not (form.thousands or form.locale):
        return raw
    return _write(rounded, form, convention)


def _write(number: Decimal, form: ColumnFormat, convention: Convention) -> str:
    """The digits with the signs between them."""
    power = number.adjusted()
    if form.few_digits and number and power <= _TINY:
        return f"{_write(number.scaleb(-power, context=WIDE), form, convention)}e{power}"
    whole, _, fraction = format(number, "f").partition(".")
    if form.thousands:
        separator = convention.group if form.thousands is True else form.thousands
        sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
        rest, groups, size = digits[:-3], [digits[-3:]], 2 if convention.lakhs else 3
        while rest:
            groups.append(rest[-size:])
            rest = rest[:-size]
        whole = sign + separator.join(reversed(groups))
    return f"{whole}{convention.decimal}{fraction}" if fraction else whole


class Shown(NamedTuple):
    """The numbers of a text, in order, as they are written and as they are; ``#`` stands for each in its ``words``."""

    written: tuple[str, ...]
    numbers: tuple[Decimal, ...]
    words: str


class _Signs(NamedTuple):
    """What stands between groups of digits, and before decimals."""

    group: str
    decimal: str


def _signs_of(form: ColumnFormat | None) -> _Signs:
    convention = convention_of(form.locale if form else None)
    group = form.thousands if form and isinstance(form.thousands, str) else convention.group
    return _Signs(group, convention.decimal)


def read_numbers(text: str, form: ColumnFormat | None = None) -> Shown:
    """The numbers of a text that ``form`` has written, such as that of a cell. No rounding is undone.

    Of ``1,234 (1,200–1,300) ms`` the numbers are 1234, 1200 and 1300, and the words ``# (#–#) ms``.
    """
    signs = _signs_of(form)
    pattern = _number(signs)
    written = tuple(pattern.findall(text))
    return Shown(written, tuple(Decimal(_plain(one, signs)) for one in written), pattern.sub("#", text))


def is_written_by(written: str, form: ColumnFormat | None) -> bool:
    """Whether a number could be written by ``form``: as many decimals or as few digits, thousands parted or not."""
    signs = _signs_of(form)
    whole, _, fraction = written.partition(signs.decimal)
    digits = sum(map(str.isdigit, whole))
    is_grouped = digits < len(whole.lstrip("+-"))
    if form is not None and form.decimals is not None and len(fraction) != form.decimals:
        return False
    if form is not None and form.few_digits and not form.notation.least_decimals:
        number = Decimal(_plain(written, signs))
        if number != shorten_fraction(number, pad=False):
            return False
    return digits < _GROUPED_FROM or is_grouped == bool(form and form.thousands)


def _plain(text: str, signs: _Signs) -> str:
    """The number as ``Decimal`` reads it. A point that parts groups looks like one of decimals where it is alone."""
    if signs.group == signs.decimal and text.count(signs.group) < 2:
        return text
    return text.replace(signs.group, "").replace(signs.decimal, ".")


@lru_cache(maxsize=16)
def _number(signs: _Signs) -> re.Pattern[str]:
    group, decimal = map(re.escape, signs)
    grouped = rf"\d{{1,3}}(?:{group}\d{{2,3}})*{group}\d{{3}}(?!\d)"
    return re.compile(rf"(?:{_BEFORE_SIGN}[-+])?(?:{grouped}|\d+)(?:{decimal}\d+)?(?:e[-+]?\d+)?")
