"""95 % intervals: of the ratio of two speeds over the blocks of a campaign, of a speed, and over five campaigns on.

Over two to four campaigns ``compare --pool`` gives a range instead; how often it holds the truth, nobody can say.

Within a block a variant and its reference are measured soon after one another, so what the machine did meanwhile is in
both and leaves their ratio. That is why the block is the unit, however many requests it holds. The statistic is the
logarithm of the ratio, for which twice as fast and half as fast are equally far from no difference.

Below 20 blocks the interval is that of Student's t. From 20 on it is that of the signed ranks (Hodges and Lehmann,
1963; Hollander and Wolfe, *Nonparametric Statistical Methods*, chapter 3), which single blocks cannot stretch; below
six there is none. Both hold what they promise in simulations with a known truth, ``tests/results/test_intervals.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, combinations_with_replacement
from math import comb, exp, fsum, inf, log, log1p, sqrt
from statistics import fmean, median, stdev
from typing import Final, NamedTuple

from mongo_tables.results.verdicts import CAMPAIGNS_FOR_T, leaves_out

CONFIDENCE: Final = 0.95
LEAST_BLOCKS: Final = 3
"""Two blocks may be alike by chance, and an interval over them would be a point: with fewer there is none."""
RANKS_FROM: Final = 20
"""From so many blocks on the interval is that of the signed ranks."""
_TAIL: Final = (1 - CONFIDENCE) / 2
_LARGEST_EXPONENT: Final = 700.0


class Interval(NamedTuple):
    """A ratio of speeds, 1 for no difference, and its 95 % interval, or the range of those of a few campaigns.

    ``blocks`` is how many stand behind it, ``p`` the probability of a ratio at least as far from 1 where there is no
    difference, or only a negligible one. It is at most 5 % just where the interval has no negligible ratio.
    """

    ratio: float
    low: float
    high: float
    blocks: int
    p: float


class Estimate(NamedTuple):
    """The mean of logarithms, or a difference of two, with its standard error and degrees of freedom."""

    value: float
    error: float
    degrees: float


class SpeedInterval(NamedTuple):
    """The median of the speeds of a row, in their unit, and its 95 % interval."""

    speed: float
    low: float
    high: float


def interval(speeds: Sequence[float], references: Sequence[float], negligible: float = 0.0) -> Interval:
    """The ratio of a variant's speed to its reference's; each pair is from one block.

    Ratios from 1 / (1 + ``negligible``) to 1 + ``negligible`` are no difference to ``p``.
    Fewer than ``LEAST_BLOCKS`` say nothing: their interval is everything, from 0 to infinity.
    Raises ValueError without a block, where the numbers of blocks differ, and for a speed that is 0 or less.
    """
    logs = log_ratios(speeds, references)
    if len(logs) < LEAST_BLOCKS:
        return _know_nothing(fmean(logs), len(logs))
    conclude = _by_ranks if len(logs) >= RANKS_FROM else _by_student
    return conclude(logs, log1p(negligible))


def log_ratios(speeds: Sequence[float], references: Sequence[float]) -> list[float]:
    """The natural logarithm of the ratio of each pair; raises ValueError as ``interval`` does."""
    return [one - other for one, other in zip(logarithms(speeds), logarithms(references), strict=True)]


def logarithms(values: Sequence[float]) -> list[float]:
    """The natural logarithm of each value; raises ValueError without one, and for one that is 0 or less."""
    if not values:
        raise ValueError("no block to conclude from")
    if not all(0 < value < inf for value in values):
        raise ValueError(f"only speeds above 0 can be compared, not {min(values)}")
    return [log(value) for value in values]


def speed_interval(speeds: Sequence[float]) -> SpeedInterval:
    """The median of a row's speeds, one for each block, and its interval.

    From six blocks on its ends are two of the speeds (order statistics): it holds whatever the distribution, and speeds
    that halve while something else runs are common, where a t interval would leave what was ever measured. Up to five
    there is no such interval of 95 %, and it is that of t on the logarithms. Both always hold the median. On a machine
    that drifts neighbouring blocks are alike, so this describes one campaign; compare by ``interval``.
    Raises ValueError without a speed, and for a speed that is 0 or less.
    """
    logs, ordered = logarithms(speeds), sorted(speeds)
    cut = _speeds_outside(len(ordered))
    if cut is not None:
        return SpeedInterval(median(ordered), ordered[cut], ordered[-1 - cut])
    around = _by_student(logs)
    return SpeedInterval(median(ordered), around.low, around.high)


def interval_between(old: Sequence[float], new: Sequence[float], least: int = 2) -> Interval:
    """The ratio of new to old of values that are not paired, one for each block: Welch's t on the logarithms.

    ``blocks`` is the smaller of the two numbers. Fewer than ``least`` say nothing, as in ``interval``.
    Raises ValueError where a side is empty or a value 0 or less.
    """
    before, after = logarithms(old), logarithms(new)
    blocks = min(len(before), len(after))
    if blocks < least:
        return _know_nothing(fmean(after) - fmean(before), blocks)
    return _around(estimate_difference(before, after), blocks)


def pool(intervals: Sequence[Interval], negligible: float = 0.0) -> Interval:
    """One ratio of those of several campaigns; the ratio is their geometric mean, ``blocks`` their sum.

    The campaign is a level of its own: what differs from one hour to the other is in no interval over blocks. From five
    campaigns on it is Student's t on the logarithms of their ratios. Over two to four that t would say nothing (its
    quantile over two is 12.7), so there is the range of theirs, from the lowest end to the highest. Where hours differ
    it holds the truth less often than in 95 of 100 cases. It leaves 1, and what is ``negligible`` as ``interval`` has
    it, only where each campaign's own interval does, on the same side, and ``p`` is then the largest of theirs, else 1.
    Raises ValueError without a campaign.
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


