"""Collections of plain files: their documents, kept in the cache where reading them takes long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from preprocessor import __version__
from preprocessor.results import fixturefiles, fixturetext
from preprocessor.results.filesource import refuse_two
from preprocessor.results.formats.model import suffix_of
from preprocessor.results.model import Fault
from preprocessor.results.plaindocuments import read_documents
from preprocessor.results.plainfiles import Collection, Found, PlainFile, find_files
from preprocessor.results.rawdocuments import RawDocuments
from preprocessor.results.repeatedids import HINT, find_repeated_ids
from preprocessor.results.sourcetext import Part

_READING: Final = f"{__version__} 1"
"""How files are read: another one as soon as the same file gives other documents."""
_LARGE: Final = 2**20
"""A file of fewer bytes is read sooner than it is looked up in the cache."""


class _Stat(NamedTuple):
    node: int
    size: int
    time: int


class PlainCollections:
    """The collections of the files that some parts of a text name."""

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

    def look(self, collection: str) -> Mapping[str, str]:
        """A key for each file, of all that its documents are made from."""
        return {str(file.path): _key(file) for file in self._collection(collection).files}

    def glance(self, collection: str) -> str:
        """Name, size and time of each file."""
        return fixturefiles.glance_at(file.path for file in self._collection(collection).files)

    def lines(self, collection: str) -> None:
        """None: other formats than lines are lines of documents only once they are read."""

    def unread(self) -> Sequence[Path]:
        """The files that are there and not read."""
        return find_files(self._parts).unread

    def read(self, collection: str, *, believing: bool) -> RawDocuments:
        """The documents of a collection, each ``_id`` once."""
        found = self._collection(collection)
        if len(found.files) > 1 and not found.is_meant:
            refuse_two(collection, [file.path.as_posix() for file in found.files])
        documents = RawDocuments([self._load(file, believing) for file in found.files])
        if len(found.files) > 1:
            _refuse_repeated(found.files, documents)
        return documents

    def _collection(self, collection: str) -> Collection:
        found = self._found or find_files(self._parts)
        return found.collections.get(collection, Collection((), is_meant=True))

    def _load(self, file: PlainFile, believing: bool) -> bytes:
        before = _stat(file.path)
        if before is None or before.size < _LARGE:
            return read_documents(file)
        from preprocessor.results import bsoncache, cachefolder  # a small file does not pay for them

        folder, key = cachefolder.folder_for(Path(self._parts[0].pattern)), _key(file)
        kept = bsoncache.get(folder, key) if believing else None
        if kept is not None:
            return kept
        payload = read_documents(file)
        if _stat(file.path) == before:  # Otherwise they may be those of other bytes.
            bsoncache.put(folder, {key: payload})
        return payload


def _stat(path: Path) -> _Stat | None:
    """What tells a file from another one; None where it cannot be looked at."""
    try:
        status = path.stat()
    except OSError:
        return None
    return _Stat(status.st_ino, status.st_size, status.st_mtime_ns)


def _key(file: PlainFile) -> str:
    """The name of the documents of a file in the cache: of its bytes, and of what else decides how they are read."""
    import hashlib

    from preprocessor.results import bsoncache

    digest = b""
    if file.path.is_file():  # a pipe would be waited for
        try:
            with file.path.open("rb") as opened:
                digest = hashlib.file_digest(opened, hashlib.sha256).digest()
        except OSError:
            pass  # Reading it tells why.
    how = repr((_READING, suffix_of(file.path.name), file.name, sorted(file.types.items())))
    return bsoncache.key_of_digest(digest + how.encode("utf-8", "surrogateescape"))


def _refuse_repeated(files: Sequence[PlainFile], documents: RawDocuments) -> None:
    """Raise ``ResultsError`` where two files have a document with the same ``_id``."""
    for number, first in find_repeated_ids(documents):
        (here, index), (there, before) = documents.place(number), documents.place(first)
        message = f"document {index + 1} has the _id of document {before + 1} of {files[there].path}"
        raise fixturetext.combine_faults([Fault(files[here].path, 0, 0, message, HINT)])
