"""The measurement of experiments, one after the other, each on its targets."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack, closing
from math import inf

from mongo_tables.commands.run.plan import check_costs, list_raised
from mongo_tables.commands.run.targets import open_places, share_out
from mongo_tables.findings.usage import CommandError, print_error
from mongo_tables.runner.blocks import Campaign, find_campaign, open_journal
from mongo_tables.runner.campaign import execute
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.experiment import Experiment
from mongo_tables.runner.options import Options
from mongo_tables.runner.runs import Run, open_run, request
from mongo_tables.runner.store import Store, open_store
from mongo_tables.runner.target import differing, names_machines
from mongo_tables.runner.terminal import Progress


def measure_experiments(arguments: Namespace, wanted: Sequence[Experiment], progress: Progress) -> None:
    """Measure the experiments and write their rows. Raises CommandError if an experiment fails."""
    with closing(open_store(arguments.output)) as store:
        measured = _measure(arguments, wanted, store, progress)
        # Until the end of all of them, --resume must not measure finished experiments again.
        for experiment in measured:
            store.forget_progress(experiment.name)


def _measure(
    arguments: Namespace, wanted: Sequence[Experiment], store: Store, progress: Progress
) -> Sequence[Experiment]:
    """Measure the experiments that can run with these options, and close their targets. Return these experiments."""
    options: Options = arguments.options
    ends = time.monotonic() + arguments.time if arguments.time else inf
    campaign = (
        find_campaign(store, [one.name for one in wanted]) if arguments.resume else None
    ) or Campaign.new()
    with ExitStack() as held:
        places = open_places(arguments, held, progress)
        tasks = share_out(wanted, options, list(places.crews), store, leave_out=arguments.all)
        check_costs(arguments, tasks)
        if not arguments.resume:
            # A mistyped target must not delete measurements, so this is done after the targets are open.
            for experiment, _ in tasks:
                store.forget_progress(experiment.name)
        failed = []
        for experiment, targets in tasks:
            for line in list_raised(experiment, options):
                progress.note(f"{experiment.name}: {line}")
            asked = {**request(experiment, options, map(str, places.crews)), **places.request}
            journal = open_journal(store, experiment.name, asked, arguments.resume, campaign)
            side_by_side = len(targets) > 1 and not names_machines(experiment)
            runs = [
                open_run(
                    experiment,
                    options,
                    target,
                    places.crews[target],
                    progress,
                    target.named.name if side_by_side else "",
                )
                for target in targets
            ]
            try:
                _print_rows(runs, execute(runs, store, journal, ends))
            except WorkFailed as error:
                if len(tasks) == 1:
                    raise
                progress.clear()
                print_error(f"{experiment.name}: {error.message}", error.hint)
                failed.append(experiment.name)
    if failed:
        raise CommandError(
            f"{len(failed)} of {len(tasks)} experiments failed: {', '.join(failed)}",
            "finished measurements are kept; the same command with --resume measures the others",
        )
    return [experiment for experiment, _ in tasks]


def _print_rows(runs: Sequence[Run], rows: int) -> None:
    print(f"{runs[0].experiment.name}: {rows} rows", flush=True)
    for run in runs:
        differ = sorted(run.not_varied.intersection(differing(run.experiment, run.numbers)))
        if rows and differ:
            target = run.target.named.name or "this target"
            print(
                f"  {target} could not vary {', '.join(differ)}: these rows measured the same work",
                flush=True,
            )
