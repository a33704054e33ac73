"""Experiments, measured one after the other on one target."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from preprocessor.runner.errors import TargetError
from preprocessor.runner.execution import Options, execute, obstacle, open_run, request
from preprocessor.runner.journal import open_journal
from preprocessor.runner.load import WorkerPool
from preprocessor.runner.store import open_store
from preprocessor.runner.target import open_target

if TYPE_CHECKING:
    from preprocessor.runner.experiment import Experiment
    from preprocessor.runner.progress import Progress
    from preprocessor.runner.store import Store
    from preprocessor.runner.target import Target


def measure_experiments(arguments: Namespace, wanted: Sequence[Experiment], progress: Progress) -> None:
    """Measure the experiments and write their rows. Raises RunnerError when that is not possible."""
    with closing(open_store(arguments.output)) as store:
        if not arguments.resume:
            for experiment in wanted:
                store.keep_state(experiment.name, None)
        measured = _measure(arguments, wanted, store, progress)
        # Not before: with --resume, experiments that were finished are not done again.
        for experiment in measured:
            store.keep_state(experiment.name, None)


def _measure(
    arguments: Namespace, wanted: Sequence[Experiment], store: Store, progress: Progress
) -> Sequence[Experiment]:
    """Run the experiments that can be run so, and end what was started for them; give those that were run."""
    options = Options(
        arguments.scale,
        arguments.seconds,
        arguments.repeats,
        arguments.seed,
        arguments.client,
        arguments.rate,
        arguments.arrivals,
        arguments.on_error,
        arguments.duration,
    )
    with closing(open_target(arguments.target)) as target:
        shared = target.ends_with_run  # its servers run here
        processors = os.cpu_count() or 1
        processes = arguments.processes or (max(1, processors // 2) if shared else processors)
        allowed = [one for one in wanted if _allows(one, options, target, store, leave_out=arguments.all)]
        with WorkerPool(processes, partial(target.fault, patience=0), shared) as crew:
            for experiment in allowed:
                asked = {**request(experiment, options, target), "processes": processes}
                journal = open_journal(store, experiment.name, asked, arguments.resume)
                rows = execute(open_run(experiment, options, target, crew, progress), store, journal)
                print(f"{experiment.name}: {rows} rows", flush=True)
    return allowed


def _allows(
    experiment: Experiment, options: Options, target: Target, store: Store, *, leave_out: bool
) -> bool:
    """Whether the experiment can be run so; when not, it is said to be left out, or TargetError is raised."""
    found = obstacle(experiment, options, target, store)
    if found and not leave_out:
        raise TargetError(*found)
    if found:
        print(f"{found[0]}: left out, {found[1]}", flush=True)
    return found is None
