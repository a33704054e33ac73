"""Verdicts on intervals of ratios (faster, slower, no relevant difference, not known) and their texts.

Of twenty equal rows, one would have an interval without 1 by chance. Therefore, rows are judged together: an interval
without 1 counts as a difference only if it passes a test over all rows (Benjamini and Hochberg, 1995).
``mongo_tables.results.conclusions`` decides which rows are judged together.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import ceil, inf, isclose, sqrt
from typing import Final, Literal, TypeVar

Verdict = Literal["faster", "slower", "no difference", "not known"]
_Ratio = TypeVar("_Ratio", float, Decimal)

ITSELF: Final = "itself"
"""The name of the other side when the reference is compared with itself."""
MARGIN: Final = 0.10
"""The largest relative difference of speeds that is not relevant."""
NEGLIGIBLE: Final = 0.02
"""The largest relative difference that two copies of the same data on one server may have.

Two targets have two copies. In slices of 40 ms, one copy was 0.9 % faster, with an interval from 0.4 to 1.5 %.
``benchmarks.copies`` measures other copies.
"""
CAMPAIGNS_FOR_T: Final = 5
"""The number of campaigns from which Student's t is used. With fewer campaigns, its intervals are too wide."""
SHARE: Final = 0.05
"""The largest average share of false differences among the reported differences."""
IN_TIMES_FROM: Final = 2.0
"""From this factor on, a text says "times" instead of per cent: 99.4 and 99.7 % slower look similar."""
WHOLE_FROM: Final = 10
"""From this factor on, a text has no decimals."""


def judge(
    low: float, high: float, differs: bool = True, margin: float = MARGIN, negligible: float = 0.0
) -> Verdict:
    """Return the verdict on an interval of ratios.

    ``faster`` and ``slower`` mean that the interval contains no negligible ratio. ``no difference`` means that the
    interval is within 1 / (1 + margin) and 1 + margin. ``differs`` is true if the interval passes the test over all
    rows (``threshold``).

    Example:
        >>> judge(0.91, 0.95)
        'slower'
        >>> judge(0.98, 1.03)
        'no difference'
    """
    if differs and low > 1 + negligible:
        return "faster"
    if differs and high < 1 / (1 + negligible):
        return "slower"
    return "no difference" if 1 / (1 + margin) <= low and high <= 1 + margin else "not known"


def find_contradiction(
    verdict: str, ratio: float, low: float, high: float, margin: float = MARGIN, negligible: float = 0.0
) -> str:
    """Return how a verdict, a ratio and its interval contradict each other, or ""."""
    if not (low <= ratio <= high or isclose(ratio, low) or isclose(ratio, high)):
        return f"has a ratio of {ratio}, outside its interval from {low} to {high}"
    # A single row does not show whether its difference passed the test over all rows.
    fitting = [judge(low, high, differs, margin, negligible) for differs in (True, False)]
    if verdict in fitting:
        return ""
    return (
        f"has the verdict {verdict}, but an interval from {low} to {high} with a margin of {margin} says "
        f"{' or '.join(dict.fromkeys(fitting))}"
    )


def leaves_out(low: float, high: float, negligible: float = 0.0) -> bool:
    """Return whether an interval contains neither 1 nor a negligible ratio."""
    return low > 1 + negligible or high < 1 / (1 + negligible)


def threshold(ps: Sequence[float]) -> float:
    """Return the largest ``p`` that counts as a difference among these p-values, or -1 if there is none.

    On average, at most ``SHARE`` of the differences are false. The p-values in ascending order are compared with SHARE
    / n, 2 SHARE / n and so on. The last step that its p-value does not exceed is the result (Benjamini and Hochberg,
    1995, procedure 1).

    Example:
        >>> threshold([0.001, 0.02, 0.04, 0.5])
        0.025
    """
    steps = [number * SHARE / len(ps) for number in range(1, len(ps) + 1)]
    return max((step for p, step in zip(sorted(ps), steps, strict=True) if p <= step), default=-1.0)


def describe(
    verdict: Verdict,
    ratio: float,
    low: float,
    high: float,
    blocks: int,
    campaigns: int = 1,
    negligible: float = 0.0,
    apart: Sequence[float] = (),
) -> str:
    """Return the verdict in words, with its blocks and campaigns, and the reason if it is not known."""
    told = f"{describe_interval(verdict, ratio, low, high, apart)}, {count_blocks(blocks, campaigns)}"
    if verdict != "not known" or not 0 < low <= high < inf:
        return told
    why = _explain_doubt(low, high, campaigns, negligible)
    return f"{told}; {why}" if why else told


def list_ratios_apart(campaigns: Sequence[tuple[_Ratio, _Ratio, _Ratio]]) -> tuple[_Ratio, ...]:
    """Return the ratios of campaigns whose intervals do not all overlap, in ascending order, or nothing.

    ``campaigns`` has the ratio of each campaign and both ends of its interval. Without overlap, no single ratio
    describes all campaigns.
    """
    if not campaigns or max(low for _, low, _ in campaigns) <= min(high for _, _, high in campaigns):
        return ()
    return tuple(sorted(ratio for ratio, _, _ in campaigns))


def join_apart(texts: Sequence[str]) -> str:
    """Join the ratios of campaigns that disagree: ``2.3 or 3.8`` for two, ``2.3 to 3.8`` for more."""
    return " or ".join(texts) if len(texts) == 2 else " to ".join(dict.fromkeys((texts[0], texts[-1])))


