"""The order of an experiment's windows in blocks, and the journal, which stores the state of a run.

Machines drift: a later measurement of the same work may be faster or slower. Within a block the drift is small, so
variants are compared within their block. Each block has a different order, so no variant is always the first. The
reference, the variant with which all others are compared, is measured twice in each block: the difference between the
two measurements is the noise between measurements of the same work.

Windows of updates vary about twice as much as windows of reads, as measured on two shared processors. So a block of
updates runs its order forwards and backwards: each measurement has two windows, and a linear drift through the block
affects all variants equally. Other drift cancels out on average, because each block has a new random order.

If windows continue from the state that the previous window left, every block has the order of the experiment's file.

The state of a run is stored with its results. Each window is stored as soon as it is measured, under the number of its
block. If a run is interrupted, only the window in progress is lost: the run resumes in the same block, and its rows are
composed from the windows before and after the interruption.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from statistics import fmean
from typing import Any, NamedTuple
from uuid import uuid4

from mongo_tables.findings.usage import CommandError
from mongo_tables.results.intervals import LEAST_BLOCKS
from mongo_tables.runner.experiment import Experiment
from mongo_tables.runner.store import Store
from mongo_tables.runner.workloads import workload

LEAST_FOR_INTERVAL = LEAST_BLOCKS
"""The minimum number of blocks for a meaningful interval.

With fewer blocks, the reference is measured once, and disturbed blocks are not recognised.
"""
FOREIGN_CORES = 0.2
"""A window is disturbed if other processes use this many more processors than in the quietest window of the same work.
"""
SHORTEST_SECONDS = 0.5
"""The processor time of shorter windows is not judged, because systems count it in hundredths of a second."""
MOST_ATTEMPTS = 3
"""The maximum number of attempts at a block. If all are disturbed, the attempt with the smallest excess counts."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One window of a block: the numbers of its target and its variant.

    ``again`` marks the second measurement of the reference. ``back`` marks the windows in the reverse order.
    """

    target: int
    variant: int
    again: bool = False
    back: bool = False


Block = Mapping[Turn, Mapping[str, Any]]
"""The windows of a block, each as a row of one repeat."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The order of the windows in each block.

    ``variants`` has the numbers of the variants of each target. Each block has the variants in random order if
    ``shuffled``, else in the order of the experiment's file. With ``and_back``, the same windows follow in reverse
    order. With ``twice``, the ``reference`` occurs twice.
    """

    variants: Sequence[Sequence[int]]
    reference: int
    twice: bool
    shuffled: bool
    seed: str
    and_back: bool = False
    compares: bool = True
    """Whether speeds are compared. The speed of work at a given rate is not compared: it always equals the rate."""
    contrasts: Mapping[int, int] = field(default_factory=dict)
    """Additional comparisons: the number of a variant → the number of the variant with which it is compared."""

    def turns(self, block: int) -> list[Turn]:
        """Return the windows of a block in order. In random order, a variant's windows on all targets are adjacent."""
        draw = random.Random(f"{self.seed}/{block}/order")
        if not self.shuffled:
            targets = draw.sample(range(len(self.variants)), len(self.variants))
            return [Turn(target, number) for target in targets for number in self.variants[target]]
        numbers = sorted({number for mine in self.variants for number in mine})
        drawn = [*numbers, *([self.reference] if self.twice else [])]
        draw.shuffle(drawn)
        there: list[Turn] = []
        for place, number in enumerate(drawn):
            targets = [target for target, mine in enumerate(self.variants) if number in mine]
            draw.shuffle(targets)
            there += (Turn(target, number, number in drawn[:place]) for target in targets)
        return [*there, *(replace(turn, back=True) for turn in reversed(there) if self.and_back)]


def plan_blocks(
    experiment: Experiment, variants: Sequence[Sequence[int]], blocks: int, *, compares: bool, seed: str = ""
) -> Plan:
    """Return the plan of an experiment in ``blocks`` blocks. ``variants`` has the numbers of each target's variants.

    The reference is measured twice if there are enough blocks for an interval and their order is random. Blocks also
    run backwards if speeds are compared and the windows of the workload vary much.
    """
    kind = workload(experiment.workload)
    there = sorted({number for mine in variants for number in mine})
    twice = blocks >= LEAST_FOR_INTERVAL and not kind.goes_on
    return Plan(
        variants=tuple(map(tuple, variants)),
        reference=experiment.baseline if experiment.baseline in there else there[0],
        twice=twice,
        shuffled=not kind.goes_on,
        seed=seed,
        and_back=kind.and_back and compares and twice,
        compares=compares,
        contrasts={one: other for one, other in experiment.contrasts.items() if {one, other} <= {*there}},
    )


def excesses(attempts: Sequence[Sequence[Block]]) -> list[list[float | None]]:
    """Return, for each attempt at each block, the largest excess of a measurement, or None if no excess is known.

    The excess of a measurement is computed from the mean number of processors that processes other than the servers and
    the client used. The excess is this number minus the smallest such number of all measurements of the same work. The
    smallest number is the system's own share of the work. Speeds have no influence, so that the choice of an attempt
    does not bias them.
    """
    shares = [[list(_shares(block)) for block in some] for some in attempts]
    least: dict[tuple[int, int], float] = {}
    for work, share in chain.from_iterable(chain.from_iterable(shares)):
        least[work] = min(share, least.get(work, share))
    return [
        [max((share - least[work] for work, share in block), default=None) for block in some]
        for some in shares
    ]


