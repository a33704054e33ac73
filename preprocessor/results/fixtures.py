"""Results from fixture files: no server, the same rows.

The folder is read as it was when first asked; ``state`` looks at the disk again and drops what has changed.
Pipelines are evaluated by ``preprocessor.aggregation``. ``FixtureSource.database`` is the same data as a
mongomock database, for whoever wants to ``find`` or ``insert_one``.
"""

from __future__ import annotations

import hashlib
import threading
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from preprocessor.aggregation import AggregationError, LimitReached, NotOffline, aggregate
from preprocessor.aggregation.meter import uncounted
from preprocessor.results import bsoncache, cachefolder, fixturefiles, fixturetext
from preprocessor.results.fieldorder import settle_field_order
from preprocessor.results.limitoptions import OPTIONS
from preprocessor.results.limits import rows_within
from preprocessor.results.model import Fault, Limits, Query, ResultsError, Rows
from preprocessor.results.rawdocuments import RawDocuments
from preprocessor.results.running import guard
from preprocessor.results.stored import BROKEN, StoredCollection

if TYPE_CHECKING:
    from preprocessor.aggregation.limits import Limits as FileLimits
    from preprocessor.results.mockdatabase import FixtureDatabase


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


class FixtureSource:
    """A folder of fixtures as a results source."""

    workers = 1
    """Evaluating is Python's own work: a second thread would only wait for the first."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        self._folder = folder
        self._limits = limits or Limits()
        self._cache = cachefolder.folder_for(folder)
        self._lock = threading.RLock()
        self._keys: dict[str, dict[Path, str]] = {}
        self._unread: dict[str, tuple[str, ...]] = {}
        self._stored: dict[str, StoredCollection] = {}
        self._database: FixtureDatabase | None = None

    @property
    def name(self) -> str:
        """The folder's path as it was given."""
        return self._folder.as_posix()

    @property
    def limits(self) -> FileLimits:
        """What one pipeline may cost."""
        return self._limits.files

    def reach(self) -> None:
        """Raise ``ResultsError`` when the folder is not there, cannot be listed or has no collection."""
        if not self.collections():
            raise ResultsError(
                f"the results source {self.name} has no collections",
                hint="fill it with `mongo-tables pull mongodb://HOST/DATABASE`, or name another folder",
                environment=True,
            )

    def collections(self) -> tuple[str, ...]:
        """Names of the collections (sub-folders), sorted."""
        return fixturefiles.collection_names(self._folder)

    @property
    def database(self) -> FixtureDatabase:
        """A mongomock database over the same documents; what is written to it stays in memory."""
        with self._lock:
            if self._database is None:
                from preprocessor.results.mockdatabase import FixtureDatabase

                self._database = FixtureDatabase(self)
            return self._database

    def aggregate(self, query: Query) -> Rows:
        """The rows of a query. Raises ``ResultsError`` with the path in the pipeline for what a server
        refuses.
        """
        guard(query)
        with self._lock:
            rows = self._from_documents(query)
            return settle_field_order(rows_within(_encoded(rows), self._limits), query)

    def applied(self, rows: Iterable[dict[str, Any]], query: Query) -> Rows:
        """What the query's stages make of ``rows``, which stand in for its collection; without the limits.

        The rows may share parts with ``rows``: do not change them. Raises as ``aggregate`` does.
        """
        guard(query)
        with self._lock:
            return self._evaluated(rows, query)

    def _evaluated(self, rows: Iterable[dict[str, Any]], query: Query) -> Rows:
        try:
            return aggregate(
                rows,
                query.pipeline,
                collections=_Others(self),
                variables=query.let,
                limits=self._limits.files,
            )
        except AggregationError as error:
            hint = _hint(error)
            path = tuple(error.path) if error.path else None
            raise ResultsError(_named_stage(error), hint=hint, path=path) from None

    def documents(self, collection: str) -> list[dict[str, Any]]:
        """All documents of a collection, none for an unknown one. They are shared: do not change them."""
        written = self._database.written(collection) if self._database else None
        return self.stored(collection).documents() if written is None else written

    def raws(self, collection: str) -> list[bytes]:
        """All documents of a collection as they are on disk, none for an unknown one."""
        return self.stored(collection).raws()

    def candidates(self, query: Query) -> Rows:
        """The documents that the query's first ``$match`` may keep, whole; all of them when it can keep none."""
        if self._database and self._database.written(query.collection) is not None:
            return self.documents(query.collection)
        return self.stored(query.collection).candidates(query.pipeline) or self.documents(query.collection)

    def count(self, collection: str) -> int:
        """How many documents a collection has."""
        written = self._database.written(collection) if self._database else None
        return len(self.stored(collection) if written is None else written)

    def stored(self, collection: str) -> StoredCollection:
        """The collection as it is on disk."""
        with self._lock:
            if collection not in self._stored:
                try:
                    raws = self._read(collection)
                except BROKEN:
                    raws = self._read_anew(collection)
                self._stored[collection] = StoredCollection(raws, lambda: self._read_anew(collection))
            return self._stored[collection]

    def _read(self, collection: str, *, believing: bool = True) -> RawDocuments:
        """The documents of a collection, each ``_id`` once. ``believing`` says whether the cache is asked."""
        try:
            loaded = self._load(collection, believing)
        except ResultsError as error:
            raise self._faults() or error from None
        documents = RawDocuments(loaded.values())
        if repeated := _repeated(tuple(loaded), documents):
            raise fixturetext.told(repeated)
        return documents

    def _read_anew(self, collection: str) -> RawDocuments:
        """The documents by the files alone, which make the entries of the cache anew: one of them is broken."""
        return self._read(collection, believing=False)

    def state(self) -> str:
        """Digest of the names and bytes of all fixture files, and of the names of files that are refused.

        Documents of changed collections are read anew.
        """
        total = hashlib.sha256()
        with self._lock:
            collections = self.collections()
            for collection in collections:
                keys = {path: _key(path) for path in fixturefiles.files_of(self._folder, collection)}
                unread = fixturefiles.unread_in(self._folder, collection)
                before = self._keys.get(collection, keys), self._unread.get(collection, unread)
                if before != (keys, unread):
                    self._stored.pop(collection, None)
                self._keys[collection], self._unread[collection] = keys, unread
                for path, key in keys.items():
                    total.update(f"{collection}/{path.name}\0{key}\n".encode())
                for name in unread:
                    total.update(f"{collection}/{name}\0not read\n".encode(errors="surrogateescape"))
            for gone in (self._stored.keys() | self._keys.keys()) - set(collections):
                self._stored.pop(gone, None)
                self._keys.pop(gone, None)
                self._unread.pop(gone, None)
        return total.hexdigest()

    def writes(self) -> str:
        """As ``state``: files are looked at as a whole."""
        return self.state()

    def forget(self) -> None:
        """Drop the decoded documents; what they were decoded from stays."""
        with self._lock:
            for stored in self._stored.values():
                stored.forget()

    def close(self) -> None:
        """Nothing is held open."""

    def _from_documents(self, query: Query) -> Rows:
        if self._database and (written := self._database.written(query.collection)) is not None:
            return self._evaluated(written, query)
        stored = self.stored(query.collection)
        if self._database is None and not len(stored):
            self.reach()
        return stored.with_documents(query.pipeline, lambda documents: self._evaluated(documents, query))

    def _files(self, collection: str) -> list[Path]:
        known = self._keys.get(collection)
        return fixturefiles.files_of(self._folder, collection) if known is None else list(known)

    def _load(self, collection: str, believing: bool) -> dict[Path, bytes]:
        """The documents of each file of a collection, end to end; what had to be parsed is put into the cache."""
        loaded: dict[Path, bytes] = {}
        files = self._files(collection)
        fixturefiles.refuse_unread(self._folder, collection)
        for path in files:
            known = self._keys.get(collection, {}).get(path)
            kept = self._kept(path, known) if believing else None
            loaded[path] = self._parsed(path) if kept is None else kept
        return loaded

    def _kept(self, path: Path, known: str | None) -> bytes | None:
        """The documents of a file from the cache, if there is an entry for its content.

        A digest that ``state`` has taken in this process spares reading the file: the cache has those very bytes.
        """
        payload = bsoncache.get(self._cache, known) if known else None
        if payload is None and self._cache is not None and (key := _key(path)) != known:
            payload = bsoncache.get(self._cache, key)
        return payload

    def _parsed(self, path: Path) -> bytes:
        """The documents of a file, also put into the cache."""
        digest = hashlib.sha256()
        payload = fixturetext.payload(path, _through(digest, fixturefiles.blocks(path)))
        bsoncache.put(self._cache, {bsoncache.key_of_digest(digest.digest()): payload})
        return payload

    def _faults(self) -> ResultsError | None:
        """Every fault of every file of the folder, so that one run tells all."""
        faults: list[Fault] = []
        for collection in self.collections():
            try:
                files = fixturefiles.files_of(self._folder, collection)
            except ResultsError as error:
                faults += error.faults
                continue
            for path in files:
                faults += _faults_of(path)
        return fixturetext.told(faults) if faults else None


