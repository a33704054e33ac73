"""``mongo-tables check``: all findings on all pages.

``pages`` finds faults, ``fixes`` applies hints, and ``watch`` repeats the check after changes.
"""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import SOURCE, add_options
from mongo_tables.findings.reporters import (
    REPORT_FORMATS,
    SEVERITIES,
)

DESCRIPTION = (
    "Checks every RESULT_… and MONGO_… comment: its JSON, its keys, its pipeline, and, by running it on the results\n"
    "source, its rows. All faults of all files are listed, each with file, line and column."
)
EPILOG = (
    f"{SOURCE}\n\n"
    "examples:\n"
    "  mongo-tables check                              the pages of the site, else docs\n"
    "  mongo-tables check README.md --results bench.json\n"
    "  mongo-tables check --watch --numbers            while you write\n"
    "  mongo-tables check --numbers README.md llms.txt docs/*.rst --results bench.json\n"
    "                                                  texts without a single comment\n"
    "  mongo-tables check --numbers README.md --open-is-error --baseline numbers.json\n"
    "  mongo-tables check --format github --sarif check.sarif\n\n"
    "exit status: 0 no finding as severe as --fail-on; 1 such findings; 2 wrong usage, nothing to check, or results\n"
    "that cannot be read: then the reason is on standard error, and no report is written"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the pages, the checks, the report format and the accepted findings."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="pages or folders (default: the site's, else docs)",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="check again whenever a page, a shared pipeline, a file of results or the site's file changes; Ctrl-C "
        "ends it",
    )
    parser.add_argument("--static", action="store_true", help="run no pipeline; needs no results source")
    parser.add_argument(
        "--numbers",
        action="store_true",
        help="also warn of open numbers (typed numbers in a section with a table that are in no table) and of stale "
        "numbers (their sentence names a row and a column or unit that now has another value); PATH may also be MDX, "
        "reStructuredText, HTML, text or source code; a text without tables is compared with all results",
    )
    parser.add_argument(
        "--open-is-error",
        action="store_true",
        help="with --numbers: every open number is an error; mongo-tables.toml may exempt numbers, and --baseline "
        "accepts the current ones",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="with --numbers: count bound, found, exempt and open numbers, list the open ones, and estimate how many "
        "match by chance; with --format json, print all numbers as JSON",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="show the changes that hints suggest in pages and shared pipelines: for mistyped names, values pasted "
        "from a shell, a $sort after its $limit",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="with --fix: write these changes, and list the remaining findings",
    )
    parser.add_argument(
        "--format", choices=REPORT_FORMATS, default="text", help="the format of findings (default: text)"
    )
    parser.add_argument(
        "--sarif", metavar="FILE", help="also write findings into FILE as SARIF, with any --format"
    )
    parser.add_argument(
        "--fail-on",
        choices=SEVERITIES,
        help="the lowest severity that makes the exit status 1 (default: `fail_on` of the site, else warning)",
    )
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        help="a file of accepted findings, which are not listed and do not fail the check",
    )
    parser.add_argument(
        "--write-baseline",
        action="store_true",
        help="accept the current findings: write them to the baseline",
    )
    add_options(parser)
