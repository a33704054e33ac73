"""Many connections count up the same few documents: ``{$inc: {count: 1}}`` on the first ``nHotspots``."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.clients import UnexpectedReply
from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits
from mongo_tables.runner.workloads.counted import create, preload

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

__all__ = ["TRAITS", "create", "open_steps", "plan", "preload", "report", "reset"]

TRAITS = Traits(
    needs=frozenset({"initialDocsToInsert", "docSizeKB", "writeBatchSize", "nUpdates"}),
    keeps_data=True,
    and_back=True,
    amount="nUpdates",
)
INDEX = "_id_1_count_1"


def plan(config: Config) -> Done:
    """``nUpdates`` updates of a document each."""
    return Done(config["nUpdates"], config["nUpdates"], 0)


def reset(database: Database[Any], config: Config) -> None:
    """With ``indexUpdate`` an index that every update changes, else none."""
    collection = database[config["collection"]]
    if config.get("indexUpdate"):
        collection.create_index([("_id", 1), ("count", 1)], name=INDEX)
    elif INDEX in collection.index_information():
        collection.drop_index(INDEX)


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables compute speeds from ``nUpdates``, so it becomes what was done."""
    return {"nUpdates": done.operations}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Encode a selector for each hot document; a step updates one of them."""
    import bson
    from bson.int64 import Int64

    selectors = [bson.encode({"_id": Int64(number)}) for number in range(config.get("nHotspots", 1))]
    increment = bson.encode({"$inc": {"count": 1}})
    choose = random.Random(share.seed).choice
    done = Done(1, 1, len(selectors[0]) + len(increment))

    def step() -> Done | None:
        if not share.take(1):
            return None
        if client.update(choose(selectors), increment, False) != 1:
            raise UnexpectedReply("the hot document is not there")
        return done

    return step