class _Others(Mapping[str, list[dict[str, Any]]]):
    """The collections that ``$lookup`` and ``$unionWith`` read, each decoded when it is first asked for."""

    def __init__(self, source: FixtureSource) -> None:
        self._source = source

    def __getitem__(self, name: str) -> list[dict[str, Any]]:
        with uncounted():
            return self._source.documents(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._source.collections())

    def __len__(self) -> int:
        return len(self._source.collections())


def _named_stage(error: AggregationError) -> str:
    """What is wrong; of a limit that was reached, in which stage."""
    path = error.path or ()
    if not isinstance(error, LimitReached) or len(path) < 2 or not isinstance(path[0], int):
        return error.message
    return f"stage {path[0] + 1}, {path[1]}: {error.message}"


def _hint(error: AggregationError) -> str:
    """What is to be done: about a limit, about what needs a server, nothing that is not clear otherwise."""
    if not isinstance(error, LimitReached):
        return "it runs on a MongoDB server only" if isinstance(error, NotOffline) else ""
    name = next(name for name, option in OPTIONS.items() if option.field == error.limit)
    return (
        f"let it do less, or raise {name}; on the command line --limit {name.removesuffix('_limit')}=NUMBER"
    )


def _faults_of(path: Path) -> Sequence[Fault]:
    try:
        return fixturetext.read(path, fixturefiles.read(path))[1]
    except ResultsError as error:  # It cannot even be opened.
        return error.faults


