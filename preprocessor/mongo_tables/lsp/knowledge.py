"""What a project knows beside the text that is edited: its documents, its tables with their rows, its shared pipelines.

It is asked while a check may be at work, and changes nothing that a check sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.aggregation.values import type_name
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
"""A value that can be named."""
_KEPT: Final = 16
"""So many selections of documents are remembered."""


class Knowledge:
    """What a project knows. Documents are looked at where they are on this machine, and nowhere else."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._observed: dict[tuple[str | None, str, str], Observed] = {}
        self._lock = Lock()

    def observed(self, collection: str, pipeline: Sequence[Stage]) -> Observed:
        """The documents of a collection that the first stage of a pipeline may keep."""
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
        """Whether another selection of documents would take the place of one that is known."""
        return len(self._observed) >= _KEPT

    def has_seen(self, collection: str, pipeline: Sequence[Stage]) -> bool:
        """Whether the documents that the first stage of a pipeline may keep were looked at."""
        return self._key_of(collection, pipeline) in self._observed

    def _key_of(self, collection: str, pipeline: Sequence[Stage]) -> tuple[str | None, str, str]:
        """What tells a selection of documents from others."""
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
        """What the documents of a collection look like that the first stage of a pipeline may keep."""
        found = self.observed(collection, pipeline)
        return found.shape if found.present else unknown_documents()

    def shared(self, name: str) -> Sequence[Stage]:
        """The stages of a shared list; none where there is no such list."""
        return self._project.shared(name).stages

    def meanings(self, name: str) -> Mapping[str, str]:
        """What a shared list says of the fields that its stages make, by their names."""
        return self._project.shared(name).fields

    def shared_names(self) -> Mapping[str, str]:
        """The names of shared lists, each with what it says of itself."""
        found = {}
        for name in self._project.list_names:
            written = parse(self._project.list_text(name)).value
            told = written.get("description") if isinstance(written, dict) else ""
            found[name] = told if isinstance(told, str) else ""
        return found

    def collections(self) -> Mapping[str, str]:
        """The collections of the results source, each with how many documents it has, or that it cannot be read.

        A name without any file to read, such as a folder of folders, is no collection to an author.
        """
        local = None if self._project.static else self._project.answers.local
        names = self._project.answers.collections if local else ()
        return {name: told for name in names if local and (told := _tell_size(name, local))}

    def tables(self) -> Mapping[str, str]:
        """The ids of tables of all pages, each with its title and page."""
        return {
            name: f"{spec.title} ({spec.file})" if spec.title else spec.file
            for name, spec in sorted(self._project.report.tables.items())
        }

    def columns(self, table: str) -> Mapping[str, str]:
        """The columns of a table, each with its header, and the other fields of its rows."""
        spec = self._project.report.tables.get(table)
        if spec is None:
            return {}
        headers = dict(zip(spec.columns, spec.headers, strict=False))
        return headers | {
            name: "not shown" for row in self.rows(table) for name in row if name not in headers
        }

    def rows(self, table: str) -> Rows:
        """The rows of a table; none where it was not run, or failed."""
        spec = self._project.report.tables.get(table)
        answer = self._project.answers.by_key.get(spec.query.key) if isinstance(spec, TableSpec) else None
        return answer if isinstance(answer, list) else []

    def share(self, collection: str, path: str) -> tuple[int, int]:
        """In how many documents of a collection a field is, and among how many."""
        found = whole = self.observed(collection, ())
        for part in path.split("."):
            if "array" in found.kinds:
                return 0, 0  # Of documents within arrays there may be several in one.
            found = found.member(part)
        return found.present, whole.present

    def has_results(self, collection: str) -> bool:
        """Whether all documents of a collection are benchmark results, as ``results.provenance`` says it."""
        found = self.observed(collection, ())
        named = found.member("_id").member("testname").kinds["string"]
        return found.present == named == found.member("start_time").kinds["date"] > 0

    def value_text(self, value: Any) -> str:
        """What the comment of a value with this JSON writes into its sentence; nothing where it writes nothing."""
        report = self._project.report
        for page in report.site.judged:
            for spec in page.specs:
                if isinstance(spec, ValueSpec) and spec.comment.parsed.value == value:
                    known = spec.table in report.tables
                    return value_text(spec, report.tables, report.answers) if known else ""
        return ""


def _tell_size(collection: str, local: FileSource) -> str:
    """How many documents a collection has; nothing where there is no file that could be read."""
    try:
        return format_count(len(local.documents(collection)), "document")
    except ResultsError:
        try:
            return "cannot be read" if local.files(collection) else ""
        except ResultsError:
            return ""


_SCALARS: Final = frozenset({"string", "int", "long", "double"})
_WIDE: Final = 100
"""Of more fields beside each other the values are not looked at: counters of a server, each another one every time."""
_ELEMENTS: Final = 2_000
"""So many elements of arrays are looked at, at one path."""


class Observed:
    """The values at one path of some documents. ``among`` is how many there could be, ``beside`` how many fields."""

    def __init__(self, values: Sequence[Any], path: str = "", among: int = 0, beside: int = 0) -> None:
        self._values, self.path, self._beside = values, path, beside
        self.among = among or len(values)
        self._children: dict[str, Observed] = {}

    @property
    def present(self) -> int:
        """How many values there are."""
        return len(self._values)

    @cached_property
    def kinds(self) -> Counter[str]:
        """How many values there are of each kind."""
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
        """The names of fields of those that are documents."""
        return list(self._members)

    def begins_with_more(self, amount: int) -> bool:
        """Whether the first of those that are documents has more fields than that."""
        return len(next(self._documents, ())) > amount

    def member(self, name: str) -> Observed:
        """The values of a field of those that are documents."""
        if name not in self._children:
            path = f"{self.path}.{name}" if self.path else name
            beside = max(map(len, self._documents), default=0)
            values = [document[name] for document in self._documents if name in document]
            self._children[name] = Observed(values, path, self.kinds["object"], beside)
        return self._children[name]

    @cached_property
    def elements(self) -> Observed | None:
        """The elements of those that are arrays; None where there are none."""
        found: list[Any] = []
        for value in self._values:
            if isinstance(value, list) and len(found) < _ELEMENTS:
                found += value
        return Observed(found, self.path) if found else None

    @cached_property
    def few(self) -> frozenset[str | int | float] | None:
        """The different values, where all are texts or numbers, and few."""
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
        """What the values look like."""
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
    """The shapes of the fields of documents, each looked up when it is asked for."""

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
    """Whether a document has more fields than that; of those that were not looked into yet the first one says it."""
    fields = shape.fields
    return fields._of.begins_with_more(amount) if isinstance(fields, _Fields) else len(fields) > amount


def order_values(values: Iterable[Plain]) -> list[Plain]:
    """The values in order: numbers, then texts."""
    return sorted(values, key=lambda value: (isinstance(value, str), value))


def values_of_column(rows: Sequence[Mapping[str, Any]], column: str) -> frozenset[Plain]:
    """The texts and numbers that rows have in a column."""
    values = (column_value(row, column) for row in rows)
    return frozenset(value for value in values if isinstance(value, (str, int, float)))
