"""``mongo-tables render``: pages with their tables, to standard output, to a folder, or in place."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from preprocessor.commands.options import EXIT, SOURCE, add_source
from preprocessor.findings.reporters import report
from preprocessor.findings.usage import UsageError
from preprocessor.render.formats import DEFAULT, TABLE_FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from preprocessor.findings.finding import Finding
    from preprocessor.pages.build import Build
    from preprocessor.pages.model import Page

DESCRIPTION = (
    "Puts the tables into Markdown pages. Without an option the result goes to standard output, with the\n"
    "comments replaced by tables. With --in-place each table is written under its comment, between two\n"
    "markers, so that GitHub shows it; a second run changes nothing.\n"
    "Nothing at all is written when a page has an error."
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
        "--in-place", action="store_true", help="keep the comments, write the tables under them"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="with --in-place: write nothing, show what would change, exit 1 if anything",
    )
    parser.add_argument(
        "--force", action="store_true", help="with --in-place: overwrite tables that were edited by hand"
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
    from preprocessor.pages.files import read_pages
    from preprocessor.pages.inplace import region_findings

    pages = read_pages(arguments.files, arguments.pipelines)
    build, findings = _ask(pages, arguments)
    if arguments.in_place and not arguments.force:
        findings = sorted({*findings, *(one for page in pages for one in region_findings(page))})
    if findings:
        sources = {page.file: page.text for page in build.pages}
        sys.stderr.write(report(findings, "text", color=sys.stderr.isatty(), sources=sources))
    if any(one.severity == "error" for one in findings):
        return 1
    return _write(pages, build, arguments)


def _ask(pages: Sequence[Page], arguments: Namespace) -> tuple[Build, list[Finding]]:
    """The pages, with those that they take tables from, and their rows; and what is wrong with them.

    Raises ResultsError when the results source cannot be used.
    """
    from preprocessor.pages.build import Build
    from preprocessor.pages.keptanswers import KeptAnswers
    from preprocessor.pages.sitepages import Whereabouts

    others = Whereabouts(arguments.site).others(pages, arguments.pipelines)
    build = Build(KeptAnswers(arguments.results, arguments.limits), pages, others.tables_for(pages))
    with closing(build.asked):
        build.ask_or_raise()
        return build, build.findings()


def _write(pages: Sequence[Page], build: Build, arguments: Namespace) -> int:
    from preprocessor.commands.render.writing import print_changes, write_in_place, write_to_folder
    from preprocessor.pages.inplace import render_in_place
    from preprocessor.pages.markdown import render_markdown

    if arguments.in_place:
        texts = ((page, render_in_place(page, build.answers, build.tables)) for page in pages)
        changed = [(page, text) for page, text in texts if text != page.text]
        return print_changes(changed) if arguments.check else write_in_place(changed)
    rendered = [render_markdown(page, build.answers, build.tables, arguments.format) for page in pages]
    if arguments.output:
        write_to_folder(Path(arguments.output), pages, rendered)
    else:
        sys.stdout.buffer.write("".join(rendered).encode("utf-8"))
    return 0
