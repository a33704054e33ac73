"""``mongo-tables render``: pages with their figures, to standard output, to a folder, or in place."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from mongo_tables.commands.options import EXIT, SOURCE, add_source
from mongo_tables.findings.usage import UsageError
from mongo_tables.render.formats import DEFAULT, TABLE_FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mongo_tables.build import Report

DESCRIPTION = (
    "Puts figures into Markdown pages. Without an option the result goes to standard output, with the\n"
    "comments replaced by tables and values. With --in-place each table is written under its comment and each\n"
    "value behind its own, between two markers, so that GitHub shows them, and each chart is drawn into an SVG\n"
    "file beside the page; a second run changes nothing. Nothing at all is written when a page has an error."
)
EPILOG = f"{SOURCE}\n\n{EXIT}"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the pages, how their tables are written, and where."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="Markdown pages, or folders of them")
    parser.add_argument(
        "--format",
        choices=list(TABLE_FORMATS),
        default=DEFAULT,
        help=f"how tables are written (default: {DEFAULT})",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--output", metavar="DIR", help="write each page under DIR instead of standard output")
    where.add_argument(
        "--in-place", action="store_true", help="keep the comments, write what they ask for behind them"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="with --in-place: write nothing, show what would change, exit 1 if anything",
    )
    parser.add_argument(
        "--force", action="store_true", help="with --in-place: overwrite what was edited by hand"
    )
    add_source(parser)


def run(arguments: Namespace) -> int:
    """Render every page or, when one has an error, none; give 1 when something is to complain about, else 0.

    Raises UsageError for options that go only with another one.
    """
    if (arguments.check or arguments.force) and not arguments.in_place:
        raise UsageError("--check and --force go with --in-place")
    if arguments.in_place and arguments.format != DEFAULT:
        # What `check` holds the tables in pages to.
        raise UsageError(f"--in-place writes {DEFAULT} tables, so no other --format goes with it")
    from mongo_tables.build import build
    from mongo_tables.commands.options import request_of
    from mongo_tables.commands.rewriting import tell_findings
    from mongo_tables.results.answers import Answers
    from mongo_tables.site.disk import read_snapshots, require_pages

    read = require_pages(read_snapshots(arguments.files, request_of(arguments)))
    with closing(Answers(arguments.results, arguments.limits, server=arguments.server)) as source:
        reports = [build(snapshot, source) for snapshot in read.snapshots]
        for report in reports:
            if report.away:
                raise report.away
        if arguments.in_place:
            from mongo_tables.commands.render.inplace import render_pages_in_place

            return render_pages_in_place(reports, arguments)
        faults = [one for report in reports for one in report.faults]
        if tell_findings(faults, [page for report in reports for page in report.site.judged]):
            return 1
        return _write(reports, arguments)


def _write(reports: Sequence[Report], arguments: Namespace) -> int:
    from mongo_tables.commands.rewriting import write_to_folder

    pages = [(report, page) for report in reports for page in report.site.named]
    rendered = [report.figures.markdown(page, arguments.format) for report, page in pages]
    if arguments.output:
        write_to_folder(Path(arguments.output), [page for _, page in pages], rendered)
    else:
        sys.stdout.buffer.write("".join(rendered).encode("utf-8"))
    return 0
