"""``mongo-tables pull``: copy result documents from a results source into fixture files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from mongo_tables.commands.options import SOURCES, add_options, build_pages
from mongo_tables.findings.usage import CommandError

DESCRIPTION = (
    "Copies collections from a results source into a fixture folder, in an order and notation that do not\n"
    "change from run to run, and lists the documents that were added, changed and removed."
)
EPILOG = (
    f"SOURCE:\n{SOURCES}\n\n"
    "examples:\n"
    "  mongo-tables pull mongodb://HOST/DATABASE             what the pages read, into fixtures/\n"
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


def run(arguments: Namespace) -> int:
    """Copy the documents, and print a line for each changed file. Return 0, even without changes."""
    from mongo_tables.commands.file_changes import find_fixture_folder, print_report
    from mongo_tables.results.history import on_disk
    from mongo_tables.results.opening import open_source
    from mongo_tables.results.pull import PULL_LIMITS, pull

    if arguments.name and len(arguments.collections) != 1:
        raise CommandError("--as is for one collection", "name it behind the source")
    names = arguments.collections or _list_collections(arguments)
    if not names:
        raise CommandError("no page reads a collection", "name the collections, or the pages with --docs")
    with on_disk(arguments.source) as where:
        report = pull(
            open_source(where, PULL_LIMITS._replace(files=arguments.limits.files)),
            Path(arguments.to or find_fixture_folder(arguments.site)),
            {name: arguments.name or name for name in names},
            dry_run=arguments.dry_run,
        )
    print_report(report, dry_run=arguments.dry_run)
    return 0


def _list_collections(arguments: Namespace) -> list[str]:
    """Return the collections that pages read."""
    from mongo_tables.results.answers import Answers
    from mongo_tables.site.disk import page_folders

    paths = arguments.docs or page_folders(arguments.site)
    reports = build_pages(paths, arguments, Answers(arguments.source), "nothing")
    pages = [page for report in reports for page in report.pages]
    return sorted({spec.query.collection for page in pages for spec in page.pipeline_specs})
