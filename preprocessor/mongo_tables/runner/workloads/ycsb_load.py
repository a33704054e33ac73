"""The load phase of YCSB: records with the sequence numbers from ``insertstart`` on, ``totalDocsToInsert`` of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits
from mongo_tables.runner.workloads.insert import make
from mongo_tables.runner.ycsb.records import record_maker

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

TRAITS = Traits(needs=frozenset({"totalDocsToInsert"}))
BATCH = 1000
BATCH_BYTES = 16 * 2**20
"""At most, where records are large: a server takes messages of 48 MB."""
_KEY_BYTES = 23
_ID_OVERHEAD, _FIELD_OVERHEAD = 15, 13


def plan(config: Config) -> Done:
    """All records, with the bytes of those whose key has 23 characters and whose fields have one digit."""
    total = int(config["totalDocsToInsert"])
    fields = config.get("fieldcount", 10) * (_FIELD_OVERHEAD + config.get("fieldlength", 100))
    return Done(total, total, total * (_ID_OVERHEAD + _KEY_BYTES + fields))


def create(database: Database[Any], config: Config) -> None:
    """An empty collection."""
    make(database, config, ())


def preload(config: Config) -> None:
    """Nothing: this is what is loaded."""
    return


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: the collection is made anew."""


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """How many records were inserted."""
    return {"totalDocsToInsert": done.documents}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """A step makes and inserts one batch of this connection's part of the numbers."""
    total = config["totalDocsToInsert"]
    first = config.get("insertstart", 0) + share.start_of(total)
    end = first + share.of(total)
    make_record = record_maker(config, random.Random(share.seed).random)
    size = max(1, min(BATCH, BATCH_BYTES // plan({**config, "totalDocsToInsert": 1}).bytes))

    def step() -> Done | None:
        nonlocal first
        if first == end:
            return None
        batch = [make_record(number) for number in range(first, min(first + size, end))]
        client.insert(batch)
        first += len(batch)
        return Done(len(batch), len(batch), sum(map(len, batch)))

    return step
