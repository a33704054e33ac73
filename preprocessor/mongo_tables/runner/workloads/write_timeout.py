"""Writes whose acknowledgement may not come in time, and whether they were done nevertheless.

``heldSecondaries`` of the secondaries are locked (``fsync`` with ``lock``) before the clock starts: they answer and
vote, but apply nothing that the primary writes. The others copy from the primary, as in every local replica set.
Each of ``nWrites`` operations inserts a document under the
``writeConcern``; one that ends with ``wtimeout`` is an operation that was done, only not acknowledged. When the
window is over, the documents are counted before the members go on and after.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

TRAITS = Traits(
    needs=frozenset({"nWrites", "heldSecondaries", "writeConcern"}), holds_members=True, whole=True
)
WRITE_CONCERN_FAILED = 64
"""The code of an acknowledgement that did not come in time
(https://www.mongodb.com/docs/manual/reference/error-codes/)."""


def plan(config: Config) -> Done:
    """``nWrites`` inserts of a document each."""
    return Done(config["nWrites"], config["nWrites"], 0)


def create(database: Database[Any], config: Config) -> None:
    """An empty collection."""
    database[config["collection"]].drop()
    database.create_collection(config["collection"])


def preload(config: Config) -> None:
    """Nothing: the collection is empty when the clock starts."""
    return


def reset(database: Database[Any], config: Config) -> None:
    """Lock as many secondaries as are to be held."""
    for member in islice(_secondaries(database), config["heldSecondaries"]):
        member.admin.command("fsync", lock=True)


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """How many writes were sent, acknowledged, and not acknowledged in time."""
    sent, acknowledged = done.operations, done.documents
    return {"nWrites": sent}, {"acknowledged": acknowledged, "timedOut": sent - acknowledged}


def conclude(database: Database[Any], config: Config) -> dict[str, Any]:
    """Let the members go on; count what the primary has before, and a majority of the members has after it."""
    from pymongo.read_concern import ReadConcern

    collection = database[config["collection"]]
    applied = collection.count_documents({})
    members = 1
    for number, member in enumerate(_secondaries(database)):
        members += 1
        if number < config["heldSecondaries"]:
            while member.admin.command("fsyncUnlock")["lockCount"]:  # a warmed window was held twice
                pass
    majority = collection.with_options(read_concern=ReadConcern("majority"))
    with database.client.start_session(causal_consistency=True) as session:
        # A write after all others that every member acknowledges: so they have all of them.
        note = {"appendOplogNote": 1, "data": {"of": "all"}, "writeConcern": {"w": members}}
        database.client.admin.command(note, session=session)
        kept = majority.count_documents({}, session=session)
    return {"applied": applied, "keptByMajority": kept}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """A step inserts a document."""
    import bson

    def step() -> Done | None:
        taken = share.take(1)
        if not taken:
            return None
        document = bson.encode({"_id": taken.start})
        try:
            client.insert([document])
        except Exception as error:
            if getattr(error, "code", None) != WRITE_CONCERN_FAILED:
                raise
            return Done(1, 0, len(document))
        return Done(1, 1, len(document))

    return step


def _secondaries(database: Database[Any]) -> Iterator[MongoClient[dict[str, Any]]]:
    """A client of each secondary, in the order of the replica set's configuration."""
    from pymongo import MongoClient

    signed_in = _signed_in(database.client)
    hello = database.client.admin.command("hello")
    for host in hello["hosts"]:
        if host != hello["me"]:
            with MongoClient[dict[str, Any]](host, directConnection=True, **signed_in) as member:
                yield member


def _signed_in(client: MongoClient[dict[str, Any]]) -> dict[str, Any]:
    """What another client needs to be who this one is. PyMongo has no public way to it."""
    known = client.options.pool_options._credentials
    if known is None:
        return {}
    return {"username": known.username, "password": known.password, "authSource": known.source}
