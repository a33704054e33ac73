"""Delete documents one by one, by their ``_id`` in random order; no document twice."""

from __future__ import annotations

import random
from array import array
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.clients import UnexpectedReply
from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits
from mongo_tables.runner.workloads.counted import preload
from mongo_tables.runner.workloads.insert import create

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

__all__ = ["TRAITS", "create", "open_steps", "plan", "preload", "report", "reset"]

TRAITS = Traits(needs=frozenset({"initialDocsToInsert", "docSizeKB", "writeBatchSize", "nDeletes"}))


def plan(config: Config) -> Done:
    """``nDeletes`` documents, at most those that are there."""
    count = min(config["nDeletes"], config["initialDocsToInsert"])
    return Done(count, count, 0)


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: the documents are loaded anew for every window."""


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """``nDeletes`` becomes what was deleted."""
    return {"nDeletes": done.operations}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Choose the documents, spread over all; a step deletes one of them."""
    import bson
    from bson.int64 import Int64

    numbers = _shuffled(config, share)

    def step() -> Done | None:
        taken = share.take(1)
        if not taken:
            return None
        number = numbers[taken.start]
        selector = bson.encode({"_id": Int64(number)})
        if client.delete(selector) != 1:
            raise UnexpectedReply(f"the document {number} is not there")
        return Done(1, 1, len(selector))

    return step


def _shuffled(config: Config, share: Share) -> array[int]:
    """The numbers of the documents to delete, the same in every process, made once in each."""
    if "numbers" not in share.prepared:
        chance = random.Random(share.common_seed)
        chosen = chance.sample(range(config["initialDocsToInsert"]), plan(config).operations)
        share.prepared["numbers"] = array("q", chosen)
    numbers: array[int] = share.prepared["numbers"]
    return numbers
