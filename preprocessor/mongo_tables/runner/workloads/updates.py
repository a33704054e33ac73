"""Work on existing numbered documents: updates, replacements, upserts, deletes.

The documents have ``_id`` 0, 1, 2, … and ``count: 0``; ``initialDocsToInsert`` is the number of documents.
"""

from __future__ import annotations

import random
import struct
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import bson

from mongo_tables.runner.errors import UnexpectedReply
from mongo_tables.runner.workloads import Config, Done, Share, Step, Workload
from mongo_tables.runner.workloads.inserts import LARGEST_INT, DocumentFactory, assemble

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.wire.client import WireClient

PREPARED = 200
"""The number of updates or documents that a connection prepares. It uses them in turn."""
COUNTED = b"\x10count\0\1\0\0\0"
"""The BSON element ``count: 1``."""
HOT_INDEX = "_id_1_count_1"
_NUMBERED = frozenset({"initialDocsToInsert", "docSizeKB", "writeBatchSize"})
_SELECTOR = struct.Struct("<i5sqx")
"""The BSON format of a selector by a 64-bit ``_id``. An encoder would make each step take twice as long."""


def load_numbered(config: Config) -> Config:
    """Return the load of ``initialDocsToInsert`` numbered documents with a counter."""
    return {
        "collection": config["collection"],
        "totalDocsToInsert": config["initialDocsToInsert"],
        "docSizeKB": config["docSizeKB"],
        "writeBatchSize": config["writeBatchSize"],
        "idType": "SEQUENCE",
    }


def _select(number: int) -> bytes:
    return _SELECTOR.pack(_SELECTOR.size, b"\x12_id\0", number)


class _Numbered(Workload):
    def preload(self, config: Config) -> Config:
        return load_numbered(config)


class Update(_Numbered, name="update"):
    """Update or replace random documents until the window's time is over.

    An operation chooses one of the first ``documentRange`` documents, so that a small range stays in the cache.
    ``UpdateOne`` sets ``nFieldsUpdated`` integer fields. With ``indexUpdate``, these are the first fields, of which
    ``nSecondaryIndexes`` have an index. Otherwise, they are the fields after the last field with an index.
    ``ReplaceOne`` replaces the whole document, so that every index changes. ``percentReads`` per cent of the operations
    read a document instead.
    """

    needs = _NUMBERED | {"documentRange", "updateFunction", "testTimeSecs"}
    keeps_data = True
    and_back = True
    update_functions = ("UpdateOne", "ReplaceOne")
    result = "nUpdates"

    def reset(self, database: Database[Any], config: Config) -> None:
        """Create indexes on the first ``nSecondaryIndexes`` integer fields, and drop all other indexes."""
        collection = database[config["collection"]]
        wanted = {f"intfield{number}_1" for number in range(1, config.get("nSecondaryIndexes", 0) + 1)}
        for name in sorted(set(collection.index_information()) - wanted - {"_id_"}):
            collection.drop_index(name)
        for name in sorted(wanted):
            collection.create_index([(name.removesuffix("_1"), 1)])

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Prepare updates or documents. Return a step that changes one document."""
        replaces = config["updateFunction"] == "ReplaceOne"
        changes = _documents(config, share) if replaces else _updates(config, share)
        draw = random.Random(share.seed).random
        among = min(config["documentRange"], config["initialDocsToInsert"])
        reads = config.get("percentReads", 0) / 100
        read, changed = Done(1, 1, 0, "read"), Done(1, 1, 0, "replace" if replaces else "update")
        turn = -1

        def step() -> Done:
            nonlocal turn, read, changed
            selector = _select(int(draw() * among))
            if reads and draw() < reads:
                found, size = client.find(selector, 1, 0)
                if found != 1:
                    raise UnexpectedReply("a document is missing")
                if size != read.bytes:  # this is rare, because the projection leaves no fields
                    read = read._replace(bytes=size)
                return read
            turn += 1
            change = changes[turn % PREPARED]
            matched = client.replace(selector, change) if replaces else client.update(selector, change, False)
            if matched != 1:
                raise UnexpectedReply("a document is missing")
            if len(selector) + len(change) != changed.bytes:
                changed = changed._replace(bytes=len(selector) + len(change))
            return changed

        return step


def _documents(config: Config, share: Share) -> list[bytes]:
    factory = DocumentFactory(f"{share.seed}/documents", config["docSizeKB"], len(COUNTED))
    return [assemble(COUNTED, factory.tail()) for _ in range(PREPARED)]


def _updates(config: Config, share: Share) -> list[bytes]:
    chance = random.Random(f"{share.seed}/values")
    first = 1 if config.get("indexUpdate") else config.get("nSecondaryIndexes", 0) + 1
    names = [f"intfield{first + number}" for number in range(config.get("nFieldsUpdated", 1))]
    return [
        bson.encode({"$set": {name: chance.randint(0, LARGEST_INT) for name in names}})
        for _ in range(PREPARED)
    ]


class _Counted(_Numbered):
    keeps_data = True
    and_back = True
    amount = "nUpdates"
    counted = "nUpdates"

    def plan(self, config: Config) -> Done:
        return Done(config["nUpdates"], config["nUpdates"], 0)


class HotUpdate(_Counted, name="hot_update"):
    """Updates of a few documents by all connections: ``{$inc: {count: 1}}`` on the first ``nHotspots`` documents."""

    needs = _NUMBERED | {"nUpdates"}

    def reset(self, database: Database[Any], config: Config) -> None:
        """With ``indexUpdate``, create an index that every update changes; otherwise drop that index."""
        collection = database[config["collection"]]
        if config.get("indexUpdate"):
            collection.create_index([("_id", 1), ("count", 1)], name=HOT_INDEX)
        elif HOT_INDEX in collection.index_information():
            collection.drop_index(HOT_INDEX)

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Encode a selector for each hot document. Return a step that updates a hot document."""
        selectors = [_select(number) for number in range(config.get("nHotspots", 1))]
        increment = bson.encode({"$inc": {"count": 1}})
        choose = random.Random(share.seed).choice
        done = Done(1, 1, len(selectors[0]) + len(increment))

        def step() -> Done | None:
            if not share.take(1):
                return None
            if client.update(choose(selectors), increment, False) != 1:
                raise UnexpectedReply("the hot document is missing")
            return done

        return step


