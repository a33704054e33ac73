"""A results source whose documents are in files: no server, the same rows.

Files are read once for each build, as bytes that are hashed, and decoded again only where these are others than before.
``mongo_tables.aggregation`` evaluates pipelines over the documents.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from mongo_tables.aggregation import AggregationError, LimitReached, NotOffline, aggregate
from mongo_tables.aggregation.limits import pause_clock
from mongo_tables.files.digests import digest_of
from mongo_tables.files.gcpause import nothing_collected
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.results.collection import Collection, Contents
from mongo_tables.results.fieldorder import settle_field_order
from mongo_tables.results.limitoptions import OPTIONS
from mongo_tables.results.limits import rows_within
from mongo_tables.results.model import Fault, Limits, PipelineRefused, PlainRows, Query, ResultsError, Rows
from mongo_tables.results.provenance import TOLD_BY, Sayings, is_source_query
from mongo_tables.results.running import answer_in_turn, guard

if TYPE_CHECKING:
    from mongo_tables.aggregation.limits import Limits as FileLimits
    from mongo_tables.results.mockdatabase import FixtureDatabase

EXTRA: Final = "mongo-tables[testing]"


class CollectionReader(Protocol):
    """The collections of one kind of place. Every method may raise ``ResultsError``."""

    @property
    def are_plain(self) -> bool:
        """Whether other programs write the files; fixture files are this one's."""
        ...

    def names(self) -> tuple[str, ...]:
        """List the names of the collections again, sorted."""
        ...

    def where(self, collection: str) -> str:
        """The files of a collection, as messages name them."""
        ...

    def files(self, collection: str) -> Sequence[Path]:
        """The files of a collection, in their order; none for an unknown one."""
        ...

    def read(self, collection: str) -> Contents:
        """The bytes of the files of a collection."""
        ...

    def decode(self, contents: Contents) -> Collection:
        """The documents in these bytes."""
        ...

    def lines(self, collection: str) -> Iterable[bytes] | None:
        """The documents of a collection as they are in lines; None where they are not."""
        ...

    def broken(self, collection: str) -> Iterable[Fault]:
        """The first fault of each plain file of a collection that cannot be read as it is."""
        ...

    def unread(self) -> Sequence[Path]:
        """The files that are there and not read."""
        ...


class _Held:
    """A collection as it was last decoded, or why it could not be, and what was found out about it."""

    def __init__(self, digest: str, collection: Collection | ResultsError) -> None:
        self.digest = digest
        self._collection = collection
        self.sayings = Sayings()
        self.texts: dict[str, frozenset[str]] = {}

    @property
    def failed(self) -> bool:
        """Whether it could not be decoded; the error may be about files of other collections, too."""
        return isinstance(self._collection, ResultsError)

    @property
    def collection(self) -> Collection:
        """The collection. Raises ``ResultsError``."""
        if isinstance(self._collection, ResultsError):
            raise self._collection
        return self._collection


