"""How far a run has come, so that one that was cut off goes on where it was.

The state of a run lies beside its results. What was measured in a window is kept at once, as a row of one repeat,
and a variant is noted after its row is written: when a run is cut off between the two, the row is put together from
the same windows again. So no window is lost but the one that was under way, and no row is there twice. Windows that
go on from what the one before left are no use without it, and are measured again (``rounds.to_measure``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from preprocessor.runner.errors import RunnerError
from preprocessor.runner.store import Store


@dataclass(slots=True)
class Journal:
    """The state of one experiment; ``done`` has for each finished variant when its shown window began.

    ``kept`` is whether anything is there to go on with.
    """

    store: Store
    experiment: str
    request: Mapping[str, Any]
    done: dict[str, str] = field(default_factory=dict)
    kept: bool = False

    def has(self, number: int) -> bool:
        """Whether the row of this variant was written by this run, and is still there."""
        began = self.done.get(str(number))
        starts = (row.get("start_time") for row in self.store.rows(self.experiment))
        return began is not None and began in {
            start.isoformat() for start in starts if isinstance(start, datetime)
        }

    def note(self, number: int, row: Mapping[str, Any]) -> None:
        """The row of this variant is written."""
        self.done[str(number)] = row["start_time"].isoformat()
        self._keep_state()

    def window(self, number: int, repeat: int) -> dict[str, Any] | None:
        """What this run measured in that repeat of the variant; None when it has not come so far."""
        return self.store.window(self.experiment, number, repeat) if self.kept else None

    def keep_window(self, number: int, repeat: int, row: Mapping[str, Any]) -> None:
        """That repeat of the variant is measured; ``row`` has it alone."""
        if not self.kept:
            self._keep_state()  # first, so that no window is there without what was asked for
        self.store.keep_window(self.experiment, number, repeat, row)

    def _keep_state(self) -> None:
        self.store.keep_state(self.experiment, {"request": dict(self.request), "done": self.done})
        self.kept = True


def open_journal(store: Store, experiment: str, request: Mapping[str, Any], resume: bool) -> Journal:
    """Begin a run, or with ``resume`` go on with the one that was cut off.

    ``request`` is what must be equal for that: the experiment and the options. Raises RunnerError when
    it is not.
    """
    state = store.state(experiment) if resume else None
    if state is None:
        store.keep_state(experiment, None)
        return Journal(store, experiment, request)
    other = sorted(key for key in request if state["request"].get(key) != request[key])
    if other:
        raise RunnerError(
            f"{experiment}: the run that was interrupted had another {', '.join(other)}",
            "give the same options to go on with it, or leave out --resume to begin anew",
        )
    return Journal(store, experiment, request, dict(state["done"]), kept=True)
