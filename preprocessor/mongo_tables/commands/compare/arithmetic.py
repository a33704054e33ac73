"""The arithmetic behind a verdict in plain words, starting from the speeds in each block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, inf, isclose, log
from statistics import fmean, median, stdev
from typing import Final

from mongo_tables.commands.compare.wording import say_number, say_verdict
from mongo_tables.results.comparison import TO_REFERENCE, CampaignRatio, Comparison, Judged
from mongo_tables.results.conclusions import Pairs, find_interval, list_ratios
from mongo_tables.results.intervals import (
    LEAST_BLOCKS,
    RANKS_FROM,
    Estimate,
    Interval,
    critical_rank,
    estimate_difference,
    estimate_mean,
    logarithms,
    t_quantile,
    walsh_averages,
)
from mongo_tables.results.verdicts import CAMPAIGNS_FOR_T, SHARE, count_blocks, leaves_out

_TOO_FEW: Final = (
    "  Fewer than three blocks do not say how much blocks differ: there is no interval, and no verdict."
)


def explain(row: Comparison) -> Iterator[str]:
    """Yield, for each block, both speeds and the logarithm of their ratio, then the steps to the verdict."""
    yield f"{row.name}: {row.heading}"
    if row.judged.p is None or row.judged.ratio is None:
        yield f"  {say_verdict(row)}"
        return
    if row.campaigns:
        yield from _explain_pool(row.campaigns, row.judged.negligible)
    elif not row.evidence:
        yield (
            "  The rows do not have the speeds behind it, but what was concluded of them: over "
            f"{count_blocks(row.judged.blocks)} a ratio of {row.judged.ratio:.4f}."
        )
    elif row.judged.of == TO_REFERENCE:
        yield from _explain_two_campaigns(row)
    else:
        yield from _explain_one_campaign(row, row.evidence[0])
    yield from _explain_verdict(row.judged, by_range=0 < len(row.campaigns) < CAMPAIGNS_FOR_T)
    yield f"  So: {say_verdict(row)}"


def _explain_one_campaign(row: Comparison, pairs: Pairs) -> Iterator[str]:
    found = find_interval(pairs, row.judged.negligible)
    if not _follows(row.judged, found):
        yield (
            f"  The row says a ratio of {row.judged.ratio:.4f} over {count_blocks(row.judged.blocks)}. That is not "
            f"what its blocks give: {_say_found(found)}. Blocks were lost or changed; what follows is the row's."
        )
        return
    yield from _explain_blocks(pairs, row.sides.other, row.sides.one)
    if not row.is_control:
        yield (
            "  (Where something has several windows in a block, its speed there is their geometric mean: the "
            "reference is measured twice, and where rows have experiment.and_back all is measured there and back.)"
        )
    logs = logarithms(list_ratios(pairs))
    if len(logs) < LEAST_BLOCKS:
        yield _TOO_FEW
    elif len(logs) < RANKS_FROM:
        yield from _explain_student(logs, f"Below {RANKS_FROM} blocks")
    else:
        yield from _explain_ranks(logs)


def _follows(judged: Judged, found: Interval | None) -> bool:
    """Return whether the row's figures follow from its blocks."""
    if found is None or found.blocks != judged.blocks:
        return False
    pairs = ((found.ratio, judged.ratio), (found.low, judged.low), (found.high, judged.high))
    return all(isclose(one, other or 0.0) for one, other in pairs)


def _say_found(found: Interval | None) -> str:
    if found is None:
        return "one of them did no work"
    interval = f" ({found.low:.4f} to {found.high:.4f})" if found.high < inf else ""
    return f"{found.ratio:.4f}{interval} over {count_blocks(found.blocks)}"


def _explain_blocks(pairs: Pairs, one: str, other: str) -> Iterator[str]:
    yield f"  block, speed {one}, speed {other}, natural logarithm of their ratio:"
    for block, speed, reference in zip(*pairs, strict=True):
        yield f"    {block:>3}  {say_number(speed):>9}  {say_number(reference):>9}  {log(speed / reference):+.4f}"


