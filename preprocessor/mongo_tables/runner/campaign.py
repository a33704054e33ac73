"""A campaign: an experiment from its first block to its rows, on one or several targets.

Rows are written only when all blocks are complete, because rows are compared with each other. Until then, the journal
has the measured windows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import inf
from typing import Any

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import result_rows
from mongo_tables.runner.blocks import (
    MOST_ATTEMPTS,
    Block,
    Journal,
    Plan,
    Turn,
    WindowKey,
    choose,
    count_disturbed,
    is_disturbed,
    plan_blocks,
)
from mongo_tables.runner.errors import KEPT, TargetError, TimeIsOver, WorkFailed
from mongo_tables.runner.host import RowOrigin, origin_of
from mongo_tables.runner.options import has_rates
from mongo_tables.runner.result_rows import conclude_slices, gather_rows
from mongo_tables.runner.runs import ELECTION_MS, IMPATIENT_MS, Run, leave
from mongo_tables.runner.slices import Counted, SliceWindows
from mongo_tables.runner.store import Store, check_document
from mongo_tables.runner.windows import can_alternate, measure_slices, measure_window

LONGEST_BREAK_SECONDS = 600.0
"""The longest interruption in seconds after which a block continues.

After a longer interruption, the block is measured from its start, because compared windows must be close in time.
"""


@dataclass(frozen=True, slots=True)
class _Slices:
    runs: Sequence[Run]
    journal: Journal
    width: float
    windows: SliceWindows = field(default_factory=SliceWindows)

    def measure(self, place: WindowKey) -> None:
        """Measure a window in which two targets alternate in slices, unless the journal has this window."""
        found = self.journal.window(place)
        if found is None:
            runs = self.runs[0], self.runs[place.turn.target]
            found = measure_slices(runs, place, self.width, self.journal.campaign.id)
            self.journal.keep_window(place, found)
        self.windows.add(place, found)

    def measure_again(self, ends: float) -> None:
        """Repeat the windows that other processes disturbed, until the time is over."""
        while time.monotonic() <= ends and (place := self.windows.next_again()) is not None:
            self.measure(place)


@dataclass(slots=True)
class _Measurements:
    """The measurements so far: complete attempts at each block, and numbers of discarded attempts (``given_up``)."""

    runs: Sequence[Run]
    journal: Journal
    plan: Plan
    attempts: list[list[Block]] = field(default_factory=list)
    given_up: list[int] = field(default_factory=list)
    origins: dict[tuple[int, str], RowOrigin] = field(default_factory=dict)
    """The origin of the first window of each target and server version, which later windows must match."""

    def excesses(self) -> list[float | None]:
        """Return, for each block, the excess of the attempt that counts."""
        return [kept.excess for kept in choose(self.attempts)]

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows, from the attempt at each block that counts."""
        blocks = [kept.block for kept in choose(self.attempts)]
        return gather_rows(self.plan, blocks, side_by_side=bool(self.runs[0].side))

    def next_block(self, ends: float) -> int | None:
        """Return the number of the next block to measure, or to repeat; None if there are enough blocks."""
        run, done, over = self.runs[0], len(self.attempts), time.monotonic() > ends
        if done < run.repeats and over:
            raise TimeIsOver(f"the time is over: {done} of {run.repeats} blocks are measured", KEPT)
        if done < run.repeats:
            return done
        if over:
            return None
        again = (
            number
            for number, excess in enumerate(self.excesses() if self.plan.twice else ())
            if is_disturbed(excess) and len(self.attempts[number]) < MOST_ATTEMPTS
        )
        wanted = done < run.options.most_repeats and _is_too_wide(self.rows(), run.options.width)
        return next(again, done if wanted else None)

    def measure_block(self, number: int) -> None:
        """Measure a block. If a run was interrupted in this block a short time ago, measure only missing windows."""
        if number == len(self.attempts):
            self.attempts.append([])
            self.given_up.append(0)
        attempt = len(self.attempts[number]) + self.given_up[number]
        places = {turn: WindowKey(number, attempt, turn) for turn in self.plan.turns(number)}
        kept = {turn: self.journal.window(place) for turn, place in places.items()}
        if self._is_given_up(places, kept):
            self.given_up[number] += 1
            self.measure_block(number)
            return
        for run in self.runs if not self.plan.shuffled else ():
            run.loaded.clear()
        order = {"in_turn": len({turn.variant for turn in places}), "and_back": self.plan.and_back}
        block: dict[Turn, dict[str, Any]] = {}
        for turn, place in places.items():
            run, window = self.runs[turn.target], kept[turn]
            if window is None:
                window = measure_window(run, place, order)
                self.journal.keep_window(place, window)
            block[turn] = window
            version = str(run.experiment.variants[turn.variant].get("instance", {}).get("version", ""))
            first = self.origins.setdefault((turn.target, version), origin_of(window))
            _check_origin(run, first, window)
        self.attempts[number].append(block)

    def _is_given_up(
        self, places: Mapping[Turn, WindowKey], kept: Mapping[Turn, Mapping[str, Any] | None]
    ) -> bool:
        """Return whether to discard an interrupted attempt, because its windows would be too far apart in time."""
        there = [window for window in kept.values() if window is not None]
        if not there or len(there) == len(kept):
            return False
        if not self.plan.shuffled:
            return True  # each window continues from the previous one
        latest = max(window["end_time"] for window in there)
        following = (replace(place, attempt=place.attempt + 1) for place in places.values())
        return (datetime.now(UTC) - latest).total_seconds() > LONGEST_BREAK_SECONDS or any(
            self.journal.window(place) for place in following
        )


