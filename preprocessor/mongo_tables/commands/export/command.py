"""``mongo-tables export``: benchmarks in the format that another program reads."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from mongo_tables.findings.reporters import escape_control_chars

FORMATS: Final = ("go", "bencher")

DESCRIPTION = (
    "Writes benchmarks in another format: go is Go's benchmark text, which benchstat and others read, bencher the\n"
    "Bencher Metric Format. What was written is read back, and what of the documents did not come back is told."
)
EPILOG = """\
SOURCE is a file of a benchmark tool, a fixture folder, or whatever else pages take their rows from.

examples:
  mongo-tables export bench.json --format go > bench.txt
  mongo-tables export fixtures --collection bench --format bencher --to bench.bmf.json

exit status: 0 written, 2 wrong usage or nothing to write
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the source, what of it is written, in which format, and where to."""
    parser.add_argument("source", metavar="SOURCE", help="where the benchmarks are, see below")
    parser.add_argument("--format", choices=FORMATS, required=True, help="the format")
    parser.add_argument("--collection", metavar="NAME", default="", help="only this one")
    parser.add_argument("--to", metavar="FILE", help="write into this file (default: standard output)")


def run(arguments: Namespace) -> int:
    """Write, and tell on standard error what the format cannot carry; give 0."""
    from mongo_tables.commands.export import benchertext, gotext
    from mongo_tables.commands.export.losses import list_losses, read_back
    from mongo_tables.files import atomic
    from mongo_tables.results.benchmarkfiles import read_benchmarks
    from mongo_tables.results.revisions import on_disk

    with on_disk(arguments.source) as where:
        rows = read_benchmarks(where, arguments.collection)
    module = gotext if arguments.format == "go" else benchertext
    written = module.write(rows)
    for told in list_losses(rows, written, read_back(written.text, module.READER)):
        print(escape_control_chars(told), file=sys.stderr)
    if arguments.to:
        atomic.write(Path(arguments.to), written.text.encode())
    else:
        print(written.text, end="")
    return 0
