"""The order of the windows of an experiment in blocks, and the journal: how far a run has come.

Machines drift: a later measurement may be faster or slower for no reason of its own. Within a block the drift is
small, so variants are compared within their block; and since each block has another order, no variant is always the
first. The reference, with which the others are compared, is measured twice in each block: the difference between its
two measurements is the noise between measurements of the same thing.

Windows of updates vary far more than those of other work: about twice as much as reads, on two shared processors.
There a block runs its order forwards and backwards, so that each measurement has two windows, and a linear drift
through the block affects all variants equally; the new random order of each block averages out the rest.

If a window continues from the state that the previous one left, the order is significant, and every block has the
order of the file.

The state of a run is stored with its results. Each window is written at once, as a row of one repeat, under the block
to which it belongs: an interrupted run resumes in the same block, and rows are composed from the same windows again,
whether they were written before or not. So only the window in progress is lost, and no row is written twice.
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
"""With fewer blocks there is no meaningful interval, so the reference is not measured twice.

Nor can so few blocks show whether a foreign process disturbed one."""
FOREIGN_CORES = 0.2
"""A window with this many processors more in use than the quietest window of the same work is disturbed."""
SHORTEST_SECONDS = 0.5
"""In a shorter window processor time is not judged: systems count it in hundredths of a second."""
MOST_ATTEMPTS = 3
"""Attempts for a block before a disturbed one is accepted."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One window of a block: the numbers of its target and its variant.

    ``again`` marks the second measurement of the reference, ``back`` the way back through the block.
    """

    target: int
    variant: int
    again: bool = False
    back: bool = False


Block = Mapping[Turn, Mapping[str, Any]]
"""The rows of the windows of a block, of one repeat each."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a block consists of: the variants of each target, shuffled or in the order of the file.

    With ``and_back`` the shuffled order is repeated backwards.
    """

    variants: Sequence[Sequence[int]]
    reference: int
    twice: bool
    shuffled: bool
    seed: str
    and_back: bool = False
    compares: bool = True
    """Whether speeds carry information: work at a given rate always has that rate."""
    contrasts: Mapping[int, int] = field(default_factory=dict)
    """Variants that are also compared with a variant other than the reference."""

    def turns(self, block: int) -> list[Turn]:
        """Return the windows of a block in order. Those of one variant on several targets are adjacent."""
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
    """Return the plan of an experiment whose targets measure these variants in so many blocks.

    The reference is measured twice with enough blocks for an interval, if their order is random. Blocks also run
    backwards for comparisons of work whose windows vary much.
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
    """Return the processors in foreign use in each attempt of each block, from its worst measurement.

    The processor time that neither servers nor client used is compared with the least such time in any measurement of
    the same work, since a part of it is the system's share in the work. None if it is unknown for a window. Speeds
    are not considered, so that the choice does not bias them.
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
    """The attempt of a block that counts, and its processors in foreign use."""

    block: Block
    excess: float | None


def choose(attempts: Sequence[Sequence[Block]]) -> list[Kept]:
    """Choose, for each block, the attempt with the least foreign use of the machine."""
    return [
        min(map(Kept, some, found), key=lambda one: one.excess or 0.0)
        for some, found in zip(attempts, excesses(attempts), strict=True)
    ]


def is_disturbed(excess: float | None) -> bool:
    """Return whether foreign use of the machine makes the windows unreliable."""
    return excess is not None and excess > FOREIGN_CORES


def count_disturbed(found: Sequence[float | None]) -> int | None:
    """Return the number of disturbed blocks among these excesses, or None if it is unknown.

    It is unknown for few blocks: an excess is relative to the least one, so that of a single block is always 0.
    """
    known = len(found) >= LEAST_FOR_INTERVAL and any(excess is not None for excess in found)
    return sum(map(is_disturbed, found)) if known else None


def _shares(block: Block) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield each measurement's work, and the busy processors of neither servers nor client, if known and meaningful.

    Of two windows, forwards and backwards, it is the mean.
    """
    found: dict[Turn, list[float]] = {}
    for turn, row in block.items():
        processors = row.get("processors")
        if processors and int(row["duration"]) >= 1000 * SHORTEST_SECONDS:
            found.setdefault(replace(turn, back=False), []).append(processors["other"])
    yield from (((turn.target, turn.variant), fmean(shares)) for turn, shares in found.items())


@dataclass(frozen=True, slots=True)
class Campaign:
    """The measurements of one run, including its resumed parts: its name, and when it began."""

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

    In a window in ``slices`` the target of the turn takes turns with the first target, which may be the same.
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
    """The state of one experiment. ``kept`` is whether there is anything to resume."""

    store: Store
    experiment: str
    request: Mapping[str, Any]
    campaign: Campaign
    kept: bool = False

    def window(self, place: WindowKey) -> dict[str, Any] | None:
        """Return what this run measured there, or None if it has not come so far."""
        return self.store.progress(self.experiment, str(place)) if self.kept else None

    def keep_window(self, place: WindowKey, row: Mapping[str, Any]) -> None:
        """Store the measured window. ``row`` has it alone, or the pairs of its slices.

        Raises CommandError if it cannot be written.
        """
        if not self.kept:
            self.keep_state()  # first, so that no window is stored without its request
        self.store.keep_progress(self.experiment, row, str(place))
        self.kept = True

    def keep_state(self) -> None:
        """Store what the run was asked for. Raises CommandError if that is impossible."""
        campaign = {"id": self.campaign.id, "start": self.campaign.start.isoformat()}
        state = {"request": dict(self.request), "campaign": campaign}
        self.store.keep_progress(self.experiment, {"_id": self.experiment, **state})


def open_journal(
    store: Store, experiment: str, request: Mapping[str, Any], resume: bool, campaign: Campaign
) -> Journal:
    """Begin a run as part of the campaign, or with ``resume`` continue the interrupted one.

    ``request``, the experiment and the options, must be the same to resume. Raises CommandError if it differs, and if
    the state cannot be written.
    """
    state = store.progress(experiment) if resume else None
    if state is None:
        store.forget_progress(experiment)
        journal = Journal(store, experiment, request, campaign)
        journal.keep_state()  # better to fail before anything is loaded
        store.forget_progress(experiment)  # a run that does not begin leaves nothing
        return journal
    other = sorted(key for key in request if state["request"].get(key) != request[key])
    if other:
        raise CommandError(
            f"{experiment}: the run that was interrupted had another {', '.join(other)}",
            "give the same options to go on with it, or leave out --resume to start again",
        )
    journal = Journal(store, experiment, request, _campaign(state), kept=True)
    journal.keep_state()
    return journal


def find_campaign(store: Store, experiments: Iterable[str]) -> Campaign | None:
    """Return the interrupted campaign, as the state of any of its experiments names it."""
    states = map(store.progress, experiments)
    return next((_campaign(state) for state in states if state), None)


def _campaign(state: Mapping[str, Any]) -> Campaign:
    return Campaign(state["campaign"]["id"], datetime.fromisoformat(state["campaign"]["start"]))
