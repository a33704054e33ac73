"""95 % intervals of speeds, and of ratios of speeds: over the blocks of one campaign, or over several campaigns.

Within a block, a variant and its reference are measured shortly after one another, so disturbances of the machine
affect both and cancel in the ratio. Each block therefore counts once, however many requests it has. The statistic is
the logarithm of the ratio. In logarithms, twice as fast and half as fast are equally far from no difference.

Below 20 blocks, the interval is that of Student's t. From 20 blocks on, it is the interval of the signed ranks (Hodges
and Lehmann, 1963; Hollander and Wolfe, *Nonparametric Statistical Methods*, chapter 3), which single outliers hardly
affect. The interval of the signed ranks does not exist below six blocks. ``tests/results/test_intervals.py`` checks the
coverage of both in simulations. Over two to four campaigns, there is only a range, whose coverage is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, combinations_with_replacement
from math import comb, exp, inf, log, log1p, sqrt
from statistics import fmean, median, stdev
from typing import Final, NamedTuple

from mongo_tables.results.verdicts import CAMPAIGNS_FOR_T, leaves_out

CONFIDENCE: Final = 0.95
LEAST_BLOCKS: Final = 3
"""With fewer blocks there is no interval, because two blocks may agree by chance."""
RANKS_FROM: Final = 20
"""The number of blocks from which the interval uses signed ranks."""
_TAIL: Final = (1 - CONFIDENCE) / 2
_LARGEST_EXPONENT: Final = 700.0


class Interval(NamedTuple):
    """A ratio of speeds, its 95 % interval or its range over a few campaigns, and the number of blocks.

    ``p`` is the probability of a ratio at least as far from 1 if there is no difference, or only a negligible
    difference. ``p`` is at most 5 % exactly if the interval contains no negligible ratio.
    """

    ratio: float
    low: float
    high: float
    blocks: int
    p: float


class SpeedInterval(NamedTuple):
    """The median of the speeds of a row, in their unit, and its 95 % interval."""

    speed: float
    low: float
    high: float


def interval(speeds: Sequence[float], references: Sequence[float], negligible: float = 0.0) -> Interval:
    """Return the ratio of a variant's speed to its reference's speed. Both arguments have one speed for each block.

    For ``p``, ratios from 1 / (1 + ``negligible``) to 1 + ``negligible`` are no difference. With fewer than
    ``LEAST_BLOCKS`` blocks, the interval is from 0 to infinity. Raises ValueError without a block, for different
    numbers of blocks, and for a speed of 0 or less.

    Example:
        >>> found = interval([110.0, 121.0, 112.0], [100.0, 110.0, 100.0])
        >>> f"{found.ratio:.2f} from {found.low:.2f} to {found.high:.2f}"
        '1.11 from 1.08 to 1.14'
    """
    logs = log_ratios(speeds, references)
    if len(logs) < LEAST_BLOCKS:
        return _know_nothing(fmean(logs), len(logs))
    conclude = _by_ranks if len(logs) >= RANKS_FROM else _by_student
    return conclude(logs, log1p(negligible))


def log_ratios(speeds: Sequence[float], references: Sequence[float]) -> list[float]:
    """Return the natural logarithm of the ratio of each pair. Raises ValueError as ``interval`` does."""
    return [one - other for one, other in zip(logarithms(speeds), logarithms(references), strict=True)]


def logarithms(values: Sequence[float]) -> list[float]:
    """Return the natural logarithm of each value. Raises ValueError without a value, and for a value of 0 or less."""
    if not values:
        raise ValueError("there is no block to compute an interval from")
    if not all(0 < value < inf for value in values):
        raise ValueError(f"only speeds above 0 can be compared, not {min(values)}")
    return [log(value) for value in values]


def speed_interval(speeds: Sequence[float]) -> SpeedInterval:
    """Return the median of a row's speeds, one for each block, and its interval.

    From six blocks on, the ends of the interval are two of the speeds (order statistics). This is valid for any
    distribution: speeds often halve while another program runs, and an interval of Student's t would then reach beyond
    all measured values. With fewer blocks, the interval is that of Student's t on the logarithms. Both kinds of
    intervals always contain the median. Neighbouring blocks are correlated on a machine that drifts, so the interval
    describes one campaign. To compare campaigns, use ``interval``. Raises ValueError without a speed, and for a speed
    of 0 or less.

    Example:
        >>> speed_interval([100.0, 101.0, 99.0, 50.0, 102.0, 100.5])
        SpeedInterval(speed=100.25, low=50.0, high=102.0)
    """
    logs, ordered = logarithms(speeds), sorted(speeds)
    # The number of speeds outside of the interval of their median, at each end.
    chances = accumulate(comb(len(ordered), one) / 2 ** len(ordered) for one in range(len(ordered) // 2))
    cut = sum(chance <= _TAIL for chance in chances) - 1
    if cut >= 0:
        return SpeedInterval(median(ordered), ordered[cut], ordered[-1 - cut])
    around = _by_student(logs)
    return SpeedInterval(median(ordered), around.low, around.high)


def interval_between(old: Sequence[float], new: Sequence[float], least: int = 2) -> Interval:
    """Return the ratio of new to old values that are not paired, by Welch's t on the logarithms.

    ``blocks`` of the result is the smaller number of values. If it is below ``least``, the interval is from 0 to
    infinity. Raises ValueError if a side is empty or a value is 0 or less.
    """
    before, after = logarithms(old), logarithms(new)
    blocks = min(len(before), len(after))
    if blocks < least:
        return _know_nothing(fmean(after) - fmean(before), blocks)
    one, other = (stdev(logs) ** 2 / len(logs) for logs in (before, after))
    weights = one**2 / (len(before) - 1) + other**2 / (len(after) - 1)
    # The degrees of freedom after Welch and Satterthwaite.
    degrees = (one + other) ** 2 / weights if weights else len(before) + len(after) - 2
    return _around(fmean(after) - fmean(before), sqrt(one + other), degrees, blocks)


def pool(intervals: Sequence[Interval], negligible: float = 0.0) -> Interval:
    """Pool the ratios of several campaigns. The ratio is their geometric mean, ``blocks`` the sum of their blocks.

    An interval over blocks does not contain differences between hours, so each campaign counts once. From five
    campaigns on, the interval is that of Student's t on the logarithms of their ratios. Over two to four campaigns,
    this interval would be too wide to be useful, so the result is the range from the lowest to the highest end of their
    intervals. If hours differ, the range contains the truth in fewer than 95 of 100 cases. If the range contains no
    negligible ratio, ``p`` is the largest ``p`` of the campaigns, or else 1. Raises ValueError without a campaign.
    """
    if not intervals:
        raise ValueError("no campaign to pool")
    if len(intervals) == 1:
        return intervals[0]
    logs = [log(one.ratio) for one in intervals]
    blocks = sum(one.blocks for one in intervals)
    if len(intervals) >= CAMPAIGNS_FOR_T:
        return _by_student(logs, log1p(negligible))._replace(blocks=blocks)
    low, high = min(one.low for one in intervals), max(one.high for one in intervals)
    p = max(one.p for one in intervals) if leaves_out(low, high, negligible) else 1.0
    return Interval(exp(fmean(logs)), low, high, blocks, p)


def t_quantile(degrees: float) -> float:
    """Return the half-width of the 95 % interval of Student's t, in standard errors."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - _TAIL))


