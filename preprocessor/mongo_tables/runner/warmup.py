"""When a window opens and whether its speed was steady: MSER-5 on a series of speeds, and a test for pauses.

The rule MSER-5 cuts off the beginning of a series so that the standard error of the mean of the rest is smallest. It
uses means of five observations (K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation
Output", Simulation 69(6), 1997). Here the speed in an interval of a series is such a mean. A cut of more than half of
the series is not accepted: the series is too short or its speed still changes.

Nothing is cut out of a window. Instead, the same load runs before the window, for a time that is called the lead, and
the window opens when the rule finds the lead steady. So all parts of a row cover the same time: operations, latencies,
processor time and the server's counters, which cannot be read for a past moment. A workload that adds to its data, or
ends after an amount of work, has no lead, because the lead would change its work. The row of such a workload only says
whether its speed was steady.

The rule detects that the beginning differs, but detects no pause in the middle. So a window is also unsteady if it has
a stretch of slow or fast intervals that is longer than the share ``NOTABLE`` of the window and not due to chance. A
slow interval has at most half of the median speed, a fast interval more than twice the median speed. If only chance is
at work, each order of the intervals is equally likely. If k of n intervals are neither slow nor fast, each of the k + 1
stretches between them has at least the length g with the probability C(n-g, k) / C(n, k) (W. Feller, "An Introduction
to Probability Theory and Its Applications", volume I, chapter II). So neither the scatter of speeds nor pauses that
recur often make a window unsteady.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from math import comb
from statistics import fmean, median
from typing import Literal

from mongo_tables.runner.series import IntervalSeries, interval_for
from mongo_tables.runner.workloads import Config, workload

RULE = "MSER-5"
LEAST_INTERVALS = 20
"""The minimum number of intervals for the rule. In shorter series of noise, it often cuts more than half."""
LEAST_ANSWERED = 10
"""If fewer intervals have answers, it is unknown whether the speed was steady."""
SEARCHED = 0.75
"""The share of a series in which the rule looks for a cut.

A later cut would leave so few intervals that their standard error may be small by chance.
"""
LONGEST_SECONDS = 600.0
"""The longest lead in seconds."""
NOTABLE = 0.05
"""Speeds that differ by a smaller share count as equal, even if the rule cuts."""
STANDARD_ERRORS = 3
"""Speeds that differ by fewer standard errors count as equal, because the difference may be due to chance."""
UNLIKELY = 0.005
"""A stretch of slow or fast intervals is not due to chance if it is less probable than this."""
Steady = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class WarmUp:
    """The time before a window, in which the same load runs for ``seconds``. The window's figures exclude it.

    ``rule`` decided when the window opens. ``transient_seconds`` is the time after which MSER-5 finds the speed steady,
    or None if MSER-5 never does, or if another rule decided. The rule waits for at most ``most_seconds``; None means no
    limit. ``seconds`` may be larger, because the server's counters are read before the window opens.
    """

    rule: str
    seconds: float = 0.0
    most_seconds: float | None = 0.0
    transient_seconds: float | None = None


NONE = WarmUp("none")


def cut(speeds: Sequence[float]) -> int:
    """Return the number of speeds at the beginning that MSER cuts off. ``speeds`` must not be empty.

    Example:
        >>> cut([1.0, 2.0] + 20 * [10.0])
        2
    """
    sums = list(accumulate(reversed(speeds)))[::-1]
    squares = list(accumulate(speed * speed for speed in reversed(speeds)))[::-1]

    def squared_error(number: int) -> float:
        left = len(speeds) - number
        return (squares[number] - sums[number] ** 2 / left) / left**2

    return min(range(int(SEARCHED * (len(speeds) - 1)) + 1), key=squared_error)


def judge(speeds: Sequence[float]) -> Steady:
    """Return whether the speeds of a window's intervals are steady."""
    if len(speeds) < LEAST_INTERVALS or not any(speeds):
        return "unknown"
    if changes(speeds) or has_stretch(speeds):
        return "no"
    return "yes" if sum(map(bool, speeds)) >= LEAST_ANSWERED else "unknown"


def has_stretch(speeds: Sequence[float]) -> bool:
    """Return whether the speed was slow (at most half of its median) or fast (more than twice) for a notable time."""
    usual = median(speeds)
    return _is_no_chance([speed <= usual / 2 for speed in speeds]) or _is_no_chance(
        [speed > usual * 2 for speed in speeds]
    )