def execute(runs: Sequence[Run], store: Store, journal: Journal, ends: float = inf) -> int:
    """Measure an experiment on the targets of the runs, and write a row for each variant and target.

    Return the number of rows. If the experiment no longer has a variant, the row of the variant moves to the history.
    The published figures are written, too. Raises CommandError; the journal then keeps the measured windows.
    """
    experiment = runs[0].experiment
    with left_at_end(runs):
        rows, _ = measure_rows(runs, journal, ends)
        for row in rows:
            check_document("result", row)
        store.put(*rows)
    store.retire(
        experiment.name,
        [
            result_rows.row_id(run.experiment, number, run.side)
            for run in runs
            for number in range(len(run.experiment.variants))
        ],
    )
    result_rows.write_published(experiment, store)
    return len(rows)


def measure_rows(
    runs: Sequence[Run], journal: Journal, ends: float, itself: int = 0
) -> tuple[list[dict[str, Any]], dict[Turn, list[Counted]]]:
    """Measure an experiment on the targets of the runs. Return its rows, and its windows in slices.

    In the first ``itself`` blocks, each measurement also alternates with a second run of itself in slices. If
    ``itself`` is 0 and the options ask for slices, the first target alternates with each other target in each block.
    After all blocks, disturbed blocks and windows in slices are measured again. No block starts after ``ends``
    (monotonic clock).

    The caller must wrap the call in ``left_at_end``. Raises CommandError; the journal then keeps the measured windows.
    """
    experiment, options = runs[0].experiment, runs[0].options
    # Each campaign has its own orders, so that the effect of a window on the next differs between campaigns.
    seed = f"{options.seed}/{journal.campaign.id}/{experiment.name}"
    compares = not (options.rates or has_rates(experiment))
    plan = plan_blocks(
        experiment, [run.numbers for run in runs], runs[0].repeats, compares=compares, seed=seed
    )
    measured, slices = _Measurements(runs, journal, plan), _Slices(runs, journal, options.slices or 0.0)
    wanted = [turn for turn in plan.turns(0) if not turn.back] if itself else _list_slices(runs, plan)
    while (number := measured.next_block(ends)) is not None:
        measured.measure_block(number)
        for turn in wanted if number < (itself or inf) else ():
            if (turn, number) not in slices.windows.attempts:
                slices.measure(WindowKey(number, 0, turn, slices=True))
    if plan.twice:
        slices.measure_again(ends)
    campaign: dict[str, Any] = {
        "id": journal.campaign.id,
        "start": journal.campaign.start,
        "blocks": len(measured.attempts),
        "measured_again": sum(map(len, measured.attempts)) - len(measured.attempts),
        "disturbed": count_disturbed(measured.excesses()),
        "targets": [run.side for run in runs if run.side],
    }
    rows = measured.rows()
    windows = slices.windows.counted()
    if windows and not itself:
        campaign["slice_seconds"] = options.slices
        conclude_slices(rows, plan, windows, runs[0].side)
    rows = [
        {**row, "campaign": {**campaign, "command": result_rows.describe_command(row, campaign["targets"])}}
        for row in rows
    ]
    return rows, windows


@contextmanager
def left_at_end(runs: Sequence[Run]) -> Iterator[None]:
    """Remove the data of the runs from their targets at the end, also after an error."""
    try:
        yield
        for run in runs:
            leave(run)
    except BaseException as error:
        # After Ctrl-C, users do not want to wait for an election. After a TargetError, the run has waited already.
        impatient = isinstance(error, TargetError) or not isinstance(error, Exception)
        for run in runs:
            run.abandon(
                IMPATIENT_MS if impatient else ELECTION_MS,
                error.message if isinstance(error, WorkFailed) else "",
            )
        raise


def _list_slices(runs: Sequence[Run], plan: Plan) -> list[Turn]:
    """Return the turns that are also measured in slices: turns of later targets, and the first target's reference."""
    if not runs[0].options.slices:
        return []
    if not runs[0].side:
        runs[0].progress.note(
            f"{runs[0].experiment.name}: no slices, because no two targets measure the same variants"
        )
        return []
    others = [Turn(target, number) for target, mine in enumerate(plan.variants) if target for number in mine]
    every = [Turn(0, plan.reference), *others]
    found = [turn for turn in every if can_alternate(runs[turn.target], turn.variant)]
    if not found:
        runs[0].progress.note(f"{runs[0].experiment.name}: no slices, because its work cannot take turns")
    return found


def _is_too_wide(rows: Sequence[Mapping[str, Any]], width: float) -> bool:
    """Return whether any ratio differs from an end of its interval by more than the share ``width``."""
    found = [row[name] for row in rows for name in ("comparison", "contrast", "targets") if name in row]
    known = [one for one in found if one["ratio"]]
    return any(
        one["low"] * (1 + width) < one["ratio"] or one["high"] > one["ratio"] * (1 + width) for one in known
    )


def _check_origin(run: Run, first: RowOrigin, window: Mapping[str, Any]) -> None:
    now = origin_of(window)
    other = sorted(name for name in first.keys() | now.keys() if first.get(name) != now.get(name))
    if other:
        said = "; ".join(f"{name} was {first.get(name)}, and is {now.get(name)}" for name in other)
        raise CommandError(
            f"{run.experiment.name}: the stored measurements come from another deployment: {said}",
            "leave out --resume to start again",
        )
