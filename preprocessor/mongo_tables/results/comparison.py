"""Comparison of the rows of two campaigns: the ratio of each row to its reference, with verdicts and evidence.

Campaigns at different times are not paired, and the machine may have drifted between them. Therefore, each row is first
related to its reference, which was measured in the same blocks. The ratios of the two campaigns are then compared by
Welch's t over blocks. All rows of all experiments are judged together. Speeds are shown without a verdict. Each side is
a single campaign, and an interval over blocks does not contain differences between hours on a machine, so a verdict is
less certain than its interval suggests. Rows that measured different work get no verdict.

Two files of a benchmark tool are not paired either, and have no reference. They get a ratio without a verdict.

``within_campaign`` reads the conclusions within one campaign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import inf
from statistics import median
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mongo_tables.results.conclusions import Pairs, block_speeds, list_ratios, name_of, pair_blocks
from mongo_tables.results.conditions import list_differences, list_other_work, share_machine
from mongo_tables.results.intervals import LEAST_BLOCKS, interval_between, speed_interval
from mongo_tables.results.row_names import is_benchmark
from mongo_tables.results.verdicts import ITSELF, MARGIN, Verdict, judge, threshold

Row = Mapping[str, Any]


class Sides(NamedTuple):
    """The names of the two sides of a comparison, and the heading above it."""

    heading: str
    one: str
    other: str


CAMPAIGNS: Final = Sides("NEW to OLD", "in OLD", "in NEW")
SPEED: Final = "speed"
TO_REFERENCE: Final = "ratio to the reference"
PER_SECOND: Final = "/s"
"""The unit of speeds: operations per second."""


class Side(NamedTuple):
    """The speed of a row in operations per second, with an interval if it was measured in blocks.

    For a benchmark, ``speed`` is its value, in its own ``unit``.
    """

    speed: float | None
    low: float | None = None
    high: float | None = None
    unit: str = PER_SECOND


class Judged(NamedTuple):
    """A ratio with its interval and verdict. ``of`` is the compared quantity, ``SPEED`` or ``TO_REFERENCE``.

    ``reason`` says why there is no conclusion from the interval, or is "".
    """

    of: str
    ratio: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    blocks: int = 0
    verdict: Verdict | None = None
    reason: str = ""
    margin: float = MARGIN
    negligible: float = 0.0


class CampaignRatio(NamedTuple):
    """The ratio that one of several campaigns measured, with its interval and ``p`` over ``blocks`` blocks.

    The ratio is None if no block has both rows, or if a speed was 0.
    """

    id: str
    start: datetime
    ratio: float | None
    low: float
    high: float
    p: float
    blocks: int


class Comparison(NamedTuple):
    """The comparison of one row on both sides.

    Attributes:
        evidence: The speeds of the row and of its reference in each block, in the old campaign and in the new campaign.
            Within one campaign, it has the speeds of both sides.
        differs: The provenance fields that differ, with both values. Fields of the servers' machines come first.
        shared: Whether servers and client ran on one machine, on both sides.
        is_control: Whether something is compared with itself, or a reference across two campaigns.
        campaigns: The campaigns from which the verdict follows, if several campaigns are pooled.
        campaigns_differ: The provenance fields that differ between these campaigns, with their values.
        doubts: Reasons to distrust the measurement.
        missing: The row to compare with, if it does not exist.
        lost: If the row did no work in some blocks of one side only, the number of these blocks, in words.
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
    lost: str = ""

    @property
    def name(self) -> str:
        """The experiment and the variant."""
        return f"{self.experiment}: {self.variant}"

    @property
    def heading(self) -> str:
        """The heading of the sides. It ends in "over several campaigns" if several campaigns are pooled."""
        return self.sides.heading + (", over several campaigns" if self.campaigns else "")

    @property
    def why_not_judged(self) -> str:
        """The reason why there is no interval, or "" if there is one."""
        judged = self.judged
        if judged.ratio is None or judged.low is None or judged.high is None or judged.p is None:
            return judged.reason or "it has no ratio"
        return "" if judged.low > 0 and judged.high < inf else "fewer than three blocks have no interval"


class Difference(NamedTuple):
    """The compared rows, and the names of rows that only one side has.

    Within one campaign, ``not_compared`` names the rows without a conclusion, each with its reason. ``gone`` are the
    rows that only the first target has.
    """

    rows: tuple[Comparison, ...]
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def put_together(old: Row, new: Row, sides: Sides, judged: Judged, evidence: tuple[Pairs, ...]) -> Comparison:
    """Build the comparison of two rows."""
    return Comparison(
        experiment=new["_id"]["testname"],
        variant=_variant(new),
        sides=sides,
        one=side_of_row(old),
        other=side_of_row(new),
        judged=judged,
        evidence=evidence,
        differs=dict(list_differences(old, new)),
        shared=share_machine(old) and share_machine(new),
        is_control=is_reference(new),
    )


def find_reference(row: Row, rows: Sequence[Row]) -> Row | None:
    """Return the reference of a row, measured in the same blocks, or None if it is not among the rows."""
    against = row.get("comparison", {}).get("against", "")
    return next(
        (
            one
            for one in rows
            if is_reference(one) and _place(one) == _place(row) and name_of(one) == str(against)
        ),
        None,
    )


def side_of_blocks(speeds: Sequence[float]) -> Side:
    """Return the median speed over blocks. It has no interval if a speed was 0."""
    if not speeds:
        return Side(None)
    return Side(*speed_interval(speeds)) if min(speeds) > 0 else Side(median(speeds))


def name_row(row: Row) -> str:
    """Return experiment and variant, and the target if the row names one."""
    return f"{row['_id']['testname']}: {_variant(row)}"


