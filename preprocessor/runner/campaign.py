"""An experiment from its first block to its rows, on one target or on several side by side.

Nothing is written to the results before all blocks are there: what rows say of each other is known then. Until then
each window is in the journal.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from typing import Any

from preprocessor.runner import ownership, published, result
from preprocessor.runner.blocks import (
    LEAST_FOR_INTERVAL,
    MOST_ATTEMPTS,
    Block,
    Plan,
    Turn,
    list_disturbed,
)
from preprocessor.runner.errors import KEPT, TargetError, TimeIsOver
from preprocessor.runner.execution import (
    ELECTION_MS,
    IMPATIENT_MS,
    Run,
    can_alternate,
    measure_slices,
    measure_window,
)
from preprocessor.runner.gathering import conclude_slices, gather_rows
from preprocessor.runner.journal import Journal, Place, SlicesPlace
from preprocessor.runner.resultcheck import check_result
from preprocessor.runner.slices import CHUNK, Slices, chunk
from preprocessor.runner.store import Store
from preprocessor.runner.workloads import workload

SLICES_SECONDS = 2.0
"""How long two targets take turns in each block."""


@dataclass(frozen=True, slots=True)
class Length:
    """How many blocks are measured: ``least``, then up to ``most`` until no interval is wider than ``width`` allows.

    ``width`` is the part of 1 by which both ends of the interval of a ratio may differ from it. No block begins after
    ``ends``, on the monotonic clock.
    """

    least: int
    most: int = 0
    width: float = 0.0
    ends: float = inf


@dataclass(slots=True)
class _Measured:
    """The blocks as they count, and how often each was measured."""

    plan: Plan
    side_by_side: bool
    blocks: list[Block] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)
    slices: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=dict)
    """What two targets did in slices put together, by the second one and the variant."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows that come out of the blocks so far."""
        return gather_rows(self.plan, self.blocks, side_by_side=self.side_by_side)


def execute(runs: Sequence[Run], store: Store, journal: Journal, length: Length) -> int:
    """Measure an experiment on the targets of the runs, and write a row of each variant on each; give their number.

    Rows of variants that the experiment no longer has go to the history at the end; the figures that others published
    are written beside. Raises RunnerError; what was measured until then stays.
    """
    written = 0
    experiment = runs[0].experiment
    with _left_at_end(runs):
        if not journal.is_finished(sum(len(run.numbers) for run in runs)):
            rows = list(_rows(runs, _measure(runs, journal, length), journal))
            for row in rows:
                check_result(row)
                store.put(row)
            journal.note(rows)
            written = len(rows)
    store.retire(experiment.name, [key for run in runs for key in _row_ids(run)])
    published.write(experiment, store)
    return written


def measure_rows(runs: Sequence[Run], journal: Journal, length: Length) -> list[dict[str, Any]]:
    """Measure an experiment on the targets of the runs, and give its rows, which are written nowhere.

    Raises RunnerError; what was measured until then stays in the journal.
    """
    with _left_at_end(runs):
        return list(_rows(runs, _measure(runs, journal, length), journal))


@contextmanager
def _left_at_end(runs: Sequence[Run]) -> Iterator[None]:
    """Leave nothing behind on any target, whatever happens."""
    try:
        yield
        for run in runs:
            if not run.clients and not run.target.ends_with_run:
                # Nothing was left to measure: a run that was killed behind its last window may have left its database.
                ownership.drop(run.client, run.database, run.name)
            run.leave()
    except BaseException as error:
        # Whoever presses Ctrl-C does not wait for an election, and what does not answer was waited for already.
        impatient = isinstance(error, TargetError) or not isinstance(error, Exception)
        for run in runs:
            run.abandon(IMPATIENT_MS if impatient else ELECTION_MS)
        raise


def _row_ids(run: Run) -> Iterator[dict[str, Any]]:
    for number in range(len(run.experiment.variants)):
        yield result.row_id(run.experiment, number, run.side)


def _measure(runs: Sequence[Run], journal: Journal, length: Length) -> _Measured:
    """All blocks, those again in which something else used the machine."""
    plan = _plan(runs, length)
    measured = _Measured(plan, bool(runs[0].side))
    while (number := _next_block(measured, length)) is not None:
        if number == len(measured.blocks):
            measured.blocks.append({})
            measured.attempts.append(0)
        measured.blocks[number] = _measure_block(runs, plan, number, measured.attempts[number], journal)
        measured.attempts[number] += 1
    if runs[0].side and runs[0].options.slices:
        _measure_slices(runs, measured, journal, runs[0].options.slices)
    return measured


