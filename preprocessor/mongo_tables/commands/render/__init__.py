"""``mongo-tables render``: write pages with their figures to standard output, to a folder, or in place."""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import EXIT, SOURCE, add_options

DESCRIPTION = (
    "Writes Markdown pages with their figures. Without an option, prints the pages with tables and values in place of\n"
    "comments. With --in-place, writes each table under its comment and each value after its comment, between two\n"
    "markers, so that GitHub shows them, and each chart into an SVG file next to the page. A second run changes\n"
    "nothing. If a page has an error, writes nothing."
)
EPILOG = f"""\
{SOURCE}

examples:
  mongo-tables render docs/speed.md                   one page with its tables, on standard output
  mongo-tables render docs --output rendered          all pages, into a folder
  mongo-tables render --in-place README.md            a README that a code host shows
  mongo-tables render --in-place --written            all pages with figures, after new results

{EXIT}"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the pages and the output."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="Markdown pages, or folders of them")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--output", metavar="DIR", help="write each page under DIR instead of standard output")
    where.add_argument(
        "--in-place",
        action="store_true",
        help="keep the comments, and write tables and values after them",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="with --in-place: show the changes without writing them, and exit with 1 if there are any",
    )
    parser.add_argument(
        "--written",
        action="store_true",
        help="with --in-place: also render all pages of the site that already have figures, and the README",
    )
    parser.add_argument("--force", action="store_true", help="with --in-place: overwrite manual edits")
    add_options(parser)
