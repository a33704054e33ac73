"""Two campaigns, row by row: what became faster, what slower, and what is not known.

Campaigns at different hours are not paired, and the machine may have drifted between them. What is compared is
therefore the ratio of each row to its reference, which was measured in the same blocks, by Welch's t over blocks; all
rows are judged together. Speeds stand beside it without a verdict, and so do figures of benchmark tools.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import inf
from statistics import median
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from preprocessor.results.benchmarks import compare_benchmarks, is_benchmark
from preprocessor.results.conclusions import Pairs, block_speeds, list_ratios, name_of, pair_blocks
from preprocessor.results.conditions import list_differences
from preprocessor.results.intervals import interval_between, speed_interval
from preprocessor.results.machines import share_machine
from preprocessor.results.verdicts import ITSELF, MARGIN, Verdict, judge, threshold

Row = Mapping[str, Any]


class Sides(NamedTuple):
    """What is compared with what: a heading, and how something of the one and of the other is named."""

    heading: str
    one: str
    other: str


CAMPAIGNS: Final = Sides("NEW to OLD", "in OLD", "in NEW")
SPEED: Final = "speed"
TO_REFERENCE: Final = "ratio to the reference"
PER_SECOND: Final = "/s"
"""The unit of speeds."""


class Side(NamedTuple):
    """The speed of a row in operations a second, and its interval where it was measured in blocks.

    Of a benchmark it is the value, in a ``unit`` of its own.
    """

    speed: float | None
    low: float | None = None
    high: float | None = None
    unit: str = PER_SECOND


class Judged(NamedTuple):
    """What is known of a ratio; ``of`` says what it is the ratio of.

    ``processes`` is over how many of them an interval is that has no verdict; 0 for all others.
    ``p`` is held against ``threshold``, the bound for the ``rows`` that are judged together. Without a verdict there is
    none to give; where a verdict does not come from the interval alone, ``reason`` says why.
    """

    of: str
    ratio: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    blocks: int = 0
    verdict: Verdict | None = None
    reason: str = ""
    threshold: float | None = None
    rows: int = 0
    margin: float = MARGIN
    negligible: float = 0.0
    processes: int = 0


class CampaignRatio(NamedTuple):
    """What one of several campaigns found: a ratio, its interval over so many blocks, and ``p``.

    The ratio is None where no block has both, or one of both did nothing in a block.
    """

    id: str
    start: datetime
    ratio: float | None
    low: float
    high: float
    p: float
    blocks: int


class Comparison(NamedTuple):
    """One row on both sides.

    ``evidence`` is what the verdict rests on: the speeds in each block of the row and of its reference, in the old
    campaign and in the new one, or those of both sides within a campaign. ``differs`` names the fields of the
    provenance that differ, with both values, those of the servers' machines first, then those of the machine of the
    client. On both sides that is one machine where it is ``shared``.

    Where several campaigns are concluded together, the verdict rests on those in ``campaigns``; ``campaigns_differ``
    has the values of the fields of the provenance that are not the same in all of them.

    A control is something that is compared with itself, or a reference, which two campaigns have nothing beside.
    ``doubts`` are what speaks against the measurement, ``missing`` says which row it was compared with is not there.
    """

    experiment: str
    variant: str
    sides: Sides
    one: Side
    other: Side
    judged: Judged
    evidence: tuple[Pairs, ...]
    differs: Mapping[str, tuple[Any, Any]]
    shared: bool
    is_control: bool
    campaigns: tuple[CampaignRatio, ...] = ()
    campaigns_differ: Mapping[str, Sequence[Any]] = MappingProxyType({})
    doubts: tuple[str, ...] = ()
    missing: str = ""

    @property
    def name(self) -> str:
        """Experiment and variant, as they are asked for."""
        return f"{self.experiment}: {self.variant}"

    @property
    def heading(self) -> str:
        """What is compared with what, and whether over several campaigns."""
        return self.sides.heading + (", over several campaigns" if self.campaigns else "")

    @property
    def ratio(self) -> float | None:
        """The ratio, of what ``judged`` says."""
        return self.judged.ratio

    @property
    def why_not_judged(self) -> str:
        """Why there is no interval to judge by; "" where there is one."""
        judged = self.judged
        if judged.ratio is None or judged.low is None or judged.high is None or judged.p is None:
            return judged.reason or "it has no ratio"
        return "" if judged.low > 0 and judged.high < inf else "one block has no interval"

    @property
    def verdict(self) -> Verdict | None:
        """The verdict; None where there is none to give."""
        return self.judged.verdict


class Difference(NamedTuple):
    """All rows that are on both sides, and names of those that are only on one.

    Within one campaign ``not_compared`` names rows of which nothing was concluded, each with the reason.
    """

    rows: tuple[Comparison, ...]
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()


def compare(old: Sequence[Row], new: Sequence[Row]) -> Difference:
    """Compare the rows of two campaigns; rows belong together when their ``_id`` is equal."""
    pairs = [(one, other) for one in old for other in new if one["_id"] == other["_id"]]
    common = [one["_id"] for one, _ in pairs]
    return Difference(
        rows=_judge_together([_compare(one, old, other, new) for one, other in pairs]),
        only_old=tuple(name_row(row) for row in old if row["_id"] not in common),
        only_new=tuple(name_row(row) for row in new if row["_id"] not in common),
    )


def put_together(old: Row, new: Row, sides: Sides, judged: Judged, evidence: tuple[Pairs, ...]) -> Comparison:
    """The comparison of two rows of which this is known."""
    return Comparison(
        experiment=new["_id"]["testname"],
        variant=_variant(new),
        sides=sides,
        one=_side(old),
        other=_side(new),
        judged=judged,
        evidence=evidence,
        differs=dict(list_differences(old, new)),
        shared=share_machine(old) and share_machine(new),
        is_control=_is_reference(new),
    )


def find_reference(row: Row, rows: Sequence[Row]) -> Row | None:
    """The row that was measured in each block beside this one; None where it is not there."""
    return next((one for one in rows if _is_reference(one) and _shares_blocks(one, row)), None)


def side_of_blocks(speeds: Sequence[float]) -> Side:
    """The speed over these blocks; it has no interval where nothing was done in one of them."""
    if not speeds:
        return Side(None)
    return Side(*speed_interval(speeds)) if min(speeds) > 0 else Side(median(speeds))


def name_row(row: Row) -> str:
    """Experiment and variant, with the name of the target where it has one."""
    return f"{row['_id']['testname']}: {_variant(row)}"


def _compare(old: Row, olds: Sequence[Row], new: Row, news: Sequence[Row]) -> Comparison:
    if is_benchmark(old) and is_benchmark(new) and not (block_speeds(old) and block_speeds(new)):
        return put_together(old, new, CAMPAIGNS, _judge_benchmark(old, new), ())
    before, after = find_reference(old, olds), find_reference(new, news)
    reason = _say_why_not(old, new, (before, after))
    if reason or before is None or after is None:
        return put_together(old, new, CAMPAIGNS, _give_up(old, new, reason), ())
    evidence = (pair_blocks(old, before), pair_blocks(new, after))
    found = interval_between(*map(list_ratios, evidence))
    judged = Judged(TO_REFERENCE, found.ratio, found.low, found.high, found.p, found.blocks)
    return put_together(old, new, CAMPAIGNS, judged, evidence)


def _judge_benchmark(old: Row, new: Row) -> Judged:
    """What is known of two documents of a benchmark tool: a ratio, and never a verdict."""
    found = compare_benchmarks(old, new)
    return Judged(
        str(new["metric"]), found.ratio, found.low, found.high, reason=found.reason, processes=found.processes
    )


def _give_up(old: Row, new: Row, reason: str) -> Judged:
    """The ratio of both speeds, of which nothing can be concluded."""
    blocks = min(len(block_speeds(row)) for row in (old, new))
    ratio = _quotient(_side(new).speed, _side(old).speed)
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
    if _is_reference(old) or _is_reference(new):
        return "it is the reference, and nothing was measured beside it in both campaigns"
    before, after = references
    if before is None or after is None:
        return "its reference is not among the rows"
    if name_of(before) != name_of(after):
        return f"its reference is {name_of(before)} in OLD and {name_of(after)} in NEW"
    pairs = (pair_blocks(old, before), pair_blocks(new, after))
    if any(not one.blocks or min(*one.speeds, *one.references) <= 0 for one in pairs):
        return "it has no block in which both it and its reference did something"
    return ""


def _is_reference(row: Row) -> bool:
    return _against(row) == ITSELF


def _shares_blocks(reference: Row, row: Row) -> bool:
    return _place(reference) == _place(row) and name_of(reference) == _against(row)


def _against(row: Row) -> str:
    return str((row.get("comparison") or {}).get("against", ""))


def _place(row: Row) -> tuple[Any, ...]:
    """Rows that have this in common have blocks in common."""
    return row["_id"]["testname"], row["_id"].get("target"), row.get("campaign", {}).get("id")


def _side(row: Row) -> Side:
    blocks = list(block_speeds(row).values())
    if blocks:
        return side_of_blocks(blocks)
    if is_benchmark(row):
        return Side(row.get("value"), unit=row["unit"])
    speeds = [repeat["operations_per_second"] for repeat in row.get("repeats", ())]
    return Side(median(speeds) if speeds else None)  # documents of another program have none


def _quotient(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None


def _variant(row: Row) -> str:
    target = row["_id"].get("target")
    return f"{name_of(row)} on {target}" if target else name_of(row)