def say_what_stopped(old: Row, new: Row) -> str:
    """Return in words in how many blocks or repeats the new row did no work.

    Return "" if there are none, or if the old row did no work either.
    """
    if not any(_list_speeds(old)):
        return ""
    speeds = _list_speeds(new)
    if not speeds:
        return "it has no speed"
    idle = count_idle(speeds)
    what = "blocks" if block_speeds(new) else "repeats"
    return f"it did no work in {idle} of {len(speeds)} {what}" if idle else ""


def count_idle(speeds: Sequence[float]) -> int:
    """Return the number of blocks with speed 0."""
    return sum(speed <= 0 for speed in speeds)


def _list_speeds(row: Row) -> list[float]:
    """Return the speed in each block or, in a row without blocks, in each repeat. Other documents have no speeds."""
    blocks = list(block_speeds(row).values())
    return blocks or [repeat["operations_per_second"] for repeat in row.get("repeats", ())]


def is_reference(row: Row) -> bool:
    """Return whether the row is the reference of its experiment."""
    return bool(row.get("comparison", {}).get("against") == ITSELF)


def _place(row: Row) -> tuple[Any, ...]:
    """Return a key that is equal for rows that were measured in the same blocks."""
    return row["_id"]["testname"], row["_id"].get("target"), row.get("campaign", {}).get("id")


def side_of_row(row: Row) -> Side:
    """Return the speed of a row, or the value of a benchmark. Other documents have the speed None."""
    speeds = _list_speeds(row)
    if block_speeds(row):
        return side_of_blocks(speeds)
    if is_benchmark(row):
        return Side(row.get("value"), unit=row["unit"])
    return Side(median(speeds) if speeds else None)


def _variant(row: Row) -> str:
    target = row["_id"].get("target")
    return f"{name_of(row)} on {target}" if target else name_of(row)


def compare(old: Sequence[Row], new: Sequence[Row]) -> Difference:
    """Compare the rows of two campaigns that have the same ``_id``."""
    pairs = [(one, other) for one in old for other in new if one["_id"] == other["_id"]]
    common = [one["_id"] for one, _ in pairs]
    return Difference(
        rows=_judge_together([_compare(one, old, other, new) for one, other in pairs]),
        only_old=tuple(name_row(row) for row in old if row["_id"] not in common),
        only_new=tuple(name_row(row) for row in new if row["_id"] not in common),
    )


def _compare(old: Row, olds: Sequence[Row], new: Row, news: Sequence[Row]) -> Comparison:
    judged, evidence = _judge(old, find_reference(old, olds), new, find_reference(new, news))
    stopped = say_what_stopped(old, new)
    compared = put_together(old, new, CAMPAIGNS, judged, evidence)
    return compared._replace(lost=f"{stopped} {CAMPAIGNS.other}" if stopped else "")


def _judge(old: Row, before: Row | None, new: Row, after: Row | None) -> tuple[Judged, tuple[Pairs, ...]]:
    """Return the ratio of two rows to their references, and the speeds behind it."""
    if other := ", ".join(field for field, _ in list_other_work(old, new)):
        return _give_up(old, new, f"the two sides measured different work: they differ in {other}")._replace(
            verdict=None
        ), ()
    reason = _say_why_not(old, new, (before, after))
    if reason or before is None or after is None:
        return _give_up(old, new, reason), ()
    earlier, later = pair_blocks(old, before), pair_blocks(new, after)
    found = interval_between(list_ratios(earlier), list_ratios(later), LEAST_BLOCKS)
    judged = Judged(TO_REFERENCE, found.ratio, found.low, found.high, found.p, found.blocks)
    return judged, (earlier, later)


def _give_up(old: Row, new: Row, reason: str) -> Judged:
    """Return the ratio of both speeds, without a conclusion."""
    blocks = min(len(block_speeds(row)) for row in (old, new))
    speed, before = side_of_row(new).speed, side_of_row(old).speed
    ratio = speed / before if speed is not None and before else None
    return Judged(SPEED, ratio, blocks=blocks, verdict="not known" if blocks else None, reason=reason)


def _judge_together(rows: Sequence[Comparison]) -> tuple[Comparison, ...]:
    bound = threshold([row.judged.p for row in rows if row.judged.p is not None])
    found = []
    for row in rows:
        judged = row.judged
        if judged.p is not None and judged.low is not None and judged.high is not None:
            judged = judged._replace(verdict=judge(judged.low, judged.high, judged.p <= bound))
        found.append(row._replace(judged=judged))
    return tuple(found)


def _say_why_not(old: Row, new: Row, references: tuple[Row | None, Row | None]) -> str:
    """Return why there is no conclusion about two rows, or "" if there is one."""
    without = [side for side, row in (("OLD", old), ("NEW", new)) if not block_speeds(row)]
    if without:
        return "measured without blocks" + (f" in {without[0]}" if len(without) == 1 else "")
    if "comparison" not in old or "comparison" not in new:
        return "its rate was fixed, so its speeds are not compared"
    if is_reference(old) or is_reference(new):
        return "it is the reference itself, so there is no row to relate it to"
    before, after = references
    if before is None or after is None:
        return "its reference is not among the rows"
    if name_of(before) != name_of(after):
        return f"its reference is {name_of(before)} in OLD and {name_of(after)} in NEW"
    for pairs, side in (
        (pair_blocks(old, before), CAMPAIGNS.one),
        (pair_blocks(new, after), CAMPAIGNS.other),
    ):
        if not pairs.blocks:
            return f"no block {side} has both the row and its reference"
        for who, speeds in (("it", pairs.speeds), ("its reference", pairs.references)):
            if idle := count_idle(speeds):
                return f"{who} did no work in {idle} of {len(speeds)} blocks {side}"
    return ""
