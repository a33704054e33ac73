"""``mongo-tables mutate``: sentences that could say something else, and no check would notice."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from mongo_tables.commands.options import SOURCE, add_pages, add_source
from mongo_tables.findings.reporters import REPORT_FORMATS, format_count, report
from mongo_tables.findings.usage import print_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mongo_tables.commands.mutate.mutating import Tried

DESCRIPTION = (
    "Changes figures, number words and directions (`faster`, `slower`) of the sentences of pages, one by one and in\n"
    "memory, and lists those changes that `check --prose` does not notice: mutation testing for prose."
)
EPILOG = f"""\
A sentence notices a change where what it says follows from rows: a figure that --prose holds against the tables of its
section, a direction that rows decide, or a comment for a value, which writes what the rows say, so that there is
nothing to change. --prose leaves out a section of which a table ignores MT324 or MT327: changes there are listed.
Headings, rows of tables and captions are sentences, text in comments and code is not.

{SOURCE}

examples:
  mongo-tables mutate docs/index.md                      what of this page could be wrong unseen
  mongo-tables mutate --at-least 80                      of the site, and fail below 80 %
  mongo-tables mutate --format json

exit status: 0 everything is noticed, or as much as --at-least says; 1 less; 2 wrong usage or nothing to work with
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the pages, how much is to be noticed, and how it is reported."""
    add_pages(parser)
    parser.add_argument(
        "--at-least", type=_percent, default=100.0, metavar="PERCENT",
        help="the part of the changes that is to be noticed (default: 100)",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=REPORT_FORMATS, default="text", help="how findings are written (default: text)"
    )
    add_source(parser)


def _percent(text: str) -> float:
    value = float(text) if text.replace(".", "", 1).isdigit() else -1.0
    if not 0 <= value <= 100:
        raise ArgumentTypeError(f"must be a number from 0 to 100, not {text!r}")
    return value


def run(arguments: Namespace) -> int:
    """Print a finding for each change that nothing notices; give 1 when too few are noticed.

    Raises ResultsError when the results source cannot be used.
    """
    from mongo_tables.commands.check.checking import Request
    from mongo_tables.commands.mutate.mutating import try_mutations
    from mongo_tables.pages.files import read_paths
    from mongo_tables.pages.sitepages import page_folders
    from mongo_tables.runner.progress import Progress

    given = read_paths(arguments.paths or page_folders(arguments.site), arguments.pipelines)
    for fault in given.faults:
        print_error(fault)
    request = Request(
        arguments.site, arguments.pipelines, arguments.results, arguments.limits, static=False, prose=True
    )
    tried = try_mutations(given.pages, request, Progress(sys.stderr))
    sources = {page.file: page.text for page in given.pages}
    unnoticed = [one for page in tried for one in page.unnoticed]
    sys.stdout.write(report(unnoticed, arguments.format, color=sys.stdout.isatty(), sources=sources))
    places = sum(page.places for page in tried)
    noticed = places - len(unnoticed)
    print(_describe(tried, places, noticed), file=sys.stderr)
    return 2 if given.faults else int(100 * noticed < arguments.at_least * places)


def _describe(tried: Sequence[Tried], places: int, noticed: int) -> str:
    on = format_count(len(tried), "page")
    if not places:
        return f"nothing on {on} can be changed"
    return (
        f"{noticed} of {format_count(places, 'change')} on {on} are noticed, {100 * noticed / places:.1f} %"
    )