def describe_interval(
    verdict: Verdict, ratio: float, low: float, high: float, apart: Sequence[float] = ()
) -> str:
    """Return the verdict in words, with its interval: ``7 % slower (5 to 9 %)``.

    If the verdict is not known, return the ends of the interval: ``between 19 % slower and 2 % faster``. ``apart`` are
    the ratios of campaigns that disagree, which replace the single ratio.
    """
    ratios = apart or [ratio]
    if verdict == "no difference":
        most = ceil(round(100 * (max(high, 1 / low) - 1), 6)) or 1
        return f"no difference larger than {most} %"
    if verdict == "not known":
        if not 0 < low <= high < inf:
            return "not known"
        own = join_apart([f"{100 * (one - 1):+.0f}" for one in apart]) if apart else ""
        return _describe_bounds(low, high) + (f" (depending on the campaign: {own} %)" if own else "")
    form = choose_form(ratio)
    *each, nearer, farther = write_sizes(ratios, (low, high), form)
    if form == "percent":
        return f"{join_apart(each)} % {verdict} ({nearer} to {farther} %)"
    way = "as fast" if ratio > 1 else verdict
    return f"{join_apart(each)} times {way} ({nearer} to {farther} times)"


def _describe_bounds(low: float, high: float) -> str:
    ends = ((low, 1 - low, "slower"), (high, high - 1, "faster"))
    told = [f"{describe_bound(end)} {way}" for end, beyond, way in ends if round(100 * beyond) > 0]
    return f"between {' and '.join(told)}" if len(told) > 1 else f"at most {''.join(told)}"


def choose_form(ratio: float) -> str:
    """Return the form of a ratio in texts: ``factor`` for at least twice or at most half, or else ``percent``."""
    return "factor" if in_times(ratio) >= IN_TIMES_FROM else "percent"


def in_times(ratio: float) -> float:
    """Return a ratio, or its inverse, as a factor of at least 1."""
    return max(ratio, 1 / ratio)


def describe_bound(end: float, form: str = "") -> str:
    """Return the distance of an end from 1, rounded up: ``19 %`` or, as a ``factor``, ``2.1 times``."""
    factor = in_times(end)
    if (form or choose_form(end)) == "percent":
        return f"{ceil(round(100 * abs(end - 1), 6)):,} %"
    if factor >= WHOLE_FROM:
        return f"{ceil(round(factor, 6)):,} times"
    return f"{ceil(round(factor * 10, 6)) / 10} times"


def write_sizes(ratios: Sequence[float], interval: tuple[float, float], form: str) -> list[str]:
    """Return the distances of ratios from 1 as texts, followed by the distances of the ends of their interval.

    The nearer end comes first. The texts have as few decimals as possible, at most two, so that each distance is
    above 0 and the ends differ.
    """
    if form == "percent":
        sizes = [sorted(100 * abs(one - 1) for one in some) for some in (ratios, interval)]
        return _round_percents([*sizes[0], *sizes[1]])
    sizes = [sorted(map(in_times, some)) for some in (ratios, interval)]
    return _round_factors([*sizes[0], *sizes[1]])


def _round_factors(factors: Sequence[float]) -> list[str]:
    """Round factors to the same number of decimals. Large factors have no decimals."""
    texts: list[str] = []
    for decimals in (1, 2):
        few = (0 if round(one, decimals) >= WHOLE_FROM else decimals for one in factors)
        texts = [f"{one:,.{each}f}" for one, each in zip(factors, few, strict=True)]
        if _are_apart(factors, texts) and "1.0" not in texts:
            break
    return texts


def _round_percents(percents: Sequence[float]) -> list[str]:
    """Round percentages to the same number of decimals. Next to large numbers, only an end near 0 has decimals.

    For example, the result may be ``0.1 to 28``.
    """
    texts = [[f"{percent:,.{decimals}f}" for percent in percents] for decimals in range(3)]
    *others, nearer, farther = texts[0]
    if nearer == "0" and all(len(text) > 1 for text in (*others, farther)):
        return [*others, next((some[-2] for some in texts if float(some[-2])), texts[-1][-2]), farther]
    told = (some for some in texts if _are_apart(percents, some) and not {"0", "0.0", "0.00"} & {*some})
    return next(told, texts[-1])


def _are_apart(sizes: Sequence[float], texts: Sequence[str]) -> bool:
    """Return whether the ends of the interval, which are the last two sizes, have different texts or are equal."""
    return texts[-1] != texts[-2] or sizes[-1] == sizes[-2]


def count_blocks(blocks: int, campaigns: int = 1) -> str:
    """Return the number of blocks in words, and the number of campaigns if there are several."""
    counted = f"{blocks} block" if blocks == 1 else f"{blocks} blocks"
    return counted if campaigns == 1 else f"{counted} of {campaigns} campaigns"


def _explain_doubt(low: float, high: float, campaigns: int, negligible: float) -> str:
    """Return why an interval allows no verdict, or "" if campaigns disagree."""
    if leaves_out(low, high, negligible):
        return "among so many rows, such a difference may be chance"
    if leaves_out(low, high):
        return f"two copies of the same data on one server may differ by {100 * negligible:.0f} %"
    if campaigns > 1:
        return ""
    ratio = sqrt(high / low) * (1 + negligible)
    size = (
        f"by a factor of less than {ratio:.1f}"
        if ratio >= IN_TIMES_FROM
        else f"below {100 * (ratio - 1):.0f} %"
    )
    return f"judged on its own, a difference {size} could not have been seen"
