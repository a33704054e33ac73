"""``mongo-tables pull``: copy result documents from a results source into fixture files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mongo_tables.commands.options import SOURCES, add_limit, add_pipelines, request_of
from mongo_tables.findings.finding import did_you_mean
from mongo_tables.findings.reporters import escape_control_chars
from mongo_tables.findings.usage import CommandError

if TYPE_CHECKING:
    from mongo_tables.directives.pipelines import Stage
    from mongo_tables.directives.specs import PipelineSpec, Spec
    from mongo_tables.results.pull import Copied
    from mongo_tables.results.read_paths import Reader

DESCRIPTION = (
    "Copies collections from a results source into a fixture folder, in an order and notation that do not\n"
    "change from run to run, and lists the documents that were added, changed and removed. With a pipeline, the\n"
    "documents pass through it first: thus the rows of an earlier revision, or of another machine, become a\n"
    "separate collection, which pages can compare with today's."
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
    """Add the source, the collections, the target, and the pages that determine what is needed."""
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
    parser.add_argument("--dry-run", action="store_true", help="print the changes without writing them")
    add_limit(parser)


def run(arguments: Namespace) -> int:
    """Copy, and print a line for each changed file. Return 0, also if nothing changed."""
    from mongo_tables.commands.file_changes import find_fixture_folder, print_report
    from mongo_tables.results.history import on_disk
    from mongo_tables.results.pull import PULL_LIMITS, pull
    from mongo_tables.results.read_paths import trees_by_collection

    readers = _find_readers(arguments)
    copied = _select_collections(arguments, readers)
    trees, reasons = trees_by_collection(readers) if arguments.prune else ({}, [])
    with on_disk(arguments.source) as where, _naming_stages(arguments.pipeline):
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


def _select_collections(arguments: Namespace, readers: Sequence[Reader]) -> list[Copied]:
    """Return the collections to copy: the named ones, else those that pages read."""
    from mongo_tables.results.history import is_revision, last_change
    from mongo_tables.results.pull import Copied

    option = "--pipeline" if arguments.pipeline else "--as" if arguments.name else ""
    if option and len(arguments.collections) != 1:
        raise CommandError(f"{option} is for one collection", "name it behind the source")
    names = arguments.collections or sorted({reader.query.collection for reader in readers})
    if not names:
        raise CommandError("no page reads a collection", "name the collections, or the pages with --docs")
    if not arguments.pipeline:
        return [Copied(name, arguments.name or "") for name in names]
    stages = _read_stages(arguments.pipeline, arguments.pipelines)
    revision = last_change(arguments.source) if is_revision(arguments.source) else None
    return [Copied(names[0], arguments.name or "", stages, {"revision": revision})]


def _read_stages(name: str, folder: str) -> tuple[Stage, ...]:
    """Read the stages of a shared pipeline. Raises CommandError with all its faults."""
    from mongo_tables.directives.pipelines import SharedPipelines

    shared = SharedPipelines(Path(folder))(name)
    if shared is None or shared.file is None:
        known = shared.known if shared else ()
        message = f"--pipeline {name}: {folder} has no such shared pipeline"
        raise CommandError(message, did_you_mean(name, known) or f"there are {', '.join(known) or 'none'}")
    faults = [one for one in shared.findings if one.severity == "error"]
    if faults:
        lines = [f"{one.file}:{one.line}:{one.column}: {one.rule} {one.message}" for one in faults]
        raise CommandError("\n".join(lines), faults[0].hint)
    return shared.stages


@contextmanager
def _naming_stages(pipeline: str | None) -> Iterator[None]:
    """Name the stage in an error message."""
    from mongo_tables.results.model import ResultsError

    try:
        yield
    except ResultsError as error:
        if not pipeline or not error.path:
            raise
        # A pipeline's path begins with the number of a stage, from 0.
        place = " → ".join((f"stage {int(error.path[0]) + 1}", *map(str, error.path[1:])))
        raise CommandError(f"--pipeline {pipeline}, {place}: {error.message}", error.hint) from None


# -- what pages read --


def _find_readers(arguments: Namespace) -> list[Reader]:
    """Return the queries of the pages. Pages are not needed if the collections are named and everything is copied."""
    if arguments.collections and not arguments.prune:
        return []
    from mongo_tables.results.read_paths import Reader
    from mongo_tables.site.disk import read_snapshots, require_pages
    from mongo_tables.site.site import parse_site
    from mongo_tables.site.site_pages import page_folders

    paths = arguments.docs or page_folders(arguments.site)
    read = require_pages(read_snapshots(paths, request_of(arguments), "nothing"))
    pages = [page for snapshot in read.snapshots for page in parse_site(snapshot).pages]
    faulty = [page.file for page in pages if any(one.severity == "error" for one in page.findings)]
    if faulty and arguments.prune:
        raise CommandError(
            f"{faulty[0]} has errors, so what it reads cannot be known",
            f"correct the findings of `mongo-tables check {faulty[0]}`, or leave out --prune",
        )
    specs = [spec for page in pages for spec in page.specs if spec is not None]
    asking = [spec for page in pages for spec in page.pipeline_specs]
    # A site also shows facts about the documents behind each figure.
    behind = [
        Reader(spec.source_query, (), place=f"{spec.file}:{spec.locate(('pipeline',))[0]}") for spec in asking
    ]
    return [*(_reader_of_rows(spec, specs) for spec in asking), *behind]


def _reader_of_rows(spec: PipelineSpec, specs: Sequence[Spec]) -> Reader:
    """Return the query of a table or a chart with everything that a page uses of its rows."""
    from mongo_tables.directives.specs import TableSpec
    from mongo_tables.render.charts.plot import plot_of
    from mongo_tables.render.comparison import list_compared_columns
    from mongo_tables.results.read_paths import Reader

    columns = [column for _, column in spec.shown_columns]
    if plot := plot_of(spec):
        columns += [*plot.naming_columns, *plot.y]
    if isinstance(spec, TableSpec) and spec.baseline:
        row = spec.baseline["row"]
        columns += [*list_compared_columns(spec), *(row if isinstance(row, Mapping) else ())]
    filters: list[Mapping[str, Any]] = []
    for one in (quote for other in specs for quote in other.quotes):
        if one.table == spec.id:
            filters += one.queries.values()
            columns += one.quoted_columns
    line, _ = spec.locate(("pipeline",))
    return Reader(spec.query, tuple(columns), tuple(filters), f"{spec.file}:{line}")
