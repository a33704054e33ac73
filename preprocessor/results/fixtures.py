"""Results from fixture files: no server, the same rows.

The folder is read as it was when first asked; ``state`` looks at the disk again and drops what has changed.
"""

from __future__ import annotations

import hashlib
from array import array
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import eq
from pathlib import Path
from typing import Protocol

from preprocessor.results import bsoncache, cachefolder, fixturefiles, fixturetext
from preprocessor.results.local import LocalSource
from preprocessor.results.model import Fault, Limits, ResultsError
from preprocessor.results.rawdocuments import RawDocuments


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


class FixtureSource(LocalSource):
    """A folder of fixtures as a results source."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._folder = folder
        self._cache = cachefolder.folder_for(folder)
        self._keys: dict[str, dict[Path, str]] = {}
        self._unread: dict[str, tuple[str, ...]] = {}

    @property
    def name(self) -> str:
        """The folder's path as it was given."""
        return self._folder.as_posix()

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

    def lines(self, collection: str) -> Iterator[bytes]:
        """The documents that stand in a line each, as they are written there."""
        for file in fixturefiles.files_of(self._folder, collection):
            if file.suffix == ".jsonl":
                content = fixturefiles.read(file).removeprefix(BOM_UTF8)
                yield from (line for line in content.splitlines(keepends=True) if not line.isspace())

    def _read(self, collection: str, *, believing: bool = True) -> RawDocuments:
        """The documents of a collection, each ``_id`` once. ``believing`` says whether the cache is asked."""
        try:
            loaded = self._load(collection, believing)
        except ResultsError as error:
            raise self._faults() or error from None
        documents = RawDocuments(loaded.values())
        if repeated := _find_repeated_ids(tuple(loaded), documents):
            raise fixturetext.combine_faults(repeated)
        return documents

    def _read_anew(self, collection: str) -> RawDocuments:
        """The documents, read from the files without the cache, whose entries are then written anew: one is broken."""
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
            kept = self._find_cached(path, known) if believing else None
            loaded[path] = self._parse(path) if kept is None else kept
        return loaded

    def _find_cached(self, path: Path, known: str | None) -> bytes | None:
        """The documents of a file from the cache, if there is an entry for its content.

        A digest that ``state`` has taken in this process spares reading the file: the cache has those very bytes.
        """
        payload = bsoncache.get(self._cache, known) if known else None
        if payload is None and self._cache is not None and (key := _key(path)) != known:
            payload = bsoncache.get(self._cache, key)
        return payload

    def _parse(self, path: Path) -> bytes:
        """Parse the documents of a file, and put them into the cache."""
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
        return fixturetext.combine_faults(faults) if faults else None


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


def _find_repeated_ids(paths: Sequence[Path], documents: RawDocuments) -> list[Fault]:
    """A fault for each document that repeats an earlier ``_id``; ``paths`` are the files of the pieces.

    Hashes show first whether any repeat: they take a tenth of the memory of the values.
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
