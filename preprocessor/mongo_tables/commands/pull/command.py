"""``mongo-tables pull``: result documents from a results source into fixture files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from mongo_tables.commands.fixturechanges import find_fixture_folder, print_report
from mongo_tables.commands.options import SOURCES, add_limit, add_pipelines
from mongo_tables.findings.reporters import escape_control_chars

DESCRIPTION = (
    "Copies collections from a results source into a fixture folder, in an order and notation that do not\n"
    "change from run to run, and says which documents were added, changed and removed. With a pipeline their\n"
    "documents go through it first: so the rows of an earlier revision, or of another machine, become a\n"
    "collection of their own, beside which pages can set today's."
)
EPILOG = (
    f"SOURCE:\n{SOURCES}\n\n"
    "examples:\n"
    "  mongo-tables pull mongodb://HOST/DATABASE             what the pages read, into fixtures/\n"
    "  mongo-tables pull mongodb://HOST/DATABASE --prune     of that, only the fields that they read\n"
    "  mongo-tables pull v1:fixtures results --as v1         results as they were at the tag v1\n"
    "  mongo-tables pull v1:fixtures results --pipeline brief --as v1\n"
    "                                                        what docs/pipelines/brief.json makes of them\n\n"
    "In a pipeline, $$revision is the revision that last changed REVISION:FOLDER; null for other sources.\n\n"
    "exit status: 0 copied, or nothing to change, 2 wrong usage or nothing to work with"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the source, what of it is copied, and where to."""
    parser.add_argument("source", metavar="SOURCE", help="where the documents are, see below")
    parser.add_argument(
        "collections", nargs="*", metavar="COLLECTION", help="default: those that the pages read"
    )
    parser.add_argument("--to", metavar="DIR", help="fixture folder (default: the site's, else fixtures)")
    parser.add_argument(
        "--pipeline", metavar="NAME", help="a shared pipeline that the documents of one collection go through"
    )
    parser.add_argument(
        "--as",
        dest="name",
        metavar="COLLECTION",
        help="what the one collection is called in the fixture folder",
    )
    _add_pages(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would change, write nothing")
    add_limit(parser)


def _add_pages(parser: ArgumentParser) -> None:
    """Add the pages from which it follows what is wanted."""
    parser.add_argument(
        "--docs",
        action="append",
        metavar="PATH",
        help="pages that are looked at (default: the site's, else docs)",
    )
    add_pipelines(parser)
    parser.add_argument(
        "--prune", action="store_true", help="keep only the fields that the pages' pipelines read"
    )


def run(arguments: Namespace) -> int:
    """Copy, and print a line for each file that changed; give 0, also when nothing did."""
    from mongo_tables.commands.pull.selection import find_readers, name_stage, select_collections
    from mongo_tables.results.pull import PULL_LIMITS, pull
    from mongo_tables.results.readpaths import trees_by_collection
    from mongo_tables.results.revisions import on_disk

    readers = find_readers(arguments)
    copied = select_collections(arguments, readers)
    trees, reasons = trees_by_collection(readers) if arguments.prune else ({}, [])
    with on_disk(arguments.source) as where, name_stage(arguments.pipeline):
        report = pull(
            where,
            Path(arguments.to or find_fixture_folder(arguments.site)),
            copied,
            trees,
            dry_run=arguments.dry_run,
            limits=PULL_LIMITS._replace(files=arguments.limits.files),
        )
    for reason in reasons:
        print(escape_control_chars(f"kept whole: {reason}"))
    print_report(report, dry_run=arguments.dry_run)
    return 0
