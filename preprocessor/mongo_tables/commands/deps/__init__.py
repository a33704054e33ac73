"""``mongo-tables deps``: the files that each page depends on, for programs that decide which pages to rebuild."""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import EXIT, SOURCE, add_options

DESCRIPTION = (
    "Lists the files that each page depends on: files of results, shared pipelines, included files, pages whose\n"
    "tables the page quotes, and the site's file with the files that it inherits from. It runs no pipeline."
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
        help="print JSON: pages, figures with their collections, and files with digests",
    )
    add_options(parser)
