"""The pages, shared pipelines and results of a folder while its pages are edited, and their findings.

Findings are those of ``mongo-tables check``: both call ``build``, here with the editor's texts in place of saved files.
A memo keeps the results of unchanged comments.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation import aggregate
from mongo_tables.build import build
from mongo_tables.commands.check.pages import raise_if_unusable
from mongo_tables.commands.explain.lineage import Lineage, trace
from mongo_tables.directives.pipelines import SharedPipeline, SharedPipelines, read_shared
from mongo_tables.directives.row_paths import find_rows, rows_stages
from mongo_tables.directives.specs import PipelineSpec, Spec, TableSpec, ValueSpec
from mongo_tables.files.memo import Memo
from mongo_tables.findings.finding import Finding, find_in_lists
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.usage import CommandError
from mongo_tables.jsontext.reader import parse
from mongo_tables.lint.rule_context import leading_match
from mongo_tables.lint.shape.document_shapes import learnt, select_telling
from mongo_tables.lint.shape.values import Shape, unknown_documents
from mongo_tables.render.column import column_value
from mongo_tables.results.answers import Answers
from mongo_tables.results.guards import is_lasting, remember
from mongo_tables.results.model import Query, ResultsError, Rows
from mongo_tables.results.provenance import is_result
from mongo_tables.site.disk import (
    PAGE_SUFFIXES,
    Request,
    Whereabouts,
    page_folders,
    pages_under,
    read_snapshots,
    snapshot_of,
)
from mongo_tables.site.pages import Page, read_page
from mongo_tables.site.settings_files import list_site_files
from mongo_tables.site.site_config import list_places, values_of
from mongo_tables.site.statements import value_text

if TYPE_CHECKING:
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.site.snapshot import Needs

Findings = Mapping[str, Sequence["Finding"]]
"""Findings by file."""


class Project:
    """The pages of a folder, which may be edited. Files are named as by ``check`` in this folder.

    ``static``: no pipeline runs, because the user did not allow access to the database.
    """

    def __init__(self, request: Request, static: bool = False) -> None:
        self.request = request
        self.static = static
        self.answers = Answers(request.results, request.limits, workers=1, server=request.server)
        self.folders = page_folders(request.site)
        self._edited: dict[str, str] = {}
        self._memo = Memo()
        self._files: Sequence[Path] = ()
        self.checked: Mapping[str, str] = {}
        """The texts of the pages that the last check read. The positions of its findings refer to these texts."""
        self.first_glance = self.glance()
        """The result of ``glance`` before the first check."""
        self.look_again()

    def look_again(self) -> None:
        """Read the settings and shared pipelines again, and query the results source again if it has changed."""
        self.where = Whereabouts(self.request.site)
        self.shared = self._read_lists()
        if not self.static:
            self.answers.refresh()
        self.report = build(snapshot_of({}), self.answers)

    def glance(self) -> str:
        """Return a digest of the contents of all files that a check reads."""
        total = sha256()
        folder = Path(self.request.pipelines)
        files = dict.fromkeys(file for each in self.folders for file in pages_under(Path(each)))
        files |= dict.fromkeys([*sorted(folder.glob("*.json")), *self._files])
        files |= dict.fromkeys([*list_site_files(self.request.site.file), *list_places(Path())])
        for file in files:
            with suppress(OSError):
                total.update(
                    f"{file}\0".encode(errors="surrogateescape") + sha256(file.read_bytes()).digest()
                )
        written = "" if self.static else self.answers.writes() or ""
        return f"{total.hexdigest()} {written}"

    def edit(self, file: str, text: str | None) -> None:
        """Use a text in place of a saved file. With None, use the saved file again."""
        if text is None:
            self._edited.pop(file, None)
        else:
            self._edited[file] = text
        if self.is_list(file):
            self.shared = self._read_lists()

    def is_list(self, file: str) -> bool:
        """Return whether a file is a shared pipeline."""
        path = Path(file)
        return path.suffix == ".json" and path.parent == Path(self.request.pipelines)

    def is_ours(self, file: str) -> bool:
        """Return whether a file is a page or a shared pipeline."""
        return self.is_list(file) or Path(file).suffix.lower() in PAGE_SUFFIXES

    def _read_lists(self) -> SharedPipelines:
        edited = {file: text for file, text in self._edited.items() if self.is_list(file)}
        return SharedPipelines(Path(self.request.pipelines), edited, values_of(self.request.site))

    @property
    def lists(self) -> Mapping[str, str]:
        """The texts of shared pipelines by file. Edited texts replace saved ones."""
        files = [file.as_posix() for file in self.shared.files]
        return {file: self.text(file) or "" for file in files}

    @property
    def files(self) -> list[str]:
        """The pages of the site, and all edited pages."""
        saved = (file.as_posix() for folder in self.folders for file in pages_under(Path(folder)))
        edited = (file for file in self._edited if not self.is_list(file))
        return list(dict.fromkeys([*saved, *edited]))

    def text(self, file: str) -> str | None:
        """Return the edited text of a file or, if the file is not edited, the saved text. Return None if there is
        no file.
        """
        if file in self._edited:
            return self._edited[file]
        try:
            return Path(file).read_bytes().decode()
        except (OSError, ValueError):
            return None

    def page(self, file: str) -> Page:
        """Return a parsed page."""
        text = self.text(file) or ""
        key = ("page", file, text, self.shared.digest)
        return remember(self._memo, key, lambda: read_page(text, file, self.shared))

    def check(self, *, with_rows: bool = True) -> Findings:
        """Return all findings by file, or those that need no rows.

        Raises ResultsError if the results source is unusable.
        """
        needs: Needs = "rows" if with_rows and not self.static else "nothing"
        texts = {os.path.abspath(file): text for file, text in self._edited.items()}  # noqa: PTH100
        read = read_snapshots(self.files, replace(self.request, texts=texts), needs)
        reports = [build(snapshot, self.answers, self._memo) for snapshot in read.snapshots]
        for report in reports:
            raise_if_unusable(report)
        self._files = read.files
        self.checked = {one.file: one.text for snapshot in read.snapshots for one in snapshot.pages}
        self.report = reports[0] if reports else self.report
        every = sorted({one for report in reports for one in report.findings})
        found: dict[str, list[Finding]] = {}
        for one in (*every, *find_in_lists(every, Path(self.request.pipelines))):
            found.setdefault(one.file, []).append(one)
        for file, faults in self._judge_unnamed_lists().items():
            found.setdefault(file, list(faults))
        return found

    def _judge_unnamed_lists(self) -> Findings:
        """Return the findings of edited shared pipelines. ``check`` reports these only if a page names the
        pipeline.
        """
        found = {}
        for file, text in self._edited.items():
            if self.is_list(file) and (
                faults := read_shared(text, file, Path(file).stem, self.shared).findings
            ):
                found[file] = faults
        return found


# -- what is known at a place of a text --

Stage = Mapping[str, Any]
Plain = str | int | float
"""A value that a suggestion can name."""
_RUNS: Final = 100
"""The maximum number of times that a pipeline runs for one hover."""
_KEPT: Final = 16
"""The maximum number of cached shapes."""
_EXAMINED: Final = 20
"""The largest number of documents whose lists and maps are examined."""


class Knowledge:
    """The context of an edited text: documents, tables with their rows, and shared pipelines.

    Only documents on this machine are read. The context may be used during a check, and does not affect the check.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._shapes = Memo(_KEPT)

    @property
    def _local(self) -> FileSource | None:
        return None if self._project.static else self._project.answers.local

    def _select(self, collection: str, pipeline: Sequence[Stage]) -> Sequence[Mapping[str, Any]]:
        with suppress(ResultsError):
            if local := self._local:
                return local.candidates(Query(collection, tuple(pipeline[:1])))
        return ()

    def shape(self, collection: str, pipeline: Sequence[Stage]) -> Shape:
        """Return the shape of the documents of a collection that the first ``$match`` of a pipeline selects."""
        query = Query(collection, tuple(leading_match(pipeline)))
        if (local := self._local) is None or not is_lasting(query):
            return _learn(self._select(collection, pipeline))
        key = local.digest(collection), query.key
        return remember(self._shapes, key, lambda: _learn(self._select(collection, pipeline)))

    def entry_shape(self, collection: str, rows: str) -> Shape:
        """Return the shape of the entries of the lists and maps that ``rows`` names in the first documents."""
        documents = list(map(dict, islice(self._select(collection, ()), _EXAMINED)))
        entries = aggregate(documents, rows_stages(rows)) if rows_stages(rows) else []
        return _learn(entries)

    def row_paths(self, collection: str) -> Sequence[str]:
        """Return the values that ``rows`` may have for the lists and maps of a collection's first document."""
        return find_rows(next(iter(self._select(collection, ())), {}))

    def shared(self, name: str) -> SharedPipeline:
        """Return a shared pipeline, which is empty if it does not exist."""
        return self._project.shared(name)

    def shared_names(self) -> Mapping[str, str]:
        """Return the names of shared pipelines with their descriptions."""
        found = {}
        for file, text in self._project.lists.items():
            written = parse(text).value
            told = written.get("description") if isinstance(written, dict) else ""
            found[Path(file).stem] = told if isinstance(told, str) else ""
        return found

    def collections(self) -> Mapping[str, str]:
        """Return the names of the collections with files, each with its number of documents in words."""
        local = self._local
        names = self._project.answers.collections if local else ()
        return {name: told for name in names if local and (told := _tell_size(name, local))}

    def tables(self) -> Mapping[str, str]:
        """Return the ids of the tables of all pages, each with its title and its page in words."""
        return {
            name: f"{spec.title} ({spec.file})" if spec.title else spec.file
            for name, spec in sorted(self._project.report.tables.items())
        }

    def columns(self, table: str) -> Mapping[str, str]:
        """Return the columns of a table with their headers. Other fields of its rows are included as "not shown"."""
        spec = self._project.report.tables.get(table)
        if spec is None:
            return {}
        headers = dict(zip(spec.columns, spec.headers, strict=False))
        return headers | {
            name: "not shown" for row in self.rows(table) for name in row if name not in headers
        }

    def rows(self, table: str) -> Rows:
        """Return the rows of a table, or none if its pipeline did not run or failed."""
        spec = self._project.report.tables.get(table)
        answer = self._project.answers.by_key.get(spec.key) if isinstance(spec, TableSpec) else None
        return answer if isinstance(answer, list) else []

    def has_results(self, collection: str) -> bool:
        """Return whether all documents of a collection are benchmark results."""
        documents = self._select(collection, ())
        return bool(documents) and all(map(is_result, documents))

    def value_text(self, value: Any) -> str:
        """Return the text that the comment of a value with this JSON writes into its sentence, or "" for none."""
        report, spec = self._project.report, self._spec_of(value)
        if not isinstance(spec, ValueSpec) or spec.table not in report.tables:
            return ""
        return value_text(spec, report.tables, report.answers)

    def lineage(self, value: Any, column: str) -> Lineage | None:
        """Return the lineage of the first cell in a column of the comment with this JSON, or None if unknown."""
        spec, local = self._spec_of(value), self._local
        if not isinstance(spec, PipelineSpec) or local is None:
            return None
        try:
            return trace(spec, local, "1", column, _RUNS)
        except (CommandError, ResultsError):
            return None

    def _spec_of(self, value: Any) -> Spec | None:
        """Return the spec of the first comment with this JSON in the last check, or None."""
        specs = (spec for page in self._project.report.site.judged for spec in page.specs)
        return next((spec for spec in specs if spec and spec.comment.parsed.value == value), None)


def _tell_size(collection: str, local: FileSource) -> str:
    """Return the number of documents of a collection in words, or "" if the collection has no files."""
    try:
        return format_count(len(local.documents(collection)), "document")
    except ResultsError:
        try:
            return "cannot be read" if local.files(collection) else ""
        except ResultsError:
            return ""


def _learn(documents: Sequence[Mapping[str, Any]]) -> Shape:
    return learnt(select_telling(map(dict, documents))) if documents else unknown_documents()


def order_values(values: Iterable[Plain]) -> list[Plain]:
    """Return the values in order, numbers before texts."""
    return sorted(values, key=lambda value: (isinstance(value, str), value))


def values_of_column(rows: Sequence[Mapping[str, Any]], column: str) -> frozenset[Plain]:
    """Return the texts and numbers in a column of rows."""
    values = (column_value(row, column) for row in rows)
    return frozenset(value for value in values if isinstance(value, (str, int, float)))
