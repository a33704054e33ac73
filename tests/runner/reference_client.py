"""The reference client of the tests: it does what a program with PyMongo does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import bson
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient, ReturnDocument, UpdateOne, WriteConcern
from pymongo.read_concern import ReadConcern
from pymongo.results import UpdateResult

from mongo_tables.runner.connection_strings import PROJECTION, RequestOptions, read_selector


class PyMongoClient:
    """The reference client: it does what a program with PyMongo does."""

    def __init__(
        self, client: MongoClient[Any], namespace: tuple[str, str], options: RequestOptions, number: int = 0
    ) -> None:
        """``namespace`` is database and collection. With several mongos the driver chooses one for each request.

        Sessions and retryable writes are properties of ``client`` itself.
        """
        self.sleep: Callable[[float], None] = time.sleep
        database, name = namespace
        collection = client[database].get_collection(
            name,
            write_concern=WriteConcern(**options.write_concern),
            read_concern=ReadConcern(**options.read_concern),
            read_preference=read_selector(options.read_preference),
        )
        self._collection = collection
        self._raw_collection = collection.with_options(
            codec_options=CodecOptions(document_class=RawBSONDocument)
        )
        self._raw = RawBSONDocument
        self._after = ReturnDocument.AFTER

    def insert(self, documents: Sequence[bytes]) -> None:
        """Call ``insert_many``, or ``insert_one`` for a batch of one."""
        if len(documents) == 1:
            self._collection.insert_one(self._raw(documents[0]))
        else:
            self._collection.insert_many([self._raw(document) for document in documents], ordered=True)

    def update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """Call ``update_one``."""
        return _matched(self._collection.update_one(self._raw(selector), self._raw(update), upsert=upsert))

    def update_each(self, statements: Sequence[bytes]) -> int:
        """Call ``bulk_write`` with ``UpdateOne``, unordered."""
        decoded = (bson.decode(statement) for statement in statements)
        result = self._collection.bulk_write(
            [UpdateOne(one["q"], one["u"], upsert=one["upsert"]) for one in decoded], ordered=False
        )
        if not result.acknowledged:
            return len(statements)
        return result.matched_count + result.upserted_count

    def find_and_update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """Call ``find_one_and_update``, which returns the document after the update."""
        found = self._collection.find_one_and_update(
            self._raw(selector), self._raw(update), upsert=upsert, return_document=self._after
        )
        return 0 if found is None else 1

    def find(self, selector: bytes, limit: int, skip: int) -> tuple[int, int]:
        """Call ``find`` and drain the cursor. The bytes are those of the documents."""
        return _drained(self._raw_collection.find(self._raw(selector), PROJECTION, limit=limit, skip=skip))

    def read(self, selector: bytes, projection: bytes) -> tuple[int, int]:
        """Do what ``find_one`` does, with its cursor, which knows the number of bytes."""
        return _drained(self._raw_collection.find(self._raw(selector), self._fields(projection), limit=-1))

    def scan(self, selector: bytes, limit: int, projection: bytes) -> tuple[int, int]:
        """Call ``find`` with ``sort`` and ``limit``, and drain the cursor."""
        fields = self._fields(projection)
        return _drained(self._raw_collection.find(self._raw(selector), fields, limit=limit, sort={"_id": 1}))

    def replace(self, selector: bytes, document: bytes) -> int:
        """Call ``replace_one``."""
        return _matched(self._collection.replace_one(self._raw(selector), self._raw(document)))

    def delete(self, selector: bytes) -> int:
        """Call ``delete_one``."""
        result = self._collection.delete_one(self._raw(selector))
        return result.deleted_count if result.acknowledged else 1

    def aggregate(self, pipeline: bytes) -> tuple[int, int]:
        """Call ``aggregate`` and drain the cursor."""
        return _drained(self._raw_collection.aggregate(list(self._raw(pipeline).values())))

    def close(self) -> None:
        """Do nothing: the pool keeps the connection."""

    def _fields(self, projection: bytes) -> Mapping[str, Any] | None:
        return dict(self._raw(projection)) or None


def _matched(result: UpdateResult) -> int:
    if not result.acknowledged:
        return 1
    return result.matched_count + (1 if result.upserted_id is not None else 0)


def _drained(found: Iterable[Any]) -> tuple[int, int]:
    lengths = [len(document.raw) for document in found]
    return len(lengths), sum(lengths)
