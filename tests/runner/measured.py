"""An experiment, measured for a test."""

from __future__ import annotations

import io
from collections.abc import Sequence

from mongo_tables.runner.blocks import Campaign, open_journal
from mongo_tables.runner.campaign import execute
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.runs import Run, check_possible
from mongo_tables.runner.store import Store
from mongo_tables.runner.target import NamedTarget
from mongo_tables.runner.terminal import Progress


def measure(runs: Sequence[Run], store: Store, *, resume: bool = False) -> int:
    """Measure the experiment of the runs, with as many blocks as it says; give the number of rows."""
    name = runs[0].experiment.name
    journal = open_journal(store, name, {}, resume, Campaign.new())
    return execute(runs, store, journal)


class Cutting(Progress):
    """Presses Ctrl-C when so many windows are done and the next is."""

    def __init__(self, windows):
        super().__init__(io.StringIO())
        self._left = windows

    def end(self, text):
        super().end(text)
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1


def call(target, name, where="x"):
    """Return the target with a name of its own in the run."""
    target.named = NamedTarget(name, where)
    return target


def obstacle(experiment, options, target, store):
    """Return why the experiment cannot run there, and the remedy, or None if it can."""
    try:
        check_possible(experiment, options, target, store)
    except TargetError as error:
        return error.message, error.hint
    return None
