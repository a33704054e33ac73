"""What rows that were measured in blocks allow to be concluded, as the subdocuments that stand in them.

A ``comparison`` is that of a variant with the reference of its experiment, ``targets`` that of a row with the same one
on another target; both are paired by block. Rows of one experiment are judged together, as
``preprocessor.results.verdicts`` has it, since a page shows one experiment. The reference against itself is not among
them: it is a check of the measurement, and no finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from statistics import geometric_mean
from typing import Any, NamedTuple

from preprocessor.results.intervals import Interval, interval
from preprocessor.results.variants import variant_name
from preprocessor.results.verdicts import ITSELF, MARGIN, Verdict, discoveries, judge

Row = Mapping[str, Any]


class Pairs(NamedTuple):
    """Speeds of two things that were measured in the same blocks, in operations a second, one for each block."""

    blocks: tuple[int, ...]
    speeds: tuple[float, ...]
    references: tuple[float, ...]


class Paired(NamedTuple):
    """The rows of one experiment, by block: ``itself`` is the reference, its second measurement to its first.

    It is judged by itself, the ``others``, each to the reference, together.
    """

    itself: Pairs
    others: tuple[Pairs, ...]


def conclude(rows: Sequence[Row], reference: int, margin: float = MARGIN) -> list[dict[str, Any]]:
    """The ``comparison`` of each row of one experiment, on one target, with the row of this number.

    That row itself has its second measurement in each block to its first. What no interval can be given for, as no
    block has both, or something did nothing in one, has a ratio of None and is not known.
    """
    paired = pair_rows(rows, reference)
    own = conclude_pairs([paired.itself], ITSELF, margin)
    found = conclude_pairs(paired.others, name_of(rows[reference]), margin)
    return [*found[:reference], *own, *found[reference:]]


def pair_rows(rows: Sequence[Row], reference: int) -> Paired:
    """The rows of one experiment, on one target, paired by block with the row of this number, in their order."""
    base = rows[reference]
    others = (pair_blocks(row, base) for number, row in enumerate(rows) if number != reference)
    return Paired(pair_with_itself(base), tuple(others))


def conclude_targets(
    rows_a: Sequence[Row], rows_b: Sequence[Row], margin: float = MARGIN
) -> list[dict[str, Any] | None]:
    """The ``targets`` of each row of ``rows_b``: its speed to that of the same row on the first target.

    None for a row that the first target has not.
    """
    first = [next((one for one in rows_a if is_same_row(one, row)), None) for row in rows_b]
    pairs = [pair_blocks(row, one) for row, one in zip(rows_b, first, strict=True) if one is not None]
    found = iter(conclude_pairs(pairs, rows_a[0]["_id"]["target"] if rows_a else "", margin))
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
    speeds, references = block_speeds(row), block_speeds(reference)
    blocks = tuple(sorted(speeds.keys() & references.keys()))
    return Pairs(blocks, tuple(speeds[one] for one in blocks), tuple(references[one] for one in blocks))


def pair_with_itself(row: Row) -> Pairs:
    """The second measurement of the reference in each block, and its first."""
    first, second = _speeds_by_block(row, again=False), _speeds_by_block(row, again=True)
    blocks = tuple(sorted(first.keys() & second.keys()))
    return Pairs(blocks, tuple(second[one] for one in blocks), tuple(first[one] for one in blocks))


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


def conclude_pairs(pairs: Sequence[Pairs], against: str, margin: float = MARGIN) -> list[dict[str, Any]]:
    """The subdocument of each of some pairs, of which at most 5 % of the differences told are none."""
    return conclude_intervals(
        [find_interval(one) for one in pairs], [len(one.blocks) for one in pairs], against, margin
    )


def conclude_intervals(
    intervals: Sequence[Interval | None], blocks: Sequence[int], against: str, margin: float
) -> list[dict[str, Any]]:
    """The subdocument of each of some intervals over so many blocks; where there is none, nothing is known."""
    return [
        {"against": against, **_figures(one, count), "margin": margin, "verdict": verdict}
        for one, count, verdict in zip(intervals, blocks, judge_together(intervals, margin), strict=True)
    ]


def judge_together(intervals: Sequence[Interval | None], margin: float = MARGIN) -> list[Verdict]:
    """The verdict of each of some intervals that are shown together; without an interval nothing is known."""
    differ = discoveries([one.p if one else 1.0 for one in intervals])
    return [
        judge(one.low, one.high, differs, margin) if one else "not known"
        for one, differs in zip(intervals, differ, strict=True)
    ]


def find_interval(pairs: Pairs) -> Interval | None:
    """The interval of the ratio; None without a block, and where one of both did nothing in a block."""
    if not pairs.blocks or min(*pairs.speeds, *pairs.references) <= 0:
        return None
    return interval(pairs.speeds, pairs.references)


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
