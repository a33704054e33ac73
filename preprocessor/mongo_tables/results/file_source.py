"""A results source whose documents are in files: the same rows as from a server, without a server.

For a query, the files are listed and read, the documents are decoded, and the pipeline runs. Files are read once per
build, and decoded again only if their bytes changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import bson

from mongo_tables.aggregation import AggregationError, LimitReached, NotOffline, aggregate
from mongo_tables.aggregation.limits import pause_clock
from mongo_tables.files.memo import digest_of
from mongo_tables.files.process import nothing_collected
from mongo_tables.findings.finding import Finding, did_you_mean
from mongo_tables.results.collection import Collection
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.file_documents import Contents, decode, read_contents
from mongo_tables.results.file_listing import CollectionFiles, Listing, list_results
from mongo_tables.results.guards import OPTIONS, Limits, guard
from mongo_tables.results.model import (
    FilesChanged,
    PlainRows,
    Query,
    ResultsError,
    ResultsSource,
    Rows,
    unusable,
)
from mongo_tables.results.provenance import TOLD_BY, SourceQuery
from mongo_tables.results.rows import CODEC, encode_rows, rows_within, settle_field_order
from mongo_tables.results.source_text import SourcePart, split_parts


def open_files(where: str, limits: Limits) -> FileSource:
    """Open the files that a text names as a results source."""
    return FileSource(where, split_parts(where), limits)


def open_fixtures(folder: Path | str, limits: Limits | None = None) -> FileSource:
    """Open a folder of fixtures, and of plain files, as a results source."""
    return FileSource(Path(folder).as_posix(), [SourcePart("", str(Path(folder)), "")], limits)


def hold(name: str, documents: Iterable[Mapping[str, Any]], *files: Path) -> Collection:
    """Return a collection of documents that are not in fixture files.

    ``files`` are the files of another program from which the documents were read.
    """
    written = [bson.encode(one) for one in documents]
    held = [bson.decode(one, CODEC) for one in written]
    return Collection(name, held, digest_of(name, *written), files, plain=bool(files))


_MOST_HELD: Final = 2_000
"""A source keeps up to this many decoded documents, because dropping them would save little memory."""


class FileSource(ResultsSource):
    """A results source over files, or over the collections that ``read`` returns once per build.

    It has one worker, because Python evaluates pipelines in one thread at a time.
    """

    def __init__(
        self,
        name: str,
        parts: Sequence[SourcePart] = (),
        limits: Limits | None = None,
        read: Callable[[], Iterable[Collection]] = tuple,
    ) -> None:
        self._name = name
        self._parts = parts
        self._limits = limits or Limits()
        self._read_others = read
        self._others: dict[str, Collection] = {}  # in this build; set together with ``_listed``
        self._lock = threading.RLock()
        self._decoded: dict[str, Collection] = {}
        self._read: dict[str, Collection | ResultsError] = {}  # in this build
        self._digests: dict[str, str] = {}  # of the files, when this build first read them
        self._listed: Listing | None = None  # in this build
        self.notes: list[Finding] = []
        """The notes about the files that queries have read in this build."""

    @property
    def name(self) -> str:
        """The text that names the files."""
        return self._name

    @property
    def local(self) -> FileSource:
        """The source itself, whose documents are on this machine."""
        return self

    def reach(self) -> None:
        """Raise ``ResultsError`` if the files do not exist, cannot be listed, or have no collection."""
        if not self._list().collections and not self._others:
            raise unusable(
                f"the results source {self.name} has no collections",
                "put a file of results there, fill it with `mongo-tables pull mongodb://HOST/DATABASE`, or name "
                "another source",
            )

    def refresh(self) -> None:
        """Start the next build. Files are listed and read again on access."""
        with self._lock:
            self._listed = None
            self._read.clear()
            self._digests.clear()
            self.notes.clear()

    def let_go(self, collection: str) -> None:
        """Drop the documents of a collection if many are held. They are decoded again on access."""
        with self._lock:
            if (
                collection in self._decoded
                and sum(len(one.documents) for one in self._decoded.values()) > _MOST_HELD
            ):
                del self._decoded[collection]
                self._read.pop(collection, None)

    def release(self) -> None:
        """Drop all documents. They are read again on access."""
        with self._lock:
            self._decoded.clear()
            self._read.clear()
            self.notes.clear()

    # -- collections and files --

    def collections(self) -> tuple[str, ...]:
        """Return the names of the collections, sorted."""
        return tuple(sorted({*self._list().collections, *self._others}))

    def files(self, collection: str) -> Sequence[Path]:
        """Return the files of a collection, in order. An unknown collection has none."""
        place = self._list().collections.get(collection)
        if held := self._others.get(collection):
            return held.files
        return [file.path for file in place.files()] if place else []

    def unread(self) -> Sequence[Path]:
        """Return the existing files that are not read, sorted."""
        return self._list().unread

    def digest(self, collection: str) -> str:
        """Return a digest of the files of a collection. If the files cannot be read, return a digest of the error."""
        try:
            return self._digests.get(collection) or self.read_collection(collection).digest
        except ResultsError as error:
            return digest_of(error.message)

    def writes(self) -> str:
        """Return a digest of the current files. It changes when a file is written, added or removed."""
        said = [one.digest for one in self._read_others()]
        for collection, place in list_results(self._parts).collections.items():
            try:
                said += (collection, read_contents(collection, place).digest)
            except ResultsError as error:
                said += (collection, error.message)
        return digest_of(*said)

    def _list(self) -> Listing:
        """List the files, and call ``read``, once in a build."""
        with self._lock:
            if self._listed is None:
                self._others = {}
                for one in self._read_others():
                    self._others[one.name] = one
                self._listed = list_results(self._parts)
            return self._listed

    # -- documents --

    def read_collection(self, collection: str) -> Collection:
        """Return the collection as its files have it in this build. Callers must not change its documents.

        If it cannot be read, each call raises the same ``ResultsError``.
        """
        with self._lock:
            if (found := self._read.get(collection)) is None:
                place, held = self._list().collections.get(collection), self._others.get(collection)
                is_first = collection not in self._digests
                if held or place is None:
                    found = held or Collection(collection, (), digest_of(collection))
                else:
                    try:
                        contents = self._read_contents(collection, place)
                        found = self._decoded.get(collection)
                        if found is None or found.digest != contents.digest:
                            with nothing_collected():
                                found = self._decoded[collection] = decode(contents)
                    except ResultsError as error:
                        found = error
                self._read[collection] = found
                if isinstance(found, Collection) and is_first:
                    self.notes += found.notes
        if isinstance(found, ResultsError):
            raise found
        return found

    def _read_contents(self, collection: str, place: CollectionFiles) -> Contents:
        """Read the files of a collection. Raises ``ResultsError``, also if they changed during the build."""
        message = f"the files of the collection `{collection}` changed during the build"
        try:
            contents = read_contents(collection, place, self._digests.keys())
        except ResultsError:
            if collection in self._digests:
                raise FilesChanged(message, hint="build again") from None
            raise
        if self._digests.setdefault(collection, contents.digest) != contents.digest:
            raise FilesChanged(message, hint="build again")
        return contents

    def documents(self, collection: str) -> Sequence[dict[str, Any]]:
        """Return all documents of a collection. Callers must not change them. An unknown collection has none."""
        return self.read_collection(collection).documents

    def lines(self, collection: str) -> Iterable[bytes]:
        """Yield every document of a collection as a line of Extended JSON, as in a fixture file."""
        place = self._list().collections.get(collection)
        if place and place.folder and all(file.path.suffix == ".jsonl" for file in place.files()):
            read = (content for _, content in self._read_contents(collection, place).files)
            contents = (content.removeprefix(b"\xef\xbb\xbf") for content in read)
            return (line for one in contents for line in one.splitlines(keepends=True) if not line.isspace())
        return (f"{write_line(raw)}\n".encode() for raw in self.raws(collection))

    def raws(self, collection: str) -> list[bytes]:
        """Return all documents of a collection as BSON. An unknown collection has none."""
        return [bson.encode(one) for one in self.read_collection(collection).documents]

    def candidates(self, query: Query) -> Sequence[dict[str, Any]]:
        """Return the documents that pass the first ``$match`` of a query, or all documents if none passes."""
        documents = self.documents(query.collection)
        if not query.pipeline or "$match" not in query.pipeline[0]:
            return documents
        chosen, _ = self.read_collection(query.collection).choose(query.pipeline)
        try:
            return self._evaluate(chosen, replace(query, pipeline=query.pipeline[:1])) or documents
        except ResultsError:
            return documents

    # -- queries --

    def aggregate(self, query: Query) -> Rows:
        """Return the rows of a query. For a collection of plain files, they are ``PlainRows``.

        Raises ``ResultsError`` for a query that a server would refuse, with the path in the pipeline.
        """
        guard(query)
        with self._lock:
            collection = self.read_collection(query.collection)
            if (
                isinstance(query, SourceQuery)
                and collection.documents
                and TOLD_BY.isdisjoint(collection.fields)
            ):
                return []  # Plain results have no provenance.
            documents, _ = collection.choose(query.pipeline)
            if not documents:
                self.reach()
            sent = encode_rows(self._evaluate(documents, query))
            rows = settle_field_order(rows_within([sent], self._limits), query)
            return PlainRows(rows, collection.decimals) if collection.plain else rows

    def apply_query(self, rows: Iterable[dict[str, Any]], query: Query) -> Rows:
        """Run the stages of a query on ``rows``, without limits of rows and bytes.

        The result may share parts with ``rows``, so callers must not change it. Raises as ``aggregate`` does.
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
            raise _refuse(error) from error


