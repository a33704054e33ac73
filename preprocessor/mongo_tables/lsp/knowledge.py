"""The context of the edited text in a project: its documents, its tables with their rows, its shared pipelines.

Requests may come while a check runs, and change nothing that a check sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation import aggregate
from mongo_tables.aggregation.values import type_name
from mongo_tables.directives.row_paths import find_rows, rows_stages
from mongo_tables.directives.specs import TableSpec, ValueSpec
from mongo_tables.findings.reporters import format_count
from mongo_tables.jsontext.reader import parse
from mongo_tables.lint.shape.document_shapes import FEW
from mongo_tables.lint.shape.units import of_field
from mongo_tables.lint.shape.values import Shape, Traits, unknown_documents
from mongo_tables.render.column import column_value
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.site.statements import value_text

if TYPE_CHECKING:
    from mongo_tables.lsp.project import Project
    from mongo_tables.results.file_source import FileSource
    from mongo_tables.results.model import Rows


Stage = Mapping[str, Any]
Plain = str | int | float
"""A value that a suggestion can name."""
_KEPT: Final = 16
"""The number of document selections that are cached."""


class Knowledge:
    """The context of a project. Only documents on this machine are inspected."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._observed: dict[tuple[str | None, str, str], Observed] = {}
        self._lock = Lock()

    def observed(self, collection: str, pipeline: Sequence[Stage]) -> Observed:
        """Return the documents of a collection that the first stage of a pipeline may keep."""
        key = self._key_of(collection, pipeline)
        with self._lock:
            found = self._observed.get(key)
        if found is None:
            found = Observed(self._select(collection, pipeline))
            with self._lock:
                while len(self._observed) >= _KEPT:
                    del self._observed[next(iter(self._observed))]
                self._observed[key] = found
        return found

    def is_full(self) -> bool:
        """Return whether a new selection of documents would evict a cached one."""
        return len(self._observed) >= _KEPT

    def has_seen(self, collection: str, pipeline: Sequence[Stage]) -> bool:
        """Return whether the documents that the first stage of a pipeline may keep are cached."""
        return self._key_of(collection, pipeline) in self._observed

    def _key_of(self, collection: str, pipeline: Sequence[Stage]) -> tuple[str | None, str, str]:
        """Return the key of a selection of documents."""
        answers = self._project.answers
        known = self._project.static or answers.local is None
        digest = None if known else answers.source.digest(collection)
        return digest, collection, repr(next(iter(pipeline), {}).get("$match"))

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
        found = self.observed(collection, pipeline)
        return found.shape if found.present else unknown_documents()

    def entry_shape(self, collection: str, rows: str) -> Shape:
        """Return the shape of the entries of the lists and maps that ``rows`` names in the first documents."""
        documents = list(map(dict, islice(self._select(collection, ()), _EXAMINED)))
        entries = aggregate(documents, rows_stages(rows)) if rows_stages(rows) else []
        return Observed(entries).shape if entries else unknown_documents()

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

    def share(self, collection: str, path: str) -> tuple[int, int]:
        """Return how many documents of a collection have a field, and how many could have it."""
        found = whole = self.observed(collection, ())
        for part in path.split("."):
            if "array" in found.kinds:
                return 0, 0  # One document may have several documents within arrays.
            found = found.member(part)
        return found.present, whole.present

    def has_results(self, collection: str) -> bool:
        """Return whether all documents of a collection are benchmark results, according to ``results.provenance``."""
        found = self.observed(collection, ())
        named = found.member("_id").member("testname").kinds["string"]
        return found.present == named == found.member("start_time").kinds["date"] > 0

    def value_text(self, value: Any) -> str:
        """Return the text that the comment of a value with this JSON writes into its sentence, or "" otherwise."""
        report = self._project.report
        for page in report.site.judged:
            for spec in page.specs:
                if isinstance(spec, ValueSpec) and spec.comment.parsed.value == value:
                    known = spec.table in report.tables
                    return value_text(spec, report.tables, report.answers) if known else ""
        return ""


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
_SCALARS: Final = frozenset({"string", "int", "long", "double"})
_WIDE: Final = 100
"""The number of fields in an object above which values are not inspected.

Such objects hold counters of a server, which differ in every document.
"""
_ELEMENTS: Final = 2_000
"""The largest number of array elements that are inspected at one path."""


