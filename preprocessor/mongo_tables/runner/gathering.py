"""The rows of an experiment, put together from the windows of all its blocks, with what they conclude of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mongo_tables.results.conclusions import (
    Pairs,
    block_speeds,
    conclude,
    conclude_contrasts,
    conclude_pairs,
    conclude_targets,
)
from mongo_tables.results.intervals import speed_interval
from mongo_tables.results.verdicts import ITSELF, NEGLIGIBLE
from mongo_tables.runner.blocks import Block, Plan
from mongo_tables.runner.result import gather
from mongo_tables.runner.slicewindows import Counted, Which, doubts

Row = dict[str, Any]


def gather_rows(plan: Plan, blocks: Sequence[Block], *, side_by_side: bool) -> list[Row]:
    """A row of each variant on each target, in the order of the targets; ``blocks`` are measured by that plan.

    Where targets are measured ``side_by_side``, each has a reference of its own. Else the variants of all of them are
    those of one experiment. Speeds are not compared where the plan says that the work has a rate of its own.
    """
    if not side_by_side:
        every = [(target, number) for target, mine in enumerate(plan.variants) for number in mine]
        return _compared(plan, blocks, every)
    by_target = [
        _compared(plan, blocks, [(target, number) for number in mine])
        for target, mine in enumerate(plan.variants)
    ]
    for rows in by_target[1:] if plan.compares else ():
        for row, found in zip(rows, conclude_targets(by_target[0], rows), strict=True):
            row.update({} if found is None else {"targets": found})
    return [row for rows in by_target for row in rows]


def conclude_slices(
    rows: Sequence[Row], plan: Plan, found: Mapping[Which, Sequence[Counted]], first: str
) -> None:
    """Put into rows what windows in slices say of their targets, one for each block, and what casts doubt on it.

    Those of the first target are of it and itself; ``first`` is its name. The rows of a target are judged together.
    """
    which = [Which(target, number) for target, mine in enumerate(plan.variants) for number in mine]
    for target in range(len(plan.variants)):
        windows = {key: some for key, some in found.items() if key.target == target}
        pairs = [pair_slices(some) for some in windows.values()]
        judged = conclude_pairs(pairs, first if target else ITSELF, negligible=NEGLIGIBLE)
        for (key, some), comparison in zip(windows.items(), judged, strict=True):
            rows[which.index(key)]["slices"] = {**comparison, **doubts(some)}


def pair_slices(windows: Sequence[Counted]) -> Pairs:
    """What the second did to what the first did, by block; both had as much time."""
    firsts, others = zip(*(one.window["operations"] for one in windows), strict=True)
    return Pairs(tuple(one.block for one in windows), others, firsts)


def _compared(plan: Plan, blocks: Sequence[Block], which: Sequence[tuple[int, int]]) -> list[Row]:
    """The rows of these variants, each given with its target, compared with the reference among them."""
    rows = [gather(list(_windows(blocks, target, number))) for target, number in which]
    for row in rows:
        row["speed"] = _speed(row)
    if not plan.compares:
        return rows
    reference = next(place for place, (_, number) in enumerate(which) if number == plan.reference)
    for row, comparison in zip(rows, conclude(rows, reference), strict=True):
        row["comparison"] = comparison
    places = {number: place for place, (_, number) in enumerate(which)}
    planned = {
        places[one]: places[other]
        for one, other in plan.contrasts.items()
        if one in places and other in places
    }
    for place, contrast in conclude_contrasts(rows, planned).items():
        rows[place]["contrast"] = contrast
    return rows


def _windows(blocks: Sequence[Block], target: int, number: int) -> Iterator[Mapping[str, Any]]:
    for block in blocks:
        yield from (
            window for turn, window in block.items() if (turn.target, turn.variant) == (target, number)
        )


def _speed(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row's own speed over the blocks, with its interval."""
    speeds = list(block_speeds(row).values())
    if min(speeds) <= 0:
        return {"median": 0.0, "low": 0.0, "high": max(speeds), "blocks": len(speeds)}
    found = speed_interval(speeds)
    return {"median": found.speed, "low": found.low, "high": found.high, "blocks": len(speeds)}
