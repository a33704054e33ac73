"""A results source whose documents are in files: no server, the same rows.

Files are read as they are when first asked for; ``state`` looks at the disk again and drops what has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mongo_tables.results.local import LocalSource
from mongo_tables.results.model import Fault, Limits, PlainRows, Query, ResultsError, Rows
from mongo_tables.results.rawdocuments import RawDocuments

if TYPE_CHECKING:
    from mongo_tables.results.keptparts import KeptParts
    from mongo_tables.results.stored import StoredCollection


class FileCollections(Protocol):
    """Collections whose documents are in files. Every method may raise ``ResultsError``."""

    @property
    def are_plain(self) -> bool:
        """Whether other programs write the files; fixture files are this one's."""
        ...

    def names(self) -> tuple[str, ...]:
        """Names of the collections, sorted."""
        ...

    def where(self, collection: str) -> str:
        """The files of a collection, as messages name them."""
        ...

    def files(self, collection: str) -> Sequence[Path]:
        """The files of a collection, in their order; none for an unknown one."""
        ...

    def look(self, collection: str) -> Mapping[str, str]:
        """What tells the files of a collection from what they were before: a key for each, by its name."""
        ...

    def glance(self, collection: str) -> str:
        """A text that is another one once the files of a collection were written to; they are not read for it."""
        ...

    def read(self, collection: str, *, believing: bool) -> RawDocuments:
        """The documents of a collection. ``believing`` says whether the cache is asked."""
        ...

    def lines(self, collection: str) -> Iterable[bytes] | None:
        """The documents of a collection as they stand in lines; None where they do not stand so."""
        ...

    def parts(self, collection: str) -> KeptParts | None:
        """Where copies of what pipelines read of a collection are kept; None where that would save nothing."""
        ...

    def broken(self, collection: str) -> Iterable[Fault]:
        """The first fault of each plain file of a collection that cannot be read as it is."""
        ...

    def unread(self) -> Sequence[Path]:
        """The files that are there and not read."""
        ...


class _Sight(NamedTuple):
    """What the files of a collection were like when they were looked at: a glance at them, and a key for each.

    The glance is another one for a file that was written to, though it is by now what it was.
    """

    glance: str
    keys: Mapping[str, str]


