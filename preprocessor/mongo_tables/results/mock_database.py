"""A folder of fixtures as a mongomock database whose ``aggregate`` is our evaluator.

For many operators the results of mongomock differ from those of a server. Inserting thousands of documents into
mongomock is slow, so it happens only if something other than ``aggregate`` reads them.
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
    """The documents of a collection in mongomock. They are loaded on first access."""

    def __init__(self, name: str, fill: Callable[[], OrderedDict[Any, Any]]) -> None:
        super().__init__(name)  # It sets ``_documents``.
        self._fill: Callable[[], OrderedDict[Any, Any]] | None = fill

    @property
    def _documents(self) -> OrderedDict[Any, Any]:
        if self._fill is not None:
            self._held, self._fill = self._fill(), None
        return self._held

    @_documents.setter
    def _documents(self, documents: OrderedDict[Any, Any]) -> None:
        self._fill = None  # `drop` replaces all documents, so the fixture is no longer loaded.
        self._held = documents

    @property
    def is_untouched(self) -> bool:
        """Whether the documents are still those of the fixture, because nothing has accessed them."""
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
        """Return the collection with this name. Its ``aggregate`` is our evaluator.

        Raises ``ResultsError`` for faulty fixture files here, so that the traceback ends at the line of the test that
        names the collection, and not within mongomock.
        """
        self.source.read_collection(name)
        return as_fixture(super().get_collection(name, *args, **options))

    def find_written(self, name: str) -> list[dict[str, Any]] | None:
        """Return the documents of a collection if the test may have changed them, or None."""
        store = self._store._collections.get(name)
        if store is None or getattr(store, "is_untouched", False):
            return None
        return list(self[name].find())

    def _fill(self, name: str) -> OrderedDict[Any, Any]:
        """Return the documents as mongomock stores them. A second client creates them, because our store is locked."""
        scratch: Any = mongomock.MongoClient()[self.name][name]
        documents = self.source.read_collection(name).documents
        if documents:
            scratch.insert_many(documents)
        held: OrderedDict[Any, Any] = scratch._store._documents
        return held


class _WrittenFiles(FileSource):
    """A results source over the fixtures. Collections that a test may have changed come from the database."""

    def __init__(self, source: FileSource, database: FixtureDatabase) -> None:
        vars(self).update(vars(source))
        self._database = database

    def reach(self) -> None:
        """Do nothing, because a database may be empty."""

    def read_collection(self, collection: str) -> Collection:
        """Return the documents of the database if the test may have changed them, or else those of the files."""
        written = self._database.find_written(collection)
        return super().read_collection(collection) if written is None else Collection(collection, written)


class FixtureCollection(MockCollection):
    """A mongomock collection whose ``aggregate`` is our evaluator."""

    def with_options(self, *args: Any, **options: Any) -> FixtureCollection:
        """Return the same collection with other options, as in PyMongo."""
        return as_fixture(super().with_options(*args, **options))

    def aggregate(
        self, pipeline: Sequence[Mapping[str, Any]], session: Any = None, let: Any = None, **unused: Any
    ) -> CommandCursor:
        """Return a cursor over the rows of a pipeline. The pipeline also reads documents that the test has written.

        Raises ``OperationFailure``, as PyMongo does, if a server would refuse the pipeline. Raises ``ResultsError`` if
        the pipeline needs a server, for example for a collation, or has a stage that no results source runs (``$out``,
        JavaScript).
        """
        if unused.get("collation"):
            raise ResultsError("a collation has no effect on files", hint="run the query on a MongoDB server")
        query = Query(self.name, tuple(pipeline), let or {})
        try:
            return CommandCursor(self.database.written.aggregate(query))
        except ResultsError as error:
            raise _as_of_a_server(error, query) from None


def as_fixture(made: MockCollection) -> FixtureCollection:
    """Change the class of a collection of mongomock to ours, and return it."""
    made.__class__ = FixtureCollection
    assert isinstance(made, FixtureCollection)
    return made


def _as_of_a_server(error: ResultsError, query: Query) -> Exception:
    """Return PyMongo's error for a query that a server would refuse, too, and any other error unchanged.

    The notes of the error are the place in the pipeline and the hint.
    """
    raised: Exception = error
    cause = error.__cause__
    if isinstance(cause, AggregationError) and not isinstance(cause, NotOffline):
        raised = OperationFailure(cause.message, cause.code)
    else:
        try:  # A server may refuse the query, too, for example for an unknown stage.
            check(query.pipeline, variables=query.let)
        except AggregationError as refusal:
            if not isinstance(refusal, NotOffline):
                raised = OperationFailure(refusal.message, refusal.code)
    for note in (f"at {format_path(error.path)}" if error.path else "", error.hint):
        if note:
            raised.add_note(note)
    return raised