class Kept(NamedTuple):
    """The attempt at a block that counts, and its excess (see ``excesses``)."""

    block: Block
    excess: float | None


def choose(attempts: Sequence[Sequence[Block]]) -> list[Kept]:
    """Return the attempt with the smallest excess for each block."""
    return [
        min(map(Kept, some, found), key=lambda one: one.excess or 0.0)
        for some, found in zip(attempts, excesses(attempts), strict=True)
    ]


def is_disturbed(excess: float | None) -> bool:
    """Return whether other processes used so much of the machine that a measurement is unreliable."""
    return excess is not None and excess > FOREIGN_CORES


def count_disturbed(found: Sequence[float | None]) -> int | None:
    """Return the number of disturbed blocks from the excess of each block, or None if the number is unknown.

    For few blocks it is unknown: an excess is relative to the quietest block, so the excess of a single block is 0.
    """
    known = len(found) >= LEAST_FOR_INTERVAL and any(excess is not None for excess in found)
    return sum(map(is_disturbed, found)) if known else None


def _shares(block: Block) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield the work of each measurement, and the number of processors that other processes used.

    Measurements without a known number are omitted. If a measurement has two windows, forwards and backwards, the
    number is the mean of both.
    """
    found: dict[Turn, list[float]] = {}
    for turn, row in block.items():
        processors = row.get("processors")
        if processors and int(row["duration"]) >= 1000 * SHORTEST_SECONDS:
            found.setdefault(replace(turn, back=False), []).append(processors["other"])
    yield from (((turn.target, turn.variant), fmean(shares)) for turn, shares in found.items())


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign: all measurements of a run, including those after interruptions. ``start`` is when the run began."""

    id: str
    start: datetime

    @classmethod
    def new(cls) -> Campaign:
        """Return a campaign that begins now."""
        now = datetime.now(UTC)
        return cls(uuid4().hex[:12], now.replace(microsecond=now.microsecond // 1000 * 1000))


@dataclass(frozen=True, slots=True)
class WindowKey:
    """The key of a window: the block, the attempt at it, and the turn in it.

    With ``slices``, the target of the turn and the first target take turns within the window.
    """

    block: int
    attempt: int
    turn: Turn
    slices: bool = False

    def __str__(self) -> str:
        """Return the name under which the window is stored."""
        slices = "slices-0-" if self.slices else ""
        again = "-again" if self.turn.again else ""
        back = "-back" if self.turn.back else ""
        return f"{self.block}-{self.attempt}-{slices}{self.turn.target}-{self.turn.variant}{again}{back}"


@dataclass(slots=True)
class Journal:
    """The stored state of an experiment. ``kept`` says whether windows are stored, so that a run can resume."""

    store: Store
    experiment: str
    request: Mapping[str, Any]
    campaign: Campaign
    kept: bool = False

    def window(self, place: WindowKey) -> dict[str, Any] | None:
        """Return the measured window of this key, or None if the run has not measured it."""
        return self.store.progress(self.experiment, str(place)) if self.kept else None

    def keep_window(self, place: WindowKey, row: Mapping[str, Any]) -> None:
        """Store a measured window. Raises CommandError if it cannot be written."""
        if not self.kept:
            self.keep_state()  # before the window, because a resumed run needs the request
        self.store.keep_progress(self.experiment, row, str(place))
        self.kept = True

    def keep_state(self) -> None:
        """Store the request and the campaign of the run. Raises CommandError if they cannot be written."""
        campaign = {"id": self.campaign.id, "start": self.campaign.start.isoformat()}
        state = {"request": dict(self.request), "campaign": campaign}
        self.store.keep_progress(self.experiment, {"_id": self.experiment, **state})


def open_journal(
    store: Store, experiment: str, request: Mapping[str, Any], resume: bool, campaign: Campaign
) -> Journal:
    """Begin a run as part of the campaign or, with ``resume``, continue the interrupted run.

    ``request`` is the experiment and the options. Raises CommandError if the interrupted run had a different request,
    or if the state cannot be written.
    """
    state = store.progress(experiment) if resume else None
    if state is None:
        store.forget_progress(experiment)
        journal = Journal(store, experiment, request, campaign)
        journal.keep_state()  # an unusable store must fail before data is loaded
        store.forget_progress(experiment)  # the state is kept with the first window
        return journal
    other = sorted(key for key in request if state["request"].get(key) != request[key])
    if other:
        raise CommandError(
            f"{experiment}: the interrupted run differs in {', '.join(other)}",
            "give the same options to continue it, or leave out --resume to start again",
        )
    journal = Journal(store, experiment, request, _campaign(state), kept=True)
    journal.keep_state()
    return journal


def find_campaign(store: Store, experiments: Iterable[str]) -> Campaign | None:
    """Return the interrupted campaign from the stored state of any of its experiments, or None."""
    states = map(store.progress, experiments)
    return next((_campaign(state) for state in states if state), None)


def _campaign(state: Mapping[str, Any]) -> Campaign:
    return Campaign(state["campaign"]["id"], datetime.fromisoformat(state["campaign"]["start"]))
