"""Update or replace random documents, as many as the time allows.

``documentRange`` is from how many documents, the first ones, an operation chooses: few stay in the cache, all
of them do not. ``UpdateOne`` sets ``nFieldsUpdated`` integer fields: with ``indexUpdate`` from the first, which
the ``nSecondaryIndexes`` indexes are on, else those after the last that has an index. ``ReplaceOne`` replaces
the whole document, so that every index changes. Of a hundred operations ``percentReads`` read a document instead.
"""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.clients import UnexpectedReply
from mongo_tables.runner.documents import LARGEST_INT, DocumentFactory, assemble
from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits
from mongo_tables.runner.workloads.counted import create, preload

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

__all__ = ["TRAITS", "create", "open_steps", "plan", "preload", "report", "reset"]

TRAITS = Traits(
    needs=frozenset(
        {
            "initialDocsToInsert",
            "docSizeKB",
            "writeBatchSize",
            "documentRange",
            "updateFunction",
            "testTimeSecs",
        }
    ),
    keeps_data=True,
    and_back=True,
    update_functions=("UpdateOne", "ReplaceOne"),
)
PREPARED = 200
"""Updates or documents that a connection prepares; it takes them in turn."""
_SELECTOR = struct.Struct("<i5sqx")
"""The BSON of a document that has a 64-bit ``_id`` alone: to encode it each time would cost as much as the rest."""
COUNTED = b"\x10count\0\1\0\0\0"


def plan(config: Config) -> None:
    """As many as ``testTimeSecs`` allows."""
    return


def reset(database: Database[Any], config: Config) -> None:
    """Indexes on the first ``nSecondaryIndexes`` integer fields, and no others."""
    collection = database[config["collection"]]
    wanted = {f"intfield{number}_1" for number in range(1, config.get("nSecondaryIndexes", 0) + 1)}
    for name in sorted(set(collection.index_information()) - wanted - {"_id_"}):
        collection.drop_index(name)
    for name in sorted(wanted):
        collection.create_index([(name.removesuffix("_1"), 1)])


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """How many documents were updated."""
    return {}, {"nUpdates": done.operations}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Prepare updates or documents; a step changes one document."""
    replaces = config["updateFunction"] == "ReplaceOne"
    changes = _documents(config, share) if replaces else _updates(config, share)
    draw = random.Random(share.seed).random
    among = min(config["documentRange"], config["initialDocsToInsert"])
    reads = config.get("percentReads", 0) / 100
    read = Done(1, 1, 0, "read")
    changed = Done(1, 1, 0, "replace" if replaces else "update")
    turn = -1

    def step() -> Done:
        nonlocal turn, read, changed
        selector = _SELECTOR.pack(_SELECTOR.size, b"\x12_id\0", int(draw() * among))
        if reads and draw() < reads:
            found, size = client.find(selector, 1, 0)
            if found != 1:
                raise UnexpectedReply("a document is not there")
            if size != read.bytes:  # seldom, as no fields are asked for
                read = read._replace(bytes=size)
            return read
        turn += 1
        change = changes[turn % PREPARED]
        matched = client.replace(selector, change) if replaces else client.update(selector, change, False)
        if matched != 1:
            raise UnexpectedReply("a document is not there")
        if len(selector) + len(change) != changed.bytes:
            changed = changed._replace(bytes=len(selector) + len(change))
        return changed

    return step


def _documents(config: Config, share: Share) -> list[bytes]:
    factory = DocumentFactory(f"{share.seed}/documents", config["docSizeKB"], len(COUNTED))
    return [assemble(COUNTED, factory.tail()) for _ in range(PREPARED)]


def _updates(config: Config, share: Share) -> list[bytes]:
    import bson

    chance = random.Random(f"{share.seed}/values")
    first = 1 if config.get("indexUpdate") else config.get("nSecondaryIndexes", 0) + 1
    names = [f"intfield{first + number}" for number in range(config.get("nFieldsUpdated", 1))]
    return [
        bson.encode({"$set": {name: chance.randint(0, LARGEST_INT) for name in names}})
        for _ in range(PREPARED)
    ]