class FileSource(LocalSource):
    """Files as a results source; a collection may be in one of ``held`` alone."""

    def __init__(self, name: str, held: Sequence[FileCollections], limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._name = name
        self._held = held
        self._seen: dict[str, _Sight] | None = None
        self._plain: set[str] = set()
        self._asked: set[str] = set()
        self._dropped: set[str] = set()
        self._failed: dict[str, ResultsError] = {}

    @property
    def name(self) -> str:
        """The text that names the files, as it was given."""
        return self._name

    def reach(self) -> None:
        """Raise ``ResultsError`` when there is no folder or file, none can be listed, or none has a collection."""
        if not self.collections():
            raise ResultsError(
                f"the results source {self.name} has no collections",
                hint="put a file of results there, fill it with `mongo-tables pull mongodb://HOST/DATABASE`, or "
                "name another one",
                environment=True,
            )

    def collections(self) -> tuple[str, ...]:
        """Names of the collections, sorted."""
        return tuple(self._all())

    def aggregate(self, query: Query) -> Rows:
        """The rows of a query, as ``LocalSource.aggregate``; ``PlainRows`` of a collection of plain files."""
        rows = super().aggregate(query)
        return PlainRows(rows) if query.collection in self._plain else rows

    def state(self) -> str:
        """Digest of the names and bytes of all files, and of the names of files that are refused.

        Documents of changed collections are read anew.
        """
        import hashlib  # a single run does not ask for it

        total = hashlib.sha256()
        with self._lock:
            seen: dict[str, _Sight] = {}
            for collection, holding in self._all().items():
                glance = " ".join(held.glance(collection) for held in holding)
                sight = seen[collection] = _Sight(glance, _look(collection, holding))
                # One that was not there before may have been asked for in vain.
                if self._seen is not None and self._seen.get(collection) != sight:
                    self._stored.pop(collection, None)
                for name, key in sight.keys.items():
                    total.update(f"{collection}/{name}\0{key}\n".encode(errors="surrogateescape"))
            for gone in (self._stored.keys() | (self._seen or {}).keys()) - seen.keys():
                self._stored.pop(gone, None)
            if seen != self._seen:
                self._failed.clear()
            self._seen = seen
            self._dropped.clear()
        return total.hexdigest()

    def forget(self, *, idle: bool = False) -> None:
        """As ``LocalSource.forget``; with ``idle`` also collections that nobody asked for since the last time.

        Files have them still, and ``state`` has told what these are like.
        """
        super().forget()
        with self._lock:
            if not idle or self._seen is None:
                return
            gone = self._stored.keys() & self._seen.keys() - self._asked
            for collection in gone:
                del self._stored[collection]
            self._dropped |= gone
            self._asked.clear()

    def read_collection(self, collection: str) -> StoredCollection:
        """As ``LocalSource.read_collection``."""
        self._asked.add(collection)
        return super().read_collection(collection)

    def _read_soundly(self, collection: str) -> RawDocuments:
        """As ``LocalSource._read_soundly``; what cannot be read is read again once the state is another one.

        All faults of all files are looked for then, and an editor asks at every letter.
        """
        if (known := self._failed.get(collection)) is not None:
            raise known
        try:
            return super()._read_soundly(collection)
        except ResultsError as error:
            if self._seen is not None:
                self._failed[collection] = error
            raise

    def writes(self) -> str:
        """A text that changes once a file was written, came or went; no file is read for it."""
        return "\n".join(
            f"{collection} {held.glance(collection)}"
            for collection, holding in self._all().items()
            for held in holding
        )

    def files(self, collection: str) -> Sequence[Path]:
        """The files of a collection."""
        return [path for held in self._holding(collection) for path in held.files(collection)]

    def broken(self) -> Sequence[Fault]:
        """The first fault of each plain file that nothing was asked of and that cannot be read as it is."""
        return [
            fault
            for collection, holding in self._all().items()
            if collection not in self._stored
            for held in holding
            for fault in held.broken(collection)
        ]

    def unread(self) -> Sequence[Path]:
        """The files that are there and not read."""
        return sorted({path for held in self._held for path in held.unread()})

    def lines(self, collection: str) -> Iterable[bytes]:
        """The documents as they stand in lines of files, or would."""
        for held in self._holding(collection):
            lines = held.lines(collection)
            if lines is not None:
                return lines
        return super().lines(collection)

    def _read(self, collection: str, *, believing: bool = True) -> RawDocuments:
        holding = self._holding(collection)
        if len(holding) > 1:
            refuse_two(collection, [held.where(collection) for held in holding])
        self._refuse_changed(collection, holding)
        self._plain.discard(collection)
        self._plain.update(collection for held in holding if held.are_plain)
        return holding[0].read(collection, believing=believing) if holding else RawDocuments(())

    def _refuse_changed(self, collection: str, holding: Sequence[FileCollections]) -> None:
        """Raise ``ResultsError`` where a collection that was dropped is another one by now."""
        if self._seen is None or collection not in self._dropped:
            return
        if _look(collection, holding) != self._seen[collection].keys:
            raise ResultsError(
                f"files of the collection `{collection}` changed while it was in use",
                hint="start again: pages would show two states of it",
            )
        self._dropped.discard(collection)

    def _find_parts(self, collection: str) -> KeptParts | None:
        holding = self._holding(collection)
        return holding[0].parts(collection) if len(holding) == 1 else None

    def _read_anew(self, collection: str) -> RawDocuments:
        """The documents, read from the files without the cache, whose entries are then written anew: one is broken."""
        return self._read(collection, believing=False)

    def _holding(self, collection: str) -> Sequence[FileCollections]:
        return self._all().get(collection, ())

    def _all(self) -> Mapping[str, Sequence[FileCollections]]:
        """Who holds each collection, by its name, in the order of names."""
        found: dict[str, list[FileCollections]] = {}
        for held in self._held:
            for name in held.names():
                found.setdefault(name, []).append(held)
        return dict(sorted(found.items()))


def _look(collection: str, holding: Sequence[FileCollections]) -> Mapping[str, str]:
    """A key for each file of a collection, by its name."""
    return {name: key for held in holding for name, key in held.look(collection).items()}


def refuse_two(collection: str, places: Sequence[str]) -> None:
    """Raise ``ResultsError``: the collection would be in several places."""
    raise ResultsError(
        f"the collection `{collection}` is in {' and in '.join(places)}",
        hint=f"name one of them otherwise, as in other={places[-1]}; or all of them: {collection}=PATTERN",
    )
