"""The fixtures as a mongomock database, with our aggregation in place of mongomock's.

For many operators mongomock's result differs from a server's, so ``aggregate`` does not use it. Documents enter its
store, which is slow for thousands of them, only when something other than ``aggregate`` reads them.
"""

# mongomock is only partly typed.
# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import mongomock
from mongomock.collection import Collection as MockCollection
from mongomock.command_cursor import CommandCursor
from mongomock.database import Database
from mongomock.store import CollectionStore, ServerStore
from pymongo.errors import OperationFailure

from mongo_tables.aggregation import AggregationError, NotOffline, check
from mongo_tables.aggregation.errors import format_path
from mongo_tables.results.collection import Collection
from mongo_tables.results.file_source import FileSource
from mongo_tables.results.model import Query, ResultsError

NAME: Final = "performance"
"""The name of the database in its client."""


class LazyStore(CollectionStore):
    """The documents of a collection, loaded on first access."""

    def __init__(self, name: str, fill: Callable[[], OrderedDict[Any, Any]]) -> None:
        super().__init__(name)  # it sets its documents, of which there are none
        self._fill: Callable[[], OrderedDict[Any, Any]] | None = fill

    @property
    def _documents(self) -> OrderedDict[Any, Any]:
        if self._fill is not None:
            self._held, self._fill = self._fill(), None
        return self._held

    @_documents.setter
    def _documents(self, documents: OrderedDict[Any, Any]) -> None:
        self._fill = None  # replaced as a whole (`drop`): no documents are loaded any more
        self._held = documents

    @property
    def is_untouched(self) -> bool:
        """Whether the documents are still those of the fixture, with no access so far."""
        return self._fill is not None

    @property
    def is_created(self) -> bool:
        """Whether the database lists the collection."""
        return self.is_untouched or bool(super().is_created)


class FixtureDatabase(Database):
    """A mongomock database whose collections are those of a fixture folder."""

    def __init__(self, source: FileSource) -> None:
        servers = ServerStore()
        super().__init__(mongomock.MongoClient(_store=servers), NAME, _store=servers[NAME])
        # `database.client[NAME]` is this database, not a plain one.
        self._client._database_accesses[NAME] = self
        self.source = source
        self.written = _WrittenFiles(source, self)
        for name in source.collections():
            self._store._collections[name] = LazyStore(name, partial(self._fill, name))

    def get_collection(self, name: str, *args: Any, **options: Any) -> FixtureCollection:
        """Return the collection of that name. Its ``aggregate`` is ours.

        Raises ``ResultsError`` for fixture files with faults here, at the line that names the collection, and not from
        within mongomock.
        """
        self.source.read_collection(name)
        return as_fixture(super().get_collection(name, *args, **options))

    def find_written(self, name: str) -> list[dict[str, Any]] | None:
        """Return the documents in the mongomock database, or None while they cannot differ from the fixture's."""
        store = self._store._collections.get(name)
        if store is None or getattr(store, "is_untouched", False):
            return None
        return list(self[name].find())

    def _fill(self, name: str) -> OrderedDict[Any, Any]:
        """Return the documents as mongomock stores them, from a separate store, because ours is locked."""
        scratch: Any = mongomock.MongoClient()[self.name][name]
        documents = self.source.read_collection(name).documents
        if documents:
            scratch.insert_many(documents)
        held: OrderedDict[Any, Any] = scratch._store._documents
        return held


class _WrittenFiles(FileSource):
    """A results source with what was written to a database in place of what its files have."""

    def __init__(self, source: FileSource, database: FixtureDatabase) -> None:
        vars(self).update(vars(source))
        self._database = database

    def reach(self) -> None:
        """Return: a database may be empty."""

    def read_collection(self, collection: str) -> Collection:
        """Return the collection as the database has it or, while they cannot differ, as its files have it."""
        written = self._database.find_written(collection)
        return super().read_collection(collection) if written is None else Collection(collection, written)


class FixtureCollection(MockCollection):
    """A mongomock collection that leaves ``aggregate`` to our evaluator."""

    def with_options(self, *args: Any, **options: Any) -> FixtureCollection:
        """Return the same collection, read or written with other options, as in pymongo."""
        return as_fixture(super().with_options(*args, **options))

    def aggregate(
        self, pipeline: Sequence[Mapping[str, Any]], session: Any = None, let: Any = None, **unused: Any
    ) -> CommandCursor:
        """Return a cursor over the pipeline's result, including what was written to this database.

        Raises ``OperationFailure``, as PyMongo does, if a server refuses or fails; ``ResultsError`` for what files
        cannot answer, such as a collation, and what no results source runs (``$out``, JavaScript).
        """
        if unused.get("collation"):
            raise ResultsError(
                "files are not compared by a collation", hint="it runs on a MongoDB server only"
            )
        query = Query(self.name, tuple(pipeline), let or {})
        try:
            return CommandCursor(self.database.written.aggregate(query))
        except ResultsError as error:
            raise _as_of_a_server(error, query) from None


def as_fixture(made: MockCollection) -> FixtureCollection:
    """Return a collection that mongomock has made as one of ours: the class is all that differs."""
    made.__class__ = FixtureCollection
    assert isinstance(made, FixtureCollection)
    return made


def _as_of_a_server(error: ResultsError, query: Query) -> Exception:
    """Return the error that a driver would raise, if a server refuses, too. Place and hint are notes below it."""
    raised: Exception = error
    cause = error.__cause__
    if isinstance(cause, AggregationError) and not isinstance(cause, NotOffline):
        raised = OperationFailure(cause.message, cause.code)
    else:
        try:  # A server may refuse, too, such as a stage that does not exist.
            check(query.pipeline, variables=query.let)
        except AggregationError as refusal:
            if not isinstance(refusal, NotOffline):
                raised = OperationFailure(refusal.message, refusal.code)
    for note in (f"at {format_path(error.path)}" if error.path else "", error.hint):
        if note:
            raised.add_note(note)
    return raised
