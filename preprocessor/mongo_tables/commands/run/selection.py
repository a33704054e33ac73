"""Which experiments are meant: by name, by a pattern of names, by file, or all."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.experiment import Experiment


def load_experiments(given: Sequence[str], *, all_known: bool) -> list[Experiment]:
    """The experiments that names and patterns stand for, each once. Raises RunnerError when there is none."""
    known = experiments.names()
    names = known if all_known else [name for one in given for name in _expand(one, known)]
    if not names:
        raise RunnerError("which experiment?", "name one, or use --all; mongo-tables experiments lists them")
    return [experiments.load(name) for name in dict.fromkeys(names)]


def _expand(given: str, known: Sequence[str]) -> Sequence[str]:
    """The known names that a pattern matches; what is no pattern, or matches none, stands for itself."""
    return (fnmatch.filter(known, given) if "*" in given else []) or [given]
