"""Conclusions from rows that were measured in blocks, as subdocuments of these rows.

A ``comparison`` relates a variant to the reference of its experiment, a ``contrast`` to another variant that the
experiment names, and ``targets`` a row to the same row on another target. All are paired by block.

The rows of one experiment on one target are judged together (``mongo_tables.results.verdicts``), in one family for each
of these three kinds. On average, at most 5 % of the differences that a family reports are false. This does not hold for
a page that shows several families, or for a reader who picks the largest difference. The comparison of the reference
with itself is in no family, because it only checks the measurement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from statistics import geometric_mean
from typing import Any, NamedTuple

from mongo_tables.results.intervals import Interval, interval
from mongo_tables.results.verdicts import ITSELF, MARGIN, NEGLIGIBLE, Verdict, judge, threshold

Row = Mapping[str, Any]


class Pairs(NamedTuple):
    """The speeds of two things in the blocks that have both, in operations per second."""

    blocks: tuple[int, ...]
    speeds: tuple[float, ...]
    references: tuple[float, ...]


def conclude(rows: Sequence[Row], reference: int) -> list[dict[str, Any]]:
    """Return the ``comparison`` of each row of one experiment and target with the reference, ``rows[reference]``.

    For the reference itself, it compares the second measurement in each block with the first. If no block has both
    rows, or a speed was 0, the ratio is None and the verdict "not known".
    """
    base = rows[reference]
    others = [pair_blocks(row, base) for number, row in enumerate(rows) if number != reference]
    own = conclude_pairs([pair_with_itself(base)], ITSELF)
    found = conclude_pairs(others, name_of(base))
    return [*found[:reference], *own, *found[reference:]]


def conclude_contrasts(rows: Sequence[Row], contrasts: Mapping[int, int]) -> dict[int, dict[str, Any]]:
    """Return, by the index of a row, its ``contrast`` with another row that is not the reference.

    ``contrasts`` maps the index of each row to the index of the other row. The experiment names these pairs before the
    measurement. They are judged together.
    """
    pairs = [pair_blocks(rows[one], rows[other]) for one, other in contrasts.items()]
    told = conclude_pairs(pairs, "") if pairs else []
    return {
        one: {**found, "against": name_of(rows[other])}
        for (one, other), found in zip(contrasts.items(), told, strict=True)
    }


def conclude_targets(rows_a: Sequence[Row], rows_b: Sequence[Row]) -> list[dict[str, Any] | None]:
    """Return the ``targets`` of each row of ``rows_b``: its speed relative to the same row in ``rows_a``.

    ``rows_a`` are the rows of the first target. A difference counts only if it is larger than the usual difference
    between two copies of the same data. A row that the first target does not have gets None.
    """
    first = [next((one for one in rows_a if is_same_row(one, row)), None) for row in rows_b]
    pairs = [pair_blocks(row, one) for row, one in zip(rows_b, first, strict=True) if one is not None]
    found = iter(conclude_pairs(pairs, rows_a[0]["_id"]["target"] if rows_a else "", NEGLIGIBLE))
    return [None if one is None else next(found) for one in first]


def is_same_row(one: Row, other: Row) -> bool:
    """Return whether two rows are the same variant of the same experiment, on any target."""
    return drop_target_name(one["_id"]) == drop_target_name(other["_id"])


def name_of(row: Row) -> str:
    """Return the name of the row's variant, without its target."""
    return variant_name(drop_target_name(row["_id"]))


