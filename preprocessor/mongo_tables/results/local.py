"""A results source whose documents are on this machine: ``mongo_tables.aggregation`` evaluates its pipelines.

Whoever has documents says which collections there are (``collections``), gives their bytes (``_read``), and tells when
they have changed (``state``); all else is here. ``database`` is the same data as a mongomock database, for whoever
wants to ``find`` or ``insert_one``.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from mongo_tables.aggregation import AggregationError, LimitReached, NotOffline, aggregate, plancache
from mongo_tables.aggregation.meter import pause_clock
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.results.fieldorder import settle_field_order
from mongo_tables.results.limitoptions import OPTIONS
from mongo_tables.results.limits import rows_within
from mongo_tables.results.model import Fault, Limits, PipelineRefused, Query, ResultsError, Rows
from mongo_tables.results.provenance import (
    asks_in_vain,
    each_query,
    group_of_one,
    ids_query,
    is_source_query,
)
from mongo_tables.results.rawdocuments import RawDocuments, RawPlace
from mongo_tables.results.readpaths import joined_reads
from mongo_tables.results.running import guard
from mongo_tables.results.stored import BROKEN, StoredCollection, texts_in

if TYPE_CHECKING:
    from mongo_tables.aggregation.limits import Limits as FileLimits
    from mongo_tables.results.keptparts import KeptParts
    from mongo_tables.results.mockdatabase import FixtureDatabase

EXTRA: Final = "mongo-tables[testing]"

_T = TypeVar("_T")

_FEW = 1_000
"""Documents whose provenance is held one by one."""


class LocalSource(ABC):
    """Documents on this machine as a results source, and what can be done with documents that are at hand."""

    workers = 1
    """Evaluating is Python's own work: a second thread would only wait for the first."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._lock = threading.RLock()
        self._stored: dict[str, StoredCollection] = {}
        self._database: FixtureDatabase | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """The source as it may be shown."""

    @abstractmethod
    def collections(self) -> tuple[str, ...]:
        """Names of the collections, sorted."""

    @abstractmethod
    def state(self) -> str:
        """A key of all that the source holds; collections that have changed are dropped from ``_stored``."""

    @abstractmethod
    def _read(self, collection: str) -> RawDocuments:
        """The documents of a collection, none for an unknown one."""

    def _read_anew(self, collection: str) -> RawDocuments:
        """The documents once more, after some turned out to be no BSON."""
        return self._read(collection)

    def _find_parts(self, collection: str) -> KeptParts | None:
        """Where copies of what pipelines read of a collection are kept; None where that would save nothing."""
        return None

    @property
    def local(self) -> LocalSource:
        """The source itself: its documents are here."""
        return self

    @property
    def limits(self) -> FileLimits:
        """What one pipeline may cost."""
        return self._limits.files

    def reach(self) -> None:
        """Raise ``ResultsError`` where there is nothing to be asked."""
        self.collections()

    @property
    def database(self) -> FixtureDatabase:
        """A mongomock database over the same documents; what is written to it stays in memory."""
        with self._lock:
            if self._database is None:
                self._database = _make_database(self)
            return self._database

    def with_own_database(self) -> Self:
        """The same source, and what either has read the other has too, with a ``database`` of its own.

        What is written to that, this source does not see.
        """
        other = copy(self)
        other._database = None
        return other

    def aggregate(self, query: Query) -> Rows:
        """The rows of a query. Raises ``ResultsError`` with the path in the pipeline for what a server
        refuses.
        """
        with self._lock:
            if asks_in_vain(query, lambda fields: self._may_have(query.collection, fields)):
                return []
        guard(query)
        with self._lock:
            if is_source_query(query) and (groups := self._groups_of_one(query)) is not None:
                return groups
            rows = self._from_documents(query)
            return settle_field_order(rows_within(_encode_rows(rows), self._limits), query)

    def _groups_of_one(self, query: Query) -> Rows | None:
        """The answer to a ``source_query``, each document a group: what one says is the same for all figures.

        None where there are many documents, of which those that say the same are better held as one, and where some may
        have been written to ``database``.
        """
        if self._find_written(query.collection) is not None:
            return None
        ids = {repr(one["_id"]): one["_id"] for one in self._from_documents(ids_query(query))}
        if len(ids) > _FEW:
            return None
        said = self.read_collection(query.collection).said
        if missing := [one for key, one in ids.items() if key not in said]:
            each = rows_within(_encode_rows(self._from_documents(each_query(query, missing))), self._limits)
            said.update((repr(one["_id"]), group_of_one(one)) for one in each)
        return [said[key] for key in ids]

    def apply_query(self, rows: Iterable[dict[str, Any]], query: Query) -> Rows:
        """Run the query's stages on ``rows`` in place of its collection; row and byte limits do not apply.

        The rows may share parts with ``rows``: do not change them. Raises as ``aggregate`` does.
        """
        guard(query)
        with self._lock:
            return self._evaluate(rows, query)

    def _evaluate(self, rows: Iterable[dict[str, Any]], query: Query) -> Rows:
        try:
            return aggregate(
                rows,
                query.pipeline,
                collections=_Others(self, query),
                variables=query.let,
                limits=self._limits.files,
            )
        except AggregationError as error:
            raise _refuse(error) from None

    def with_documents(
        self,
        collection: str,
        pipeline: Sequence[Mapping[str, Any]],
        use: Callable[[Iterable[dict[str, Any]]], _T],
        *,
        pruned: bool = False,
    ) -> _T:
        """The same as ``LocalDocuments.with_documents``."""
        return self.read_collection(collection).with_documents(pipeline, use, pruned=pruned)

    def documents(self, collection: str) -> list[dict[str, Any]]:
        """All documents of a collection, none for an unknown one. They are shared: do not change them."""
        written = self._find_written(collection)
        return self.read_collection(collection).documents() if written is None else written

    def documents_joined(self, collection: str, query: Query) -> list[dict[str, Any]]:
        """The documents that the stages of a query may look up in a collection, with what they may read at least."""
        written, reads = self._find_written(collection), joined_reads(query.pipeline, collection)
        if written is not None or reads is None:
            return self.documents(collection)
        return self.read_collection(collection).chosen(reads)

    def raws(self, collection: str) -> list[bytes]:
        """All documents of a collection as BSON, none for an unknown one."""
        return self.read_collection(collection).raws()

    def lines(self, collection: str) -> Iterable[bytes]:
        """Every document of a collection as a line of Extended JSON."""
        from mongo_tables.results import typedjson  # for whoever copies documents

        return (f"{typedjson.line(raw)}\n".encode() for raw in self.raws(collection))

    def files(self, collection: str) -> Sequence[Path]:
        """None: these documents are in no file."""
        return ()

    def broken(self) -> Sequence[Fault]:
        """None: only files can be broken."""
        return ()

    def unread(self) -> Sequence[Path]:
        """None: only files can be there and not read."""
        return ()

    def candidates(self, query: Query) -> Rows:
        """The documents that the query's first ``$match`` may keep, whole; all of them when it can keep none."""
        if self._find_written(query.collection) is not None:
            return self.documents(query.collection)
        return self.read_collection(query.collection).candidates(query.pipeline) or self.documents(
            query.collection
        )

    def raw_places(self, collection: str, pipeline: Sequence[Mapping[str, Any]]) -> list[RawPlace]:
        """Where the documents, as BSON, stand that the pipeline's first ``$match`` may keep."""
        return self.read_collection(collection).raw_places(pipeline)

    def texts(self, collection: str, field: str) -> frozenset[str]:
        """The same as ``LocalDocuments.texts``."""
        written = self._find_written(collection)
        return self.read_collection(collection).texts(field) if written is None else texts_in(written, field)

    def count(self, collection: str) -> int:
        """How many documents a collection has."""
        written = self._find_written(collection)
        return len(self.read_collection(collection) if written is None else written)

    def read_collection(self, collection: str) -> StoredCollection:
        """The collection as it was read, nothing written to ``database`` among it."""
        with self._lock:
            if collection not in self._stored:
                parts = self._find_parts(collection)
                raws = (
                    self._read_soundly(collection)
                    if parts is None
                    else partial(self._read_soundly, collection)
                )
                self._stored[collection] = StoredCollection(raws, partial(self._read_anew, collection), parts)
            return self._stored[collection]

    def _read_soundly(self, collection: str) -> RawDocuments:
        try:
            return self._read(collection)
        except BROKEN:
            return self._read_anew(collection)

    def version(self) -> str:
        """None: no server answers."""
        return ""

    def writes(self) -> str:
        """The same as ``state``: local documents have no cheaper sign of a change."""
        return self.state()

    def forget(self, *, idle: bool = False) -> None:
        """Drop the decoded documents, and compiled stages; what they were decoded from stays, even if ``idle``."""
        plancache.clear()
        with self._lock:
            for stored in self._stored.values():
                stored.forget()

    def close(self) -> None:  # noqa: B027
        """Nothing is held open."""

    def _may_have(self, collection: str, fields: Sequence[str]) -> bool:
        """Whether a document of a collection may have one of some fields; True where there are no documents."""
        if self._find_written(collection) is not None:
            return True
        stored = self.read_collection(collection)
        return stored.is_empty or stored.may_have(fields)

    def _from_documents(self, query: Query) -> Rows:
        if (written := self._find_written(query.collection)) is not None:
            return self._evaluate(written, query)
        stored = self.read_collection(query.collection)
        if self._database is None and stored.is_empty:
            self.reach()
        return stored.with_documents(query.pipeline, lambda documents: self._evaluate(documents, query))

    def _find_written(self, collection: str) -> Rows | None:
        """The documents in the mongomock database; None while they cannot differ from those that are stored."""
        return self._database.find_written(collection) if self._database else None


