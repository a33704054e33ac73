"""Bulk insert: ordered batches of generated documents.

The documents are generated and encoded before the clock starts. What does not fit into ``PREPARED_BYTES`` is
not kept: the prepared batches are sent again from the first, without an ``_id``, so that the server gives
every copy its own. A pool is far larger than a page of the storage engine (32 KiB), so a repetition does not
compress better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from preprocessor.runner.documents import DocumentFactory
from preprocessor.runner.workloads import Config, Done, Share, Step

if TYPE_CHECKING:
    from bson.raw_bson import RawBSONDocument
    from pymongo.collection import Collection
    from pymongo.database import Database

PREPARED_BYTES = 64 * 2**20
"""How much the connections prepare together; each at least one batch."""


def plan(config: Config) -> Done:
    """All documents of ``totalDocsToInsert``, at ``docSizeKB`` each."""
    total = int(config["totalDocsToInsert"])
    return Done(total, total, round(total * config["docSizeKB"] * 1024))


def reset(database: Database[Any], config: Config) -> None:
    """An empty collection, indexed on each of the first ``nSecondaryIndexes`` integer fields."""
    collection = database[config["collection"]]
    collection.drop()
    database.create_collection(config["collection"])
    for number in range(1, config.get("nSecondaryIndexes", 0) + 1):
        collection.create_index([(f"intfield{number}", 1)])


def preload(config: Config) -> Config | None:
    """An insert of ``initialDocsToInsert`` documents, when there are any."""
    count = config.get("initialDocsToInsert", 0)
    return {**config, "totalDocsToInsert": count, "initialDocsToInsert": 0} if count else None


def report(done: Done) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables compute speeds from ``totalDocsToInsert``, so it becomes what was inserted."""
    return {"totalDocsToInsert": done.documents}, {}


def open_steps(database: Database[Any], config: Config, share: Share) -> Step:
    """Encode this connection's batches; a step sends one."""
    size = config["writeBatchSize"]
    batches = _batches(config, share)
    collection = database[config["collection"]]
    remaining = share.of(config["totalDocsToInsert"])
    position = 0

    def step() -> Done | None:
        nonlocal remaining, position
        if not remaining:
            return None
        batch, length = batches[position % len(batches)]
        position += 1
        if remaining < size:
            batch = batch[:remaining]
            length = sum(len(document.raw) for document in batch)
        _insert(collection, batch)
        remaining -= len(batch)
        return Done(len(batch), len(batch), length)

    return step


def _insert(collection: Collection[Any], batch: list[RawBSONDocument]) -> None:
    if len(batch) == 1:
        collection.insert_one(batch[0])
    else:
        collection.insert_many(batch, ordered=True)


def _batches(config: Config, share: Share) -> list[tuple[list[RawBSONDocument], int]]:
    from bson.raw_bson import RawBSONDocument

    size = config["writeBatchSize"]
    factory = DocumentFactory(share.seed, config["docSizeKB"])
    wanted = share.of(config["totalDocsToInsert"])
    batches: list[tuple[list[RawBSONDocument], int]] = []
    prepared = 0
    while len(batches) * size < wanted and (not batches or prepared < PREPARED_BYTES // share.workers):
        documents = list(factory.documents(min(size, wanted)))
        length = sum(map(len, documents))
        batches.append(([RawBSONDocument(document) for document in documents], length))
        prepared += length
    return batches
