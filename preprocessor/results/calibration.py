"""What comes out where nothing differs, and what is called where something does: verdicts over pairs of equal things.

A pair is one and the same thing, measured twice in each block. That its ratio is called faster or slower is a false
alarm, and the share of them is that of a measurement as a whole: machine, target, windows, blocks and statistics. The
same pairs say how small a difference is seen: the speeds of one side are multiplied by 1 minus a slowdown, and the
share of the pairs that are called slower then is the power.

Pairs of the same blocks are judged together, as the rows of a page are. In the power one of them is slower and the
others are not, which is the hardest case for the one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import inf, sqrt
from statistics import fmean, median, variance
from typing import Any, Final, NamedTuple

from preprocessor.results.conclusions import Pairs, find_interval, judge_together
from preprocessor.results.intervals import Interval, log_ratios
from preprocessor.results.shares import share_of
from preprocessor.results.verdicts import Verdict, judge

SLOWDOWNS: Final = tuple(percent / 100 for percent in range(1, 26))
CALLED: Final = 0.84
"""The share of the trials in which a slowdown is to be called."""
Group = Sequence[Pairs]
"""Pairs that were measured in the same blocks."""


class _Trial(NamedTuple):
    """What a pair is called by itself, and among the pairs of its blocks."""

    alone: Verdict
    together: Verdict


def calibrate(groups: Sequence[Group]) -> dict[str, Any]:
    """How often equal things are called different, the power, and the noise; shares are from 0 to 1.

    Raises ValueError without a pair.
    """
    pairs = list(chain.from_iterable(groups))
    intervals = [[find_interval(pair) for pair in group] for group in groups]
    equal = [trial for some in intervals for trial in _judge(some)]
    power = [_power(groups, intervals, slowdown) for slowdown in SLOWDOWNS]
    return {
        "pairs": len(pairs),
        **_shares(equal, ("faster", "slower")),
        "power": power,
        "smallest_alone": _find_smallest(power, "alone"),
        "smallest_together": _find_smallest(power, "together"),
        "half_width": _half_width(list(chain.from_iterable(intervals))),
        "spread": _spread(pairs),
    }


def _judge(intervals: Sequence[Interval | None]) -> list[_Trial]:
    """The verdicts of pairs that were measured in the same blocks."""
    alone: list[Verdict] = [judge(one.low, one.high) if one else "not known" for one in intervals]
    return [_Trial(*verdicts) for verdicts in zip(alone, judge_together(intervals), strict=True)]


def _power(
    groups: Sequence[Group], intervals: Sequence[Sequence[Interval | None]], slowdown: float
) -> dict[str, Any]:
    """The shares of the pairs that are called slower when one side of one of them is, by this part of its speed."""
    trials = [
        _judge([*equal[:place], find_interval(_slow_down(pair, slowdown)), *equal[place + 1 :]])[place]
        for group, equal in zip(groups, intervals, strict=True)
        for place, pair in enumerate(group)
    ]
    return {"slowdown": slowdown, **_shares(trials, ("slower",))}


def _slow_down(pair: Pairs, slowdown: float) -> Pairs:
    return pair._replace(speeds=tuple(speed * (1 - slowdown) for speed in pair.speeds))


def _shares(trials: Sequence[_Trial], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The share of the trials that have one of the verdicts, judged in both ways."""
    return {
        "alone": share_of(sum(trial.alone in verdicts for trial in trials), len(trials))._asdict(),
        "together": share_of(sum(trial.together in verdicts for trial in trials), len(trials))._asdict(),
    }


def _find_smallest(power: Sequence[dict[str, Any]], judged: str) -> dict[str, float | None]:
    """The smallest slowdown that is called often enough, and by the interval of the share the least and the most.

    None where none of ``SLOWDOWNS`` is.
    """
    return {
        name: next((row["slowdown"] for row in power if row[judged][end] >= CALLED), None)
        for name, end in (("slowdown", "share"), ("low", "high"), ("high", "low"))
    }


def _half_width(intervals: Sequence[Interval | None]) -> float | None:
    """By which part of 1 an interval reaches to each side, the median of all; None where no pair has one."""
    halves = [sqrt(one.high / one.low) - 1 for one in intervals if one and one.low > 0 and one.high < inf]
    return median(halves) if halves else None


def _spread(pairs: Sequence[Pairs]) -> float | None:
    """Standard deviation of the logarithm of a ratio from block to block, over all pairs; None without two blocks."""
    logs = [log_ratios(pair.speeds, pair.references) for pair in pairs if find_interval(pair)]
    found = [variance(one) for one in logs if len(one) > 1]
    return sqrt(fmean(found)) if found else None