class FileSource:
    """Files as a results source; a collection may be in one of ``readers`` alone."""

    workers = 1
    """Evaluating is Python's own work: a second thread would only wait for the first."""

    def __init__(self, name: str, readers: Sequence[CollectionReader], limits: Limits | None = None) -> None:
        self._name = name
        self._readers = readers
        self._limits = limits or Limits()
        self._lock = threading.RLock()
        self._held: dict[str, _Held] = {}
        self._read: set[str] = set()
        self._unreadable: dict[str, ResultsError] = {}
        self._listed: Mapping[str, Sequence[CollectionReader]] | None = None
        self._database: FixtureDatabase | None = None

    @property
    def name(self) -> str:
        """The text that names the files, as it was given."""
        return self._name

    @property
    def local(self) -> FileSource:
        """The source itself: its documents are here."""
        return self

    @property
    def limits(self) -> FileLimits:
        """What one pipeline may cost."""
        return self._limits.files

    def reach(self) -> None:
        """Raise ``ResultsError`` when there is no folder or file, none can be listed, or none has a collection."""
        if not self.collections():
            raise ResultsError(
                f"the results source {self.name} has no collections",
                hint="put a file of results there, fill it with `mongo-tables pull mongodb://HOST/DATABASE`, or "
                "name another one",
                environment=True,
            )

    def version(self) -> str:
        """None: no server answers."""
        return ""

    def refresh(self) -> None:
        """Begin the next build: files are listed and read again when they are next asked for."""
        with self._lock:
            self._listed = None
            self._read.clear()
            self._unreadable.clear()

    def release(self) -> None:
        """Let what was decoded go; it is read again where it is asked for."""
        with self._lock:
            self._held.clear()

    def close(self) -> None:
        """Nothing is held open."""

    # -- what there is --

    def collections(self) -> tuple[str, ...]:
        """Names of the collections, sorted."""
        return tuple(self._list())

    def files(self, collection: str) -> Sequence[Path]:
        """The files of a collection, in their order; none for an unknown one."""
        return [path for reader in self._list().get(collection, ()) for path in reader.files(collection)]

    def broken(self) -> Sequence[Fault]:
        """The first fault of each plain file that no query reads and that cannot be read as it is."""
        return [
            fault
            for collection, readers in self._list().items()
            if collection not in self._read and collection not in self._unreadable
            for reader in readers
            for fault in reader.broken(collection)
        ]

    def unread(self) -> Sequence[Path]:
        """The files that are there and not read, sorted."""
        return sorted({path for reader in self._readers for path in reader.unread()})

    def digest(self, collection: str) -> str:
        """A digest of the files of a collection; of one that cannot be read, of the reason."""
        try:
            return self._hold(collection).digest
        except ResultsError as error:
            return digest_of(error.message)

    def writes(self) -> str:
        """A text that changes once a file was written, came or went: a digest of all files as they are now."""
        said = list[str]()
        for collection, readers in self._list_again().items():
            for reader in readers:
                try:
                    said += (collection, reader.read(collection).digest)
                except ResultsError as error:
                    said += (collection, error.message)
        return digest_of(*said)

    def _list(self) -> Mapping[str, Sequence[CollectionReader]]:
        with self._lock:
            if self._listed is None:
                self._listed = self._list_again()
            return self._listed

    def _list_again(self) -> Mapping[str, Sequence[CollectionReader]]:
        """The readers that have each collection, by its name, in the order of names."""
        found: dict[str, list[CollectionReader]] = {}
        for reader in self._readers:
            for name in reader.names():
                found.setdefault(name, []).append(reader)
        return dict(sorted(found.items()))

    # -- documents --

    def documents(self, collection: str) -> Sequence[dict[str, Any]]:
        """All documents of a collection, none for an unknown one. They are shared: do not change them."""
        written = self._find_written(collection)
        return self.read_collection(collection).documents if written is None else written

    def choose(self, collection: str, pipeline: Sequence[Mapping[str, Any]]) -> Sequence[dict[str, Any]]:
        """The documents that the first ``$match`` of a pipeline may keep, in order. They are shared, too."""
        written = self._find_written(collection)
        return self.read_collection(collection).choose(pipeline) if written is None else written

    def read_collection(self, collection: str) -> Collection:
        """The collection as it is in its files, nothing written to ``database`` among it."""
        return self._hold(collection).collection

    def count(self, collection: str) -> int:
        """How many documents a collection has."""
        return len(self.documents(collection))

    def texts(self, collection: str, field: str) -> frozenset[str]:
        """The texts that documents have in a field; those in arrays are not among them."""
        if (written := self._find_written(collection)) is not None:
            return Collection(collection, written).texts(field)
        held = self._hold(collection)
        if field not in held.texts:
            held.texts[field] = held.collection.texts(field)
        return held.texts[field]

    def lines(self, collection: str) -> Iterable[bytes]:
        """Every document of a collection as a line of Extended JSON: as it is in a file of lines, or would be."""
        for reader in self._list().get(collection, ()):
            if (lines := reader.lines(collection)) is not None:
                return lines
        from mongo_tables.results import typedjson  # only what copies documents needs it

        return (f"{typedjson.line(raw)}\n".encode() for raw in self.raws(collection))

    def raws(self, collection: str) -> list[bytes]:
        """All documents of a collection as BSON, none for an unknown one."""
        import bson

        return [bson.encode(one) for one in self.read_collection(collection).documents]

    def candidates(self, query: Query) -> Sequence[dict[str, Any]]:
        """The documents that the query's first ``$match`` keeps; all of them where it keeps none, or fails."""
        documents = self.documents(query.collection)
        if not query.pipeline or "$match" not in query.pipeline[0]:
            return documents
        chosen = self.choose(query.collection, query.pipeline)
        try:
            return self._evaluate(chosen, replace(query, pipeline=query.pipeline[:1])) or documents
        except ResultsError:
            return documents

    def _hold(self, collection: str) -> _Held:
        """The collection in this build. Raises the same ``ResultsError`` for each query where it cannot be read."""
        with self._lock:
            if collection in self._unreadable:
                raise self._unreadable[collection]
            held = self._held.get(collection)
            if collection in self._read and held is not None:
                return held
            try:
                return self._read_files(collection, held)
            except ResultsError as error:
                self._unreadable[collection] = error
                raise

    def _read_files(self, collection: str, held: _Held | None) -> _Held:
        readers = self._list().get(collection, ())
        if len(readers) > 1:
            refuse_two(collection, [reader.where(collection) for reader in readers])
        contents = readers[0].read(collection) if readers else Contents(collection, ())
        self._read.add(collection)
        if held is None or held.failed or held.digest != contents.digest:
            found: Collection | ResultsError
            try:
                with nothing_collected():
                    found = readers[0].decode(contents) if readers else Collection(collection, ())
            except ResultsError as error:
                found = error
            held = self._held[collection] = _Held(contents.digest, found)
        return held

    # -- queries --

    def answer(self, queries: Mapping[str, Query], workers: int = 1) -> dict[str, Rows | ResultsError]:
        """The rows of each query, or its error, by the same keys."""
        return answer_in_turn(self.aggregate, queries)

    def aggregate(self, query: Query) -> Rows:
        """The rows of a query; ``PlainRows`` of a collection of plain files.

        Raises ``ResultsError`` with the path in the pipeline for what a server refuses.
        """
        with self._lock:
            if is_source_query(query) and (groups := self._find_sources(query)) is not None:
                return groups
            guard(query)
            documents = self.choose(query.collection, query.pipeline)
            if not documents and self._database is None:
                self.reach()
            rows = self._encode_rows(self._evaluate(documents, query))
            plain = (
                self._find_written(query.collection) is None and self.read_collection(query.collection).plain
            )
            found = settle_field_order(rows, query)
            return PlainRows(found) if plain else found

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
                collections=_Others(self),
                variables=query.let,
                limits=self._limits.files,
            )
        except AggregationError as error:
            raise _refuse(error) from None

    def _encode_rows(self, rows: Rows) -> Rows:
        """The rows within the limits, with the values that a server would send."""
        import bson

        # Wrapped while encoding, because pymongo moves the ``_id`` of an outer document.
        return rows_within((bson.encode({"": row})[6:-1] for row in rows), self._limits)

    def _find_sources(self, query: Query) -> Rows | None:
        """The answer to a ``source_query`` by what each document says of itself.

        None where some documents may have been written to ``database``, and of so many that groups are shorter.
        """
        if self._find_written(query.collection) is not None:
            return None
        held = self._hold(query.collection)
        if held.collection.documents and TOLD_BY.isdisjoint(held.collection.fields):
            return []
        guard(query)
        return held.sayings.answer(held.collection, query, self._evaluate, self._encode_rows)

    # -- the same documents as a database --

    @property
    def database(self) -> FixtureDatabase:
        """A mongomock database over the same documents; what is written to it stays in memory."""
        with self._lock:
            if self._database is None:
                self._database = _make_database(self)
            return self._database

    def with_own_database(self) -> Self:
        """The same source with a ``database`` of its own: neither sees what is written to the other's."""
        other = copy(self)
        other._database = None
        return other

    def _find_written(self, collection: str) -> Rows | None:
        """The documents in the mongomock database; None while they cannot differ from those in the files."""
        return self._database.find_written(collection) if self._database else None


def _make_database(source: FileSource) -> FixtureDatabase:
    """A mongomock database over the documents of a source. Raises ``ResultsError`` where mongomock is missing."""
    try:
        from mongo_tables.results.mockdatabase import FixtureDatabase
    except ModuleNotFoundError as error:
        if error.name != "mongomock":
            raise
        message = "files as a database are made by mongomock, which is not installed"
        raise ResultsError(message, hint=f"pip install '{EXTRA}'", environment=True) from None
    return FixtureDatabase(source)


class _Others(Mapping[str, Sequence[dict[str, Any]]]):
    """The collections that ``$lookup`` and ``$unionWith`` read, each decoded when it is first asked for."""

    def __init__(self, source: FileSource) -> None:
        self._source = source

    def __getitem__(self, name: str) -> Sequence[dict[str, Any]]:
        with pause_clock():
            return self._source.documents(name)

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


def refuse_two(collection: str, places: Sequence[str]) -> None:
    """Raise ``ResultsError``: the collection would be in several places."""
    raise ResultsError(
        f"the collection `{collection}` is in {' and in '.join(places)}",
        hint=f"name one of them otherwise, as in other={places[-1]}; or all of them: {collection}=PATTERN",
    )
