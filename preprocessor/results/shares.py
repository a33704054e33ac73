"""How many of some cases are of one kind, and what share of all such cases that stands for."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

from preprocessor.results.intervals import CONFIDENCE


class Share(NamedTuple):
    """``number`` of the cases as a part of all of them, from 0 to 1, with its 95 % interval."""

    number: int
    share: float
    low: float
    high: float


def share_of(number: int, cases: int) -> Share:
    """The share of ``number`` in so many cases, with the score interval of E. B. Wilson (1927).

    It stays within 0 and 1, and says something also where none or all are of that kind.
    Raises ValueError without a case.
    """
    if cases < 1:
        raise ValueError("no case to take a share of")
    share, squared = number / cases, NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2
    middle = (share + squared / (2 * cases)) / (1 + squared / cases)
    half = sqrt(squared * (share * (1 - share) + squared / (4 * cases)) / cases) / (1 + squared / cases)
    low = max(0.0, middle - half) if number else 0.0
    high = min(1.0, middle + half) if number < cases else 1.0
    return Share(number, share, low, high)
