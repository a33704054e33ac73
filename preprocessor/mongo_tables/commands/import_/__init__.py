"""``mongo-tables import``: the output of benchmark tools as documents of a fixture folder."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime

from mongo_tables.commands.options import add_options

DESCRIPTION = (
    "Reads result files of benchmark tools and stores them in a fixture folder, one document for each measure of each\n"
    "benchmark. It reads files of pytest-benchmark, hyperfine, Go, JMH and the other tools that the guide lists. A\n"
    "page may also read such a file as it is: `results: bench.json`."
)
EPILOG = """\
The collection then contains exactly the benchmarks of the files. A benchmark in two files is an error: store runs in
different folders, for `mongo-tables history`, or in different commits. With --reference, each file is one block of runs
of the same benchmarks: each time or speed gets a `comparison` with the benchmark NAME of its suite, with a verdict.

examples:
  mongo-tables import bench.json --as bench                       into the site's fixture folder, else fixtures/
  mongo-tables import go.txt --as bench --date 2026-01-31 --commit 1a2b3c4
  mongo-tables import bench.json --as bench --results fixtures/campaigns/2026-01-31
  mongo-tables import bench.json --as bench --without-samples     a small file, to commit
  mongo-tables import run-*.json --as bench --reference ./old     twenty runs of hyperfine ./old ./new

exit status: 0 stored, or nothing to change; 2 wrong usage, or a file that cannot be read
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the files, the target folder, and facts that the files do not contain."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="file that a benchmark tool wrote")
    parser.add_argument("--as", dest="name", metavar="NAME", required=True, help="the collection")
    parser.add_argument(
        "--results",
        dest="folder",
        metavar="FOLDER",
        help="fixture folder (default: the site's, else fixtures)",
    )
    parser.add_argument(
        "--date",
        type=_date,
        help="the date of the measurement, if a file has none: 2026-01-31, or with a time",
    )
    parser.add_argument("--commit", metavar="ID", help="the measured commit, if a file has none")
    parser.add_argument(
        "--reference",
        metavar="NAME",
        help="compare all benchmarks with the benchmark NAME; each file is one of several alternating runs of the "
        "same benchmarks",
    )
    parser.add_argument(
        "--without-samples",
        action="store_true",
        help="keep only summary figures; files of pytest-benchmark also have the time of every round",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the changes without writing them")
    add_options(parser, "--config-file")


def _date(text: str) -> datetime:
    """Parse a date, in UTC if it has no time zone. Raises the error that argparse shows."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(
            f"must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z, not {text!r}"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
