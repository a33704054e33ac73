"""Bulk inserts: ordered batches of generated documents.

Documents are generated and encoded before the clock starts. What exceeds ``PREPARED_BYTES`` is not prepared: the
prepared documents are sent again from the first, each time under a new ``_id``. The pool is far larger than a page of
the storage engine (32 KiB), so repetition does not improve compression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING

from mongo_tables.runner.documents import DocumentFactory, FlatFactory, Head, assemble, heads
from mongo_tables.runner.workloads import Config, Done, Share, Step, Workload

if TYPE_CHECKING:
    from mongo_tables.runner.clients import Client

PREPARED_BYTES = 16 * 2**20
"""The most bytes that the connections of a process prepare together; at least one batch."""
FIRST_PRELOAD_THREAD = 0xF00
"""The number of the first connection in business ids of documents that are loaded before the clock starts."""
FEW_DOCUMENTS = 20
"""Documents whose mean size stands for that of all."""
MOST_REQUESTS_PER_SECOND = 2_000
"""The most requests per second of a connection: what it cannot send need not be prepared."""


class Insert(Workload, name="insert"):
    """Inserts of batches that follow from their numbers, so that the data does not depend on the connections."""

    needs = frozenset({"totalDocsToInsert", "docSizeKB", "writeBatchSize"})
    batched = True
    amount = "totalDocsToInsert"
    counted = "totalDocsToInsert"
    indexed = "intfield"

    def plan(self, config: Config) -> Done:
        """Return all documents of ``totalDocsToInsert``, at ``docSizeKB`` each."""
        total = int(config["totalDocsToInsert"])
        return Done(total, total, round(total * config["docSizeKB"] * 1024))

    def request_bytes(self, config: Config) -> float:
        """Return the bytes of a batch."""
        return float(min(config["writeBatchSize"], config["totalDocsToInsert"]) * config["docSizeKB"] * 1024)

    def preload(self, config: Config) -> Config | None:
        """Return an insert of ``initialDocsToInsert`` documents, if there are any."""
        count = config.get("initialDocsToInsert", 0)
        before = {"totalDocsToInsert": count, "initialDocsToInsert": 0, "firstThread": FIRST_PRELOAD_THREAD}
        return {**config, **before} if count else None

    def open_steps(self, client: Client, config: Config, share: Share) -> Step:
        """Prepare the documents of the process. Return a step that sends one batch."""
        size = min(config["writeBatchSize"], config["totalDocsToInsert"])
        head, first = heads(config, share), heads(config, share)
        if "pool" not in share.prepared:
            factory = DocumentFactory(share.common_seed, config["docSizeKB"], len(first(0)) if first else 0)
            made = factory.tail if head else lambda: assemble(b"", factory.tail())
            share.prepared["pool"] = _prepare(made, size, PREPARED_BYTES, config["totalDocsToInsert"])
        pool: list[list[bytes]] = share.prepared["pool"]

        def step() -> Done | None:
            numbers = share.take(size)
            if not numbers:
                return None
            batch = _with_heads(head, pool[numbers.start // size % len(pool)], numbers)
            client.insert(batch)
            return Done(len(batch), len(batch), sum(map(len, batch)))

        return step


class FlatInsert(Workload, name="flat_insert"):
    """Small flat documents like those of POCDriver, inserted for as long as the time allows.

    A document has ``nFields`` fields, its texts at most ``textBytes`` bytes.
    """

    needs = frozenset({"nFields", "textBytes", "writeBatchSize", "testTimeSecs"})
    batched = True
    result = "nInserts"
    indexed = "fld"
    first_index = 0

    def request_bytes(self, config: Config) -> float:
        """Return the bytes of a batch, estimated from a few documents."""
        factory = FlatFactory("size", config["nFields"], config["textBytes"])
        few = [len(assemble(b"", factory.tail())) for _ in range(FEW_DOCUMENTS)]
        return float(config["writeBatchSize"] * fmean(few))

    def open_steps(self, client: Client, config: Config, share: Share) -> Step:
        """Prepare this connection's documents. Return a step that sends one batch."""
        factory = FlatFactory(share.seed, config["nFields"], config["textBytes"])
        size, head = config["writeBatchSize"], heads(config, share)
        made = factory.tail if head else lambda: assemble(b"", factory.tail())
        wanted = config.get("testTimeSecs", inf) * MOST_REQUESTS_PER_SECOND * size
        pool = _prepare(made, size, PREPARED_BYTES // share.workers, wanted)
        sent = 0

        def step() -> Done:
            nonlocal sent
            batch = _with_heads(head, pool[sent // size % len(pool)], range(sent, sent + size))
            client.insert(batch)
            sent += size
            return Done(len(batch), len(batch), sum(map(len, batch)))

        return step


def _prepare(make: Callable[[], bytes], size: int, room: int, wanted: float) -> list[list[bytes]]:
    """Return batches of documents or tails: as many as fit into ``room`` and are ``wanted``, at least one."""
    pool: list[list[bytes]] = []
    prepared = 0
    while not pool or (len(pool) * size < wanted and prepared < room):
        pool.append([make() for _ in range(size)])
        prepared += sum(map(len, pool[-1]))
    return pool


def _with_heads(head: Head | None, prepared: Sequence[bytes], numbers: range) -> Sequence[bytes]:
    """Return whole documents, as many as ``numbers``."""
    if head is None:
        return prepared[: len(numbers)]
    return [assemble(head(number), tail) for number, tail in zip(numbers, prepared, strict=False)]