@dataclass(frozen=True, slots=True)
class _Others(Mapping[str, Sequence[dict[str, Any]]]):
    """The collections that ``$lookup`` and ``$unionWith`` read. Each is decoded on first access."""

    _source: FileSource

    def __getitem__(self, name: str) -> Sequence[dict[str, Any]]:
        with pause_clock():
            return self._source.documents(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._source.collections())

    def __len__(self) -> int:
        return len(self._source.collections())


def _refuse(error: AggregationError) -> ResultsError:
    """Return the ``ResultsError`` for an error of the evaluator. If a limit is reached, the message names the stage."""
    message, path = error.message, tuple(error.path) if error.path else None
    if isinstance(error, LimitReached) and path and len(path) > 1 and isinstance(path[0], int):
        message = f"stage {path[0] + 1}, {path[1]}: {message}"
    return ResultsError(message, hint=_hint(error), path=path)


def _hint(error: AggregationError) -> str:
    """Return the hint for an error: how to raise a limit, that a server is needed, or a similar known name."""
    if not isinstance(error, LimitReached):
        only_there = isinstance(error, NotOffline)
        return "run it on a MongoDB server" if only_there else did_you_mean(error.unknown, error.known)
    name = next(name for name, option in OPTIONS.items() if option.field == error.limit)
    return f"simplify it, or raise {name}; on the command line, with --limit {name.removesuffix('_limit')}=NUMBER"
