"""Queries from a template, as many as the time allows.

What stands for random numbers in the template is described in ``templates``. A query must find exactly
``limit`` documents; another number is an error, not a result.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.clients import UnexpectedReply
from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits, counted
from mongo_tables.runner.workloads.templates import encoder

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

TRAITS = Traits(
    needs=frozenset(
        {"initialDocsToInsert", "docSizeKB", "writeBatchSize", "groupSize", "query", "limit", "testTimeSecs"}
    ),
    keeps_data=True,
    writes=False,
)


def plan(config: Config) -> None:
    """As many as ``testTimeSecs`` allows."""
    return


def create(database: Database[Any], config: Config) -> None:
    """An empty collection, indexed on the group, and on the group with the place in it."""
    collection = database[config["collection"]]
    collection.drop()
    collection.create_index([("group", 1)])
    collection.create_index([("group", 1), ("group_seq_i", 1)])


def preload(config: Config) -> Config:
    """An insert of ``initialDocsToInsert`` numbered documents in groups of ``groupSize``."""
    return {**counted.preload(config), "groupSize": config["groupSize"]}


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: queries change nothing."""


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables divide ``testResults.nQueries`` by the time."""
    return {}, {"nQueries": done.operations}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Encode the template; a step sends one query and takes all it finds."""
    selector = encoder(config["query"], random.Random(share.seed))
    limit, skip = config["limit"], config.get("skip", 0)
    done = Done(1, limit, 0)

    def step() -> Done:
        nonlocal done
        found, size = client.find(selector(), limit, skip)
        if found != limit:
            raise UnexpectedReply(f"a query found {found} documents, {limit} were expected")
        if size != done.bytes:  # seldom: as no fields are asked for, what is found has one size
            done = Done(1, limit, size)
        return done

    return step
