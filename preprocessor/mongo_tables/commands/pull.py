"""``mongo-tables pull``: copy result documents from a results source into fixture files."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from mongo_tables.commands.file_changes import find_fixture_folder, print_report
from mongo_tables.commands.pages import build_pages
from mongo_tables.findings.usage import CommandError
from mongo_tables.results.answers import Answers
from mongo_tables.results.opening import open_source
from mongo_tables.results.pull import PULL_LIMITS, pull
from mongo_tables.results.revisions import on_disk
from mongo_tables.site.disk import page_folders


def run(arguments: Namespace) -> int:
    """Copy the documents, and print a line for each changed file. Return 0, even without changes."""
    if arguments.name and len(arguments.collections) != 1:
        raise CommandError("--as needs exactly one collection", "name it after the source")
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
    paths = arguments.docs or page_folders(arguments.site)
    reports = build_pages(paths, arguments, Answers(arguments.source), "nothing")
    pages = [page for report in reports for page in report.pages]
    return sorted({spec.query.collection for page in pages for spec in page.pipeline_specs})
