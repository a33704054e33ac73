"""``mongo-tables pull``: copy result documents from a results source into fixture files."""

from __future__ import annotations

from argparse import ArgumentParser

from mongo_tables.commands.options import SOURCES, add_options

DESCRIPTION = (
    "Copies collections from a results source into a fixture folder, always in the same order and notation, and lists\n"
    "the documents that were added, changed and removed."
)
EPILOG = (
    f"SOURCE:\n{SOURCES}\n\n"
    "examples:\n"
    "  mongo-tables pull mongodb://HOST/DATABASE             collections that pages read, into fixtures/\n"
    "  mongo-tables pull v1:fixtures results --as v1         results as they were at the tag v1\n\n"
    "exit status: 0 copied, or nothing to change, 2 wrong usage or nothing to work with"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the source, the collections, the target, and the pages whose collections are copied."""
    parser.add_argument("source", metavar="SOURCE", help="the source of the documents, see below")
    parser.add_argument(
        "collections", nargs="*", metavar="COLLECTION", help="default: the collections that the pages read"
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
