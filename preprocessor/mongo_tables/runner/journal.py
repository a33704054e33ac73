"""The journal: how far a run has come, so that an interrupted run can resume.

The state of a run is stored with its results. Each window is written at once, as a row of one repeat, under the block
to which it belongs: an interrupted run resumes in the same block, and if it was interrupted while writing rows, it
composes them from the same windows again. So only the window in progress is lost, and no row is written twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from mongo_tables.runner.blocks import Turn
from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.store import Store

_LOST = "the window under way is not kept"
_NOTHING_YET = "there are no measurements yet; --output names another place"


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
    """The key of a window: the block, the attempt at it, and the turn in it."""

    block: int
    attempt: int
    turn: Turn

    def __str__(self) -> str:
        """Return the name under which the window is stored."""
        again = "-again" if self.turn.again else ""
        back = "-back" if self.turn.back else ""
        return f"{self.block}-{self.attempt}-{self.turn.target}-{self.turn.variant}{again}{back}"


@dataclass(frozen=True, slots=True)
class SlicesPlace:
    """The key of a window in slices: the two targets, which may be the same, and the attempt."""

    block: int
    targets: tuple[int, int]
    variant: int
    attempt: int = 0

    def __str__(self) -> str:
        """Return the name under which the window is stored."""
        one, other = self.targets
        return f"{self.block}-{self.attempt}-slices-{one}-{other}-{self.variant}"


@dataclass(slots=True)
class Journal:
    """The state of one experiment; ``done`` maps the number of each written row to the start of its shown window.

    ``kept`` is whether there is anything to resume.
    """

    store: Store
    experiment: str
    request: Mapping[str, Any]
    campaign: Campaign
    done: list[str] = field(default_factory=list)
    kept: bool = False

    def is_finished(self, rows: int) -> bool:
        """Return whether this run wrote this many rows and all still exist."""
        starts = (row.get("start_time") for row in self.store.rows(self.experiment))
        there = {start.isoformat() for start in starts if isinstance(start, datetime)}
        return len(self.done) == rows and there.issuperset(self.done)

    def note(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Note that all rows are written."""
        self.done = [row["start_time"].isoformat() for row in rows]
        self._keep_state()

    def window(self, place: WindowKey | SlicesPlace) -> dict[str, Any] | None:
        """Return what this run measured there, or None if it has not come so far."""
        return self.store.window(self.experiment, str(place)) if self.kept else None

    def keep_window(self, place: WindowKey | SlicesPlace, row: Mapping[str, Any]) -> None:
        """Store the measured window; ``row`` has it alone, or the pairs of its slices.

        Raises RunnerError, which says what is lost, if it cannot be written.
        """
        try:
            if not self.kept:
                self._keep_state()  # first, so that no window is stored without its request
            self.store.keep_window(self.experiment, str(place), row)
        except RunnerError as error:
            others = (
                "those before it are; --resume goes on after them" if self.kept else f"and {_NOTHING_YET}"
            )
            raise RunnerError(error.message, f"{_LOST}, {others}") from None
        self.kept = True

    def check_place(self) -> None:
        """Raise RunnerError if the state cannot be written: better to fail before anything is loaded."""
        try:
            self._keep_state()
        except RunnerError as error:
            raise RunnerError(error.message, error.hint if self.kept else _NOTHING_YET) from None
        if not self.kept:
            self.store.keep_state(self.experiment, None)  # a run that does not begin leaves nothing

    def _keep_state(self) -> None:
        campaign = {"id": self.campaign.id, "start": self.campaign.start.isoformat()}
        state = {"request": dict(self.request), "campaign": campaign, "done": self.done}
        self.store.keep_state(self.experiment, state)


def open_journal(
    store: Store, experiment: str, request: Mapping[str, Any], resume: bool, campaign: Campaign
) -> Journal:
    """Begin a run as part of the campaign, or with ``resume`` continue the interrupted one.

    ``request``, the experiment and the options, must be the same to resume. Raises RunnerError if it differs, and if
    the state cannot be written.
    """
    state = store.state(experiment) if resume else None
    if state is None:
        store.keep_state(experiment, None)
        journal = Journal(store, experiment, request, campaign)
        journal.check_place()
        return journal
    other = sorted(key for key in request if state["request"].get(key) != request[key])
    if other or "campaign" not in state:
        raise RunnerError(
            f"{experiment}: the run that was interrupted had another {', '.join(other) or 'order'}",
            "give the same options to go on with it, or leave out --resume to start again",
        )
    journal = Journal(store, experiment, request, _campaign(state), list(state["done"]), kept=True)
    journal.check_place()
    return journal


def find_campaign(store: Store, experiments: Iterable[str]) -> Campaign | None:
    """Return the interrupted campaign, as the state of any of its experiments names it."""
    states = map(store.state, experiments)
    return next((_campaign(state) for state in states if state and "campaign" in state), None)


def _campaign(state: Mapping[str, Any]) -> Campaign:
    return Campaign(state["campaign"]["id"], datetime.fromisoformat(state["campaign"]["start"]))
