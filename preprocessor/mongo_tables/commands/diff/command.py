"""``mongo-tables diff``: what changed in the tables between two results sources, built sites or checkouts."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from mongo_tables.commands.options import SOURCES, add_limit, add_pipelines

DESCRIPTION = (
    "Lists every cell of the pages' tables that is not the same with two results sources, in two built sites, or\n"
    "in two checkouts: page, line, table, row, column, old and new value, their ratio. Rows, columns and tables\n"
    "that came or went are listed too, and what was measured otherwise: server, machine, scale, the experiment\n"
    "itself. Rows belong together by what tells them apart: --key, or as few columns as it takes, the first among\n"
    "them; in charts the horizontal axis and the series. Where nothing tells rows apart, this is said."
)
EPILOG = (
    "OLD and NEW, two built sites; two checkouts, folders with a file of a site, one of which may be REVISION:. of\n"
    "Git; or each one of:\n"
    f"{SOURCES}\n\n"
    "exit status: 0 nothing changed, 1 something did, 2 wrong usage or nothing to work with"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the two sides, the pages whose tables are compared, and how the outcome is written."""
    parser.add_argument("old", metavar="OLD", help="results source, built site or checkout, see below")
    parser.add_argument("new", metavar="NEW", help="the other one")
    parser.add_argument(
        "pages",
        nargs="*",
        default=[],
        metavar="PAGE",
        help="pages or folders (default: the site's, else docs)",
    )
    parser.add_argument("--key", metavar="COLUMNS", help="name rows by these columns, with commas")
    add_limit(parser)
    add_pipelines(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="everything as one JSON document")
    form.add_argument("--markdown", action="store_true", help="as a part of a page of changes")


def run(arguments: Namespace) -> int:
    """Print what changed; give 0 when nothing did, else 1.

    Raises UsageError and ResultsError for what cannot be compared.
    """
    from mongo_tables.commands.diff import writing
    from mongo_tables.commands.diff.comparing import compare
    from mongo_tables.commands.diff.sides import read_sides

    changes = compare(*read_sides(arguments))
    if arguments.json:
        print(json.dumps({"tables": [asdict(one) for one in changes]}, indent=2))
    else:
        print("\n".join((writing.markdown if arguments.markdown else writing.text)(changes)))
    return 1 if changes else 0
