"""``mongo-tables calibrate``: the reliability of the verdicts of a machine and a target.

``pairs`` measures equal variants and writes the results.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from functools import partial
from typing import TYPE_CHECKING

from mongo_tables.commands.measurement import (
    add_course,
    add_machines,
    add_seed,
    count,
    end_in_order,
    fill_in,
    positive,
    require_runner,
    slice_length_or_none,
)
from mongo_tables.files.process import TARGET_VARIABLE
from mongo_tables.findings.usage import CommandError

if TYPE_CHECKING:
    from mongo_tables.runner.terminal import Progress

DESCRIPTION = (
    "Measure the same work against itself: how often do this machine and target call it different, and how small\n"
    "a slowdown do they detect?"
)
EPILOG = """\
Each workload is measured against itself, in blocks like the rows of an experiment, and each pair gets a verdict: faster
and slower are false alarms. Then the speeds of one side are multiplied by 1 minus a slowdown, and the power is the
share of the pairs that are called slower. Work that can take turns in slices (as with run --slices) also does so.
Each finished group of ten pairs counts: results are in the collection `calibration`, one document for each workload.

examples:
  mongo-tables calibrate --dry-run                       how long it takes
  mongo-tables calibrate --time 30m                      as much as fits into that time
  mongo-tables calibrate --time 30m --resume             continue from there
  mongo-tables calibrate updates --pairs 20              one workload
  mongo-tables calibrate --slices 0                      without slices
  mongo-tables calibrate --target mongodb://…            on an existing deployment
  mongo-tables calibrate --target mongodb://… --load-machines tls://a.example:8786
                                                         loaded by two machines, as in run

exit status: 0 all pairs are measured, 2 some are missing or the time is over, 130 interrupted
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the workloads, the amount of measurement, and the output."""
    parser.add_argument("workload", nargs="*", help="name of a workload (default: all)")
    parser.add_argument(
        "--target", metavar="WHERE", action="append",
        help="local (default: a replica set of three on this machine, started and removed by the command), or "
        f"another target of run; without this option, the value of the variable {TARGET_VARIABLE}",
    )  # fmt: skip
    parser.add_argument(
        "--pairs", type=count, metavar="N", help="pairs of each workload (default: 200 over all workloads)"
    )
    parser.add_argument(
        "--blocks", type=_three_or_more, metavar="N",
        help="measure each pair in N blocks, 3 or more (default: 20)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=positive, metavar="N", help="length of a window (default: 0.7, and 2 for batches)"
    )
    parser.add_argument(
        "--slices", type=slice_length_or_none, metavar="MS",
        help="length of the slices in which a workload takes turns with itself, in milliseconds, from 1 to 1000; 0 "
        "for none (default: 40)",
    )  # fmt: skip
    add_seed(parser)
    add_course(parser)
    add_machines(parser)


def _three_or_more(text: str) -> int:
    """Parse a number of blocks, at least three.

    With fewer blocks there is no interval, and the reference is measured only once in each block.
    """
    if (value := count(text)) < 3:
        raise ArgumentTypeError(f"must be 3 or more, not {text!r}")
    return value


def run(arguments: Namespace) -> int:
    """Calibrate. Return 0 when all pairs are measured, 130 on Ctrl-C.

    Raises CommandError if the pairs cannot be measured.
    """
    require_runner("calibrate", arguments.load_machines)
    from mongo_tables.runner.terminal import Progress

    fill_in(arguments)
    progress = Progress(sys.stderr, arguments.progress)
    return end_in_order(progress, partial(_run, arguments, progress))


def _run(arguments: Namespace, progress: Progress) -> None:
    from mongo_tables.commands.run.targets import describe_machines, read_machines
    from mongo_tables.runner import calibration
    from mongo_tables.runner.atlas.address import is_atlas

    if len(arguments.target) > 1:
        raise CommandError("equal things are measured on one target", "name one")
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
        from mongo_tables.commands.calibrate.pairs import format_plan

        print("\n".join(format_plan(tasks, arguments.blocks)))
        if machines is not None:
            print(describe_machines(machines, arguments.processes))
        return
    from mongo_tables.commands.calibrate.pairs import measure_pairs

    measure_pairs(arguments, tasks, progress)
