"""How a number and its unit are written together in a cell: per cent, currencies, durations and amounts of bytes.

Durations and bytes are in the unit that fits each number: 0.0015 s are 1.5 ms, 1536 bytes are 1.5 KiB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from mongo_tables.directives.column_format import ColumnFormat, Convention
from mongo_tables.render.rounding import WIDE, round_as

Round: TypeAlias = Callable[[Decimal], Decimal]
_DIGITS_OF_AMOUNTS: Final = 3
_CONTEXT: Final = Context(prec=60)


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


def amount_text(
    number: Decimal, form: ColumnFormat, whole: bool, convention: Convention, write: Callable[[Decimal], str]
) -> str:
    """The text of a number that a format writes with its unit; ``write`` gives the digits."""
    writer = WRITERS[form.named_notation]
    if form.decimals is None and form.significant is None:
        form = writer.digits(number, form)
    amount, unit = writer.fit(number, form, lambda one: round_as(one, form, whole=whole))
    return writer.join(write(amount), unit, form, convention)


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
