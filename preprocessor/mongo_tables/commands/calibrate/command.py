"""The implementation of ``mongo-tables calibrate``."""

from __future__ import annotations

import sys
from argparse import Namespace
from functools import partial

from mongo_tables.commands.calibrate.pairs import format_plan, measure_pairs
from mongo_tables.commands.measurement import end_in_order, fill_in
from mongo_tables.commands.run.targets import describe_machines, read_machines
from mongo_tables.findings.usage import CommandError, require_extra
from mongo_tables.runner import calibration
from mongo_tables.runner.atlas.address import is_atlas
from mongo_tables.runner.terminal import Progress


def run(arguments: Namespace) -> int:
    """Calibrate. Return 0 when all pairs are measured, 130 on Ctrl-C.

    Raises CommandError if the pairs cannot be measured.
    """
    if arguments.load_machines:
        require_extra("calibrate --load-machines", "cluster")
    fill_in(arguments)
    progress = Progress(sys.stderr, arguments.progress)
    return end_in_order(progress, partial(_run, arguments, progress))


def _run(arguments: Namespace, progress: Progress) -> None:
    if len(arguments.target) > 1:
        raise CommandError("calibrate measures on one target, but there are several", "name one")
    if is_atlas(arguments.target[0].where):
        raise CommandError("only run creates clusters on Atlas", "name an existing deployment")
    wanted = [calibration.load(name) for name in dict.fromkeys(arguments.workload or calibration.names())]
    arguments.blocks = arguments.blocks or calibration.PUBLISHED.repeats
    milliseconds = calibration.SLICE_MS if arguments.slices is None else arguments.slices
    windows = min(calibration.WINDOWS, arguments.blocks)
    fine = calibration.Fine(milliseconds / 1000, windows) if milliseconds else None
    tasks = calibration.plan(wanted, arguments.pairs, arguments.seconds, fine)
    machines = read_machines(arguments)
    if arguments.dry_run:
        print("\n".join(format_plan(tasks, arguments.blocks)))
        if machines is not None:
            print(describe_machines(machines, arguments.processes))
        return
    measure_pairs(arguments, tasks, progress)