def _explain_pool(campaigns: Sequence[CampaignRatio], negligible: float) -> Iterator[str]:
    """Yield how the interval over campaigns follows from theirs; each of them has a ratio."""
    yield "  campaign, when it began, ratio, 95 % interval, p, blocks:"
    for one in campaigns:
        interval = f"{one.low:.4f} to {one.high:.4f}"
        yield f"    {one.id}  {one.start:%Y-%m-%d %H:%M}  {one.ratio:.4f}  {interval}  {one.p:.2g}  {one.blocks}"
    yield "  (How each came about, block by block: `mongo-tables compare --explain` on the rows of that campaign.)"
    logs = logarithms([one.ratio for one in campaigns if one.ratio is not None])
    if len(campaigns) >= CAMPAIGNS_FOR_T:
        yield f"  The natural logarithms of the ratios: {', '.join(f'{one:+.4f}' for one in logs)}."
        yield from _explain_student(logs, f"From {CAMPAIGNS_FOR_T} campaigns on")
        return
    mean = fmean(logs)
    yield f"  The mean of the natural logarithms of the ratios is {mean:+.4f}. As a ratio, {exp(mean):.4f}."
    yield (
        f"  Below {CAMPAIGNS_FOR_T} campaigns Student's t is useless (its quantile over two is "
        f"{t_quantile(1):.1f}), so the interval is the range of their intervals, from the lowest end to the highest."
    )
    low, high = min(one.low for one in campaigns), max(one.high for one in campaigns)
    left_out = "1 and what is negligible" if negligible else "1"
    if leaves_out(low, high, negligible):
        yield f"  It leaves {left_out} out, as that of each campaign does on the same side: p is the largest of theirs."
    else:
        yield f"  It does not leave {left_out} out, since not all of theirs do on the same side: p is 1."


def _explain_two_campaigns(row: Comparison) -> Iterator[str]:
    logs = [logarithms(list_ratios(pairs)) for pairs in row.evidence]
    for side, pairs, some in zip((row.sides.one, row.sides.other), row.evidence, logs, strict=True):
        yield from _explain_blocks(pairs, f"of the row {side}", f"of its reference {side}")
        yield f"  {_say_mean(some)}"
    if min(map(len, logs)) < LEAST_BLOCKS:
        yield _TOO_FEW
        return
    found = estimate_difference(*logs)
    yield f"  The difference of both means is {found.value:+.4f}, a ratio of {exp(found.value):.4f}."
    yield (
        f"  Welch: its standard error is {found.error:.4f}, the root of the sum of both s²/n, with "
        f"{found.degrees:.1f} degrees of freedom."
    )
    yield from _explain_t(found)


def _say_mean(logs: list[float]) -> str:
    if len(logs) == 1:
        return f"The only one is {logs[0]:+.4f}."
    mean = estimate_mean(logs).value
    return f"Their mean is {mean:+.4f}, their standard deviation s = {stdev(logs):.4f}, n = {len(logs)}."


def _explain_student(logs: list[float], when: str) -> Iterator[str]:
    found = estimate_mean(logs)
    yield f"  {_say_mean(logs)} As a ratio, {exp(found.value):.4f}."
    yield f"  {when} Student's t: the standard error is {found.error:.4f}, s/√n."
    yield from _explain_t(found)


def _explain_t(found: Estimate) -> Iterator[str]:
    quantile = t_quantile(found.degrees)
    low, high = found.value - quantile * found.error, found.value + quantile * found.error
    yield f"  The quantile of t for 95 % is {quantile:.3f}: from {low:+.4f} to {high:+.4f}."


def _explain_ranks(logs: list[float]) -> Iterator[str]:
    averages, outside = walsh_averages(logs), critical_rank(len(logs))
    middle, low, high = median(averages), averages[outside], averages[-1 - outside]
    yield f"  From {RANKS_FROM} blocks on signed ranks: the means of all {len(averages)} pairs of these, sorted."
    yield f"  The one in the middle is {middle:+.4f} (Hodges and Lehmann), a ratio of {exp(middle):.4f}."
    yield f"  For 95 % and {len(logs)} blocks {outside} of them are left out at each end: {low:+.4f} to {high:+.4f}."


def _explain_verdict(judged: Judged, *, by_range: bool) -> Iterator[str]:
    """Yield the step from the interval to the verdict; for a range of intervals the effect of chance is unknown."""
    yield f"  As ratios: {judged.low:.4f} to {judged.high:.4f}."
    if judged.negligible:
        least, most = 1 / (1 + judged.negligible), 1 + judged.negligible
        yield (
            f"  Two copies of the same data on one server may differ by {100 * judged.negligible:.0f} %: `faster` and "
            f"`slower` need an interval above {most:.3f} or below {least:.3f}."
        )
    equal = "nothing differs" if not judged.negligible else "no more differs than that"
    if not by_range:
        yield f"  Where {equal}, a ratio this far from 1 comes by chance with p = {judged.p:.2g}."
    together = f"the {judged.rows} rows that are judged together" if judged.rows > 1 else "only this row"
    if judged.p is None or judged.threshold is None or judged.threshold < 0:
        bound = "no p is small enough"
    else:
        holds = "holds" if judged.p <= judged.threshold else "does not hold"
        bound = f"p may be up to {judged.threshold:.2g}, so this one {holds}"
    yield f"  Benjamini and Hochberg, {SHARE * 100:.0f} %, for {together}: {bound}."
    least, most = 1 / (1 + judged.margin), 1 + judged.margin
    yield f"  `no difference` is said where all of it lies between {least:.3f} and {most:.3f}."
