"""A number as a column's format writes it, and numbers as they are read back from such texts.

Rounding is half away from zero, on the decimal text that a reader of the raw rows sees. So people and spreadsheets
round: 0.9745 is 0.975 with three decimals. By its binary value, which nobody sees, it would be 0.974; half to even is
the rule of MongoDB's `$round`, which goes on to calculate with what it gives.

Numbers with their unit in the cell have notations: per cent, currencies, and durations and amounts of bytes, each in
the unit that fits: 0.0015 s are 1.5 ms, 1536 bytes are 1.5 KiB.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from mongo_tables.directives.column_format import ColumnFormat, Convention, convention_of

# As many digits as any Decimal128 or any double spelled out can need, so that rounding is never done twice.
WIDE: Final = Context(prec=400, rounding=ROUND_HALF_UP)

FEW_DIGITS: Final = 4
"""The significant digits of numbers whose author asks for none, where a column of plain files has long fractions."""

Round: TypeAlias = Callable[[Decimal], Decimal]
_DIGITS_OF_AMOUNTS: Final = 3
_CONTEXT: Final = Context(prec=60)
_TINY: Final = -7
"""The greatest power of ten that is written as an exponent, as in JavaScript."""
_BEFORE_SIGN: Final = r"(?<![\w.,)])"
"""A hyphen behind a word or a number is none."""
_GROUPED_FROM: Final = 4
"""Digits before the decimal sign, from which they are grouped."""

# -- rounding
# -------------------------------------------------------------------------------------------------


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


# -- notations
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Writer:
    """What writes numbers of a notation.

    Attributes:
        fit: Gives a number as the cell shows it, rounded by a function, and the unit that it is in.
        join: Puts the digits of a number and its unit together, as a convention has them.
        digits: Gives the format with the digits that a number has, where it does not say itself how many.
    """

    fit: Callable[[Decimal, ColumnFormat, Round], tuple[Decimal, str]]
    join: Callable[[str, str, ColumnFormat, Convention], str] = lambda text, unit, form, convention: (
        f"{text} {unit}"
    )
    digits: Callable[[Decimal, ColumnFormat], ColumnFormat] = lambda number, form: form


def find_factor(number: Decimal, form: ColumnFormat | None, text: str) -> Decimal | None:
    """What one in a cell is in its row: of per cent a hundredth, of a duration in ms for a column in s a thousandth.

    None where it cannot be told from the ``text`` of the cell, as next to the border of two units.
    """
    if form is None or not form.notation.fits:
        return Decimal(1).scaleb(-form.notation.power if form else 0)
    amount, unit = WRITERS[form.named_notation].fit(number, form, lambda exact: exact)
    return number / amount if amount and text.endswith(f" {unit}") else None


# -- per cent and currencies
# -------------------------------------------------------------------------------------------------


def _join_currency(text: str, currency: str, form: ColumnFormat, convention: Convention) -> str:
    if form.currency_place == "after" or (form.currency_place is None and not convention.currency_first):
        return f"{text}{convention.gap}{currency}"
    gap = convention.gap if convention.spaced or currency[-1].isalpha() else ""
    sign = "-" if text.startswith("-") else ""
    return f"{sign}{currency}{gap}{text.removeprefix('-')}"


# -- durations and bytes
# -------------------------------------------------------------------------------------------------


class Unit(NamedTuple):
    """A unit of a kind: its sign, and how many of the smallest of its kind it is."""

    sign: str
    size: Decimal


# https://www.bipm.org/en/publications/si-brochure, tables 7 and 8 of the 9th edition
_TIMES: Final = tuple(
    Unit(sign, Decimal(size))
    for sign, size in (
        ("ns", 1), ("µs", 10**3), ("ms", 10**6), ("s", 10**9), ("min", 60 * 10**9), ("h", 3600 * 10**9),
        ("d", 86_400 * 10**9),
    )
)  # fmt: skip
# IEC 80000-13 for steps of 1024
_BYTES: Final = {
    system: tuple(Unit(sign, Decimal(step**power)) for power, sign in enumerate(signs.split()))
    for system, step, signs in (
        ("IEC", 1024, "B KiB MiB GiB TiB PiB EiB"),
        ("SI", 1000, "B kB MB GB TB PB EB"),
    )
}


def _fit_duration(number: Decimal, form: ColumnFormat, rounded: Round) -> tuple[Decimal, str]:
    own = next(one for one in _TIMES if one.sign == form.duration)
    return _fit(number, own, _TIMES, rounded)


def _fit_bytes(number: Decimal, form: ColumnFormat, rounded: Round) -> tuple[Decimal, str]:
    units = _BYTES[form.bytes or ""]
    return _fit(number, units[0], units, rounded)


def _fit(number: Decimal, own: Unit, units: Sequence[Unit], rounded: Round) -> tuple[Decimal, str]:
    """A number in the unit ``own`` as a rounded one of the largest unit of which it is one at least."""
    if number.is_zero():
        return abs(number), own.sign
    amount = _CONTEXT.multiply(number, own.size)
    carried = amount
    for unit, larger in pairwise(units):
        if abs(carried) >= larger.size:
            continue
        shown = _round_to(unit, amount, carried, rounded)
        # 999.96 ms with three digits is no 1000 ms, but 1.00 s.
        carried = _CONTEXT.multiply(shown, unit.size)
        if abs(carried) < larger.size:
            return shown, unit.sign
    return _round_to(units[-1], amount, carried, rounded), units[-1].sign


def _round_to(unit: Unit, amount: Decimal, carried: Decimal, rounded: Round) -> Decimal:
    """The amount in a unit; what a smaller one ``carried`` here is one at least: 59.96 s, so 60.0 s, are 1.00 min."""
    shown = rounded(_CONTEXT.divide(amount, unit.size))
    return shown if abs(shown) >= 1 or carried == amount else rounded(_CONTEXT.divide(carried, unit.size))


def _three_digits(number: Decimal, form: ColumnFormat) -> ColumnFormat:
    # 1023 bytes are no 1020 B, where they are not 1.02 kB.
    is_large = form.bytes == "IEC" and 1000 <= abs(number) < 1024
    return form._replace(decimals=0) if is_large else form._replace(significant=_DIGITS_OF_AMOUNTS)


WRITERS: Final[Mapping[str, Writer]] = {
    "percent": Writer(
        lambda number, form, rounded: (rounded(number.scaleb(2, context=WIDE)), "%"),
        lambda text, unit, form, convention: f"{text}{convention.percent}{unit}",
    ),
    "currency": Writer(lambda number, form, rounded: (rounded(number), form.currency or ""), _join_currency),
    "duration": Writer(_fit_duration, digits=_three_digits),
    "bytes": Writer(_fit_bytes, digits=_three_digits),
}
"""By the keys of ``NOTATIONS``."""


# -- texts
# -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def number_text(raw: str, form: ColumnFormat, whole: bool) -> str:
    """The text of a number that is given as its raw text; NaN and the infinities stay.

    ``whole``: it is of an integer type, and gets no zeros that would make it look measured.
    """
    number = Decimal(raw)
    if not number.is_finite():
        return raw
    convention, writer = convention_of(form.locale), WRITERS.get(form.named_notation)
    if writer is None:
        rounded = round_as(number, form, whole=whole)
        is_raw = rounded is number and not (form.thousands or form.locale)
        return raw if is_raw else _write(rounded, form, convention)
    if form.decimals is None and form.significant is None:
        form = writer.digits(number, form)
    amount, unit = writer.fit(number, form, lambda one: round_as(one, form, whole=whole))
    return writer.join(_write(amount, form, convention), unit, form, convention)


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
