"""Delete documents one by one, by their ``_id`` in random order; no document twice."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from preprocessor.runner.clients import UnexpectedReply
from preprocessor.runner.workloads import Config, Done, Share, Step
from preprocessor.runner.workloads.counted import preload
from preprocessor.runner.workloads.insert import create

if TYPE_CHECKING:
    from pymongo.database import Database

    from preprocessor.runner.clients import Client

__all__ = ["KEEPS_DATA", "NEEDS", "create", "open_steps", "plan", "preload", "report", "reset"]

KEEPS_DATA = False
NEEDS = frozenset({"initialDocsToInsert", "docSizeKB", "writeBatchSize", "nDeletes"})


def plan(config: Config) -> Done:
    """``nDeletes`` documents, at most those that are there."""
    count = min(config["nDeletes"], config["initialDocsToInsert"])
    return Done(count, count, 0)


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: the documents are loaded anew for every window."""


def report(done: Done) -> tuple[dict[str, Any], dict[str, Any]]:
    """``nDeletes`` becomes what was deleted."""
    return {"nDeletes": done.operations}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Choose this connection's documents, spread over all; a step deletes one of them."""
    import bson
    from bson.int64 import Int64

    mine = range(share.worker, config["initialDocsToInsert"], share.workers)
    wanted = min(share.of(plan(config).operations), len(mine))
    numbers = iter(random.Random(share.seed).sample(mine, wanted))

    def step() -> Done | None:
        number = next(numbers, None)
        if number is None:
            return None
        selector = bson.encode({"_id": Int64(number)})
        if client.delete(selector) != 1:
            raise UnexpectedReply(f"the document {number} is not there")
        return Done(1, 1, len(selector))

    return step
