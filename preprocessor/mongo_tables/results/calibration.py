"""Calibration of verdicts: the rate of false alarms and the power, from pairs of equal things.

A pair is one thing that is measured repeatedly against itself. If its ratio is called faster or slower, this is a false
alarm. The share of false alarms describes the whole measurement: machine, target, windows, blocks and statistics. For
the power, the speeds of one side are multiplied by 1 minus a slowdown, then those of the other side. The power is the
share of these trials that are called slower.

Pairs come in groups, like the rows of an experiment. For the power, one pair at a time is slower and the others of its
group are equal, which is the hardest case to detect.

Pairs of a group share blocks and windows, so they carry less information than independent pairs. The interval of a
share is therefore computed from the number of cases divided by the design effect, which is estimated from the groups
(J. N. K. Rao and A. J. Scott, "A Simple Method for the Analysis of Clustered Binary Data", *Biometrics* 48, 1992).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import fsum, inf, sqrt
from statistics import NormalDist, fmean, median, variance
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.results.conclusions import Pairs, find_interval, judge_together, list_figures
from mongo_tables.results.intervals import CONFIDENCE, Interval, log_ratios, t_quantile
from mongo_tables.results.verdicts import Verdict, judge

SLOWDOWNS: Final = tuple(percent / 100 for percent in range(1, 26))
CALLED: Final = 0.84
"""A slowdown counts as detected if at least this share of its trials is called slower."""
Judged = Literal["alone", "together"]
JUDGED: Final[tuple[Judged, ...]] = ("alone", "together")
"""The two ways to judge a pair: alone, or together with its group, as a row is judged within its experiment."""
Family = Sequence[Pairs]
"""Pairs that were measured in the same blocks and are judged together."""


_Trial = Mapping[Judged, Verdict]
"""The verdict on one pair, for each way to judge it."""
_Intervals = Sequence[Interval | None]
"""The intervals of the pairs of a family."""


def calibrate(groups: Sequence[Family], negligible: float = 0.0) -> dict[str, Any]:
    """Return the share of false alarms, the power, and the noise. Shares are from 0 to 1.

    For the power, a difference of at most the fraction ``negligible`` does not count. For false alarms every difference
    counts, because their share shows how far intervals can be trusted. Raises ValueError without a pair.
    """
    pairs = [pair for group in groups for pair in group]
    intervals = [[find_interval(pair) for pair in group] for group in groups]
    equal = [_judge(group) for group in intervals]
    different: tuple[Verdict, ...] = ("faster", "slower")
    beyond = [[find_interval(pair, negligible) for pair in group] for group in groups]
    power = []
    for slowdown in SLOWDOWNS:
        trials = [
            list(_slow_each(group, found, slowdown, negligible))
            for group, found in zip(groups, beyond, strict=True)
        ]
        power.append({"slowdown": slowdown, **_shares(trials, ("slower",))})
    known = [one for one in chain.from_iterable(intervals) if one and one.low > 0 and one.high < inf]
    halves = [sqrt(one.high / one.low) - 1 for one in known]
    logs = [log_ratios(pair.speeds, pair.references) for pair in pairs if find_interval(pair)]
    variances = [variance(one) for one in logs if len(one) > 1]
    return {
        "pairs": len(pairs),
        "negligible": negligible,
        "groups": [
            {
                "pairs": len(some),
                **{way: _count(some, way, different).number for way in JUDGED},
                # The figures behind the verdict on each pair, so that readers can check it.
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
        # The median half-width of the intervals, as a fraction of 1.
        "half_width": median(halves) if halves else None,
        # The standard deviation of the log ratio over blocks, for all pairs.
        "spread": sqrt(fmean(variances)) if variances else None,
    }


def find_ratio_of_sides(pairs: Sequence[Pairs]) -> dict[str, float] | None:
    """Return the ratio of one side to the other over all pairs, with its 95 % interval.

    The ratio is 1 if the order of measurement has no effect. Ratios are treated as independent. Return None if a speed
    was 0.
    """
    speeds, references = (
        tuple(chain.from_iterable(getattr(pair, side) for pair in pairs)) for side in ("speeds", "references")
    )
    found = find_interval(Pairs(tuple(range(len(speeds))), speeds, references))
    return None if found is None else {"ratio": found.ratio, "low": found.low, "high": found.high}


def _judge(intervals: _Intervals, negligible: float = 0.0) -> list[_Trial]:
    alone: list[Verdict] = [
        judge(one.low, one.high, negligible=negligible) if one else "not known" for one in intervals
    ]
    together = judge_together(intervals, negligible=negligible)
    pairs = zip(alone, together, strict=True)
    return [{"alone": one, "together": other} for one, other in pairs]


def _slow_each(group: Family, equal: _Intervals, slowdown: float, negligible: float) -> Iterator[_Trial]:
    """Yield the verdicts on each pair when only this pair is slowed: first one side, then the other."""
    for place, pair in enumerate(group):
        one, other = (
            tuple(speed * (1 - slowdown) for speed in side) for side in (pair.speeds, pair.references)
        )
        for slower in (pair._replace(speeds=one), Pairs(pair.blocks, other, pair.speeds)):
            some = [*equal[:place], find_interval(slower, negligible), *equal[place + 1 :]]
            yield _judge(some, negligible)[place]


def _shares(groups: Sequence[Sequence[_Trial]], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the share of trials with one of the verdicts, for both ways to judge."""
    return {
        way: share_of_groups([_count(some, way, verdicts) for some in groups])._asdict() for way in JUDGED
    }