def estimate_mean(logs: Sequence[float]) -> Estimate:
    """The mean of two logarithms or more, as Student has it."""
    return Estimate(fmean(logs), stdev(logs) / sqrt(len(logs)), len(logs) - 1)


def estimate_difference(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """The difference of two means of two logarithms or more each, as Welch and Satterthwaite have it."""
    one, other = (stdev(logs) ** 2 / len(logs) for logs in (before, after))
    weights = one**2 / (len(before) - 1) + other**2 / (len(after) - 1)
    degrees = (one + other) ** 2 / weights if weights else len(before) + len(after) - 2
    return Estimate(fmean(after) - fmean(before), sqrt(one + other), degrees)


def t_quantile(degrees: float) -> float:
    """How many standard errors the 95 % interval of Student's t reaches to each side."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - _TAIL))


def walsh_averages(logs: Sequence[float]) -> list[float]:
    """The mean of each pair of values, a value with itself among them, in ascending order."""
    return sorted((one + other) / 2 for one, other in combinations_with_replacement(logs, 2))


@cache
def critical_rank(blocks: int) -> int:
    """How many Walsh averages lie outside the 95 % interval at each end: the critical value of the signed ranks.

    Raises ValueError below six blocks, for which there is none.
    """
    within = [rank for rank, chance in enumerate(_signed_rank_chances(blocks)) if chance <= _TAIL]
    if not within:
        raise ValueError(f"no signed-rank interval of 95 % over {blocks} blocks")
    return within[-1]


def _by_student(logs: Sequence[float], negligible_log: float = 0.0) -> Interval:
    if len(logs) == 1:
        return _know_nothing(logs[0], 1)
    return _around(estimate_mean(logs), len(logs), negligible_log)


def _know_nothing(estimate: float, blocks: int) -> Interval:
    return Interval(_exp(estimate), 0.0, inf, blocks, 1.0)


def _around(estimate: Estimate, blocks: int, negligible_log: float = 0.0) -> Interval:
    half = t_quantile(estimate.degrees) * estimate.error
    ends = (_exp(estimate.value - half), _exp(estimate.value + half))
    return Interval(_exp(estimate.value), *ends, blocks, _t_chance(estimate, negligible_log))


def _t_chance(estimate: Estimate, negligible_log: float) -> float:
    """Of a logarithm at least so far from 0 where the true one is as far as is negligible, on either side."""
    from scipy.special import stdtr

    beyond = abs(estimate.value) - negligible_log
    if not estimate.error:
        return 0.0 if beyond > 0 else 1.0
    return min(1.0, float(2 * stdtr(estimate.degrees, -beyond / estimate.error)))


def _by_ranks(logs: Sequence[float], negligible_log: float = 0.0) -> Interval:
    averages = walsh_averages(logs)
    ratios = [_exp(one) for one in averages]
    outside = critical_rank(len(logs))
    # Counted so that p is at most 5 % just where the interval leaves 1, or what is negligible.
    most = _exp(negligible_log)
    sided = min(sum(one <= most for one in ratios), sum(one >= 1 / most for one in ratios))
    p = min(1.0, 2 * _signed_rank_chances(len(logs))[sided])
    return Interval(_exp(median(averages)), ratios[outside], ratios[-1 - outside], len(logs), p)


@cache
def _signed_rank_chances(blocks: int) -> list[float]:
    """The probability that the signed ranks of so many blocks sum to each number or less, where nothing differs.

    Each rank is in the sum or not, both equally likely: the distribution is built one rank at a time.
    """
    chances = [1.0]
    for rank in range(1, blocks + 1):
        without = [one / 2 for one in chances]
        nothing = [0.0] * rank
        chances = [one + other for one, other in zip(without + nothing, nothing + without, strict=True)]
    return list(accumulate(chances))


def _speeds_outside(blocks: int) -> int | None:
    """How many of so many speeds lie outside the interval of their median at each end; None: there is none."""
    outside = None
    for cut in range(blocks // 2):
        if fsum(comb(blocks, one) / 2**blocks for one in range(cut + 1)) > _TAIL:
            break
        outside = cut
    return outside


def _exp(value: float) -> float:
    return exp(value) if value < _LARGEST_EXPONENT else inf
