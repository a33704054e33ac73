"""Bulk insert of small flat documents, as POCDriver does it: ordered batches for as long as the time allows.

A document has ``nFields`` fields, its texts at most ``textBytes`` bytes (see ``flatdocuments``); secondary indexes
are on the first ``nSecondaryIndexes`` fields. The prepared documents are sent again from the first, each time
under an ``_id`` of their own.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.documents import assemble
from mongo_tables.runner.flatdocuments import FlatFactory
from mongo_tables.runner.identifiers import heads
from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits
from mongo_tables.runner.workloads.insert import PREPARED_BYTES, make, prepare, with_heads

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

MOST_REQUESTS_PER_SECOND = 2_000
"""Of a connection: with an answer to each, it sends no more, and what it does not send need not be prepared."""
TRAITS = Traits(needs=frozenset({"nFields", "textBytes", "writeBatchSize", "testTimeSecs"}), batched=True)


def plan(config: Config) -> None:
    """As many as ``testTimeSecs`` allows."""
    return


def create(database: Database[Any], config: Config) -> None:
    """An empty collection, indexed on each of the first ``nSecondaryIndexes`` fields."""
    make(database, config, [f"fld{number}" for number in range(config.get("nSecondaryIndexes", 0))])


def preload(config: Config) -> None:
    """Nothing: the collection is empty when the clock starts."""
    return


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: the collection is made anew for every window."""


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """How many documents were inserted."""
    return {}, {"nInserts": done.documents}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Prepare this connection's documents; a step sends one batch."""
    factory = FlatFactory(share.seed, config["nFields"], config["textBytes"])
    size, head = config["writeBatchSize"], heads(config, share)
    made = factory.tail if head else lambda: assemble(b"", factory.tail())
    wanted = config.get("testTimeSecs", inf) * MOST_REQUESTS_PER_SECOND * size
    pool = prepare(made, size, PREPARED_BYTES // share.workers, wanted)
    sent = 0

    def step() -> Done:
        nonlocal sent
        batch = with_heads(head, pool[sent // size % len(pool)], range(sent, sent + size))
        client.insert(batch)
        sent += size
        return Done(len(batch), len(batch), sum(map(len, batch)))

    return step
