"""How many of some cases are of one kind, and what share of all such cases that stands for.

Cases that have something in common, such as a reference that all of them were compared with, are not as many cases. So
the interval is that of their number divided by the design effect, which the groups of such cases tell (J. N. K. Rao
and A. J. Scott, "A Simple Method for the Analysis of Clustered Binary Data", *Biometrics* 48, 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import NormalDist
from typing import NamedTuple

from mongo_tables.results.intervals import CONFIDENCE, t_quantile


class Count(NamedTuple):
    """``number`` of so many cases, which may have something in common."""

    number: int
    cases: int


class Share(NamedTuple):
    """``number`` of the cases as a part of all of them, from 0 to 1, with its 95 % interval.

    ``design_effect`` is how many of the cases say as much as one that has nothing in common with others.
    """

    number: int
    share: float
    low: float
    high: float
    design_effect: float


def share_of_groups(groups: Sequence[Count]) -> Share:
    """The share in all groups together, with the interval of as many cases as these are worth.

    Raises ValueError without a case.
    """
    number, cases = sum(one.number for one in groups), sum(one.cases for one in groups)
    return share_of(number, cases, find_design_effect(groups) if cases else 1.0)


def share_of(number: int, cases: int, design_effect: float = 1.0) -> Share:
    """The share of ``number`` in so many cases, with the score interval of E. B. Wilson (1927).

    It stays within 0 and 1, and says something also where none or all are of that kind.
    Raises ValueError without a case.
    """
    if cases < 1:
        raise ValueError("no case to take a share of")
    share, squared, worth = number / cases, _quantile() ** 2, cases / design_effect
    middle = (share + squared / (2 * worth)) / (1 + squared / worth)
    half = sqrt(squared * (share * (1 - share) + squared / (4 * worth)) / worth) / (1 + squared / worth)
    low = max(0.0, middle - half) if number else 0.0
    high = min(1.0, middle + half) if number < cases else 1.0
    return Share(number, share, low, high, design_effect)


def find_design_effect(groups: Sequence[Count]) -> float:
    """How many cases of these groups say as much as one that has nothing in common with others; 1 or more.

    It is the variance of the share, as the groups tell it, to that of the share in as many cases without anything in
    common (Rao and Scott, 1992, section 2), and never below 1. Few groups tell it badly: therefore it is multiplied by
    the square of the quantile of Student's t to that of the normal distribution (E. L. Korn and B. I. Graubard,
    "Confidence Intervals for Proportions with Small Expected Number of Positive Counts Estimated from Survey Data",
    *Survey Methodology* 24, 1998). It is at most the size of the largest group, of which then all cases say the same;
    one group alone tells no less.
    """
    largest = float(max(one.cases for one in groups))
    if len(groups) == 1:
        return largest
    few = (t_quantile(len(groups) - 1) / _quantile()) ** 2
    return min(largest, few * max(1.0, _variance_ratio(groups)))


def _variance_ratio(groups: Sequence[Count]) -> float:
    """Rao and Scott's estimate; 1 where none or all are of the kind, which no group can tell more of."""
    number, cases = sum(one.number for one in groups), sum(one.cases for one in groups)
    share = number / cases
    if number in (0, cases):
        return 1.0
    squares = fsum((one.number - share * one.cases) ** 2 for one in groups)
    return len(groups) / (len(groups) - 1) * squares / (cases * share * (1 - share))


def _quantile() -> float:
    """How many standard errors the interval reaches to each side, where they are known."""
    return NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
