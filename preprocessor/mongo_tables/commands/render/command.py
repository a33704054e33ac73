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

    from mongo_tables.findings.finding import Finding
    from mongo_tables.pages.build import Build
    from mongo_tables.pages.model import Page

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
    from mongo_tables.commands.rewriting import tell_findings
    from mongo_tables.pages.files import read_pages

    pages = read_pages(arguments.files, arguments.pipelines)
    build, findings = _ask(pages, arguments)
    if arguments.in_place:
        from mongo_tables.commands.render.inplace import render_pages_in_place

        return render_pages_in_place(pages, build, findings, arguments)
    if tell_findings(findings, build.pages):
        return 1
    return _write(pages, build, arguments)


def _ask(pages: Sequence[Page], arguments: Namespace) -> tuple[Build, list[Finding]]:
    """The pages, with those that they take tables from, and their rows; and what is wrong with them.

    Raises ResultsError when the results source cannot be used.
    """
    from mongo_tables.pages.build import Build
    from mongo_tables.pages.sitepages import Whereabouts
    from mongo_tables.results.answers import Answers

    others = Whereabouts(arguments.site).others(pages, arguments.pipelines)
    asked = Answers(arguments.results, arguments.limits, server=arguments.server)
    build = Build(asked, pages, others.tables_for(pages))
    with closing(build.asked):
        build.ask_or_raise()
        return build, build.findings()


def _write(pages: Sequence[Page], build: Build, arguments: Namespace) -> int:
    from mongo_tables.commands.rewriting import write_to_folder
    from mongo_tables.pages.markdown import render_markdown

    rendered = [render_markdown(page, build.answers, build.tables, arguments.format) for page in pages]
    if arguments.output:
        write_to_folder(Path(arguments.output), pages, rendered)
    else:
        sys.stdout.buffer.write("".join(rendered).encode("utf-8"))
    return 0