def _measure_slices(runs: Sequence[Run], measured: _Measured, journal: Journal, seconds: float) -> None:
    """Have the first target take turns with each other one, and of the reference with itself, in every block."""
    plan = measured.plan
    width = round(1e9 * seconds)
    pairs = max(CHUNK, round(SLICES_SECONDS / (2 * seconds)))
    wanted = [
        (0, plan.reference),
        *((target, number) for target, mine in enumerate(plan.variants) if target for number in mine),
    ]
    for block in range(len(measured.blocks)):
        for target, number in wanted:
            if not can_alternate(runs[target], number):
                continue
            place = SlicesPlace(block, (0, target), number)
            found = journal.window(place)
            if found is None:
                slices = Slices(width, pairs, f"{plan.seed}/{place}")
                hint = KEPT if journal.kept else ""
                found = measure_slices((runs[0], runs[target]), place, slices, hint)
                journal.keep_window(place, found)
            measured.slices.setdefault((target, number), []).extend(chunk(found["pairs"]))


def _plan(runs: Sequence[Run], length: Length) -> Plan:
    experiment = runs[0].experiment
    traits = workload(experiment.workload).TRAITS
    there = sorted({number for run in runs for number in run.numbers})
    return Plan(
        variants=tuple(tuple(run.numbers) for run in runs),
        reference=experiment.baseline if experiment.baseline in there else there[0],
        twice=length.least >= LEAST_FOR_INTERVAL and not traits.goes_on,
        shuffled=not traits.goes_on,
        seed=f"{runs[0].options.seed}/{experiment.name}",
        compares=not (runs[0].options.rates or traits.paces_itself),
    )


def _next_block(measured: _Measured, length: Length) -> int | None:
    """The number of the block to measure now; None when there are enough. Raises TimeIsOver where there are too few."""
    done, over = len(measured.blocks), time.monotonic() > length.ends
    if done < length.least and over:
        raise TimeIsOver(f"the time is over: {done} of {length.least} blocks are measured", KEPT)
    if done < length.least:
        return done
    if over:
        return None
    again = (
        number
        for number in (list_disturbed(measured.blocks) if measured.plan.twice else ())
        if measured.attempts[number] < MOST_ATTEMPTS
    )
    return next(again, done if done < length.most and _is_too_wide(measured.rows(), length.width) else None)


def _is_too_wide(rows: Sequence[Mapping[str, Any]], width: float) -> bool:
    """Whether the interval of any ratio reaches farther from it; how far the ratio is from 1 is not looked at."""
    found = [row[name] for row in rows for name in ("comparison", "targets") if name in row]
    known = [one for one in found if one["ratio"]]
    return any(
        one["low"] * (1 + width) < one["ratio"] or one["high"] > one["ratio"] * (1 + width) for one in known
    )


def _measure_block(runs: Sequence[Run], plan: Plan, number: int, attempt: int, journal: Journal) -> Block:
    turns = plan.turns(number)
    kept = {turn: journal.window(Place(number, attempt, turn)) for turn in turns}
    if not plan.shuffled and None in kept.values():
        # A window that goes on from the last one is no use without it.
        kept.clear()
        for run in runs:
            run.loaded.clear()
    in_turn = len({turn.variant for turn in turns})
    block: dict[Turn, dict[str, Any]] = {}
    for turn in turns:
        window = kept.get(turn)
        if window is None:
            place = Place(number, attempt, turn)
            window = measure_window(runs[turn.target], place, in_turn, KEPT if journal.kept else "")
            journal.keep_window(place, window)
        block[turn] = window
    return block


def _rows(runs: Sequence[Run], measured: _Measured, journal: Journal) -> Iterator[dict[str, Any]]:
    campaign: dict[str, Any] = {
        "id": journal.campaign.id,
        "start": journal.campaign.start,
        "blocks": len(measured.blocks),
        "measured_again": sum(measured.attempts) - len(measured.blocks),
        "targets": [run.side for run in runs if run.side],
    }
    rows = measured.rows()
    if measured.slices:
        campaign["slice_seconds"] = runs[0].options.slices
        conclude_slices(rows, measured.plan, measured.slices, runs[0].side)
    for row in rows:
        yield {**row, "campaign": campaign}
