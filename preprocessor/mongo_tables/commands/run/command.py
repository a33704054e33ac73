"""The implementation of ``mongo-tables run``."""

from __future__ import annotations

import fnmatch
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from mongo_tables.commands.measurement import end_in_order, fill_in
from mongo_tables.commands.run.measure import measure_experiments
from mongo_tables.commands.run.plan import print_estimates
from mongo_tables.findings.usage import CommandError, require_extra
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.experiment import Experiment, control
from mongo_tables.runner.options import PROFILES, Options
from mongo_tables.runner.terminal import Progress


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
    """Return the options of a run: given options come before those of the profile, and these before the defaults."""
    found = asdict(PROFILES.get(arguments.profile, Options()))
    if arguments.duration or arguments.seconds:
        found |= dict.fromkeys(("seconds", "batch_seconds", "paced_seconds"), arguments.seconds)
    if arguments.repeats:
        found |= {"most_repeats": 0, "width": 0.0}
    found |= {name: value for name, value in vars(arguments).items() if name in found and value is not None}
    return Options(**found | {"slices": arguments.slices and arguments.slices / 1000})
