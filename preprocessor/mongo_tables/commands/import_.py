"""``mongo-tables import``: the output of benchmark tools as documents of a fixture folder."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mongo_tables.commands.options import add_options
from mongo_tables.files.folders import list_some
from mongo_tables.findings.reporters import escape_control_chars, format_count

DESCRIPTION = (
    "Reads result files of benchmark tools and stores them in a fixture folder, one document for each measure of each\n"
    "benchmark. It reads files of pytest-benchmark, hyperfine, Go, JMH, Vitest, Rust, Criterion, Google\n"
    "Benchmark and YCSB, and Bencher's format. A page may also read such a file as it is: `results: bench.json`."
)
EPILOG = """\
The collection then contains exactly the benchmarks of the files. A benchmark in two files is an error: store each run
separately, in a folder for `mongo-tables history`, or in a commit. With --reference the files are runs of the same
benchmarks, each a block: each time, or speed, gets a `comparison` with the benchmark NAME of its suite, with a verdict.

examples:
  mongo-tables import bench.json --as bench                       into the site's fixture folder, else fixtures/
  mongo-tables import go.txt --as bench --date 2026-01-31 --commit 1a2b3c4
  mongo-tables import bench.json --as bench --results fixtures/campaigns/2026-01-31
  mongo-tables import bench.json --as bench --without-samples     a small file, to commit
  mongo-tables import run-*.json --as bench --reference ./old     twenty runs of hyperfine ./old ./new

exit status: 0 read, or nothing to change, 2 wrong usage or a file that is not read
"""

_SHOWN: Final = 3
_OF_SEVERAL: Final = re.compile(r"[*?\[\],=]|://")
"""The characters that show a pattern, a list or a connection string."""


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
        help="the files are alternating runs; compare all benchmarks with this one",
    )
    parser.add_argument(
        "--without-samples",
        action="store_true",
        help="keep only the summary figures: a file of pytest-benchmark has every round",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the changes without writing them")
    add_options(parser, "--config-file")


def _date(text: str) -> datetime:
    """Parse a date. Without a time zone, the date is in UTC. Raises the error that argparse shows."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(
            f"must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z, not {text!r}"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def run(arguments: Namespace) -> int:
    """Write the documents. Print a line for each file, the unknown facts, and the changes. Return 0."""
    from mongo_tables.commands.file_changes import find_fixture_folder, print_report
    from mongo_tables.results.benchmark_results import leave_samples_out
    from mongo_tables.results.file_source import FileSource, hold
    from mongo_tables.results.pull import pull

    documents = _read_files(arguments.files, arguments)
    if arguments.without_samples:
        documents = [leave_samples_out(one) for one in documents]
    folder = Path(arguments.folder or find_fixture_folder(arguments.site))
    source = FileSource(", ".join(arguments.files), read=lambda: [hold(arguments.name, documents)])
    report = pull(source, folder, {arguments.name: arguments.name}, dry_run=arguments.dry_run)
    for line in _say_unknown(documents):
        print(escape_control_chars(line))
    print_report(report, dry_run=arguments.dry_run)
    return 0


def _read_files(files: Sequence[str], arguments: Namespace) -> list[dict[str, Any]]:
    """Return the documents of all files.

    Raises ResultsError if a file cannot be read, or if a benchmark is in two files. Raises CommandError if requested
    intervals cannot be computed.
    """
    from mongo_tables.commands.measurement import require_intervals
    from mongo_tables.results.benchmark_results import merge_runs, read_benchmarks
    from mongo_tables.results.model import unusable

    said: dict[str, Any] = {}
    if arguments.date:
        said["start_time"] = arguments.date
    if arguments.commit:
        said["commit"] = {"id": arguments.commit}
    runs = []
    for file in files:
        # A results source would treat the name of a missing file as a fixture folder.
        if not _OF_SEVERAL.search(file) and not Path(file).exists():
            raise unusable(f"the file {file} does not exist", "name a file that a benchmark tool wrote")
        runs.append(
            [one | {key: said[key] for key in said if key not in one} for one in read_benchmarks(file)]
        )
        tools = dict.fromkeys(one.get("versions", {}).get("harness") or one["tool"] for one in runs[-1])
        print(escape_control_chars(f"{file}: {', '.join(tools)}, {format_count(len(runs[-1]), 'document')}"))
    if arguments.reference is not None:
        require_intervals("import --reference")
        return merge_runs(runs, arguments.reference)
    homes: dict[str, str] = {}
    for file, run in zip(files, runs, strict=True):
        for one in run:
            first = homes.setdefault(repr(one["_id"]), file)
            if first != file:
                raise unusable(
                    f"{file}: {one['_id']['name']!r} is in {first} as well",
                    "store each run in its own --results FOLDER, or name a --reference: then each run is a block",
                )
    return [one for run in runs for one in run]


def _say_unknown(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield lines about facts that readers of a page need but the documents lack, and about failed benchmarks."""
    if undated := [one for one in documents if "start_time" not in one]:
        names = ", ".join(dict.fromkeys(one["tool"] for one in undated))
        told = "without --date, figures have no line of origin and no history"
        yield f"{names} does not write the time of measurement: {told}"
    failed = dict.fromkeys(f"{one['_id']['name']}: {one['failed']}" for one in documents if "failed" in one)
    if failed:
        yield f"failed: {list_some(list(failed), _SHOWN, '; ')}"
