"""An experiment, measured for a test."""

from __future__ import annotations

from collections.abc import Sequence

from preprocessor.runner.campaign import Length, execute
from preprocessor.runner.execution import Run
from preprocessor.runner.journal import Campaign, open_journal
from preprocessor.runner.store import Store


def measure(runs: Sequence[Run], store: Store, *, resume: bool = False) -> int:
    """Measure the experiment of the runs, with as many blocks as it says; give the number of rows."""
    name = runs[0].experiment.name
    journal = open_journal(store, name, {}, resume, Campaign.new())
    return execute(runs, store, journal, Length(runs[0].repeats))
