"""What is on a deployment now, for somebody who is about to run experiments there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from mongo_tables.results.mongodb_errors import keep_to_one_line
from mongo_tables.runner.connection_strings import driver_fault, selection_ms
from mongo_tables.runner.estimate import size
from mongo_tables.runner.host import product_of
from mongo_tables.runner.ownership import find_user, was_made_by_run
from mongo_tables.runner.servers import is_router
from mongo_tables.runner.sharding import HINT
from mongo_tables.runner.target import open_target

PATIENCE_MS = 2_000
IN_USE_HINT = "wait until the other run has ended, or name another database in a file of the experiment"


class Seen(NamedTuple):
    """A line of what is there, the database for which a run would be refused, if it would, and what helps then."""

    text: str
    refused: str = ""
    hint: str = IN_USE_HINT


def list_findings(uri: str, names: Collection[str], sharded: Collection[str] = ()) -> Iterator[Seen]:
    """Say what the deployment is and what a run would do to databases of these names there, changing nothing.

    Those that are ``sharded`` need shards. Where the deployment does not answer at once, that is said. Raises
    RunnerError when the string is no connection string.
    """
    from pymongo import MongoClient
    from pymongo.errors import PyMongoError

    with closing(open_target(uri)) as target:
        place = target.name
    yield Seen(f"on {place}, the run makes and at its end drops: {', '.join(sorted(names))}")
    keep_to_one_line()
    try:
        with MongoClient[dict[str, Any]](
            uri,
            serverSelectionTimeoutMS=selection_ms(uri, PATIENCE_MS),
            connectTimeoutMS=PATIENCE_MS,
            socketTimeoutMS=PATIENCE_MS,
        ) as client:
            yield from _look(client, names, sharded)
    except PyMongoError as error:
        yield Seen(f"it could not be looked at: {driver_fault(error, uri)}")


def _kind(hello: Mapping[str, Any]) -> str:
    if is_router(hello):
        return "sharded cluster, through its mongos"
    if "setName" in hello:
        return f"replica set {hello['setName']} of {len(hello.get('hosts', ()))}"
    return "no replica set"


def _look(client: Any, names: Collection[str], sharded: Collection[str]) -> Iterator[Seen]:
    hello = client.admin.command("hello")
    info = client.server_info()
    product = product_of(info)
    in_place = f"{product} in place of " if product else ""
    yield Seen(f"there now: {in_place}MongoDB {info['version']}, {_kind(hello)}")
    for name in () if is_router(hello) else sorted(sharded):
        yield Seen(f"{name}: has to be sharded, and there are no shards: it would be refused", name, HINT)
    known = {one["name"]: one["sizeOnDisk"] for one in client.list_databases()}
    for name in sorted(names):
        there = f"{name}: {size(known[name])}" if name in known else ""
        if not there:
            yield Seen(f"{name}: not there")
        elif user := find_user(client, name):
            yield Seen(f"{there}, of a run that is going on ({user}): it would be refused", name)
        elif was_made_by_run(client, name):
            yield Seen(f"{there}, left by an earlier run, would be dropped at the start")
        else:
            yield Seen(f"{there}, made by no run: it would be refused and stay untouched", name)
