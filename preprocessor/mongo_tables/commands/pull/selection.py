"""Which documents `pull` copies, and what of them the pages read."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mongo_tables.commands.options import request_of
from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.directives.specs import QuotingSpec, TableSpec
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.findings.usage import UsageError
from mongo_tables.render.charts.plot import plot_of
from mongo_tables.render.comparison import list_compared_columns
from mongo_tables.results.model import ResultsError
from mongo_tables.results.pull import Copied
from mongo_tables.results.readpaths import Reader
from mongo_tables.results.revisions import is_revision, last_change
from mongo_tables.site.disk import read_snapshots, require_pages
from mongo_tables.site.site import parse_site
from mongo_tables.site.site_pages import page_folders

if TYPE_CHECKING:
    from mongo_tables.directives.pipelines import Stage
    from mongo_tables.directives.specs import PipelineSpec, Spec


def select_collections(arguments: Namespace, readers: Sequence[Reader]) -> list[Copied]:
    """The collections to copy: those that are named, else those that pages read."""
    option = "--pipeline" if arguments.pipeline else "--as" if arguments.name else ""
    if option and len(arguments.collections) != 1:
        raise UsageError(f"{option} is for one collection", "name it behind the source")
    names = arguments.collections or sorted({reader.query.collection for reader in readers})
    if not names:
        raise UsageError("no page reads a collection", "name the collections, or the pages with --docs")
    if not arguments.pipeline:
        return [Copied(name, arguments.name or "") for name in names]
    stages = _read_stages(arguments.pipeline, arguments.pipelines)
    return [Copied(names[0], arguments.name or "", stages, {"revision": _find_revision(arguments.source)})]


def _read_stages(name: str, folder: str) -> tuple[Stage, ...]:
    """The stages of a shared pipeline. Raises UsageError with all its faults."""
    shared = SharedPipelines(Path(folder))(name)
    if shared is None or shared.file is None:
        known = shared.known if shared else ()
        message = f"--pipeline {name}: there is no such shared pipeline in {folder}"
        raise UsageError(message, did_you_mean(name, known) or f"there are {', '.join(known) or 'none'}")
    faults = [one for one in shared.findings if one.severity == "error"]
    if faults:
        lines = [f"{one.file}:{one.line}:{one.column}: {one.rule} {one.message}" for one in faults]
        raise UsageError("\n".join(lines), faults[0].hint)
    return shared.stages


def _find_revision(where: str) -> str | None:
    """What ``$$revision`` is: None for a source that has no revisions."""
    return last_change(where) if is_revision(where) else None


@contextmanager
def name_stage(pipeline: str | None) -> Iterator[None]:
    """Says of a complaint about a stage which stage it is."""
    try:
        yield
    except ResultsError as error:
        if not pipeline or not error.path:
            raise
        # A pipeline's path begins with the number of a stage, from 0.
        place = " → ".join((f"stage {int(error.path[0]) + 1}", *map(str, error.path[1:])))
        raise UsageError(f"--pipeline {pipeline}, {place}: {error.message}", error.hint) from None


def find_readers(arguments: Namespace) -> list[Reader]:
    """What the pages ask; pages are not needed when the collections are named and everything is kept."""
    if arguments.collections and not arguments.prune:
        return []
    paths = arguments.docs or page_folders(arguments.site)
    read = require_pages(read_snapshots(paths, request_of(arguments), "nothing"))
    pages = [page for snapshot in read.snapshots for page in parse_site(snapshot).pages]
    faulty = [page.file for page in pages if any(one.severity == "error" for one in page.findings)]
    if faulty and arguments.prune:
        raise UsageError(
            f"{faulty[0]} has errors, so what it reads cannot be known",
            f"mend what `mongo-tables check {faulty[0]}` lists, or leave out --prune",
        )
    specs = [spec for page in pages for spec in page.specs if spec is not None]
    asking = [spec for page in pages for spec in page.pipeline_specs]
    return [*(_reader_of_rows(spec, specs) for spec in asking), *map(_reader_of_source, asking)]


def _reader_of_source(spec: PipelineSpec) -> Reader:
    """What a site tells under the figure about the documents behind it."""
    return Reader(spec.source_query, (), place=f"{spec.file}:{spec.locate(('pipeline',))[0]}")


def _reader_of_rows(spec: PipelineSpec, specs: Sequence[Spec]) -> Reader:
    """The query of a table or a chart with everything that the page, or prose about it, takes of its rows."""
    columns = [column for _, column in spec.shown_columns] + _list_compared_columns(spec)
    filters: list[Mapping[str, Any]] = []
    for other in specs:
        if isinstance(other, QuotingSpec) and other.table == spec.id:
            filters += other.queries.values()
            columns += other.quoted_columns
    line, _ = spec.locate(("pipeline",))
    return Reader(spec.query, tuple(columns), tuple(filters), f"{spec.file}:{line}")


def _list_compared_columns(spec: PipelineSpec) -> list[str]:
    """The columns that a table's own chart, or its comparison with a row, takes."""
    plot = plot_of(spec)
    columns = [*plot.naming_columns, *plot.y] if plot else []
    if isinstance(spec, TableSpec) and spec.baseline:
        row = spec.baseline["row"]
        columns += [*list_compared_columns(spec), *(row if isinstance(row, Mapping) else ())]
    return columns
