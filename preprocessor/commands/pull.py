"""``mongo-tables pull``: result documents from a results source into fixture files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preprocessor.findings.reporters import escape_control_chars
from preprocessor.findings.usage import UsageError
from preprocessor.pages.files import read_pages, shared_pipelines
from preprocessor.pages.siteconfig import Site, results_of
from preprocessor.pages.sitepages import page_folders
from preprocessor.render.chartdata import plot_of
from preprocessor.render.comparison import compared_columns
from preprocessor.results.model import ResultsError
from preprocessor.results.opening import is_fixture_folder
from preprocessor.results.readpaths import Reader, trees_by_collection
from preprocessor.schemas.validation import did_you_mean
from preprocessor.specs.model import QuotingSpec, TableSpec

if TYPE_CHECKING:
    from preprocessor.results.pull import Copied, FileChange
    from preprocessor.specs.model import PipelineSpec, Spec
    from preprocessor.specs.sharedpipelines import Stage


def run(arguments: Namespace) -> int:
    """Copies, and prints a line for each file that changed. 0 also when nothing did."""
    from preprocessor.results.pull import PULL_LIMITS, pull
    from preprocessor.results.revisions import on_disk

    readers = _readers(arguments)
    copied = _copied(arguments, readers)
    trees, reasons = trees_by_collection(readers) if arguments.prune else ({}, [])
    with on_disk(arguments.source) as where, _naming(arguments.pipeline):
        report = pull(
            where,
            Path(arguments.to or _fixtures_of(arguments.site)),
            copied,
            trees,
            dry_run=arguments.dry_run,
            limits=replace(PULL_LIMITS, files=arguments.limits.files),
        )
    for reason in reasons:
        print(escape_control_chars(f"kept whole: {reason}"))
    for file in report.files:
        if file.kept:
            print(_kept(file))
    changed = [_described(file) for file in report.files if file.is_change]
    verb = "would change" if arguments.dry_run else "changed"
    print("\n".join(changed) if changed else "nothing changed")
    print(f"{len(changed)} of {len(report.files)} files {verb}")
    return 0


def _fixtures_of(site: Site) -> str:
    """The folder that the site takes its rows from; where that is something else, the usual one."""
    where = results_of(site)
    return where if is_fixture_folder(where) else "fixtures"


def _copied(arguments: Namespace, readers: Sequence[Reader]) -> list[Copied]:
    """The collections to copy: those that are named, else those that pages read."""
    from preprocessor.results.pull import Copied

    option = "--pipeline" if arguments.pipeline else "--as" if arguments.name else ""
    if option and len(arguments.collections) != 1:
        raise UsageError(f"{option} is for one collection", "name it behind the source")
    names = arguments.collections or sorted({reader.query.collection for reader in readers})
    if not names:
        raise UsageError("no page reads a collection", "name the collections, or the pages with --docs")
    if not arguments.pipeline:
        return [Copied(name, arguments.name or "") for name in names]
    stages = _stages(arguments.pipeline, arguments.pipelines)
    return [Copied(names[0], arguments.name or "", stages, {"revision": _revision(arguments.source)})]


def _stages(name: str, folder: str) -> tuple[Stage, ...]:
    """The stages of a shared pipeline. Raises Unusable with all its faults."""
    shared = shared_pipelines(folder)(name)
    if shared is None or shared.file is None:
        known = shared.known if shared else ()
        message = f"--pipeline {name}: there is no such shared pipeline in {folder}"
        raise UsageError(message, did_you_mean(name, known) or f"there are {', '.join(known) or 'none'}")
    faults = [one for one in shared.findings if one.severity == "error"]
    if faults:
        told = [f"{one.file}:{one.line}:{one.column}: {one.rule} {one.message}" for one in faults]
        raise UsageError("\n".join(told), faults[0].hint)
    return shared.stages


def _revision(where: str) -> str | None:
    """What ``$$revision`` is: None for a source that has no revisions."""
    from preprocessor.results.revisions import is_revision, last_change

    return last_change(where) if is_revision(where) else None


@contextmanager
def _naming(pipeline: str | None) -> Iterator[None]:
    """Says of a complaint about a stage which stage it is."""
    try:
        yield
    except ResultsError as error:
        if not pipeline or not error.path:
            raise
        # A pipeline's path begins with the number of a stage, from 0.
        place = " → ".join((f"stage {int(error.path[0]) + 1}", *map(str, error.path[1:])))
        raise UsageError(f"--pipeline {pipeline}, {place}: {error.message}", error.hint) from None


def _readers(arguments: Namespace) -> list[Reader]:
    """What the pages ask; pages are not needed when the collections are named and everything is kept."""
    if arguments.collections and not arguments.prune:
        return []
    pages = read_pages(arguments.docs or page_folders(arguments.site), arguments.pipelines)
    faulty = [page.file for page in pages if any(one.severity == "error" for one in page.findings)]
    if faulty and arguments.prune:
        raise UsageError(
            f"{faulty[0]} has errors, so what it reads cannot be known",
            f"mend what `mongo-tables check {faulty[0]}` lists, or leave out --prune",
        )
    specs = [spec for page in pages for spec in page.specs if spec is not None]
    asking = [spec for page in pages for spec in page.asking]
    return [*(_reader(spec, specs) for spec in asking), *map(_source_reader, asking)]


def _source_reader(spec: PipelineSpec) -> Reader:
    """What a site tells under the figure about the documents behind it."""
    return Reader(spec.source_query, (), place=f"{spec.file}:{spec.locate(('pipeline',))[0]}")


def _reader(spec: PipelineSpec, specs: Sequence[Spec]) -> Reader:
    """The query of a table or a chart with everything that the page, or prose about it, takes of its rows."""
    columns = [column for _, column in spec.shown_columns] + _compared(spec)
    filters: list[Mapping[str, Any]] = []
    for other in specs:
        if isinstance(other, QuotingSpec) and other.table == spec.id:
            filters += other.queries.values()
            columns += other.quoted_columns
    line, _ = spec.locate(("pipeline",))
    return Reader(spec.query, tuple(columns), tuple(filters), f"{spec.file}:{line}")


def _compared(spec: PipelineSpec) -> list[str]:
    """The columns that a table's own chart, or its comparison with a row, takes."""
    plot = plot_of(spec)
    columns = [plot.x, *plot.y, *([plot.series] if plot.series else [])] if plot else []
    if isinstance(spec, TableSpec) and spec.baseline:
        row = spec.baseline["row"]
        columns += [*compared_columns(spec), *(row if isinstance(row, Mapping) else ())]
    return columns


def _kept(file: FileChange) -> str:
    documents = f"{file.documents} document{'' if file.documents == 1 else 's'}"
    what = f"{documents} that the source does not have; delete the file if nobody needs it"
    return f"kept {escape_control_chars(str(file.path))}: {what}"


def _described(file: FileChange) -> str:
    documents = f"{file.documents} document{'' if file.documents == 1 else 's'}"
    if file.renamed_from:
        documents = f"renamed from {escape_control_chars(file.renamed_from)}, {documents}"
    if file.rewritten:
        return f"{escape_control_chars(str(file.path))}: {documents}, the same in another order or notation"
    counts = f"{documents}, {file.added} new, {file.changed} changed, {file.removed} gone"
    return f"{escape_control_chars(str(file.path))}: {counts}"
