"""Fixture folders: a folder of files for each collection, beside which plain files may stand."""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from mongo_tables.results import bsoncache, cachefolder, fixturefiles, fixturetext
from mongo_tables.results.filesource import FileSource
from mongo_tables.results.model import FAULTS_SHOWN, Fault, Limits, ResultsError, combine_faults
from mongo_tables.results.ownfiles import sign_of_program
from mongo_tables.results.plaincollections import PlainCollections
from mongo_tables.results.rawdocuments import ONCE, RawDocuments
from mongo_tables.results.sourcetext import Part

if TYPE_CHECKING:
    from mongo_tables.results.keptparts import KeptParts

LEAST: Final = 32 * 2**20
"""Of a collection whose files have fewer bytes all documents are at hand soon enough."""


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


def key_of_documents(suffix: str, digest: bytes) -> str:
    """The cache's key of the documents of a file: of the digest of its bytes, its suffix, and this program.

    By its suffix it is told whether a file has a document a line or an array of them.
    """
    return bsoncache.key_of_digest(f"{sign_of_program()} {suffix} ".encode() + digest)


class FixtureSource(FileSource):
    """A folder of fixtures as a results source, with the plain files that stand directly in it."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        plain = PlainCollections([Part("", str(folder), "")])
        super().__init__(folder.as_posix(), (FixtureFolder(folder), plain), limits)


class _Loaded(NamedTuple):
    """The documents of a file, end to end, and the digest of the bytes that they were read from."""

    key: str
    documents: bytes


class FixtureFolder:
    """The collections of a folder that have a folder of fixture files each."""

    are_plain: Final = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cache = cachefolder.folder_for(folder)
        self._keys: dict[str, dict[Path, str]] = {}
        self._read: dict[str, dict[Path, str]] = {}

    def names(self) -> tuple[str, ...]:
        """Names of the collections (sub-folders), sorted."""
        return fixturefiles.collection_names(self._folder)

    def where(self, collection: str) -> str:
        """The folder of a collection."""
        return fixturefiles.folder_of(self._folder, collection).as_posix()

    def files(self, collection: str) -> Sequence[Path]:
        """The files of a collection, in their order; none for an unknown one."""
        return fixturefiles.files_of(self._folder, collection)

    def look(self, collection: str) -> Mapping[str, str]:
        """The digest of each file of a collection, and the names of files that are refused."""
        keys = {path: _key(path) for path in fixturefiles.files_of(self._folder, collection)}
        self._keys[collection] = keys
        unread = fixturefiles.unread_in(self._folder, collection)
        return {**{path.name: key for path, key in keys.items()}, **dict.fromkeys(unread, "not read")}

    def glance(self, collection: str) -> str:
        """Name and state of each file, and of the ways to it."""
        return fixturefiles.glance_at(fixturefiles.files_of(self._folder, collection))

    def lines(self, collection: str) -> Iterator[bytes]:
        """The documents that stand in a line each, as they are written there."""
        for file in fixturefiles.files_of(self._folder, collection):
            if file.suffix == ".jsonl":
                content = fixturefiles.read(file).removeprefix(BOM_UTF8)
                yield from (line for line in content.splitlines(keepends=True) if not line.isspace())

    def broken(self, collection: str) -> Sequence[Fault]:
        """None: of fixture files every fault is an error."""
        return ()

    def unread(self) -> Sequence[Path]:
        """None: what is in the folder of a collection and not read is an error of whoever reads the collection."""
        return ()

    def read(self, collection: str, *, believing: bool) -> RawDocuments:
        """The documents of a collection, each ``_id`` once."""
        try:
            loaded = self._load(collection, believing)
        except ResultsError as error:
            raise self._faults() or error from None
        documents = RawDocuments(loaded.values())
        if repeated := _describe_repeated(tuple(loaded), documents):
            raise combine_faults(repeated)
        return documents

    def parts(self, collection: str) -> KeptParts | None:
        """Where copies of what pipelines read of a collection are kept; None for a small one, and without a cache."""
        files = self._files(collection)
        if self._cache is None or fixturefiles.size_of(files) < LEAST:
            return None
        from mongo_tables.results.keptparts import KeptParts  # a small collection does not pay for it

        fixturefiles.refuse_unread(self._folder, collection)
        if collection not in self._keys:
            self._keys[collection] = {path: _key(path) for path in files}
        keys = self._keys[collection]
        return KeptParts(self._cache, " ".join(keys.values()), lambda: self._read.get(collection) == keys)

    def _files(self, collection: str) -> list[Path]:
        known = self._keys.get(collection)
        return fixturefiles.files_of(self._folder, collection) if known is None else list(known)

    def _load(self, collection: str, believing: bool) -> dict[Path, bytes]:
        """The documents of each file of a collection, end to end; what had to be parsed is put into the cache."""
        loaded: dict[Path, bytes] = {}
        read: dict[Path, str] = {}
        files = self._files(collection)
        fixturefiles.refuse_unread(self._folder, collection)
        for path in files:
            known = self._keys.get(collection, {}).get(path)
            found = (self._find_cached(path, known) if believing else None) or self._parse(path)
            loaded[path], read[path] = found.documents, found.key
        self._read[collection] = read
        return loaded

    def _find_cached(self, path: Path, known: str | None) -> _Loaded | None:
        """The documents of a file from the cache, if there is an entry for its content.

        A digest that ``look`` has taken in this process spares reading the file: the cache has those very bytes.
        """
        payload = bsoncache.get(self._cache, known) if known else None
        if payload is not None and known:
            return _Loaded(known, payload)
        if self._cache is None or (key := _key(path)) == known:
            return None
        payload = bsoncache.get(self._cache, key)
        return None if payload is None else _Loaded(key, payload)

    def _parse(self, path: Path) -> _Loaded:
        """Parse the documents of a file, and put them into the cache."""
        digest = hashlib.sha256()
        payload = fixturetext.payload(path, _through(digest, fixturefiles.blocks(path)))
        key = key_of_documents(path.suffix, digest.digest())
        bsoncache.put(self._cache, {key: payload})
        return _Loaded(key, payload)

    def _faults(self) -> ResultsError | None:
        """Every fault of every file of the folder, so that one run tells all."""
        faults: list[Fault] = []
        for collection in self.names():
            try:
                files = fixturefiles.files_of(self._folder, collection)
            except ResultsError as error:
                faults += error.faults
                continue
            for path in files:
                faults += _faults_of(path)
        return combine_faults(faults) if faults else None


def _faults_of(path: Path) -> Sequence[Fault]:
    try:
        return fixturetext.read(path, fixturefiles.read(path))[1]
    except ResultsError as error:  # It cannot even be opened.
        return error.faults


def _key(path: Path) -> str:
    digest = hashlib.sha256()
    for _ in _through(digest, fixturefiles.blocks(path)):
        pass
    return key_of_documents(path.suffix, digest.digest())


def _through(digest: _Digest, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks as they are, each taken into the digest."""
    for block in blocks:
        digest.update(block)
        yield block


def _describe_repeated(paths: Sequence[Path], documents: RawDocuments) -> list[Fault]:
    """A fault for each document that repeats an earlier ``_id``; ``paths`` are the files of the pieces."""
    found: list[Fault] = []
    for number, first in islice(documents.repeated_ids(), FAULTS_SHOWN + 1):
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
    message = f"the _id {bson.decode(raw)['_id']!r} is also that of {first[0]}:{above}"
    return Fault(here[0], line, column, message, ONCE)
