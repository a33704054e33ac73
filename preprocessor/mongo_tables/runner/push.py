"""Copies collections from files into a results database, so that pages can read them there.

Written is only to a database that a push made itself, or that its owner gave it: one with a document of its own in the
collection of markers, which is not that of a run, whose databases may be dropped. A document that is there already,
byte for byte, is not written again; what the files do not have stays, unless it is to go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from mongo_tables.results.secrets import redact
from mongo_tables.runner.connection_strings import driver_fault, selection_ms, used
from mongo_tables.runner.errors import RunnerError, TargetError
from mongo_tables.runner.ownership import MARKER

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.collection import Collection
    from pymongo.database import Database

    from mongo_tables.results.file_source import FileSource

PATIENCE_MS: Final = 15_000
"""How long a server is waited for: longer than an election takes."""
_TOGETHER: Final = 500
"""So many documents are compared, and written, at once."""
_MARK: Final = {
    "_id": "mongo-tables push",
    "purpose": "results that mongo-tables push wrote; it may write here",
}
T = TypeVar("T")


class Pushed(NamedTuple):
    """What became of a collection in the database: how many documents were new, different, or taken out.

    ``kept`` are those that the files do not have.
    """

    collection: str
    documents: int
    added: int
    changed: int
    removed: int
    kept: int

    @property
    def is_change(self) -> bool:
        """Whether the database differs from before."""
        return bool(self.added or self.changed or self.removed)


def push(
    source: FileSource, uri: str, names: Sequence[str] = (), *, remove: bool = False, dry_run: bool = False
) -> list[Pushed]:
    """Have collections of the database hold the documents of files; without ``names`` all that there are.

    ``remove`` takes documents out that the files do not have. With ``dry_run`` nothing is written. Raises
    RunnerError, and TargetError for a database that is somebody else's; what was written by then stays.
    """
    names = names or source.collections()
    _refuse_unknown(source, names)
    for name in names:
        source.read_collection(name)  # All faults of files come before the first write.
    client = used(uri, "the results database", lambda: _connect(uri))
    try:
        return _plainly(uri, lambda: _push_all(source, client, uri, names, remove, dry_run))
    finally:
        client.close()


def _push_all(
    source: FileSource, client: MongoClient[Any], uri: str, names: Sequence[str], remove: bool, dry_run: bool
) -> list[Pushed]:
    from pymongo import ReadPreference, WriteConcern

    database = client.get_default_database(
        read_preference=ReadPreference.PRIMARY, write_concern=WriteConcern("majority")
    )
    _claim(database, uri, dry_run)
    return [_push_collection(source, database[name], remove, dry_run) for name in names]


def _connect(uri: str) -> MongoClient[Any]:
    from bson.raw_bson import RawBSONDocument
    from pymongo import MongoClient
    from pymongo.errors import ConfigurationError

    client: MongoClient[Any] = MongoClient(
        uri, document_class=RawBSONDocument, serverSelectionTimeoutMS=selection_ms(uri, PATIENCE_MS)
    )
    try:
        client.get_default_database()
    except ConfigurationError:
        client.close()
        raise RunnerError(
            f"{redact(uri)} names no database to write to", "mongodb://HOST/DATABASE names one"
        ) from None
    return client


def _refuse_unknown(source: FileSource, names: Sequence[str]) -> None:
    known = source.collections()
    for name in names:
        if name not in known:
            raise RunnerError(f"{source.name} has no collection {name!r}", f"it has {', '.join(known)}")
    if MARKER in names:
        raise RunnerError(f"the collection {MARKER} says whose a database is, and is not copied", "rename it")


def _claim(database: Database[Any], uri: str, dry_run: bool) -> None:
    """Put the marker into a database that is empty. Raises TargetError for another one that has none."""
    if database[MARKER].find_one({"_id": _MARK["_id"]}) is not None:
        return
    if database.list_collection_names():
        raise TargetError(
            f"the database {redact(uri)} was not made by mongo-tables push; nothing is written to it",
            f'name a new one; or, where it is yours to give: db.{MARKER}.insertOne({{_id: "{_MARK["_id"]}"}})',
        )
    if not dry_run:
        database[MARKER].insert_one(dict(_MARK))


def _push_collection(source: FileSource, collection: Collection[Any], remove: bool, dry_run: bool) -> Pushed:
    raws = source.raws(collection.name)
    added = changed = 0
    ids = [_id_of(raw) for raw in raws]
    for batch in _in_batches(list(zip(ids, raws, strict=True))):
        known = _find_known(collection, batch)
        new = [one for one in batch if one[0] not in known]
        different = [(key, raw) for key, raw in batch if known.get(key, raw) != raw]
        added, changed = added + len(new), changed + len(different)
        if not dry_run:
            _replace(collection, [*new, *different])
    others = list(_find_others(collection, set(ids)))
    if remove and not dry_run:
        for some in _in_batches(others):
            collection.delete_many({"_id": {"$in": list(some)}})
    gone = len(others) if remove else 0
    return Pushed(collection.name, len(raws), added, changed, gone, len(others) - gone)


def _in_batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _TOGETHER] for start in range(0, len(items), _TOGETHER))


def _find_known(collection: Collection[Any], documents: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Those of the documents, each behind its ``_id``, that the collection has one of, as they are there, by it."""
    ids = [_value_of_id(key) for key, _ in documents]
    # Of a large answer ``raw`` is a view.
    found = (bytes(one.raw) for one in collection.find({"_id": {"$in": ids}}))
    return {_id_of(raw): raw for raw in found}


def _replace(collection: Collection[Any], documents: Sequence[tuple[bytes, bytes]]) -> None:
    """Write documents, each behind its ``_id``, in the place of those that are there."""
    from bson.raw_bson import RawBSONDocument
    from pymongo import ReplaceOne

    if documents:
        asked: list[ReplaceOne[Any]] = [
            ReplaceOne({"_id": {"$eq": _value_of_id(key)}}, RawBSONDocument(raw), upsert=True)
            for key, raw in documents
        ]
        collection.bulk_write(asked, ordered=False)


def _find_others(collection: Collection[Any], known: set[bytes]) -> Iterator[Any]:
    """The ``_id`` of each document that is not among the known ones; they are read from the index alone."""
    for one in collection.find({}, {"_id": 1}, sort=[("_id", 1)]):
        if _id_of(bytes(one.raw)) not in known:
            yield one["_id"]


def _id_of(raw: bytes) -> bytes:
    """The document with nothing but its ``_id``."""
    import bson
    from bson.raw_bson import RawBSONDocument

    return bson.encode({"_id": RawBSONDocument(raw)["_id"]})


def _value_of_id(key: bytes) -> Any:
    from bson.raw_bson import RawBSONDocument

    return RawBSONDocument(key)["_id"]


def _plainly(uri: str, act: Callable[[], T]) -> T:
    from pymongo.errors import PyMongoError

    try:
        return act()
    except PyMongoError as error:
        raise RunnerError(f"the results database {redact(uri)}: {driver_fault(error, uri)}") from None
