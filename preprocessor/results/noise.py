"""When a difference between two measurements counts, and when it is noise.

The rule: every repeat of one side is faster than every repeat of the other, and each side has at least three. Were
both sides alike, that would happen by chance in 2 of C(n + m, n) cases for n and m repeats: 10 percent for three and
three, 0.8 percent for five and five. ``mongo-tables compare`` and the marks in tables both judge by it.
"""

from __future__ import annotations

from math import comb
from typing import Any, Literal, NamedTuple

LEAST_REPEATS = 3
Verdict = Literal["above", "below", "noise", "too few repeats"]


class Range(NamedTuple):
    """What the repeats of one side gave: the lowest, the highest, and how many there are (None: unknown)."""

    low: Any
    high: Any
    repeats: int | None = None


def verdict(base: Range, other: Range) -> Verdict:
    """Whether ``other`` lies above or below ``base``; where no number of repeats is known, the ranges alone tell."""
    if min(LEAST_REPEATS if one.repeats is None else one.repeats for one in (base, other)) < LEAST_REPEATS:
        return "too few repeats"
    if other.low > base.high:
        return "above"
    return "below" if other.high < base.low else "noise"


def chance(repeats: int, others: int) -> float:
    """The probability, for sides that are alike, that all of one lie above, or all below, all of the other."""
    return 2 / comb(repeats + others, repeats)
