"""The context of the edited text in a project: its documents, its tables with their rows, its shared pipelines.

Requests may come while a check runs, and change nothing that a check sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation import aggregate
from mongo_tables.commands.explain.lineage import Lineage, trace
from mongo_tables.directives.row_paths import find_rows, rows_stages
from mongo_tables.directives.specs import PipelineSpec, Spec, TableSpec, ValueSpec
from mongo_tables.files.memo import Memo
from mongo_tables.findings.reporters import format_count
from mongo_tables.findings.usage import CommandError
from mongo_tables.jsontext.reader import parse
from mongo_tables.lint.shape.document_shapes import learnt, select_telling
from mongo_tables.lint.shape.values import Shape, unknown_documents
from mongo_tables.render.column import column_value
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.provenance import is_result
from mongo_tables.site.statements import value_text

if TYPE_CHECKING:
    from mongo_tables.lsp.project import Project
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.model import Rows


Stage = Mapping[str, Any]
Plain = str | int | float
"""A value that a suggestion can name."""
_RUNS: Final = 100
"""The number of runs of a pipeline for one hover."""
_KEPT: Final = 16
"""The number of document selections whose shapes are cached."""


class Knowledge:
    """The context of a project. Only documents on this machine are inspected."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._shapes = Memo(_KEPT)

    def _select(self, collection: str, pipeline: Sequence[Stage]) -> Sequence[Mapping[str, Any]]:
        local = None if self._project.static else self._project.answers.local
        if local is None:
            return ()
        try:
            return local.candidates(Query(collection, tuple(pipeline[:1])))
        except ResultsError:
            return ()

    def shape(self, collection: str, pipeline: Sequence[Stage]) -> Shape:
        """Return the shape of the documents of a collection that the first stage of a pipeline may keep."""
        answers = self._project.answers
        unread = self._project.static or answers.local is None
        digest = None if unread else answers.source.digest(collection)
        key = digest, collection, repr(next(iter(pipeline), {}).get("$match"))
        return self._shapes.get(key, lambda: _learn(self._select(collection, pipeline)))

    def entry_shape(self, collection: str, rows: str) -> Shape:
        """Return the shape of the entries of the lists and maps that ``rows`` names in the first documents."""
        documents = list(map(dict, islice(self._select(collection, ()), _EXAMINED)))
        entries = aggregate(documents, rows_stages(rows)) if rows_stages(rows) else []
        return _learn(entries)

    def row_paths(self, collection: str) -> Sequence[str]:
        """Return the values of ``rows`` for the lists and maps in the first document of a collection."""
        return find_rows(next(iter(self._select(collection, ())), {}))

    def shared(self, name: str) -> Sequence[Stage]:
        """Return the stages of a shared list, or none if it does not exist."""
        return self._project.shared(name).stages

    def meanings(self, name: str) -> Mapping[str, str]:
        """Return the meanings of the fields that a shared list creates, by name."""
        return self._project.shared(name).fields

    def shared_names(self) -> Mapping[str, str]:
        """Return the names of shared lists, each with its description."""
        found = {}
        for name in self._project.list_names:
            written = parse(self._project.list_text(name)).value
            told = written.get("description") if isinstance(written, dict) else ""
            found[name] = told if isinstance(told, str) else ""
        return found

    def collections(self) -> Mapping[str, str]:
        """Return the collections of the results source, each with its number of documents, or that it is unreadable.

        A name without any readable file, such as a folder of folders, is not offered as a collection.
        """
        local = None if self._project.static else self._project.answers.local
        names = self._project.answers.collections if local else ()
        return {name: told for name in names if local and (told := _tell_size(name, local))}

    def tables(self) -> Mapping[str, str]:
        """Return the ids of tables of all pages, each with its title and page."""
        return {
            name: f"{spec.title} ({spec.file})" if spec.title else spec.file
            for name, spec in sorted(self._project.report.tables.items())
        }

    def columns(self, table: str) -> Mapping[str, str]:
        """Return the columns of a table, each with its header, and the other fields of its rows."""
        spec = self._project.report.tables.get(table)
        if spec is None:
            return {}
        headers = dict(zip(spec.columns, spec.headers, strict=False))
        return headers | {
            name: "not shown" for row in self.rows(table) for name in row if name not in headers
        }

    def rows(self, table: str) -> Rows:
        """Return the rows of a table, or none if it did not run, or failed."""
        spec = self._project.report.tables.get(table)
        answer = self._project.answers.by_key.get(spec.query.key) if isinstance(spec, TableSpec) else None
        return answer if isinstance(answer, list) else []

    def has_results(self, collection: str) -> bool:
        """Return whether all documents of a collection are benchmark results."""
        documents = self._select(collection, ())
        return bool(documents) and all(map(is_result, documents))

    def value_text(self, value: Any) -> str:
        """Return the text that the comment of a value with this JSON writes into its sentence, or "" otherwise."""
        report, spec = self._project.report, self._spec_of(value)
        if not isinstance(spec, ValueSpec) or spec.table not in report.tables:
            return ""
        return value_text(spec, report.tables, report.answers)

    def lineage(self, value: Any, column: str) -> Lineage | None:
        """Return what the first cell in a column of the comment with this JSON comes from; None if it is not known."""
        spec, source = self._spec_of(value), self._project.answers.source
        if not isinstance(spec, PipelineSpec) or self._project.static or source.local is None:
            return None
        try:
            return trace(spec, source, "1", column, _RUNS)
        except (CommandError, ResultsError):
            return None

    def _spec_of(self, value: Any) -> Spec | None:
        """Return the spec of the first comment with this JSON, as it was checked last."""
        specs = (spec for page in self._project.report.site.judged for spec in page.specs)
        return next((spec for spec in specs if spec and spec.comment.parsed.value == value), None)


def _tell_size(collection: str, local: FileSource) -> str:
    """Return the number of documents of a collection, in words, or "" without a readable file."""
    try:
        return format_count(len(local.documents(collection)), "document")
    except ResultsError:
        try:
            return "cannot be read" if local.files(collection) else ""
        except ResultsError:
            return ""


_EXAMINED: Final = 20
"""The most documents whose lists and maps are examined."""


def _learn(documents: Sequence[Mapping[str, Any]]) -> Shape:
    return learnt(select_telling(map(dict, documents))) if documents else unknown_documents()


def order_values(values: Iterable[Plain]) -> list[Plain]:
    """Return the values in order: numbers, then texts."""
    return sorted(values, key=lambda value: (isinstance(value, str), value))


def values_of_column(rows: Sequence[Mapping[str, Any]], column: str) -> frozenset[Plain]:
    """Return the texts and numbers in a column of rows."""
    values = (column_value(row, column) for row in rows)
    return frozenset(value for value in values if isinstance(value, (str, int, float)))
