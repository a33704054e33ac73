"""How far a run has come, so that one that was cut off goes on where it was.

The state of a run lies beside its results. A variant is noted after its row is written: when a run is cut off
between the two, the variant is measured again and its row replaced, so that no row is lost and none is there
twice.
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
    """The state of one experiment; ``done`` has for each finished variant when its shown window began."""

    store: Store
    experiment: str
    request: Mapping[str, Any]
    done: dict[str, str] = field(default_factory=dict)

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
        self.store.keep_state(self.experiment, {"request": dict(self.request), "done": self.done})


def open_journal(store: Store, experiment: str, request: Mapping[str, Any], resume: bool) -> Journal:
    """Begin a run, or with ``resume`` go on with the one that was cut off.

    ``request`` is what must be equal for that: the experiment and the options. Raises RunnerError when
    it is not.
    """
    state = store.state(experiment) if resume else None
    if state is None:
        return Journal(store, experiment, request)
    other = sorted(key for key in request if state["request"].get(key) != request[key])
    if other:
        raise RunnerError(
            f"{experiment}: the run that was interrupted had another {', '.join(other)}",
            "give the same options to go on with it, or leave out --resume to begin anew",
        )
    return Journal(store, experiment, request, dict(state["done"]))
