"""Bulk insert: ordered batches of generated documents.

The documents are generated and encoded before the clock starts. What does not fit into ``PREPARED_BYTES`` is
not kept: the prepared documents are sent again from the first, each time under an ``_id`` of their own. The
pool is far larger than a page of the storage engine (32 KiB), so a repetition does not compress better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from preprocessor.runner.documents import DocumentFactory, assemble
from preprocessor.runner.identifiers import Head, heads
from preprocessor.runner.workloads import Config, Done, Share, Step

if TYPE_CHECKING:
    from pymongo.database import Database

    from preprocessor.runner.clients import Client

KEEPS_DATA = False
NEEDS = frozenset({"totalDocsToInsert", "docSizeKB", "writeBatchSize"})
PREPARED_BYTES = 16 * 2**20
"""How much the connections prepare together; each at least one batch."""
FIRST_PRELOAD_THREAD = 0xF00
"""Number of the first connection in business ids of documents that are there before the clock starts."""


def plan(config: Config) -> Done:
    """All documents of ``totalDocsToInsert``, at ``docSizeKB`` each."""
    total = int(config["totalDocsToInsert"])
    return Done(total, total, round(total * config["docSizeKB"] * 1024))


def create(database: Database[Any], config: Config) -> None:
    """An empty collection, indexed on each of the first ``nSecondaryIndexes`` integer fields."""
    indexes = range(1, config.get("nSecondaryIndexes", 0) + 1)
    make(database, config, [f"intfield{number}" for number in indexes])


def make(database: Database[Any], config: Config, indexed: Sequence[str]) -> None:
    """The collection, anew and empty, with an index on each of these fields."""
    collection = database[config["collection"]]
    collection.drop()
    database.create_collection(config["collection"])
    for field in indexed:
        collection.create_index([(field, 1)])


def preload(config: Config) -> Config | None:
    """An insert of ``initialDocsToInsert`` documents, when there are any."""
    count = config.get("initialDocsToInsert", 0)
    if not count:
        return None
    return {
        **config,
        "totalDocsToInsert": count,
        "initialDocsToInsert": 0,
        "firstThread": FIRST_PRELOAD_THREAD,
    }


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: the collection is made anew for every window."""


def report(done: Done) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables compute speeds from ``totalDocsToInsert``, so it becomes what was inserted."""
    return {"totalDocsToInsert": done.documents}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Prepare this connection's documents; a step sends one batch."""
    remaining = share.of(config["totalDocsToInsert"])
    size = min(config["writeBatchSize"], remaining)
    first = heads(config, share)
    factory = DocumentFactory(share.seed, config["docSizeKB"], len(first()) if first else 0)
    # The first head told the length; the documents begin with the first again.
    following = batches(heads(config, share), factory.tail, share, size, remaining)

    def step() -> Done | None:
        nonlocal remaining
        if not remaining:
            return None
        batch = following()[:remaining]
        client.insert(batch)
        remaining -= len(batch)
        return Done(len(batch), len(batch), sum(map(len, batch)))

    return step


def batches(
    head: Head | None, tail: Callable[[], bytes], share: Share, size: int, wanted: float = inf
) -> Callable[[], list[bytes]]:
    """Prepare this connection's part of the pool, at most the ``wanted`` documents; give what gives a batch."""
    pool: list[list[bytes]] = []
    prepared = 0
    while len(pool) * size < wanted and (not pool or prepared < PREPARED_BYTES // share.workers):
        tails = [tail() for _ in range(size)]
        prepared += sum(map(len, tails))
        pool.append(tails if head else [assemble(b"", one) for one in tails])
    position = -1

    def following() -> list[bytes]:
        nonlocal position
        position += 1
        prepared_batch = pool[position % len(pool)]
        return [assemble(head(), one) for one in prepared_batch] if head else prepared_batch

    return following
