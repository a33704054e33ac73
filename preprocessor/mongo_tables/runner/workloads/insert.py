"""Bulk insert: ordered batches of generated documents.

The documents are generated and encoded before the clock starts. What does not fit into ``PREPARED_BYTES`` is
not kept: the prepared documents are sent again from the first, each time under an ``_id`` of their own. The
pool is far larger than a page of the storage engine (32 KiB), so a repetition does not compress better. What is in a
batch follows from its number, so that the data is the same whichever connection sends it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.documents import DocumentFactory, assemble
from mongo_tables.runner.identifiers import Head, heads
from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

TRAITS = Traits(
    needs=frozenset({"totalDocsToInsert", "docSizeKB", "writeBatchSize"}),
    batched=True,
    amount="totalDocsToInsert",
)
PREPARED_BYTES = 16 * 2**20
"""How much the connections of a process prepare together, at least one batch."""
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


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables compute speeds from ``totalDocsToInsert``, so it becomes what was inserted."""
    return {"totalDocsToInsert": done.documents}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Prepare the documents of the process; a step sends one batch."""
    size = min(config["writeBatchSize"], config["totalDocsToInsert"])
    head, first = heads(config, share), heads(config, share)
    if "pool" not in share.prepared:
        factory = DocumentFactory(share.common_seed, config["docSizeKB"], len(first(0)) if first else 0)
        made = factory.tail if head else lambda: assemble(b"", factory.tail())
        share.prepared["pool"] = prepare(made, size, PREPARED_BYTES, config["totalDocsToInsert"])
    pool: list[list[bytes]] = share.prepared["pool"]

    def step() -> Done | None:
        numbers = share.take(size)
        if not numbers:
            return None
        batch = with_heads(head, pool[numbers.start // size % len(pool)], numbers)
        client.insert(batch)
        return Done(len(batch), len(batch), sum(map(len, batch)))

    return step


def prepare(make: Callable[[], bytes], size: int, room: int, wanted: float = inf) -> list[list[bytes]]:
    """Batches of documents, or of what comes after their heads: what has room and is ``wanted``, at least one."""
    pool: list[list[bytes]] = []
    prepared = 0
    while not pool or (len(pool) * size < wanted and prepared < room):
        pool.append([make() for _ in range(size)])
        prepared += sum(map(len, pool[-1]))
    return pool


def with_heads(head: Head | None, prepared: Sequence[bytes], numbers: range) -> Sequence[bytes]:
    """Whole documents, as many as ``numbers``."""
    if head is None:
        return prepared[: len(numbers)]
    return [assemble(head(number), tail) for number, tail in zip(numbers, prepared, strict=False)]
