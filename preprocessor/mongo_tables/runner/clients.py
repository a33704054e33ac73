"""How a connection sends its work: one small shape, over PyMongo here and over a socket in ``wire``.

Selectors, updates and documents are BSON bytes: encoded once, and sent by either client as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from mongo_tables.runner.request_options import RequestOptions, read_selector

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.results import UpdateResult

PROJECTION = {"_id": 0, "nofieldsplease": 1}
"""What a query returns of a document: nothing. Finding is measured, not sending."""


class UnexpectedReply(Exception):
    """The server answered, but not what was asked for; ``code`` is its error code, 0 when it gave none."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Client(Protocol):
    """What workloads do on one connection and one collection; every method raises when the server refuses.

    With write concern w: 0 nobody waits for the answer to a write: nothing is refused, and one document counts as
    matched.
    """

    sleep: Callable[[float], None]
    """What lets other connections go on for so many seconds."""

    def insert(self, documents: Sequence[bytes]) -> None:
        """Insert the documents, in order."""

    def update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """Update one document; give how many were matched or upserted."""

    def update_each(self, statements: Sequence[bytes]) -> int:
        """Do many updates with one request, unordered; give how many were matched or upserted.

        A statement is the BSON of ``q``, ``u`` (operators or a pipeline) and ``upsert``.
        """

    def find_and_update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """Update one document and have it returned as it is then; give how many were found or upserted."""

    def find(self, selector: bytes, limit: int, skip: int) -> tuple[int, int]:
        """Fetch all documents, projected to nothing; give their number and the bytes they came in."""

    def read(self, selector: bytes, projection: bytes) -> tuple[int, int]:
        """Fetch the fields of one document, all of them with an empty projection; give as ``find`` does."""

    def scan(self, selector: bytes, limit: int, projection: bytes) -> tuple[int, int]:
        """Fetch the fields of so many documents in the order of ``_id``; give as ``find`` does."""

    def replace(self, selector: bytes, document: bytes) -> int:
        """Replace one document; give how many were matched."""

    def delete(self, selector: bytes) -> int:
        """Delete one document; give how many were."""

    def aggregate(self, pipeline: bytes) -> tuple[int, int]:
        """Run a pipeline, a BSON array, to its end; give the number of documents and their bytes."""

    def close(self) -> None:
        """Give back the connection."""


class PyMongoClient:
    """The reference: what a program with PyMongo does."""

    def __init__(
        self, client: MongoClient[Any], namespace: tuple[str, str], options: RequestOptions, number: int = 0
    ) -> None:
        """``namespace`` is database and collection; of several mongos the driver chooses one for each request.

        Sessions, and whether writes are retryable, are matters of ``client`` itself.
        """
        from bson.codec_options import CodecOptions
        from bson.raw_bson import RawBSONDocument
        from pymongo import ReturnDocument, WriteConcern
        from pymongo.read_concern import ReadConcern

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
        """``insert_many``, or ``insert_one`` for a batch of one."""
        if len(documents) == 1:
            self._collection.insert_one(self._raw(documents[0]))
        else:
            self._collection.insert_many([self._raw(document) for document in documents], ordered=True)

    def update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """``update_one``."""
        return _matched(self._collection.update_one(self._raw(selector), self._raw(update), upsert=upsert))

    def update_each(self, statements: Sequence[bytes]) -> int:
        """``bulk_write`` of ``UpdateOne``, unordered."""
        import bson
        from pymongo import UpdateOne

        decoded = (bson.decode(statement) for statement in statements)
        result = self._collection.bulk_write(
            [UpdateOne(one["q"], one["u"], upsert=one["upsert"]) for one in decoded], ordered=False
        )
        if not result.acknowledged:
            return len(statements)
        return result.matched_count + result.upserted_count

    def find_and_update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """``find_one_and_update`` that returns the document after the update."""
        found = self._collection.find_one_and_update(
            self._raw(selector), self._raw(update), upsert=upsert, return_document=self._after
        )
        return 0 if found is None else 1

    def find(self, selector: bytes, limit: int, skip: int) -> tuple[int, int]:
        """``find`` with the cursor drained; the bytes are those of the documents."""
        return _drained(self._raw_collection.find(self._raw(selector), PROJECTION, limit=limit, skip=skip))

    def read(self, selector: bytes, projection: bytes) -> tuple[int, int]:
        """``find_one``, as the cursor that is in it, because that knows the bytes."""
        return _drained(self._raw_collection.find(self._raw(selector), self._fields(projection), limit=-1))

    def scan(self, selector: bytes, limit: int, projection: bytes) -> tuple[int, int]:
        """``find`` with ``sort`` and ``limit``, drained."""
        fields = self._fields(projection)
        return _drained(self._raw_collection.find(self._raw(selector), fields, limit=limit, sort={"_id": 1}))

    def replace(self, selector: bytes, document: bytes) -> int:
        """``replace_one``."""
        return _matched(self._collection.replace_one(self._raw(selector), self._raw(document)))

    def delete(self, selector: bytes) -> int:
        """``delete_one``."""
        result = self._collection.delete_one(self._raw(selector))
        return result.deleted_count if result.acknowledged else 1

    def aggregate(self, pipeline: bytes) -> tuple[int, int]:
        """``aggregate`` with the cursor drained."""
        return _drained(self._raw_collection.aggregate(list(self._raw(pipeline).values())))

    def close(self) -> None:
        """The pool keeps the connection."""

    def _fields(self, projection: bytes) -> Mapping[str, Any] | None:
        return dict(self._raw(projection)) or None


def _matched(result: UpdateResult) -> int:
    if not result.acknowledged:
        return 1
    return result.matched_count + (1 if result.upserted_id is not None else 0)


def _drained(found: Iterable[Any]) -> tuple[int, int]:
    lengths = [len(document.raw) for document in found]
    return len(lengths), sum(lengths)