@cache
def critical_rank(blocks: int) -> int:
    """Return how many Walsh averages are outside of the 95 % interval of the signed ranks, at each end.

    Raises ValueError below six blocks, where this interval does not exist.
    """
    within = [rank for rank, chance in enumerate(_signed_rank_chances(blocks)) if chance <= _TAIL]
    if not within:
        raise ValueError(f"no signed-rank interval of 95 % over {blocks} blocks")
    return within[-1]


def _by_student(logs: Sequence[float], negligible_log: float = 0.0) -> Interval:
    if len(logs) == 1:
        return _know_nothing(logs[0], 1)
    error = stdev(logs) / sqrt(len(logs))
    return _around(fmean(logs), error, len(logs) - 1, len(logs), negligible_log)


def _know_nothing(estimate: float, blocks: int) -> Interval:
    return Interval(_exp(estimate), 0.0, inf, blocks, 1.0)


def _around(value: float, error: float, degrees: float, blocks: int, negligible_log: float = 0.0) -> Interval:
    """Return the interval around ``value``, a mean of logarithms or a difference of two means.

    ``error`` is the standard error of ``value``.
    """
    half = t_quantile(degrees) * error
    ends = (_exp(value - half), _exp(value + half))
    # The two-sided p-value if the true logarithm is ``negligible_log`` from 0.
    beyond = abs(value) - negligible_log
    if error:
        from scipy.special import stdtr

        p = min(1.0, float(2 * stdtr(degrees, -beyond / error)))
    else:
        p = 0.0 if beyond > 0 else 1.0
    return Interval(_exp(value), *ends, blocks, p)


def _by_ranks(logs: Sequence[float], negligible_log: float = 0.0) -> Interval:
    # The Walsh averages: the mean of each pair of values, including a value with itself.
    averages = sorted((one + other) / 2 for one, other in combinations_with_replacement(logs, 2))
    ratios = [_exp(one) for one in averages]
    outside = critical_rank(len(logs))
    # So p is at most 5 % exactly if the interval contains no negligible ratio.
    most = _exp(negligible_log)
    sided = min(sum(one <= most for one in ratios), sum(one >= 1 / most for one in ratios))
    p = min(1.0, 2 * _signed_rank_chances(len(logs))[sided])
    return Interval(_exp(median(averages)), ratios[outside], ratios[-1 - outside], len(logs), p)


@cache
def _signed_rank_chances(blocks: int) -> list[float]:
    """Return for each sum of signed ranks the probability that the sum is not larger, if there is no difference.

    Each rank is in the sum with the probability 1/2, so the distribution is computed rank by rank.
    """
    chances = [1.0]
    for rank in range(1, blocks + 1):
        without = [one / 2 for one in chances]
        nothing = [0.0] * rank
        chances = [one + other for one, other in zip(without + nothing, nothing + without, strict=True)]
    return list(accumulate(chances))


def _exp(value: float) -> float:
    return exp(value) if value < _LARGEST_EXPONENT else inf