class Observed:
    """The values at one path of some documents.

    ``among`` is how many there could be, ``beside`` the number of fields in the enclosing document.
    """

    def __init__(self, values: Sequence[Any], path: str = "", among: int = 0, beside: int = 0) -> None:
        self._values, self.path, self._beside = values, path, beside
        self.among = among or len(values)
        self._children: dict[str, Observed] = {}

    @property
    def present(self) -> int:
        """The number of values."""
        return len(self._values)

    @cached_property
    def kinds(self) -> Counter[str]:
        """The number of values of each kind."""
        return Counter(map(type_name, self._values))

    @property
    def _documents(self) -> Iterator[Mapping[str, Any]]:
        return (value for value in self._values if isinstance(value, Mapping))

    @cached_property
    def _members(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for document in self._documents:
            for name, value in document.items():
                found.setdefault(name, []).append(value)
        return found

    @property
    def names(self) -> Sequence[str]:
        """The names of the fields of the values that are documents."""
        return list(self._members)

    def begins_with_more(self, amount: int) -> bool:
        """Return whether the first value that is a document has more fields than ``amount``."""
        return len(next(self._documents, ())) > amount

    def member(self, name: str) -> Observed:
        """Return the values of a field, over the values that are documents."""
        if name not in self._children:
            path = f"{self.path}.{name}" if self.path else name
            beside = max(map(len, self._documents), default=0)
            values = [document[name] for document in self._documents if name in document]
            self._children[name] = Observed(values, path, self.kinds["object"], beside)
        return self._children[name]

    @cached_property
    def elements(self) -> Observed | None:
        """The elements of the values that are arrays, or None if there are none."""
        found: list[Any] = []
        for value in self._values:
            if isinstance(value, list) and len(found) < _ELEMENTS:
                found += value
        return Observed(found, self.path) if found else None

    @cached_property
    def few(self) -> frozenset[str | int | float] | None:
        """The distinct values, if all are texts or numbers, and few, or None otherwise."""
        if not self._values or self._beside > _WIDE or not _SCALARS.issuperset(self.kinds):
            return None
        found: set[str | int | float] = set()
        for value in self._values:
            found.add(value)
            if len(found) > FEW:
                return None
        return frozenset(found)

    @cached_property
    def shape(self) -> Shape:
        """The shape of the values."""
        own = Traits(self.path, frozenset({self.path}), self.few, unit=of_field(self.path.rpartition(".")[2]))
        return Shape(
            frozenset(self.kinds),
            self.present < self.among,
            _Fields(self) if self.kinds["object"] else {},
            False,
            self.elements.shape if self.elements else None,
            own,
        )


class _Fields(Mapping[str, Shape]):
    """The shapes of the fields of documents, each computed on demand."""

    __slots__ = ("_of",)

    def __init__(self, of: Observed) -> None:
        self._of = of

    def __getitem__(self, name: str) -> Shape:
        found = self._of.member(name)
        if not found.present:
            raise KeyError(name)
        return found.shape

    def __iter__(self) -> Iterator[str]:
        return iter(self._of.names)

    def __len__(self) -> int:
        return len(self._of.names)


def has_more_fields(shape: Shape, amount: int) -> bool:
    """Return whether a document has more than ``amount`` fields. If not computed yet, the first one decides."""
    fields = shape.fields
    return fields._of.begins_with_more(amount) if isinstance(fields, _Fields) else len(fields) > amount


def order_values(values: Iterable[Plain]) -> list[Plain]:
    """Return the values in order: numbers, then texts."""
    return sorted(values, key=lambda value: (isinstance(value, str), value))


def values_of_column(rows: Sequence[Mapping[str, Any]], column: str) -> frozenset[Plain]:
    """Return the texts and numbers in a column of rows."""
    values = (column_value(row, column) for row in rows)
    return frozenset(value for value in values if isinstance(value, (str, int, float)))
