"""``mongo-tables calibrate``: measure how reliable verdicts are on this machine and target.

``pairs`` measures equal variants and writes the results.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from mongo_tables.commands.measurement_options import (
    add_course,
    add_machines,
    add_seed,
    count,
    positive,
    slice_length_or_none,
)
from mongo_tables.files.process import TARGET_VARIABLE

DESCRIPTION = (
    "Compare equal work with itself, to measure how often this machine and target wrongly show a difference, and\n"
    "how small a slowdown they detect."
)
EPILOG = """\
Each workload is compared with itself in pairs, in blocks like the rows of an experiment. The verdicts faster and slower
are false alarms. To measure the power, the speeds of one side are multiplied by 1 minus a slowdown: the power is the
share of pairs with the verdict slower. Workloads that can alternate in slices (run --slices) also do so.
The collection `calibration` has a document for each workload, which is written after each group of ten pairs.

examples:
  mongo-tables calibrate --dry-run                       how long it takes
  mongo-tables calibrate --time 30m                      stop after 30 minutes
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
        help="length of the slices in which a workload alternates with itself, in milliseconds from 1 to 1000, or 0 "
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
