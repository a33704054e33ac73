"""What comes out where nothing differs, and what is called where something does: verdicts over pairs of equal things.

A pair is one and the same thing, measured again and again side by side with itself. That its ratio is called faster or
slower is a false alarm, and the share of them is that of a measurement as a whole: machine, target, windows, blocks and
statistics. The same pairs say how small a difference is seen: the speeds of one side are multiplied by 1 minus a
slowdown, first of the one side and then of the other, and the share of these trials in which it is called slower is the
power.

Pairs come in groups, as the rows of an experiment do: they share blocks and windows, so they do not say as much as
pairs with windows of their own. The interval of a share takes that into account (see ``shares``). In the power one pair
at a time is slower and those that are judged together with it are not, which is the hardest case for the one.

How many of some cases are of one kind, and what share of all such cases that stands for.

Cases that have something in common, such as a reference that all of them were compared with, are not as many cases. So
the interval is that of their number divided by the design effect, which the groups of such cases tell (J. N. K. Rao
and A. J. Scott, "A Simple Method for the Analysis of Clustered Binary Data", *Biometrics* 48, 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import fsum, inf, sqrt
from statistics import NormalDist, fmean, median, variance
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.results.conclusions import Pairs, find_interval, judge_together, list_figures
from mongo_tables.results.intervals import CONFIDENCE, Interval, log_ratios, t_quantile
from mongo_tables.results.verdicts import Verdict, judge

SLOWDOWNS: Final = tuple(percent / 100 for percent in range(1, 26))
CALLED: Final = 0.84
"""The share of the trials in which a slowdown is to be called."""
Judged = Literal["alone", "together"]
JUDGED: Final[tuple[Judged, ...]] = ("alone", "together")
"""The two ways to judge a pair: by itself, and among those of its group, as a row among those of its experiment."""
Family = Sequence[Pairs]
"""Pairs that were measured in the same blocks, and are judged together."""


class _Trial(NamedTuple):
    """What a pair is called by itself, and among those that it is judged together with."""

    alone: Verdict
    together: Verdict


_Intervals = Sequence[Interval | None]
"""Of the pairs of a family."""


def calibrate(groups: Sequence[Family], negligible: float = 0.0) -> dict[str, Any]:
    """How often equal things are called different, the power, and the noise; shares are from 0 to 1.

    To the power a difference up to the part ``negligible`` is none. How often equal things are called different says
    how far intervals can be trusted: there every difference counts. Raises ValueError without a pair.
    """
    pairs = [pair for group in groups for pair in group]
    intervals = [[find_interval(pair) for pair in group] for group in groups]
    equal = [_judge(group) for group in intervals]
    different: tuple[Verdict, ...] = ("faster", "slower")
    beyond = [[find_interval(pair, negligible) for pair in group] for group in groups]
    power = [_power(groups, beyond, slowdown, negligible) for slowdown in SLOWDOWNS]
    return {
        "pairs": len(pairs),
        "negligible": negligible,
        "groups": [
            {
                "pairs": len(some),
                **{way: _count(some, way, different).number for way in JUDGED},
                # What the verdicts of pairs follow from, so that whoever doubts them can judge again.
                "each": [
                    {name: list_figures(one, 0)[name] for name in ("ratio", "low", "high", "p")}
                    for one in found
                ],
            }
            for some, found in zip(equal, intervals, strict=True)
        ],
        **_shares(equal, different),
        "power": power,
        **{f"smallest_{way}": _find_smallest(power, way) for way in JUDGED},
        "half_width": _half_width(chain.from_iterable(intervals)),
        "spread": _spread(pairs),
    }


def find_ratio_of_sides(pairs: Sequence[Pairs]) -> dict[str, float] | None:
    """What one side does to the other in all pairs together, 1 if taking turns favours none, with its 95 % interval.

    None where a side did nothing. Each ratio of a pair counts as one with nothing in common with the others.
    """
    speeds, references = (
        tuple(chain.from_iterable(getattr(pair, side) for pair in pairs)) for side in ("speeds", "references")
    )
    found = find_interval(Pairs(tuple(range(len(speeds))), speeds, references))
    return None if found is None else {"ratio": found.ratio, "low": found.low, "high": found.high}


def _judge(intervals: _Intervals, negligible: float = 0.0) -> list[_Trial]:
    """The verdicts of pairs that are judged together."""
    alone: list[Verdict] = [
        judge(one.low, one.high, negligible=negligible) if one else "not known" for one in intervals
    ]
    together = judge_together(intervals, negligible=negligible)
    return [_Trial(*verdicts) for verdicts in zip(alone, together, strict=True)]


def _power(
    groups: Sequence[Family], intervals: Sequence[_Intervals], slowdown: float, negligible: float
) -> dict[str, Any]:
    """The shares of the trials in which a side of one pair is called slower that is, by this part of its speed."""
    trials = [
        list(_slow_each(group, equal, slowdown, negligible))
        for group, equal in zip(groups, intervals, strict=True)
    ]
    return {"slowdown": slowdown, **_shares(trials, ("slower",))}


def _slow_each(group: Family, equal: _Intervals, slowdown: float, negligible: float) -> Iterator[_Trial]:
    """The verdicts of each pair when it alone has a side that is slower: once the one, once the other."""
    for place, pair in enumerate(group):
        one, other = (
            tuple(speed * (1 - slowdown) for speed in side) for side in (pair.speeds, pair.references)
        )
        for slower in (pair._replace(speeds=one), Pairs(pair.blocks, other, pair.speeds)):
            some = [*equal[:place], find_interval(slower, negligible), *equal[place + 1 :]]
            yield _judge(some, negligible)[place]


def _shares(groups: Sequence[Sequence[_Trial]], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The share of the trials of all groups that have one of the verdicts, judged in both ways."""
    return {
        way: share_of_groups([_count(some, way, verdicts) for some in groups])._asdict() for way in JUDGED
    }


def _count(trials: Sequence[_Trial], judged: Judged, verdicts: Sequence[Verdict]) -> Count:
    return Count(sum(getattr(trial, judged) in verdicts for trial in trials), len(trials))


def _find_smallest(power: Sequence[dict[str, Any]], judged: Judged) -> dict[str, float | None]:
    """The smallest slowdown that is called often enough, and by the interval of the share the least and the most.

    None where none of ``SLOWDOWNS`` is.
    """
    return {
        name: next((row["slowdown"] for row in power if row[judged][end] >= CALLED), None)
        for name, end in (("slowdown", "share"), ("low", "high"), ("high", "low"))
    }


def _half_width(intervals: Iterable[Interval | None]) -> float | None:
    """By which part of 1 an interval reaches to each side, the median of all; None where no pair has one."""
    halves = [sqrt(one.high / one.low) - 1 for one in intervals if one and one.low > 0 and one.high < inf]
    return median(halves) if halves else None


def _spread(pairs: Sequence[Pairs]) -> float | None:
    """Standard deviation of the logarithm of a ratio from block to block, over all pairs; None without two blocks."""
    logs = [log_ratios(pair.speeds, pair.references) for pair in pairs if find_interval(pair)]
    found = [variance(one) for one in logs if len(one) > 1]
    return sqrt(fmean(found)) if found else None


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
