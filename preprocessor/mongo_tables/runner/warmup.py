"""When a window opens, and whether its speed was steady: MSER-5, on a series of speeds, and what it does not see.

The rule cuts off the begin of a series where that makes the standard error of the mean of the rest least, over means of
five observations (K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation
69(6), 1997). Here an interval of a series is such a mean. What is cut may reach to the half of the series; where the
rule would cut more, the series is too short or its speed still changes.

Nothing is cut out of a window. Instead, the same load runs for a lead before it, and the window opens when the rule is
content with the lead. So everything in a row is of one interval: operations, latencies, processor time and the
server's counters, which nobody can read for a moment that is past. What a workload adds to its data, or does until an
amount is done, has no lead, because it would be another work after it: of those, a row says alone whether they were
steady.

The rule sees a begin that is different, and no pause in the middle. So a window is not steady either in which there is
a stretch of intervals, more than ``NOTABLE`` of all, each of which has at most half of the median speed, or each more
than twice of it, where that is no chance. If the order of the intervals is chance, each order is as likely: of n
intervals k are not so, and each of the k + 1 stretches between them is as long as g with the probability
C(n-g, k) / C(n, k) (W. Feller, "An Introduction to Probability Theory and Its Applications", volume I, chapter II). So
it does not matter how speeds scatter, and pauses that come again and again are of one state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from math import comb
from statistics import fmean, median
from typing import Literal

from mongo_tables.runner.series import Series, interval_for
from mongo_tables.runner.workloads import Config, workload

RULE = "MSER-5"
LEAST_INTERVALS = 20
"""With fewer the rule knows nothing: in simulated noise it then cuts more than half of every fourth series."""
LEAST_ANSWERED = 10
"""With answers in fewer intervals nothing says that a speed was steady."""
SEARCHED = 0.75
"""The part of a series in which a cut is looked for: the rest is so short that luck makes its standard error small."""
LONGEST_SECONDS = 600.0
NOTABLE = 0.05
"""A speed that differs by less is steady, whatever the rule says."""
STANDARD_ERRORS = 3
"""A speed that differs by fewer is steady: that is chance."""
UNLIKELY = 0.005
"""A stretch of intervals far from the median that is less probable is not chance."""
Steady = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class WarmUp:
    """What came before a window and is in none of its figures: ``seconds`` of the same load, ended by ``rule``.

    ``transient_seconds`` are those of them after which the rule finds the speed steady; None where it does not, or
    another rule ended them. After ``most_seconds`` they end in any case, None where nothing bounds them. The server's
    counters are looked at then, before the window opens: so long they last longer.
    """

    rule: str
    seconds: float = 0.0
    most_seconds: float | None = 0.0
    transient_seconds: float | None = None


NONE = WarmUp("none")


def cut(speeds: Sequence[float]) -> int:
    """How many of the first speeds, of which there is one at least, MSER cuts off."""
    sums = list(accumulate(reversed(speeds)))[::-1]
    squares = list(accumulate(speed * speed for speed in reversed(speeds)))[::-1]

    def squared_error(number: int) -> float:
        left = len(speeds) - number
        return (squares[number] - sums[number] ** 2 / left) / left**2

    return min(range(int(SEARCHED * (len(speeds) - 1)) + 1), key=squared_error)


def judge(speeds: Sequence[float]) -> Steady:
    """Whether the speeds of the intervals of a window are those of one state."""
    if len(speeds) < LEAST_INTERVALS or not any(speeds):
        return "unknown"
    if changes(speeds) or has_stretch(speeds):
        return "no"
    return "yes" if sum(map(bool, speeds)) >= LEAST_ANSWERED else "unknown"


def has_stretch(speeds: Sequence[float]) -> bool:
    """Whether for a time the speed was less than half of what it is else, or more than twice."""
    usual = median(speeds)
    return _is_no_chance([speed <= usual / 2 for speed in speeds]) or _is_no_chance(
        [speed > usual * 2 for speed in speeds]
    )


def _is_no_chance(far: Sequence[bool]) -> bool:
    """Whether so many that are far from the median follow one another that it is notable, and no chance."""
    longest = max((sum(run) for _, run in groupby(far)), default=0)
    near = len(far) - sum(far)
    likely = (near + 1) * comb(len(far) - longest, near) / comb(len(far), near)
    return longest > NOTABLE * len(far) and likely < UNLIKELY


def changes(speeds: Sequence[float]) -> bool:
    """Whether the speeds that the rule would keep are others than those that it would cut off.

    They are when they differ from all by ``NOTABLE``, and by more than chance from those before.
    """
    number = cut(speeds)
    if number == 0:
        return False
    before, after, mean = speeds[:number], speeds[number:], fmean(speeds)
    scatter = sum((speed - fmean(part)) ** 2 for part in (before, after) for speed in part)
    by_chance = (scatter / (len(speeds) - 2) * (1 / len(before) + 1 / len(after))) ** 0.5
    difference = abs(fmean(after) - fmean(before))
    return abs(fmean(after) - mean) > NOTABLE * mean and difference > STANDARD_ERRORS * by_chance


def speeds_within(series: Series, opens: float, closes: float, latency: float) -> list[float]:
    """Operations in each interval that lies in a window as a whole; all in nanoseconds from the begin of the series.

    The series has no request that was sent before the window opened: intervals are left out in which these of
    ``latency`` would be.
    """
    first = 1 + int((opens + latency) // series.width)
    counted = series.intervals
    return [
        float(counted[number].operations) if number in counted else 0.0
        for number in range(first, int(closes // series.width))
    ]


def lead_interval(window: float | None) -> int:
    """Nanoseconds of the intervals of the lead of such a window; the looks at it, of which they consist, are seldom."""
    return max(interval_for(None), interval_for(window))


def lead_seconds(window: float) -> tuple[float, float]:
    """The least and the most seconds of the lead of a window of so many seconds.

    As much as the rule needs and no more than the window; a window that is too short for it has a lead of its length.
    """
    least = LEAST_INTERVALS * lead_interval(window) / 1e9
    return (least, min(window, max(least, LONGEST_SECONDS))) if window >= least else (window, window)


def has_lead(name: str, config: Config) -> bool:
    """Whether a window of this workload may begin in the middle of its work."""
    traits = workload(name)
    if not traits.keeps_data or traits.goes_on or traits.paces_itself or workload(name).plan(config):
        return False
    return not (traits.grows_with and config.get(traits.grows_with))


@dataclass(slots=True)
class Lead:
    """The load before a window, looked at while it runs, for ``least`` seconds or longer, ``most`` at most."""

    least: float
    most: float
    width: float
    """Seconds of an interval."""
    speeds: list[float] = field(default_factory=list)
    _seconds: float = 0.0
    _operations: int = 0

    def is_over(self, seconds: float, operations: int) -> bool:
        """Whether the window is to open, so many seconds after the start and with so many operations done."""
        new = int(seconds / self.width) - len(self.speeds)
        if new > 0:
            speed = (operations - self._operations) / (seconds - self._seconds)
            self.speeds += [speed] * new
            self._seconds, self._operations = seconds, operations
        if seconds < self.least or not new:
            return seconds >= self.most
        return seconds >= self.most or self._is_steady()

    def told(self, seconds: float) -> WarmUp:
        """What is to be said of a lead that was so long."""
        if len(self.speeds) < LEAST_INTERVALS:
            return WarmUp("as long as the window", seconds, self.most)
        transient = cut(self.speeds) * self.width if self._is_steady() else None
        return WarmUp(RULE, seconds, self.most, transient)

    def _is_steady(self) -> bool:
        if len(self.speeds) < LEAST_INTERVALS:
            return False
        number = cut(self.speeds)
        # A speed that rises all the time has such a cut too: what is left of it is asked the same again.
        return number <= len(self.speeds) // 2 and not changes(self.speeds[number:])
