"""Update a document, or insert it when it is new: ``updateOne`` or ``findOneAndUpdate``, upsert or insert.

An operation is for a new document with probability ``percentNew``, else for any of the loaded ones. It counts
up ``count``; with ``upsert`` it carries the fields of a whole document in ``$setOnInsert``, without it a
document that was not matched is inserted by a second request. Both together are one operation.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.clients import UnexpectedReply
from mongo_tables.runner.documents import DocumentFactory, assemble
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
            "nUpdates",
            "percentNew",
            "updateFunction",
            "upsert",
        }
    ),
    keeps_data=True,
    and_back=True,
    amount="nUpdates",
    update_functions=("UpdateOne", "FindOneAndUpdate"),
)
PREPARED = 200
"""Documents that a connection prepares; it takes them in turn."""
INCREMENT = {"$inc": {"count": 1}}


def plan(config: Config) -> Done:
    """``nUpdates`` operations with a document each."""
    return Done(config["nUpdates"], config["nUpdates"], 0)


def reset(database: Database[Any], config: Config) -> None:
    """Without the documents that an earlier window added."""
    database[config["collection"]].delete_many({"_id": {"$gte": config["initialDocsToInsert"]}})


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables compute speeds from ``nUpdates``, so it becomes what was done."""
    return {"nUpdates": done.operations}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Prepare updates and documents; a step is one operation."""
    import bson
    from bson.int64 import Int64

    number = _numbers(config, share)
    tails = _tails(config, share)
    upsert = bool(config["upsert"])
    updates = _updates(tails, upsert)
    send = {"UpdateOne": client.update, "FindOneAndUpdate": client.find_and_update}[config["updateFunction"]]

    def step() -> Done | None:
        taken = share.take(1)
        if not taken:
            return None
        turn = taken.start
        selector = bson.encode({"_id": Int64(number(turn))})
        update = updates[turn % len(updates)]
        size = len(selector) + len(update)
        if not send(selector, update, upsert):
            if upsert:
                raise UnexpectedReply("an upsert did nothing")
            document = assemble(selector[4:-1] + b"\x10count\0\1\0\0\0", tails[turn % PREPARED])
            client.insert([document])
            size += len(document)
        return Done(1, 1, size)

    return step


def _numbers(config: Config, share: Share) -> Callable[[int], int]:
    """What gives the number of the document that an operation is for, of a new one or of any that is loaded."""
    draw = random.Random(share.seed).random
    loaded, share_of_new = config["initialDocsToInsert"], config["percentNew"] / 100

    def number(turn: int) -> int:
        old = int(draw() * loaded)
        return old if draw() >= share_of_new else loaded + turn

    return number


def _tails(config: Config, share: Share) -> list[bytes]:
    factory = DocumentFactory(f"{share.seed}/documents", config["docSizeKB"])
    return [factory.tail() for _ in range(PREPARED)]


def _updates(tails: list[bytes], upsert: bool) -> list[bytes]:
    import bson

    if not upsert:
        return [bson.encode(INCREMENT)]
    increment = bson.encode(INCREMENT)[4:-1]
    return [assemble(increment + b"\x03$setOnInsert\0", assemble(b"", tail) + b"\0") for tail in tails]
