"""``mongo-tables run``: measure experiments, one after the other, each on its targets.

``targets`` opens targets and assigns experiments to them, and ``plan`` prints what a run would do, with its time and
its cost.
"""

from __future__ import annotations

import fnmatch
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from functools import partial
from math import inf

from mongo_tables.commands.run.plan import check_costs, list_raised, print_estimates
from mongo_tables.commands.run.targets import fill_in, open_places, share_out
from mongo_tables.findings.usage import CommandError, print_error, require_extra
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.blocks import Campaign, find_campaign, open_journal
from mongo_tables.runner.campaign import execute
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.experiment import Experiment, control
from mongo_tables.runner.options import PROFILES, Options
from mongo_tables.runner.runs import Run, open_run, request
from mongo_tables.runner.store import Store, open_store
from mongo_tables.runner.target import differing, names_machines
from mongo_tables.runner.terminal import Progress, end_in_order


def run(arguments: Namespace) -> int:
    """Measure the experiments, or print the plan. Return 0 if all rows are written, 130 after an interrupt.

    Raises CommandError if a row cannot be written.
    """
    if arguments.load_machines:
        require_extra("run --load-machines", "cluster")
    fill_in(arguments)
    arguments.options = _read_options(arguments)
    progress = Progress(sys.stderr, arguments.progress)
    return end_in_order(progress, partial(_run, arguments, progress))


def _run(arguments: Namespace, progress: Progress) -> None:
    if arguments.slices and len(arguments.target) < 2:
        raise CommandError(
            "--slices needs several targets that alternate, but there is one",
            "name two: --target a=… --target b=…",
        )
    wanted = _load_experiments(arguments.experiment, all_known=arguments.all)
    if arguments.profile == "publish":
        followed = ((one, control(one)) if one.control else (one,) for one in wanted)
        wanted = list({one.name: one for pair in followed for one in pair}.values())
    if arguments.dry_run:
        print_estimates(arguments, wanted)
    else:
        measure_experiments(arguments, wanted, progress)


def _load_experiments(given: Sequence[str], *, all_known: bool) -> list[Experiment]:
    """Load the experiments with these names and patterns, each once. Raises CommandError if none is named."""
    names = known = experiments.names()
    if not all_known:
        # A pattern without a match is treated as a name, so that loading it fails.
        matched = ((fnmatch.filter(known, one) if "*" in one else []) or [one] for one in given)
        names = [name for some in matched for name in some]
    if not names:
        raise CommandError(
            "no experiment is named", "name one, or use --all; `mongo-tables experiments` lists them"
        )
    return [experiments.load(name) for name in dict.fromkeys(names)]


def _read_options(arguments: Namespace) -> Options:
    """Return the options of a run: the given options, then those of the profile, then the defaults."""
    found = asdict(PROFILES.get(arguments.profile, Options()))
    if arguments.duration or arguments.seconds:
        found |= dict.fromkeys(("seconds", "batch_seconds", "paced_seconds"), arguments.seconds)
    if arguments.repeats:
        found |= {"most_repeats": 0, "width": 0.0}
    found |= {name: value for name, value in vars(arguments).items() if name in found and value is not None}
    return Options(**found | {"slices": arguments.slices and arguments.slices / 1000})


def measure_experiments(arguments: Namespace, wanted: Sequence[Experiment], progress: Progress) -> None:
    """Measure the experiments and write their rows. Raises CommandError if an experiment fails."""
    with closing(open_store(arguments.output)) as store:
        measured = _measure(arguments, wanted, store, progress)
        # Until all experiments are measured, --resume must not measure the finished ones again.
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
