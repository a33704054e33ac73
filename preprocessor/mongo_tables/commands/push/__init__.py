"""``mongo-tables push``: copy fixture files into a results database."""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import add_options

DESCRIPTION = (
    "Copies collections from a fixture folder, or from plain files, into a results database: the reverse of `pull`.\n"
    "Writes only documents that differ, so a second push writes nothing."
)
EPILOG = """\
push writes only to a database that a push created, or that has the marker of push. For another database, it prints how
its owner adds the marker. Documents that the files lack are not removed, unless with --remove.

examples:
  mongo-tables push mongodb://HOST/DATABASE                every collection of the site's files
  mongo-tables push mongodb://HOST/DATABASE results        one collection
  mongo-tables push mongodb://HOST/DATABASE --from bench.json
  mongo-tables push mongodb://HOST/DATABASE --remove       also remove documents that the files lack

exit status: 0 copied, or nothing to change, 2 wrong usage or nothing to work with
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the database, the collections, and the source."""
    parser.add_argument(
        "target", metavar="URI", help="mongodb://HOST/DATABASE, with a user who may write there"
    )
    parser.add_argument(
        "collections", nargs="*", metavar="COLLECTION", help="default: all collections of the files"
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
