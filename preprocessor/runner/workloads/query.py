"""Queries from a template, as many as the time allows.

In the template, ``RANDINT(a,b)`` stands for a random whole number from a - 1 to b - 1, so that
``RANDINT(1,n)`` draws one of the numbers 0 to n - 1 that n documents or groups have, and
``RANDINTLIST(a,b,n)`` for n different ones. A query must find exactly ``limit`` documents; another number is
an error, not a result.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from preprocessor.runner.clients import UnexpectedReply
from preprocessor.runner.workloads import Config, Done, Share, Step

if TYPE_CHECKING:
    from pymongo.database import Database

    from preprocessor.runner.clients import Client

KEEPS_DATA = True
NEEDS = frozenset(
    {"initialDocsToInsert", "docSizeKB", "writeBatchSize", "groupSize", "query", "limit", "testTimeSecs"}
)
DRAW = re.compile(r"RANDINT(?:LIST)?\((\d+),(\d+)(?:,(\d+))?\)")


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
    return {
        "collection": config["collection"],
        "totalDocsToInsert": config["initialDocsToInsert"],
        "docSizeKB": config["docSizeKB"],
        "writeBatchSize": config["writeBatchSize"],
        "groupSize": config["groupSize"],
        "idType": "SEQUENCE",
    }


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: queries change nothing."""


def report(done: Done) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables divide ``testResults.nQueries`` by the time."""
    return {}, {"nQueries": done.operations}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Compile the template; a step sends one query and takes all it finds."""
    import bson

    fill = compile_template(config["query"], random.Random(share.seed))
    limit, skip = config["limit"], config.get("skip", 0)

    def step() -> Done:
        selector = bson.encode(fill())
        found, size = client.find(selector, limit, skip)
        if found != limit:
            raise UnexpectedReply(f"a query found {found} documents, {limit} were expected")
        return Done(1, found, size)

    return step


def compile_template(template: Any, chance: random.Random) -> Callable[[], Any]:
    """Give what gives the template with new random numbers."""
    if isinstance(template, Mapping):
        parts = {key: compile_template(value, chance) for key, value in template.items()}
        return lambda: {key: part() for key, part in parts.items()}
    if isinstance(template, str) and (match := DRAW.fullmatch(template)):
        first, last = int(match[1]) - 1, int(match[2]) - 1
        width = last - first + 1
        if match[3]:
            count = int(match[3])
            return lambda: chance.sample(range(first, first + width), count)
        draw = chance.random
        return lambda: first + int(draw() * width)
    return lambda: template
