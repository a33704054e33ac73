"""``mongo-tables deps``: the source files of each page. Programs use the list to decide which pages to rebuild."""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import EXIT, SOURCE, add_options

DESCRIPTION = (
    "Lists the files that each page is made from: files of results, shared pipelines, included files, pages\n"
    "whose tables it quotes, the file of the site and the files that this inherits. It runs no pipeline."
)
EPILOG = f"""\
{SOURCE}

examples:
  mongo-tables deps docs/speed.md
  mongo-tables deps --json | jq '.pages[].files'

{EXIT}"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the pages, the format of the list, and the results source."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="pages or folders (default: the site's, else docs)"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="pages, their figures, the collections that these read, files with digests",
    )
    add_options(parser)
