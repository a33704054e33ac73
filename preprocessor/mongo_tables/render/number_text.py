"""Numbers as a column's format writes them, and the parser of such texts.

Numbers are rounded half away from zero, as people and spreadsheets do it. The raw decimal text is rounded, not the
binary value: 0.9745 with three decimals is 0.975, although its binary value is less. (MongoDB's ``$round`` rounds half
to even.)

A notation writes numbers with a unit in the cell: per cent, currencies, durations and bytes. Durations and bytes get
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

from mongo_tables.directives.columns import ColumnFormat, Convention, convention_of

# Enough digits for any Decimal128 and any double, so that no number is rounded twice.
WIDE: Final = Context(prec=400, rounding=ROUND_HALF_UP)

FEW_DIGITS: Final = 4
"""The number of significant digits of long fractions, if the author sets none."""

Round: TypeAlias = Callable[[Decimal], Decimal]
_DIGITS_OF_AMOUNTS: Final = 3
_STEP: Final = 1000
_CONTEXT: Final = Context(prec=60)
_TINY: Final = -7
"""Numbers whose power of ten is at most this are written with an exponent, as in JavaScript."""
_BEFORE_SIGN: Final = r"(?<![\w.,)])"
"""Matches where a hyphen can be a minus sign: not after a word, a number or a closing bracket."""
_GROUPED_FROM: Final = 4
"""Numbers with at least this many digits before the decimal sign have their digits grouped."""

# -- rounding --


def wide_for(number: Decimal) -> Context:
    """Return a context with enough digits to round the number. A Decimal128 has up to 6145 digits."""
    needed = number.adjusted() + 60
    return WIDE if needed <= WIDE.prec else Context(prec=needed, rounding=ROUND_HALF_UP)


def round_decimals(number: Decimal, decimals: int) -> Decimal:
    """Return the number rounded to ``decimals`` decimals. Zero has no sign.

    Example:
        >>> round_decimals(Decimal("0.9745"), 3)
        Decimal('0.975')
    """
    rounded = number.quantize(Decimal(1).scaleb(-decimals), context=wide_for(number))
    return abs(rounded) if rounded.is_zero() else rounded


def signed_decimals(number: Decimal, decimals: int) -> str:
    """Return the number rounded to ``decimals`` decimals, with its sign. Zero has no sign."""
    rounded = round_decimals(number, decimals)
    return format(rounded, "+f" if rounded else "f")


def round_significant(number: Decimal, digits: int, *, pad: bool) -> Decimal:
    """Return the number rounded to ``digits`` significant digits. With ``pad``, zeros fill up a shorter number.

    Example:
        >>> round_significant(Decimal("9.996"), 3, pad=True)
        Decimal('10.0')
    """
    if number.is_zero():
        return abs(number)
    rounded = _to_digits(number, digits, pad)
    # 9.996 with three digits is 10.0, not 10.00.
    return rounded if rounded.adjusted() == number.adjusted() else _to_digits(rounded, digits, pad)


def _to_digits(number: Decimal, digits: int, pad: bool) -> Decimal:
    last = number.adjusted() - digits + 1
    if not pad and _exponent(number) >= last:
        return number
    return number.quantize(Decimal(1).scaleb(last), context=wide_for(number))


def shorten_fraction(number: Decimal, *, pad: bool) -> Decimal:
    """Return the number rounded to ``FEW_DIGITS`` significant digits. Digits before the decimal sign stay.

    With ``pad``, zeros fill up a shorter number.
    """
    if number.adjusted() < FEW_DIGITS - 1:
        return round_significant(number, FEW_DIGITS, pad=pad)
    is_whole = number == number.to_integral_value(context=wide_for(number))
    return number if is_whole else round_decimals(number, 0)


def round_as(number: Decimal, form: ColumnFormat, *, whole: bool) -> Decimal:
    """Return the number rounded as a column's format says, or unchanged if the format does not round.

    ``whole``: the number has an integer type. It gets no zeros after a decimal sign, which would look measured.
    """
    if form.decimals is not None:
        return round_decimals(number, form.decimals)
    if form.significant is not None:
        return round_significant(number, form.significant, pad=not whole)
    least = notation_of(form).least_decimals
    shortened = shorten_fraction(number, pad=not whole and not least) if form.few_digits else number
    return round_decimals(number, least) if least and _exponent(shortened) > -least else shortened


def _exponent(number: Decimal) -> int:
    """Return the power of ten of the last digit of a finite number."""
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


# -- notations --


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """A notation of numbers with or without a unit.

    Attributes:
        fit: Converts a number to the unit of its cell and rounds it by the given function. Returns the number and this
            unit.
        join: Joins the digits of a number and its unit.
        digits: The number of significant digits to show if the format does not set this number, None for all digits.
        least_decimals: The least number of decimals.
        power: The power of ten by which a cell multiplies the number.
    """

    fit: Callable[[Decimal, ColumnFormat, Round], tuple[Decimal, str]]
    join: Callable[[str, str, ColumnFormat, Convention], str] = lambda text, unit, form, convention: (
        f"{text} {unit}"
    )
    digits: int | None = None
    least_decimals: int = 0
    power: int = 0


# -- per cent and currencies --


def _join_currency(text: str, currency: str, form: ColumnFormat, convention: Convention) -> str:
    if form.currency_place == "after" or (form.currency_place is None and not convention.currency_first):
        return f"{text}{convention.gap}{currency}"
    gap = convention.gap if convention.spaced or currency[-1].isalpha() else ""
    sign = "-" if text.startswith("-") else ""
    return f"{sign}{currency}{gap}{text.removeprefix('-')}"


# -- durations and bytes --


class DisplayUnit(NamedTuple):
    """A unit, with its sign and its size in the smallest unit of its kind."""

    sign: str
    size: Decimal


# https://www.bipm.org/en/publications/si-brochure, tables 7 and 8 of the 9th edition
_TIMES: Final = tuple(
    DisplayUnit(sign, Decimal(size))
    for sign, size in (
        ("ns", 1), ("µs", 10**3), ("ms", 10**6), ("s", 10**9), ("min", 60 * 10**9), ("h", 3600 * 10**9),
        ("d", 86_400 * 10**9),
    )
)  # fmt: skip
# IEC 80000-13 for steps of 1024
_BYTES: Final = {
    system: tuple(DisplayUnit(sign, Decimal(step**power)) for power, sign in enumerate(signs.split()))
    for system, step, signs in (
        ("IEC", 1024, "B KiB MiB GiB TiB PiB EiB"),
        ("SI", 1000, "B kB MB GB TB PB EB"),
    )
}


def _fit(
    number: Decimal, own: str, units: Sequence[DisplayUnit], rounded: Round, *, few: bool = False
) -> tuple[Decimal, str]:
    """Return a number in the largest unit in which it is at least 1, and this unit.

    ``own`` is the unit in which the number is given. ``few``: the number of significant digits is limited.
    """
    if number.is_zero():
        return abs(number), own
    amount = _CONTEXT.multiply(number, next(unit.size for unit in units if unit.sign == own))
    carried = amount
    for unit, larger in pairwise(units):
        if abs(carried) >= larger.size:
            continue
        shown = _round_to(unit, amount, carried, rounded)
        if few and abs(shown) >= _STEP and larger.size > unit.size * _STEP:
            # Three digits cannot show 1000 to 1023, so 1023.9 KiB becomes 1.00 MiB, and 1023 B keeps four digits.
            ahead = rounded(_CONTEXT.divide(amount, larger.size))
            if abs(ahead) >= 1:
                return ahead, larger.sign
            return round_decimals(_CONTEXT.divide(amount, unit.size), 0), unit.sign
        # 999.96 ms with three digits is 1.00 s, not 1000 ms.
        carried = _CONTEXT.multiply(shown, unit.size)
        if abs(carried) < larger.size:
            return shown, unit.sign
    return _round_to(units[-1], amount, carried, rounded), units[-1].sign


def _round_to(unit: DisplayUnit, amount: Decimal, carried: Decimal, rounded: Round) -> Decimal:
    """Return the amount in a unit, rounded.

    ``carried`` is the amount as rounded in the next smaller unit. It is used if the amount itself does not reach 1:
    59.96 s are 60.0 s, and so 1.00 min.
    """
    shown = rounded(_CONTEXT.divide(amount, unit.size))
    return shown if abs(shown) >= 1 or carried == amount else rounded(_CONTEXT.divide(carried, unit.size))


_NOTATIONS: Final[Mapping[str, NumberStyle]] = {
    "": NumberStyle(
        lambda number, form, rounded: (rounded(number), ""), lambda text, unit, form, convention: text
    ),
    "percent": NumberStyle(
        lambda number, form, rounded: (rounded(number.scaleb(2, context=WIDE)), "%"),
        lambda text, unit, form, convention: f"{text}{convention.percent}{unit}",
        power=2,
    ),
    "currency": NumberStyle(
        lambda number, form, rounded: (rounded(number), form.currency or ""), _join_currency, least_decimals=2
    ),
    "duration": NumberStyle(
        lambda number, form, rounded: _fit(number, form.duration or "", _TIMES, rounded),
        digits=_DIGITS_OF_AMOUNTS,
    ),
    "bytes": NumberStyle(
        lambda number, form, rounded: _fit(
            number, "B", _BYTES[form.bytes or ""], rounded, few=form.decimals is None
        ),
        digits=_DIGITS_OF_AMOUNTS,
    ),
}
"""The notations by the keys of ``CELL_UNITS``. The key of plain numbers is ""."""


def notation_of(form: ColumnFormat) -> NumberStyle:
    """Return the notation that a format chooses."""
    return _NOTATIONS[form.cell_unit_key]


def rounds(form: ColumnFormat) -> bool:
    """Return whether the format sets the number of digits."""
    given = form.few_digits or form.decimals is not None or form.significant is not None
    return given or notation_of(form).digits is not None


# -- texts --


@lru_cache(maxsize=8192)
def number_text(raw: str, form: ColumnFormat, whole: bool) -> str:
    """Return the text of a number in a format. ``raw`` is its raw text. NaN and infinities are unchanged.

    ``whole``: the number has an integer type. It gets no zeros after a decimal sign, which would look measured.

    Example:
        >>> number_text("1234.5", ColumnFormat(decimals=0, thousands=True), whole=False)
        '1,235'
    """
    number = Decimal(raw)
    if not number.is_finite():
        return raw
    if form.negative and number < 0:  # In brackets, as in accounts, unless it rounds to zero.
        plain = form._replace(negative=None)
        positive = number_text(raw.removeprefix("-"), plain, whole)
        return f"({positive})" if number_text(raw, plain, whole) != positive else positive
    convention, notation = convention_of(form.locale), notation_of(form)
    if form.decimals is None and form.significant is None:
        form = form._replace(significant=notation.digits)
    amount, unit = notation.fit(number, form, lambda one: round_as(one, form, whole=whole))
    if amount is number and not (unit or form.thousands or form.locale):
        return raw
    return notation.join(_write(amount, form, convention), unit, form, convention)


def _write(number: Decimal, form: ColumnFormat, convention: Convention) -> str:
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


class NumbersInText(NamedTuple):
    """The numbers of a text, as they are written and as values.

    ``words`` is the text with ``#`` in place of each number.
    """

    written: tuple[str, ...]
    numbers: tuple[Decimal, ...]
    words: str


def _signs_of(form: ColumnFormat | None) -> tuple[str, str]:
    """Return the sign between groups of digits and the decimal sign."""
    convention = convention_of(form.locale if form else None)
    group = form.thousands if form and isinstance(form.thousands, str) else convention.group
    return group, convention.decimal


def read_numbers(text: str, form: ColumnFormat | None = None) -> NumbersInText:
    """Return the numbers of a text that was written with the format ``form``, such as a cell.

    Example:
        >>> read_numbers("1,234 (1,200–1,300) ms").words
        '# (#–#) ms'
    """
    signs = _signs_of(form)
    pattern = _number(signs)
    written = tuple(pattern.findall(text))
    return NumbersInText(
        written, tuple(Decimal(_plain(one, signs)) for one in written), pattern.sub("#", text)
    )


def is_written_by(written: str, form: ColumnFormat | None) -> bool:
    """Return whether a number has the decimals, the digits and the groups of thousands that ``form`` gives it."""
    signs = _signs_of(form)
    whole, _, fraction = written.partition(signs[1])
    digits = sum(map(str.isdigit, whole))
    is_grouped = digits < len(whole.lstrip("+-"))
    if form is not None and form.decimals is not None and len(fraction) != form.decimals:
        return False
    if form is not None and form.few_digits and not notation_of(form).least_decimals:
        number = Decimal(_plain(written, signs))
        if number != shorten_fraction(number, pad=False):
            return False
    return digits < _GROUPED_FROM or is_grouped == bool(form and form.thousands)


def _plain(text: str, signs: tuple[str, str]) -> str:
    """Return a number in the syntax of ``Decimal``."""
    group, decimal = signs
    if group == decimal and text.count(group) < 2:  # A single sign is that of decimals.
        return text
    return text.replace(group, "").replace(decimal, ".")


@lru_cache(maxsize=16)
def _number(signs: tuple[str, str]) -> re.Pattern[str]:
    group, decimal = map(re.escape, signs)
    grouped = rf"\d{{1,3}}(?:{group}\d{{2,3}})*{group}\d{{3}}(?!\d)"
    return re.compile(rf"(?:{_BEFORE_SIGN}[-+])?(?:{grouped}|\d+)(?:{decimal}\d+)?(?:e[-+]?\d+)?")
