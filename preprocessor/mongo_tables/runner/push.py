"""Copies collections from files into a results database, where pages can read them.

Push writes only to a database that a push created or that its owner released for pushes. Such a database has a document
of push in the marker collection. (A run marks its databases with another document, which permits it to drop them.) A
document that is already stored byte for byte is not written again. Documents that the files lack stay, unless the
caller asks to remove them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import bson
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient, ReadPreference, ReplaceOne, WriteConcern
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import ConfigurationError, PyMongoError

from mongo_tables.findings.usage import CommandError
from mongo_tables.results.file_source import FileSource
from mongo_tables.results.source_text import redact
from mongo_tables.runner import MARKER
from mongo_tables.runner.connection_strings import PATIENCE_MS, driver_fault, selection_ms, used
from mongo_tables.runner.errors import TargetError

_TOGETHER: Final = 500
"""The number of documents that one query compares or one command writes."""
_MARK: Final = {
    "_id": "mongo-tables push",
    "purpose": "results that mongo-tables push wrote; it may write here",
}
T = TypeVar("T")


class Pushed(NamedTuple):
    """The changes to a collection in the database: the number of new, changed and removed documents.

    ``documents`` counts the documents in the files. ``kept`` counts stored documents that the files lack and that stay.
    """

    collection: str
    documents: int
    added: int
    changed: int
    removed: int
    kept: int

    @property
    def is_change(self) -> bool:
        """Return whether the push changed the database."""
        return bool(self.added or self.changed or self.removed)


def push(
    source: FileSource, uri: str, names: Sequence[str] = (), *, remove: bool = False, dry_run: bool = False
) -> list[Pushed]:
    """Write the collections ``names`` of the files to the database, or all collections if ``names`` is empty.

    ``remove`` deletes documents that the files lack. With ``dry_run`` nothing is written. Raises CommandError, or
    TargetError for a database without push's marker. Documents written before an error stay.
    """
    known = source.collections()
    names = names or known
    for name in names:
        if name not in known:
            raise CommandError(f"{source.name} has no collection {name!r}", f"it has {', '.join(known)}")
    if MARKER in names:
        raise CommandError(
            f"the collection {MARKER} marks a database's owner and cannot be copied", "rename it"
        )
    for name in names:
        source.read_collection(name)  # report all faults of files before the first write
    client = used(uri, "the results database", lambda: _connect(uri))
    try:
        database = client.get_default_database(
            read_preference=ReadPreference.PRIMARY, write_concern=WriteConcern("majority")
        )
        _claim(database, uri, dry_run)
        return [_push_collection(source, database[name], remove, dry_run) for name in names]
    except PyMongoError as error:
        raise CommandError(f"the results database {redact(uri)}: {driver_fault(error, uri)}") from None
    finally:
        client.close()


def _connect(uri: str) -> MongoClient[Any]:
    client: MongoClient[Any] = MongoClient(
        uri, document_class=RawBSONDocument, serverSelectionTimeoutMS=selection_ms(uri, PATIENCE_MS)
    )
    try:
        client.get_default_database()
    except ConfigurationError:
        client.close()
        raise CommandError(
            f"{redact(uri)} names no database to write to", "name it as in mongodb://HOST/DATABASE"
        ) from None
    return client


def _claim(database: Database[Any], uri: str, dry_run: bool) -> None:
    """Put the marker into an empty database. Raises TargetError for a database that has collections but no marker."""
    if database[MARKER].find_one({"_id": _MARK["_id"]}) is not None:
        return
    if database.list_collection_names():
        raise TargetError(
            f"the database {redact(uri)} was not created by mongo-tables push, so it stays unchanged",
            f'name a new database, or release this one: db.{MARKER}.insertOne({{_id: "{_MARK["_id"]}"}})',
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
    """Return the stored documents with the ids of ``documents`` (pairs of ``_id`` and BSON), as BSON by ``_id``."""
    ids = [_value_of_id(key) for key, _ in documents]
    # ``raw`` is a view in large answers; ``bytes`` copies it.
    found = (bytes(one.raw) for one in collection.find({"_id": {"$in": ids}}))
    return {_id_of(raw): raw for raw in found}


def _replace(collection: Collection[Any], documents: Sequence[tuple[bytes, bytes]]) -> None:
    if documents:
        asked: list[ReplaceOne[Any]] = [
            ReplaceOne({"_id": {"$eq": _value_of_id(key)}}, RawBSONDocument(raw), upsert=True)
            for key, raw in documents
        ]
        collection.bulk_write(asked, ordered=False)


def _find_others(collection: Collection[Any], known: set[bytes]) -> Iterator[Any]:
    """Yield the ``_id`` of each stored document that is not in ``known``, from the index alone."""
    for one in collection.find({}, {"_id": 1}, sort=[("_id", 1)]):
        if _id_of(bytes(one.raw)) not in known:
            yield one["_id"]


def _id_of(raw: bytes) -> bytes:
    """Return the BSON of a document with only the ``_id`` of ``raw``."""
    return bson.encode({"_id": RawBSONDocument(raw)["_id"]})


def _value_of_id(key: bytes) -> Any:
    return RawBSONDocument(key)["_id"]
