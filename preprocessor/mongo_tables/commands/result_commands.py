"""The options of the commands that copy results.

To start quickly, the module imports nothing that does the work of a command.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Final

from mongo_tables.commands.options import SOURCES, add_options

_PULL: Final = (
    "Copies collections from a results source into a fixture folder, always in the same order and notation, and lists\n"
    "the documents that were added, changed and removed."
)
_PULL_EPILOG: Final = (
    f"SOURCE has one of these forms:\n{SOURCES}\n\n"
    "Examples:\n"
    "  mongo-tables pull mongodb://HOST/DATABASE             collections that pages read, into fixtures/\n"
    "  mongo-tables pull v1:fixtures results --as v1         results as they were at the tag v1\n\n"
    "Exit status: 0 if documents are copied or nothing changes, 2 after wrong usage or with nothing to work with."
)


def _pull(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _PULL, _PULL_EPILOG
    parser.add_argument("source", metavar="SOURCE", help="the source of the documents; see below")
    parser.add_argument(
        "collections",
        nargs="*",
        metavar="COLLECTION",
        help="collections to copy (default: those that the pages read)",
    )
    parser.add_argument("--to", metavar="DIR", help="fixture folder (default: the site's, else fixtures)")
    parser.add_argument(
        "--as",
        dest="name",
        metavar="COLLECTION",
        help="the name of the collection in the fixture folder",
    )
    parser.add_argument(
        "--docs",
        action="append",
        metavar="PATH",
        help="pages whose collections are copied (default: the site's, else docs)",
    )
    add_options(parser, "--pipelines", "--config-file")
    parser.add_argument("--dry-run", action="store_true", help="print the changes without writing them")
    add_options(parser, "--limit")


_PUSH: Final = (
    "Copies collections from a fixture folder, or from plain files, into a results database: the reverse of `pull`.\n"
    "It writes only documents that differ, so a second push writes nothing."
)
_PUSH_EPILOG: Final = """\
push writes only to a database that a push created or that has the marker of push. For any other database, it prints how
the owner can add the marker. Only with --remove does it remove documents that the files lack.

Examples:
  mongo-tables push mongodb://HOST/DATABASE                every collection of the site's files
  mongo-tables push mongodb://HOST/DATABASE results        one collection
  mongo-tables push mongodb://HOST/DATABASE --from bench.json
  mongo-tables push mongodb://HOST/DATABASE --remove       also remove documents that the files lack

Exit status: 0 if documents are copied or nothing changes, 2 after wrong usage or with nothing to work with.
"""


def _push(parser: ArgumentParser) -> None:
    parser.description, parser.epilog = _PUSH, _PUSH_EPILOG
    parser.add_argument(
        "target", metavar="URI", help="mongodb://HOST/DATABASE, with a user who may write there"
    )
    parser.add_argument(
        "collections",
        nargs="*",
        metavar="COLLECTION",
        help="collections to copy (default: all collections of the files)",
    )
    parser.add_argument(
        "--from",
        dest="origin",
        metavar="FILES",
        help="files or folder (default: the site's folder, else fixtures)",
    )
    parser.add_argument("--remove", action="store_true", help="remove documents that the files do not have")
    parser.add_argument("--dry-run", action="store_true", help="print the changes without writing them")
    add_options(parser, "--config-file")


DECLARATIONS: Final[Mapping[str, Callable[[ArgumentParser], None]]] = {
    "pull": _pull,
    "push": _push,
}
"""For each command, the function that adds its description, examples and options to its parser."""