class UpdateApi(_Counted, name="update_api"):
    """Update a document or insert a new one, by ``updateOne`` or ``findOneAndUpdate``, with or without ``upsert``.

    An operation is for a new document with probability ``percentNew``, otherwise for any loaded document. It increments
    ``count``. With ``upsert``, the request carries the fields of a whole document in ``$setOnInsert``. Without
    ``upsert``, a second request inserts the document if the first matched none; both requests are one operation.
    """

    needs = _NUMBERED | {"nUpdates", "percentNew", "updateFunction", "upsert"}
    update_functions = ("UpdateOne", "FindOneAndUpdate")

    def server_counts(self, config: Config) -> Mapping[str, float]:
        """Return the counter of writes, minus the counter of inserts, which are second requests of operations."""
        return {"opLatencies.writes.ops": 1, "opcounters.insert": -1}

    def reset(self, database: Database[Any], config: Config) -> None:
        """Delete the documents that an earlier window added."""
        database[config["collection"]].delete_many({"_id": {"$gte": config["initialDocsToInsert"]}})

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Prepare updates and documents. Return a step for one operation."""
        factory = DocumentFactory(f"{share.seed}/documents", config["docSizeKB"])
        tails = [factory.tail() for _ in range(PREPARED)]
        upsert = bool(config["upsert"])
        updates = [bson.encode({"$inc": {"count": 1}})]
        if upsert:
            head = updates[0][4:-1] + b"\x03$setOnInsert\0"
            updates = [assemble(head + assemble(b"", tail)) for tail in tails]
        send = client.update if config["updateFunction"] == "UpdateOne" else client.find_and_update
        draw = random.Random(share.seed).random
        loaded, share_of_new = config["initialDocsToInsert"], config["percentNew"] / 100

        def step() -> Done | None:
            taken = share.take(1)
            if not taken:
                return None
            turn, old = taken.start, int(draw() * loaded)
            selector = _select(old if draw() >= share_of_new else loaded + turn)
            update = updates[turn % len(updates)]
            size = len(selector) + len(update)
            if not send(selector, update, upsert):
                if upsert:
                    raise UnexpectedReply("an upsert had no effect")
                document = assemble(selector[4:-1] + COUNTED, tails[turn % PREPARED])
                client.insert([document])
                size += len(document)
            return Done(1, 1, size)

        return step


class Delete(_Numbered, name="delete"):
    """Delete documents one by one, by their ``_id``, in random order. Each document is deleted once."""

    needs = _NUMBERED | {"nDeletes"}
    counted = "nDeletes"
    indexed = "intfield"

    def plan(self, config: Config) -> Done:
        """Return ``nDeletes`` deletions, at most one for each existing document."""
        count = min(config["nDeletes"], config["initialDocsToInsert"])
        return Done(count, count, 0)

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Choose the documents at random. Return a step that deletes a document."""
        if "numbers" not in share.prepared:  # they are the same in all processes
            chance = random.Random(share.common_seed)
            chosen = chance.sample(range(config["initialDocsToInsert"]), self.plan(config).operations)
            share.prepared["numbers"] = array("q", chosen)
        numbers: array[int] = share.prepared["numbers"]

        def step() -> Done | None:
            taken = share.take(1)
            if not taken:
                return None
            selector = _select(numbers[taken.start])
            if client.delete(selector) != 1:
                raise UnexpectedReply(f"the document {numbers[taken.start]} is missing")
            return Done(1, 1, len(selector))

        return step