def _is_no_chance(far: Sequence[bool]) -> bool:
    """Return whether a stretch of intervals far from the median is notable and not due to chance."""
    longest = max((sum(run) for _, run in groupby(far)), default=0)
    near = len(far) - sum(far)
    likely = (near + 1) * comb(len(far) - longest, near) / comb(len(far), near)
    return longest > NOTABLE * len(far) and likely < UNLIKELY


def changes(speeds: Sequence[float]) -> bool:
    """Return whether the rule cuts off speeds that differ notably, and not by chance, from the speeds that it keeps.

    The mean of the kept speeds must differ from the mean of all speeds by more than the share ``NOTABLE``, and from the
    mean of the cut speeds by more than ``STANDARD_ERRORS``.
    """
    number = cut(speeds)
    if number == 0:
        return False
    before, after, mean = speeds[:number], speeds[number:], fmean(speeds)
    scatter = sum((speed - fmean(part)) ** 2 for part in (before, after) for speed in part)
    by_chance = (scatter / (len(speeds) - 2) * (1 / len(before) + 1 / len(after))) ** 0.5
    difference = abs(fmean(after) - fmean(before))
    return abs(fmean(after) - mean) > NOTABLE * mean and difference > STANDARD_ERRORS * by_chance


def speeds_within(series: IntervalSeries, opens: float, closes: float, latency: float) -> list[float]:
    """Return the operations in each interval that lies completely inside a window. Times are nanoseconds in the series.

    The series lacks requests that were sent before the window opened. So the intervals within ``latency`` after the
    opening, which could contain answers to such requests, are omitted.
    """
    first = 1 + int((opens + latency) // series.width)
    return [float(series.operations[number]) for number in range(first, int(closes // series.width))]


def lead_interval(window: float | None) -> int:
    """Return the length in nanoseconds of a lead's intervals. The run checks the load once in each interval."""
    return max(interval_for(None), interval_for(window))


def lead_seconds(window: float) -> tuple[float, float]:
    """Return the minimum and maximum length in seconds of the lead of a window of ``window`` seconds.

    The minimum is as long as the rule needs, but not longer than the window, and the maximum is the length of the
    window or ``LONGEST_SECONDS``, whichever is shorter.
    """
    least = LEAST_INTERVALS * lead_interval(window) / 1e9
    return (least, min(window, max(least, LONGEST_SECONDS))) if window >= least else (window, window)


def has_lead(name: str, config: Config) -> bool:
    """Return whether a window of this workload may begin in the middle of its work."""
    traits = workload(name)
    if not traits.keeps_data or traits.goes_on or traits.paces_itself or workload(name).plan(config):
        return False
    return not (traits.grows_with and config.get(traits.grows_with))


@dataclass(slots=True)
class Lead:
    """The load before a window, judged while it runs, for ``least`` to ``most`` seconds."""

    least: float
    most: float
    width: float
    """The length of an interval in seconds."""
    speeds: list[float] = field(default_factory=list)
    _seconds: float = 0.0
    _operations: int = 0

    def is_over(self, seconds: float, operations: int) -> bool:
        """Return whether the window opens after ``seconds`` seconds and ``operations`` operations."""
        new = int(seconds / self.width) - len(self.speeds)
        if new > 0:
            speed = (operations - self._operations) / (seconds - self._seconds)
            self.speeds += [speed] * new
            self._seconds, self._operations = seconds, operations
        if seconds < self.least or not new:
            return seconds >= self.most
        return seconds >= self.most or self._is_steady()

    def describe(self, seconds: float) -> WarmUp:
        """Return the description of a lead that took ``seconds``."""
        if len(self.speeds) < LEAST_INTERVALS:
            return WarmUp("as long as the window", seconds, self.most)
        transient = cut(self.speeds) * self.width if self._is_steady() else None
        return WarmUp(RULE, seconds, self.most, transient)

    def _is_steady(self) -> bool:
        if len(self.speeds) < LEAST_INTERVALS:
            return False
        number = cut(self.speeds)
        # A steadily rising speed has such a cut, too. So the rule is applied to the rest.
        return number <= len(self.speeds) // 2 and not changes(self.speeds[number:])
