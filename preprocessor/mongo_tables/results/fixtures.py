"""Fixture folders: a folder of files for each collection, beside which plain files may be."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from mongo_tables.aggregation.join_index import Collection as Joined
from mongo_tables.results import fixturefiles, fixturetext
from mongo_tables.results.collection import ONCE, Collection, Contents, find_repeated_ids
from mongo_tables.results.filesource import FileSource
from mongo_tables.results.model import FAULTS_SHOWN, Fault, Limits, ResultsError, combine_faults
from mongo_tables.results.plaincollections import PlainCollections
from mongo_tables.results.sourcetext import Part


def open_fixtures(folder: Path, limits: Limits | None = None) -> FileSource:
    """A folder of fixtures as a results source, with the plain files that are directly in it."""
    plain = PlainCollections([Part("", str(folder), "")])
    return FileSource(folder.as_posix(), (FixtureFolder(folder), plain), limits)


class FixtureFolder:
    """The collections of a folder that have a folder of fixture files each."""

    are_plain: Final = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Names of the collections (sub-folders), sorted."""
        return fixturefiles.collection_names(self._folder)

    def where(self, collection: str) -> str:
        """The folder of a collection."""
        return fixturefiles.folder_of(self._folder, collection).as_posix()

    def files(self, collection: str) -> Sequence[Path]:
        """The files of a collection, in their order; none for an unknown one."""
        return fixturefiles.files_of(self._folder, collection)

    def lines(self, collection: str) -> Iterator[bytes]:
        """The documents that are a line each, as they are written there."""
        for file in fixturefiles.files_of(self._folder, collection):
            if file.suffix == ".jsonl":
                content = fixturefiles.read(file).removeprefix(BOM_UTF8)
                yield from (line for line in content.splitlines(keepends=True) if not line.isspace())

    def broken(self, collection: str) -> Sequence[Fault]:
        """None: every fault of a fixture file is an error."""
        return ()

    def unread(self) -> Sequence[Path]:
        """None: an unread file in the folder of a collection is an error of that collection."""
        return ()

    def read(self, collection: str) -> Contents:
        """The bytes of the files of a collection."""
        files = fixturefiles.files_of(self._folder, collection)
        fixturefiles.refuse_unread(self._folder, collection)
        try:
            return Contents(collection, tuple((path, fixturefiles.read(path)) for path in files))
        except ResultsError as error:
            raise self._find_faults() or error from None

    def decode(self, contents: Contents) -> Collection:
        """The documents of a collection, each ``_id`` once."""
        found: list[dict[str, Any]] = []
        ends: list[int] = []
        for path, content in contents.files:
            documents, faults = fixturetext.read(path, content)
            if faults:
                raise self._find_faults() or combine_faults(faults)
            found += documents
            ends.append(len(found))
        if repeated := _describe_repeated(contents, found, ends):
            raise combine_faults(repeated)
        paths = tuple(path for path, _ in contents.files)
        return Collection(contents.name, Joined(found), contents.digest, paths)

    def _find_faults(self) -> ResultsError | None:
        """Every fault of every file of the folder, so that one run reports all."""
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


def _describe_repeated(
    contents: Contents, documents: Sequence[dict[str, Any]], ends: Sequence[int]
) -> list[Fault]:
    """A fault for each document that repeats an earlier ``_id``; ``ends`` are the numbers behind those of each file."""

    def place(number: int) -> tuple[Path, int, int]:
        file = next(index for index, end in enumerate(ends) if number < end)
        path, content = contents.files[file]
        return path, *fixturetext.place_of(path, content, number - (ends[file - 1] if file else 0))

    found: list[Fault] = []
    for number, first in islice(find_repeated_ids(documents), FAULTS_SHOWN + 1):
        (path, line, column), (before, above, _) = place(number), place(first)
        message = f"the _id {documents[number]['_id']!r} is also that of {before}:{above}"
        found.append(Fault(path, line, column, message, ONCE))
    return found