def _key(path: Path) -> str:
    digest = hashlib.sha256()
    for _ in _through(digest, fixturefiles.blocks(path)):
        pass
    return bsoncache.key_of_digest(digest.digest())


def _through(digest: _Digest, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks as they are, each taken into the digest."""
    for block in blocks:
        digest.update(block)
        yield block


def _encoded(rows: Rows) -> Iterator[bytes]:
    """Each row as BSON. Wrapped while encoding, because pymongo moves the ``_id`` of an outer document."""
    import bson

    for row in rows:
        yield bson.encode({"": row})[6:-1]


def _repeated(paths: Sequence[Path], documents: RawDocuments) -> list[Fault]:
    """The documents whose ``_id`` an earlier one has, each with its place; ``paths`` are those of the pieces.

    Whether there are any is seen by numbers alone, which take a tenth of the memory of the values.
    """
    hashes = sorted(array("q", map(hash, documents.first_values())))
    if not any(map(eq, hashes, islice(hashes, 1, None))):
        return []
    seen: dict[bytes, int] = {}
    found: list[Fault] = []
    for number, value in enumerate(documents.first_values()):
        first = seen.setdefault(value, number)
        if first != number and len(found) <= fixturetext.FAULTS_SHOWN:
            here, before = (
                (paths[piece], index) for piece, index in (documents.place(number), documents.place(first))
            )
            found.append(_duplicate(documents[number], here, before))
    return found


def _duplicate(raw: bytes, here: tuple[Path, int], first: tuple[Path, int]) -> Fault:
    import bson

    (line, column), (above, _) = (
        fixturetext.place_of(path, fixturefiles.read(path), index) for path, index in (here, first)
    )
    return Fault(
        here[0],
        line,
        column,
        f"the _id {bson.decode(raw)['_id']!r} is also that of {first[0]}:{above}",
        "a server holds each _id once; drop one of the two",
    )
