"""Experiments, measured one after the other on one target."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from preprocessor.commands.run.raising import list_raised
from preprocessor.runner.errors import TargetError
from preprocessor.runner.execution import Options, Run, execute, obstacle, open_run, request
from preprocessor.runner.journal import open_journal
from preprocessor.runner.load import WorkerPool
from preprocessor.runner.machines import differing, variants_for, without_target
from preprocessor.runner.namedtargets import NamedTarget
from preprocessor.runner.store import open_store
from preprocessor.runner.target import Target, open_target

if TYPE_CHECKING:
    from preprocessor.runner.experiment import Experiment
    from preprocessor.runner.progress import Progress
    from preprocessor.runner.store import Store


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
        arguments.as_is,
        arguments.profile,
    )
    with ExitStack() as held:
        places = [
            Place(named, held.enter_context(closing(open_target(named.where)))) for named in arguments.target
        ]
        tasks = _share_out(wanted, options, places, store, leave_out=arguments.all)
        begun: list[Experiment] = []
        for place in places:
            target = place.target
            shared = target.ends_with_run  # its servers run here
            processors = os.cpu_count() or 1
            processes = arguments.processes or (max(1, processors // 2) if shared else processors)
            with WorkerPool(processes, partial(target.fault, patience=0), shared) as crew:
                for experiment in tasks[place.named.name]:
                    for line in list_raised(experiment, options.scale, options.duration):
                        progress.note(f"{experiment.name}: {line}")
                    asked = {
                        **request(experiment, options, [str(one) for one in places]),
                        "processes": processes,
                    }
                    # All targets write into one journal.
                    journal = open_journal(
                        store, experiment.name, asked, arguments.resume or experiment in begun
                    )
                    begun.append(experiment)
                    run = open_run(experiment, options, target, crew, progress, place.named)
                    _print_rows(run, execute(run, store, journal))
    return begun


@dataclass(frozen=True, slots=True)
class Place:
    """A target with its name."""

    named: NamedTarget
    target: Target

    def __str__(self) -> str:
        """The name with the addresses and the options that change what is measured, which hold no secret."""
        where = f"{self.target.name} {self.target.options}".rstrip()
        return f"{self.named.name}={where}" if self.named.name else where


def _share_out(
    wanted: Sequence[Experiment], options: Options, places: Sequence[Place], store: Store, *, leave_out: bool
) -> dict[str, list[Experiment]]:
    """The experiments of each target by its name, before anything is measured; TargetError when one cannot be run."""
    tasks: dict[str, list[Experiment]] = {place.named.name: [] for place in places}
    for experiment in wanted:
        try:
            lacking = without_target(experiment, [place.named for place in places])
        except TargetError as error:
            if not leave_out:
                raise
            print(f"{experiment.name}: left out, {error}", flush=True)
            continue
        for place in places:
            if variants_for(experiment, place.named) and _allows(
                experiment, options, place, store, leave_out=leave_out
            ):
                tasks[place.named.name].append(experiment)
        if lacking:
            print(
                f"{experiment.name}: left out {', '.join(lacking)}, for which no target is named", flush=True
            )
    return tasks


def _allows(experiment: Experiment, options: Options, place: Place, store: Store, *, leave_out: bool) -> bool:
    """Whether the experiment can be run so; when not, it is said to be left out, or TargetError is raised."""
    found = obstacle(experiment, options, place.target, store, place.named)
    if found and not leave_out:
        raise TargetError(*found)
    if found:
        print(f"{found[0]}: left out, {found[1]}", flush=True)
    return found is None


def _print_rows(run: Run, rows: int) -> None:
    where = f" of {run.named.name}" if run.named.name else ""
    print(f"{run.experiment.name}: {rows} rows{where}", flush=True)
    differ = sorted(run.not_varied.intersection(differing(run.experiment, run.numbers)))
    if rows and differ:
        print(f"  measured alike, though variants differ in it: {', '.join(differ)}", flush=True)