def _count(trials: Sequence[_Trial], judged: Judged, verdicts: Sequence[Verdict]) -> Count:
    return Count(sum(trial[judged] in verdicts for trial in trials), len(trials))


def _find_smallest(power: Sequence[dict[str, Any]], judged: Judged) -> dict[str, float | None]:
    """Return the smallest slowdown that counts as detected, with its bounds.

    The bounds follow from the interval of the share of detected trials. A value is None if no slowdown in ``SLOWDOWNS``
    is large enough.
    """
    return {
        name: next((row["slowdown"] for row in power if row[judged][end] >= CALLED), None)
        for name, end in (("slowdown", "share"), ("low", "high"), ("high", "low"))
    }


class Count(NamedTuple):
    """The number of cases of one kind, among all ``cases`` of a group. Cases of a group may depend on each other."""

    number: int
    cases: int


class CaseShare(NamedTuple):
    """The share of cases of one kind among all cases, from 0 to 1, with its 95 % interval.

    ``number`` counts the cases of this kind. ``design_effect`` is the number of cases that carry as much information as
    one independent case.
    """

    number: int
    share: float
    low: float
    high: float
    design_effect: float


def share_of_groups(groups: Sequence[Count]) -> CaseShare:
    """Return the share over all groups. Its interval takes the design effect into account.

    Raises ValueError without a case.
    """
    number, cases = sum(one.number for one in groups), sum(one.cases for one in groups)
    return share_of(number, cases, find_design_effect(groups) if cases else 1.0)


def share_of(number: int, cases: int, design_effect: float = 1.0) -> CaseShare:
    """Return the share of ``number`` in ``cases``, with the score interval of E. B. Wilson (1927).

    The interval stays within 0 and 1, and has a width even if ``number`` is 0 or ``cases``. Raises ValueError without a
    case.
    """
    if cases < 1:
        raise ValueError("there are no cases to compute a share of")
    share, squared, worth = number / cases, _quantile() ** 2, cases / design_effect
    middle = (share + squared / (2 * worth)) / (1 + squared / worth)
    half = sqrt(squared * (share * (1 - share) + squared / (4 * worth)) / worth) / (1 + squared / worth)
    low = max(0.0, middle - half) if number else 0.0
    high = min(1.0, middle + half) if number < cases else 1.0
    return CaseShare(number, share, low, high, design_effect)


def find_design_effect(groups: Sequence[Count]) -> float:
    """Return the number of cases of these groups that carry as much information as one independent case.

    The estimate is the variance of the share over the groups, divided by its variance for as many independent cases
    (Rao and Scott, 1992, section 2), and at least 1. Few groups give a poor estimate, so it is multiplied by the
    squared quotient of the quantiles of Student's t and of the normal distribution (E. L. Korn and B. I. Graubard,
    "Confidence Intervals for Proportions with Small Expected Number of Positive Counts Estimated from Survey Data",
    *Survey Methodology* 24, 1998). The result is at most the size of the largest group, as if all cases of a group were
    the same. A single group gets this limit.
    """
    largest = float(max(one.cases for one in groups))
    if len(groups) == 1:
        return largest
    few = (t_quantile(len(groups) - 1) / _quantile()) ** 2
    return min(largest, few * max(1.0, _variance_ratio(groups)))


def _variance_ratio(groups: Sequence[Count]) -> float:
    """Return the estimate of Rao and Scott, or 1 if none or all of the cases are of the kind."""
    number, cases = sum(one.number for one in groups), sum(one.cases for one in groups)
    share = number / cases
    if number in (0, cases):
        return 1.0
    squares = fsum((one.number - share * one.cases) ** 2 for one in groups)
    return len(groups) / (len(groups) - 1) * squares / (cases * share * (1 - share))


def _quantile() -> float:
    """Return the half-width of a 95 % interval in standard errors, if the variance is known."""
    return NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
