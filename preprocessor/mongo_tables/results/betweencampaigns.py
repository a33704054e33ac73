"""Two campaigns, row by row: what became faster, what slower, and what is not known.

Campaigns at different hours are not paired, and the machine may have drifted between them. What is compared is
therefore the ratio of each row to its reference, which was measured in the same blocks, by Welch's t over blocks; all
rows of all experiments are judged together. Speeds stand beside it without a verdict, and so do figures of benchmark
tools.

It is one campaign a side, and what one hour does to a machine is in no interval over blocks: a verdict is less sure
than it says. What was not asked for alike has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mongo_tables.results.benchmarks import compare_benchmarks, is_benchmark
from mongo_tables.results.comparison import (
    CAMPAIGNS,
    SPEED,
    TO_REFERENCE,
    Comparison,
    Difference,
    Judged,
    count_idle,
    find_reference,
    is_reference,
    name_row,
    put_together,
    say_what_stopped,
    side_of_row,
)
from mongo_tables.results.conclusions import Pairs, block_speeds, list_ratios, name_of, pair_blocks
from mongo_tables.results.conditions import list_other_work
from mongo_tables.results.intervals import LEAST_BLOCKS, interval_between
from mongo_tables.results.verdicts import judge, threshold

Row = Mapping[str, Any]


def compare(old: Sequence[Row], new: Sequence[Row]) -> Difference:
    """Compare the rows of two campaigns; rows belong together when their ``_id`` is equal."""
    pairs = [(one, other) for one in old for other in new if one["_id"] == other["_id"]]
    common = [one["_id"] for one, _ in pairs]
    return Difference(
        rows=_judge_together([_compare(one, old, other, new) for one, other in pairs]),
        only_old=tuple(name_row(row) for row in old if row["_id"] not in common),
        only_new=tuple(name_row(row) for row in new if row["_id"] not in common),
    )


def _compare(old: Row, olds: Sequence[Row], new: Row, news: Sequence[Row]) -> Comparison:
    if is_benchmark(old) and is_benchmark(new) and not (block_speeds(old) and block_speeds(new)):
        return put_together(old, new, CAMPAIGNS, _judge_benchmark(old, new), ())
    judged, evidence = _judge(old, find_reference(old, olds), new, find_reference(new, news))
    stopped = say_what_stopped(old, new)
    compared = put_together(old, new, CAMPAIGNS, judged, evidence)
    return compared._replace(lost=f"{stopped} {CAMPAIGNS.other}" if stopped else "")


def _judge(old: Row, before: Row | None, new: Row, after: Row | None) -> tuple[Judged, tuple[Pairs, ...]]:
    """What is known of two rows with these references, and the speeds that it rests on."""
    if other := _say_other_work(old, new):
        return _give_up(old, new, other)._replace(verdict=None), ()
    reason = _say_why_not(old, new, (before, after))
    if reason or before is None or after is None:
        return _give_up(old, new, reason), ()
    earlier, later = pair_blocks(old, before), pair_blocks(new, after)
    found = interval_between(list_ratios(earlier), list_ratios(later), LEAST_BLOCKS)
    judged = Judged(TO_REFERENCE, found.ratio, found.low, found.high, found.p, found.blocks)
    return judged, (earlier, later)


def _judge_benchmark(old: Row, new: Row) -> Judged:
    """What is known of two documents of a benchmark tool: a ratio, and never a verdict."""
    found = compare_benchmarks(old, new)
    return Judged(
        str(new["metric"]), found.ratio, found.low, found.high, reason=found.reason, processes=found.processes
    )


def _give_up(old: Row, new: Row, reason: str) -> Judged:
    """The ratio of both speeds, of which nothing can be concluded."""
    blocks = min(len(block_speeds(row)) for row in (old, new))
    ratio = _quotient(side_of_row(new).speed, side_of_row(old).speed)
    return Judged(SPEED, ratio, blocks=blocks, verdict="not known" if blocks else None, reason=reason)


def _judge_together(rows: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The rows with the verdicts that their intervals allow among each other."""
    ps = [row.judged.p for row in rows if row.judged.p is not None]
    bound = threshold(ps)
    return tuple(row._replace(judged=_decide(row.judged, bound, len(ps))) for row in rows)


def _decide(judged: Judged, bound: float, rows: int) -> Judged:
    if judged.p is None or judged.low is None or judged.high is None:
        return judged
    verdict = judge(judged.low, judged.high, judged.p <= bound)
    return judged._replace(verdict=verdict, threshold=bound, rows=rows)


def _say_why_not(old: Row, new: Row, references: tuple[Row | None, Row | None]) -> str:
    """Why nothing can be concluded from two rows; "" where something can."""
    without = [side for side, row in (("OLD", old), ("NEW", new)) if not block_speeds(row)]
    if without:
        return "measured without blocks" + (f" in {without[0]}" if len(without) == 1 else "")
    if "comparison" not in old or "comparison" not in new:
        return "the work has a rate of its own, and speeds at a given rate are not compared"
    if is_reference(old) or is_reference(new):
        return "it is the reference, and nothing was measured beside it in both campaigns"
    before, after = references
    if before is None or after is None:
        return "its reference is not among the rows"
    if name_of(before) != name_of(after):
        return f"its reference is {name_of(before)} in OLD and {name_of(after)} in NEW"
    sides = (pair_blocks(old, before), CAMPAIGNS.one), (pair_blocks(new, after), CAMPAIGNS.other)
    return next(filter(None, (_say_what_lacks(pairs, side) for pairs, side in sides)), "")


def _say_other_work(old: Row, new: Row) -> str:
    """The fields by which two rows are of other work; "" where they are not."""
    fields = ", ".join(field for field, _ in list_other_work(old, new))
    return f"not asked for alike: another {fields}" if fields else ""


def _say_what_lacks(pairs: Pairs, side: str) -> str:
    """Why blocks have no ratios; "" where each has one."""
    if not pairs.blocks:
        return f"no block {side} has both it and its reference"
    for who, speeds in (("it", pairs.speeds), ("its reference", pairs.references)):
        if idle := count_idle(speeds):
            return f"{who} did nothing in {idle} of {len(speeds)} blocks {side}"
    return ""


def _quotient(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None