def _make_database(source: LocalSource) -> FixtureDatabase:
    """A mongomock database over the documents of a source. Raises ``ResultsError`` where mongomock is missing."""
    try:
        from mongo_tables.results.mockdatabase import FixtureDatabase
    except ModuleNotFoundError as error:
        if error.name != "mongomock":
            raise
        message = "files as a database are made by mongomock, which is not installed"
        raise ResultsError(message, hint=f"pip install '{EXTRA}'", environment=True) from None
    return FixtureDatabase(source)


class _Others(Mapping[str, list[dict[str, Any]]]):
    """The collections that ``$lookup`` and ``$unionWith`` read, each decoded when it is first asked for.

    Of one with many large documents there is what the query reads.
    """

    def __init__(self, source: LocalSource, query: Query) -> None:
        self._source, self._query = source, query

    def __getitem__(self, name: str) -> list[dict[str, Any]]:
        with pause_clock():
            return self._source.documents_joined(name, self._query)

    def __iter__(self) -> Iterator[str]:
        return iter(self._source.collections())

    def __len__(self) -> int:
        return len(self._source.collections())


def _refuse(error: AggregationError) -> ResultsError:
    """The error as one of a source: of what a server refuses too, with its code."""
    hint, path = _hint(error), tuple(error.path) if error.path else None
    if isinstance(error, NotOffline):
        return ResultsError(_name_stage(error), hint=hint, path=path)
    return PipelineRefused(error.message, hint=hint, path=path, code=error.code)


def _name_stage(error: AggregationError) -> str:
    """The error's message, with the stage in front when a limit was reached."""
    path = error.path or ()
    if not isinstance(error, LimitReached) or len(path) < 2 or not isinstance(path[0], int):
        return error.message
    return f"stage {path[0] + 1}, {path[1]}: {error.message}"


def _hint(error: AggregationError) -> str:
    """The hint for an error: how to raise a limit, that a server is needed, or which known name was meant."""
    if not isinstance(error, LimitReached):
        only_there = isinstance(error, NotOffline)
        return "it runs on a MongoDB server only" if only_there else did_you_mean(error.unknown, error.known)
    name = next(name for name, option in OPTIONS.items() if option.field == error.limit)
    return (
        f"let it do less, or raise {name}; on the command line --limit {name.removesuffix('_limit')}=NUMBER"
    )


def _encode_rows(rows: Rows) -> Iterator[bytes]:
    """Each row as BSON. Wrapped while encoding, because pymongo moves the ``_id`` of an outer document."""
    import bson

    for row in rows:
        yield bson.encode({"": row})[6:-1]
