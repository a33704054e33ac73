"""What rows that were measured in blocks allow to be concluded, as the subdocuments that stand in them.

A ``comparison`` is that of a variant with the reference of its experiment, ``targets`` that of a row with the same one
on another target; both are paired by block. Rows of one experiment are judged together, as
``preprocessor.results.verdicts`` has it, since a page shows one experiment. The reference against itself is not among
them: it is a check of the measurement, and no finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import inf
from statistics import geometric_mean
from typing import Any, NamedTuple

from preprocessor.results.intervals import Interval, interval
from preprocessor.results.variants import variant_name
from preprocessor.results.verdicts import ITSELF, MARGIN, NEGLIGIBLE, Verdict, discoveries, judge

Row = Mapping[str, Any]


class Pairs(NamedTuple):
    """Speeds of two things that were measured in the same blocks, in operations a second, one for each block."""

    blocks: tuple[int, ...]
    speeds: tuple[float, ...]
    references: tuple[float, ...]


def conclude(rows: Sequence[Row], reference: int, margin: float = MARGIN) -> list[dict[str, Any]]:
    """The ``comparison`` of each row of one experiment, on one target, with the row of this number.

    That row itself has its second measurement in each block to its first. What no interval can be given for, as no
    block has both, or something did nothing in one, has a ratio of None and is not known.
    """
    base = rows[reference]
    others = [pair_blocks(row, base) for number, row in enumerate(rows) if number != reference]
    own = conclude_pairs([pair_with_itself(base)], ITSELF, margin)
    found = conclude_pairs(others, name_of(base), margin)
    return [*found[:reference], *own, *found[reference:]]


def conclude_targets(
    rows_a: Sequence[Row], rows_b: Sequence[Row], margin: float = MARGIN
) -> list[dict[str, Any] | None]:
    """The ``targets`` of each row of ``rows_b``: its speed to that of the same row on the first target.

    What two copies of the same data may differ by is no difference. None for a row that the first target has not.
    """
    first = [next((one for one in rows_a if is_same_row(one, row)), None) for row in rows_b]
    pairs = [pair_blocks(row, one) for row, one in zip(rows_b, first, strict=True) if one is not None]
    found = iter(conclude_pairs(pairs, rows_a[0]["_id"]["target"] if rows_a else "", margin, NEGLIGIBLE))
    return [None if one is None else next(found) for one in first]


def is_same_row(one: Row, other: Row) -> bool:
    """Whether two rows are the same variant of the same experiment, on whatever target."""
    return drop_target_name(one["_id"]) == drop_target_name(other["_id"])


def name_of(row: Row) -> str:
    """The name of the row's variant, without its target."""
    return variant_name(drop_target_name(row["_id"]))


def drop_target_name(key: Mapping[str, Any]) -> dict[str, Any]:
    """The ``_id`` of a row, but for the target that it was measured on."""
    return {name: value for name, value in key.items() if name != "target"}


def pair_blocks(row: Row, reference: Row) -> Pairs:
    """The speeds of both in each block that has both; one that was measured twice has the geometric mean."""
    return _pair(block_speeds(row), block_speeds(reference))


def pair_with_itself(row: Row) -> Pairs:
    """The second measurement of the reference in each block, and its first."""
    return _pair(_speeds_by_block(row, again=True), _speeds_by_block(row, again=False))


def pair_each_with_each(rows: Sequence[Row]) -> list[Pairs]:
    """Each measurement that blocks have, of whichever row, with each of those before; equal rows are so compared."""
    every = (_speeds_by_block(row, again) for row in rows for again in (False, True))
    return [_pair(later, earlier) for earlier, later in combinations(filter(None, every), 2)]


def _pair(speeds: Mapping[int, float], references: Mapping[int, float]) -> Pairs:
    blocks = tuple(sorted(speeds.keys() & references.keys()))
    return Pairs(blocks, tuple(speeds[one] for one in blocks), tuple(references[one] for one in blocks))


def list_ratios(pairs: Pairs) -> list[float]:
    """The ratio of both in each block, where both did something."""
    return [one / other for one, other in zip(pairs.speeds, pairs.references, strict=True)]


def block_speeds(row: Row) -> dict[int, float]:
    """The speed of a row in each block; none where it was measured without blocks."""
    first, second = _speeds_by_block(row, again=False), _speeds_by_block(row, again=True)
    return {
        block: _mean([by_block[block] for by_block in (first, second) if block in by_block])
        for block in sorted(first.keys() | second.keys())
    }


def _speeds_by_block(row: Row, again: bool) -> dict[int, float]:
    return {
        int(repeat["block"]): float(repeat["operations_per_second"])
        for repeat in row.get("repeats", ())
        if "block" in repeat and bool(repeat.get("again")) == again
    }


def _mean(speeds: Sequence[float]) -> float:
    if len(speeds) == 1:
        return speeds[0]
    return geometric_mean(speeds) if min(speeds) > 0 else 0.0


def conclude_pairs(
    pairs: Sequence[Pairs], against: str, margin: float = MARGIN, negligible: float = 0.0
) -> list[dict[str, Any]]:
    """The subdocument of each of some pairs, of which at most 5 % of the differences told are none, or negligible."""
    intervals = [find_interval(one, negligible) for one in pairs]
    return conclude_intervals(intervals, [len(one.blocks) for one in pairs], against, margin, negligible)


def conclude_intervals(
    intervals: Sequence[Interval | None],
    blocks: Sequence[int],
    against: str,
    margin: float,
    negligible: float = 0.0,
) -> list[dict[str, Any]]:
    """The subdocument of each of some intervals over so many blocks; where there is none, nothing is known."""
    about = {"margin": margin, **({"negligible": negligible} if negligible else {})}
    judged = judge_together(intervals, margin, negligible)
    return [
        {"against": against, **_figures(one, count), **about, "verdict": verdict}
        for one, count, verdict in zip(intervals, blocks, judged, strict=True)
    ]


def judge_together(
    intervals: Sequence[Interval | None], margin: float = MARGIN, negligible: float = 0.0
) -> list[Verdict]:
    """The verdict of each of some intervals that are shown together; without an interval nothing is known."""
    differ = discoveries([one.p if one else 1.0 for one in intervals])
    return [
        judge(one.low, one.high, differs, margin, negligible) if one else "not known"
        for one, differs in zip(intervals, differ, strict=True)
    ]


def find_interval(pairs: Pairs, negligible: float = 0.0) -> Interval | None:
    """The interval of the ratio; None without a block, and where one of both did nothing in a block."""
    if not pairs.blocks or min(*pairs.speeds, *pairs.references) <= 0:
        return None
    return interval(pairs.speeds, pairs.references, negligible)


def find_negligible(told: Mapping[str, Any]) -> float:
    """The part of a speed that a subdocument calls no difference; 0 where it names none."""
    return float(told.get("negligible", 0.0))


def _figures(found: Interval | None, blocks: int) -> dict[str, Any]:
    if found is None:
        return {"ratio": None, "low": 0.0, "high": inf, "p": 1.0, "blocks": blocks}
    return {
        "ratio": found.ratio,
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "blocks": found.blocks,
    }
