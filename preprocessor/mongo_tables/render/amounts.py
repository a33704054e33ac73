"""Durations and amounts of bytes in the unit that fits each: 0.0015 s are 1.5 ms, 1536 bytes are 1.5 KiB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from itertools import pairwise
from typing import Final, NamedTuple


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
    "IEC": tuple(
        Unit(sign, Decimal(1024**power))
        for power, sign in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    ),
    "SI": tuple(
        Unit(sign, Decimal(1000**power))
        for power, sign in enumerate(("B", "kB", "MB", "GB", "TB", "PB", "EB"))
    ),
}
_CONTEXT: Final = Context(prec=60)

Round = Callable[[Decimal], Decimal]


def fit_duration(number: Decimal, unit: str, rounded: Round) -> tuple[Decimal, str]:
    """A duration in ``unit`` as a rounded number of the largest unit of which it is one at least, and its sign."""
    own = next(one for one in _TIMES if one.sign == unit)
    return _fit(number, own, _TIMES, rounded)


def fit_bytes(number: Decimal, system: str, rounded: Round) -> tuple[Decimal, str]:
    """An amount of bytes likewise, in steps of 1024 ("IEC") or of 1000 ("SI")."""
    units = _BYTES[system]
    return _fit(number, units[0], units, rounded)


def _fit(number: Decimal, own: Unit, units: Sequence[Unit], rounded: Round) -> tuple[Decimal, str]:
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
