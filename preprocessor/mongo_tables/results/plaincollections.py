"""Collections of plain files, which other programs wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from mongo_tables.aggregation.join_index import Collection as Joined
from mongo_tables.results.collection import ONCE, Collection, Contents, find_repeated_ids
from mongo_tables.results.filesource import refuse_two
from mongo_tables.results.formats.model import is_packed
from mongo_tables.results.model import Fault, combine_faults
from mongo_tables.results.plainfiles import Found, PlainCollection, find_files
from mongo_tables.results.sourcetext import Part

SMALL: Final = 2**20
"""A file of fewer bytes is read though no comment uses it."""


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
        return " and in ".join(path.as_posix() for path in self.files(collection))

    def files(self, collection: str) -> Sequence[Path]:
        """The files of a collection, in their order; none for an unknown one."""
        return [file.path for file in self._collection(collection).files]

    def lines(self, collection: str) -> None:
        """None: other formats than lines are lines of documents only once they are read."""

    def broken(self, collection: str) -> Iterator[Fault]:
        """The first fault of each small file that cannot be read as it is."""
        from mongo_tables.results.brokenfiles import find_fault  # a source whose files are all used has none

        for file in self._collection(collection).files:
            if not is_packed(file.path.name) and (fault := find_fault(file, SMALL)):
                yield fault

    def unread(self) -> Sequence[Path]:
        """The files that are there and not read."""
        return find_files(self._parts).unread

    def read(self, collection: str) -> Contents:
        """The bytes of the files of a collection."""
        from mongo_tables.results.plaindocuments import read_file  # a fixture folder has none

        found = self._collection(collection)
        if len(found.files) > 1 and not found.is_meant:
            refuse_two(collection, [file.path.as_posix() for file in found.files])
        return Contents(collection, tuple((file.path, read_file(file)) for file in found.files), plain=True)

    def decode(self, contents: Contents) -> Collection:
        """The documents of a collection, each ``_id`` once."""
        from mongo_tables.results.plaindocuments import read_documents

        files = {file.path: file for file in self._collection(contents.name).files}
        read: list[tuple[Path, Sequence[dict[str, Any]]]] = []
        have_ids = False
        for path, content in contents.files:
            documents, has_ids = read_documents(files[path], content)
            if has_ids:
                _refuse_repeated([(path, documents)])
            have_ids = have_ids or has_ids
            read.append((path, documents))
        if len(read) == 1:
            ((_, joined),) = read
        else:
            if have_ids:
                _refuse_repeated(read)
            joined = Joined(one for _, documents in read for one in documents)
        return Collection(contents.name, joined, contents.digest, tuple(path for path, _ in read), plain=True)

    def _collection(self, collection: str) -> PlainCollection:
        found = self._found or find_files(self._parts)
        return found.collections.get(collection, PlainCollection((), is_meant=True))


def _refuse_repeated(read: Sequence[tuple[Path, Sequence[dict[str, Any]]]]) -> None:
    """Raise ``ResultsError`` for an ``_id`` of two documents of some files."""
    every = [(path, one["_id"]) for path, documents in read for one in documents]
    for number, first in find_repeated_ids({"_id": key} for _, key in every):
        (here, key), (there, _) = every[number], every[first]
        elsewhere = "two documents" if here == there else f"a document of {there}, too"
        raise combine_faults([Fault(here, 0, 0, f"the _id {key!r} is that of {elsewhere}", ONCE)])
