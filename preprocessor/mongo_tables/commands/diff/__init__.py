"""``mongo-tables diff``: changes in the tables of a site, and a report of them for reviewers.

``tables`` reads the tables of both sides, ``changes`` compares them and formats the result, and ``github`` finds the
base of a pull request.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import SOURCES, add_options

DESCRIPTION = (
    "Compares the tables of pages between two results sources or two checkouts. Lists changed cells, rows and tables\n"
    "that were added or removed, and differences in the measurement. Rows are matched by the first column and as few\n"
    "others as necessary. In a GitHub Actions job for a pull request, OLD is by default its base, NEW this checkout."
)
EPILOG = (
    "OLD and NEW are two checkouts (folders with the file of a site, or REVISION:. for a revision of Git), or two\n"
    "results sources:\n"
    f"{SOURCES}\n\n"
    "--report reads the variables that GitHub Actions sets.\n\n"
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
        help="the output format: text, Markdown for a code host, or JSON with all details (default: text)",
    )
    form.add_argument(
        "--report",
        metavar="FOLDER",
        help="write FOLDER/changes.md and FOLDER/changes.json, and extend the summary of the GitHub Actions job",
    )