def drop_target_name(key: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``_id`` of a row without the target that it was measured on."""
    return {name: value for name, value in key.items() if name != "target"}


def pair_blocks(row: Row, reference: Row) -> Pairs:
    """Return the speeds of two rows in each block that has both.

    If a block has several windows of a row, their geometric mean is the speed.
    """
    return _pair(block_speeds(row), block_speeds(reference))


def pair_with_itself(row: Row) -> Pairs:
    """Return the speeds of a reference's second and first measurement, in each block that has both."""
    return _pair(_speeds_by_block(row, again=True), _speeds_by_block(row, again=False))


def pair_equal_rows(rows: Sequence[Row]) -> list[Pairs]:
    """Return pairs of a row and its reference from equal rows, over the blocks that have all measurements.

    The reference has two measurements in a block. In a pair, one measurement stands for the row. The mean of the
    measurements before and after it stands for the reference, then the mean of the measurements two places away, and so
    on. So of five measurements, each is the row in two pairs. Fewer than three measurements give no pair.
    """
    every = list(_list_measurements(rows))
    number = len(every)
    pairs = []
    for away in range(1, (number + 1) // 2):
        for one in range(number):
            before, after = every[one - away], every[(one + away) % number]
            mean = {
                block: mean_of_block([before[block], after[block]])
                for block in sorted(before.keys() & after.keys())
            }
            pairs.append(_pair(every[one], mean))
    return pairs


def _list_measurements(rows: Sequence[Row]) -> Iterator[dict[int, float]]:
    """Yield the speeds of each measurement by block.

    A reference has two measurements in each block. They are yielded as two series, which exchange places in every other
    block.
    """
    for row in rows:
        first, second = _speeds_by_block(row, again=False), _speeds_by_block(row, again=True)
        if not second:
            yield first
            continue
        for turn in (0, 1):
            yield {
                block: (first, second)[(block + turn) % 2][block]
                for block in sorted(first.keys() & second.keys())
            }


def _pair(speeds: Mapping[int, float], references: Mapping[int, float]) -> Pairs:
    blocks = tuple(sorted(speeds.keys() & references.keys()))
    return Pairs(blocks, tuple(speeds[one] for one in blocks), tuple(references[one] for one in blocks))


def list_ratios(pairs: Pairs) -> list[float]:
    """Return the ratio of both speeds in each block."""
    return [one / other for one, other in zip(pairs.speeds, pairs.references, strict=True)]


def block_speeds(row: Row) -> dict[int, float]:
    """Return the speed of a row in each block, or nothing if it was measured without blocks."""
    return _means_by_block(row.get("repeats", ()))


def _speeds_by_block(row: Row, again: bool) -> dict[int, float]:
    return _means_by_block(repeat for repeat in row.get("repeats", ()) if bool(repeat.get("again")) == again)


def _means_by_block(repeats: Iterable[Row]) -> dict[int, float]:
    speeds: dict[int, list[float]] = {}
    for repeat in repeats:
        if "block" in repeat:
            speeds.setdefault(int(repeat["block"]), []).append(float(repeat["operations_per_second"]))
    return {block: mean_of_block(speeds[block]) for block in sorted(speeds)}


def mean_of_block(speeds: Sequence[float]) -> float:
    """Return the geometric mean of the speeds of the windows of a block, or 0 if one is 0."""
    if len(speeds) == 1:
        return speeds[0]
    return geometric_mean(speeds) if min(speeds) > 0 else 0.0


def conclude_pairs(pairs: Sequence[Pairs], against: str, negligible: float = 0.0) -> list[dict[str, Any]]:
    """Return the subdocument of each pair. All pairs are judged together."""
    intervals = [find_interval(one, negligible) for one in pairs]
    return conclude_intervals(intervals, [len(one.blocks) for one in pairs], against, MARGIN, negligible)


def conclude_intervals(
    intervals: Sequence[Interval | None],
    blocks: Sequence[int],
    against: str,
    margin: float,
    negligible: float = 0.0,
) -> list[dict[str, Any]]:
    """Return the subdocument of each interval. An interval None has the verdict "not known"."""
    about = {"margin": margin, **({"negligible": negligible} if negligible else {})}
    judged = judge_together(intervals, margin, negligible)
    return [
        {"against": against, **list_figures(one, count), **about, "verdict": verdict}
        for one, count, verdict in zip(intervals, blocks, judged, strict=True)
    ]


def judge_together(
    intervals: Sequence[Interval | None], margin: float = MARGIN, negligible: float = 0.0
) -> list[Verdict]:
    """Return the verdict on each interval of one family. None gives "not known"."""
    most = threshold([one.p if one else 1.0 for one in intervals])
    return [
        judge(one.low, one.high, one.p <= most, margin, negligible) if one else "not known"
        for one in intervals
    ]


def find_interval(pairs: Pairs, negligible: float = 0.0) -> Interval | None:
    """Return the interval of the ratio, or None without a block or if a speed was 0."""
    if not pairs.blocks or min(*pairs.speeds, *pairs.references) <= 0:
        return None
    return interval(pairs.speeds, pairs.references, negligible)


def find_negligible(told: Mapping[str, Any]) -> float:
    """Return the fraction of a speed that a subdocument calls negligible, or 0 if it names none."""
    return float(told.get("negligible", 0.0))


def list_figures(found: Interval | None, blocks: int) -> dict[str, Any]:
    """Return ratio, interval, ``p`` and blocks as document fields. None gives the widest interval."""
    if found is None:
        return {"ratio": None, "low": 0.0, "high": inf, "p": 1.0, "blocks": blocks}
    return {name: getattr(found, name) for name in ("ratio", "low", "high", "p", "blocks")}


def variant_name(key: Mapping[str, Any]) -> str:
    """Return the name of a variant: its comment, or else its parameters. ``key`` is the ``_id`` of the row.

    The name of a benchmark includes its measure.
    """
    values = {name: value for name, value in key.items() if name != "testname"}
    if values.keys() == {"name", "metric"}:
        return ", ".join(map(str, values.values()))
    if "comment" in values and "instance" not in values:
        return str(values["comment"]).strip()
    texts = {
        name: " ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
        for name, value in values.items()
        if name not in ("comment", "query")
    }
    return ", ".join(f"{name} {text}" for name, text in texts.items())
