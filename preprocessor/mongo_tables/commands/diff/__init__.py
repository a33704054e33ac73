"""``mongo-tables diff``: changes in the tables of a site, and a report of the changes for reviewers.

``tables`` reads the tables of both sides, ``changes`` compares them and formats the result, and ``github`` finds the
base of a pull request.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import SOURCES, add_options

DESCRIPTION = (
    "Lists every cell of the pages' tables that differs between two results sources or two checkouts,\n"
    "rows and tables that were added and removed, and differences in the measurement. Rows are\n"
    "matched by as few columns as necessary, including the first.\n"
    "In a GitHub Actions job for a pull request, OLD and NEW are its base and this checkout."
)
EPILOG = (
    "OLD and NEW, two checkouts, folders with a file of a site, one of which may be REVISION:. of\n"
    "Git; or each one of:\n"
    f"{SOURCES}\n\n"
    "environment: with --report the variables that GitHub Actions set\n\n"
    "examples:\n"
    "  mongo-tables diff HEAD:fixtures fixtures                     what a commit of these files would change\n"
    "  mongo-tables diff --format markdown origin/main:. .          what this branch changes, to paste\n\n"
    "exit status: 0 nothing changed; 1 something changed; 2 wrong usage or nothing to work with"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the two sides, the pages to compare, and the output format."""
    parser.add_argument("old", nargs="?", metavar="OLD", help="results source or checkout, see below")
    parser.add_argument(
        "new", nargs="?", metavar="NEW", help="the results source or checkout to compare with OLD"
    )
    parser.add_argument(
        "pages",
        nargs="*",
        default=[],
        metavar="PAGE",
        help="pages or folders (default: the site's, else docs)",
    )
    add_options(parser, "--limit", "--pipelines", "--config-file")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=("text", "json", "markdown"),
        default="text",
        help="how the changes are printed: as Markdown for a code host, or everything as JSON (default: text)",
    )
    form.add_argument(
        "--report",
        metavar="FOLDER",
        help="write FOLDER/changes.md and FOLDER/changes.json instead, and add to the summary of a job",
    )
