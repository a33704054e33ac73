"""Collections of plain files: their documents, kept in the cache where reading them takes long."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from mongo_tables.results.filesource import refuse_two
from mongo_tables.results.formats.model import is_packed, suffix_of
from mongo_tables.results.model import Fault, combine_faults
from mongo_tables.results.plainfiles import Collection, Found, PlainFile, find_files
from mongo_tables.results.rawdocuments import ONCE, RawDocuments
from mongo_tables.results.sourcetext import Part

if TYPE_CHECKING:
    from mongo_tables.results.packed import Packed

_P = TypeVar("_P", bytes, "Packed")

LARGE: Final = 2**20
"""A file of fewer bytes is read sooner than it is looked up in the cache."""
_PACKED: Final = 16
"""A packed file holds about so many times its bytes."""


class PlainCollections:
    """The collections of the files that some parts of a text name."""

    are_plain: Final = True

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._found: Found | None = None

    def names(self) -> tuple[str, ...]:
        """Names of the collections, sorted, as they are on disk now."""
        self._found = find_files(self._parts)
        return tuple(self._found.collections)

    def where(self, collection: str) -> str:
        """The files of a collection."""
        return " and in ".join(file.path.as_posix() for file in self._collection(collection).files)

    def files(self, collection: str) -> Sequence[Path]:
        """The files of a collection, in their order; none for an unknown one."""
        return [file.path for file in self._collection(collection).files]

    def look(self, collection: str) -> Mapping[str, str]:
        """A key for each file, of all that its documents are made from."""
        return {str(file.path): _key(file) for file in self._collection(collection).files}

    def glance(self, collection: str) -> str:
        """Name and state of each file, and of the ways to it."""
        from mongo_tables.results.fixturefiles import glance_at  # for what is kept between builds

        return glance_at(file.path for file in self._collection(collection).files)

    def lines(self, collection: str) -> None:
        """None: other formats than lines are lines of documents only once they are read."""

    def broken(self, collection: str) -> Iterator[Fault]:
        """The first fault of each file that cannot be read as it is, of those that are read at once."""
        from mongo_tables.results.brokenfiles import find_fault  # a source whose files are all used has none

        for file in self._collection(collection).files:
            status = _stat(file.path)
            if status and status.st_size < LARGE and not is_packed(file.path.name):
                fault = find_fault(file)
                yield from [fault] if fault else []

    def unread(self) -> Sequence[Path]:
        """The files that are there and not read."""
        return find_files(self._parts).unread

    def parts(self, collection: str) -> None:
        """None: a large file is packed as it is read."""

    def read(self, collection: str, *, believing: bool) -> RawDocuments:
        """The documents of a collection, each ``_id`` once."""
        found = self._collection(collection)
        if len(found.files) > 1 and not found.is_meant:
            refuse_two(collection, [file.path.as_posix() for file in found.files])
        loaded = [(file, self._load(file, believing)) for file in found.files]
        documents = RawDocuments(piece for _, pieces in loaded for piece in pieces)
        if len(loaded) > 1 and not all(_is_numbered(*each) for each in loaded):
            _refuse_repeated([file for file, pieces in loaded for _ in pieces], documents)
        return documents

    def _collection(self, collection: str) -> Collection:
        found = self._found or find_files(self._parts)
        return found.collections.get(collection, Collection((), is_meant=True))

    def _load(self, file: PlainFile, believing: bool) -> Sequence[bytes] | Sequence[Packed]:
        """The documents of a file, which has no ``_id`` twice."""
        status = _stat(file.path)
        if status is None or status.st_size * (_PACKED if is_packed(file.path.name) else 1) < LARGE:
            return _read(file, lambda documents: iter([b"".join(documents)]))
        from mongo_tables.results import bsoncache, cachefolder, packed  # a small file does not pay for these
        from mongo_tables.results.fixturefiles import glance_at
        from mongo_tables.results.plaindocuments import refuse_outside

        refuse_outside(file)
        before = glance_at([file.path])
        folder, key = cachefolder.folder_for(Path(self._parts[0].pattern)), _key(file)
        kept = bsoncache.get(folder, key) if believing else None
        if kept is not None:
            return packed.split(kept)
        pieces = _read(file, packed.pack)
        if glance_at([file.path]) == before:  # Otherwise they may be those of other bytes.
            bsoncache.put(folder, {key: packed.join(pieces)})
        return pieces


def _read(file: PlainFile, keep: Callable[[Iterable[bytes]], Iterator[_P]]) -> list[_P]:
    """The documents of a file in the pieces that ``keep`` makes. Raises ``ResultsError``, too for an ``_id`` twice."""
    from mongo_tables.results.plaindocuments import read_documents  # a fixture folder has none

    reading = read_documents(file)
    pieces = list(keep(reading.documents))
    if reading.has_ids:
        _refuse_repeated([file] * len(pieces), RawDocuments(pieces))
    return pieces


def _stat(path: Path) -> os.stat_result | None:
    """What the system says of a file; None where it cannot be looked at."""
    try:
        return path.stat()
    except OSError:
        return None


def _key(file: PlainFile) -> str:
    """The name of the documents of a file in the cache: of its bytes, and of what else decides how they are read.

    Whether they are is decided by where the file is: a link that leads out of its folder is refused.
    """
    import hashlib

    from mongo_tables.files.text import leads_within
    from mongo_tables.results import bsoncache
    from mongo_tables.results.ownfiles import sign_of_program

    digest = b""
    if file.path.is_file():  # a pipe would be waited for
        try:
            with file.path.open("rb") as opened:
                digest = hashlib.file_digest(opened, hashlib.sha256).digest()
        except OSError:
            pass  # Reading it tells why.
    read_as = suffix_of(file.path.name), file.name, sorted(file.types.items())
    how = repr((sign_of_program(), leads_within(file.path, file.within), *read_as))
    return bsoncache.key_of_digest(digest + how.encode("utf-8", "surrogateescape"))


def _is_numbered(file: PlainFile, pieces: Sequence[bytes | Packed]) -> bool:
    """Whether the documents of a file have the ``_id`` that they are given, each its own."""
    from mongo_tables.results.plaindocuments import is_first_of

    first = next(iter(RawDocuments(pieces[:1])), None)
    return first is None or is_first_of(file.name, first)


def _refuse_repeated(files: Sequence[PlainFile], documents: RawDocuments) -> None:
    """Raise ``ResultsError`` for an ``_id`` of two documents; ``files`` are those of the pieces."""
    import bson

    for number, first in documents.repeated_ids():
        here, there = (files[documents.place(each)[0]].path for each in (number, first))
        elsewhere = "two documents" if here == there else f"a document of {there}, too"
        message = f"the _id {bson.decode(documents[number])['_id']!r} is that of {elsewhere}"
        raise combine_faults([Fault(here, 0, 0, message, ONCE)])
