"""Databases that a run may change: only those that carry its marker.

A run makes its databases itself and puts one document into the collection ``mongo_tables_marker`` of each. A
database that exists without that document belongs to somebody else and is never written to nor dropped. The document
also names the run, its process and its last sign of life: one that was killed leaves its database to the next, and one
that works does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.runner.errors import KEPT, TargetError
from mongo_tables.runner.owningprocess import OwningProcess, this_process
from mongo_tables.runner.rights import is_refused
from mongo_tables.runner.servers import is_router

if TYPE_CHECKING:
    from pymongo import MongoClient

MARKER = "mongo_tables_marker"
MEMBERS_MS = 60_000
ALIVE_SECONDS: Final = 180.0
"""A run on another machine that has given no sign for so long has ended."""
_MARK = {"_id": "mongo-tables", "purpose": "made by mongo-tables run; it may be dropped by it at any time"}


def claim(client: MongoClient[dict[str, Any]], name: str, run: str) -> None:
    """Make the database ``name`` that of the run, empty.

    Raises TargetError when it exists and was made by no run, or when another run is using it.
    """
    if _exists(client, name):
        if _run(client, name) is None:
            raise TargetError(
                f"the database {name!r} exists and was not made by mongo-tables; it stays untouched",
                "rename it, or give the experiment another `database`",
            )
        if user := find_user(client, name):
            raise TargetError(
                f"the database {name!r} is that of a run that is going on: {user}",
                "wait until it has ended, or give the experiment another `database`",
            )
        _drop(client, name)
    change = {
        "$set": {**_MARK, "run": run, "process": asdict(this_process())},
        "$currentDate": {"seen": True},
    }
    client[name][MARKER].update_one({"_id": _MARK["_id"]}, change, upsert=True)


def give_sign(client: MongoClient[dict[str, Any]], name: str, run: str) -> None:
    """Say that the run, whose the database ``name`` is, goes on; does nothing where it is another's by now."""
    from pymongo import WriteConcern

    marks = client[name].get_collection(MARKER, write_concern=WriteConcern(w=1))
    marks.update_one({"_id": _MARK["_id"], "run": run}, {"$currentDate": {"seen": True}})


def find_user(client: MongoClient[dict[str, Any]], name: str) -> str | None:
    """Which other process is using the database ``name``, in some words; None where none is, as far as can be known."""
    mark = _mark(client, name)
    if mark is None or "process" not in mark:  # made by no run, or by one of an earlier version
        return None
    owner = OwningProcess(**mark["process"])
    if owner.is_here:
        return f"process {owner.pid} of this machine" if owner.runs and not owner.is_this else None
    silent = (client.admin.command("hello")["localTime"] - mark["seen"]).total_seconds()
    if silent > ALIVE_SECONDS:
        return None
    return (
        f"a process of another machine, whose last sign of life is {max(0.0, silent):.0f} s old (after "
        f"{ALIVE_SECONDS:.0f} s without one the database is free)"
    )


def check(client: MongoClient[dict[str, Any]], name: str, run: str) -> None:
    """Raise TargetError when the database ``name`` is no longer that of the run."""
    if _run(client, name) != run:
        raise TargetError(f"another run has taken the database {name!r}", f"one after the other; {KEPT}")


def wait_for_members(client: MongoClient[dict[str, Any]], name: str) -> None:
    """Wait until every member that may be read from has all that was written, where ``name`` is a database of ours.

    Raises what the driver does, also when one does not have it after ``MEMBERS_MS``, and TargetError where it is not
    known which members there are.
    """
    from pymongo import WriteConcern

    hello = client.admin.command("hello")
    if is_router(hello):
        message = (
            "reads elsewhere than from the primary: a mongos does not say when other members have the data"
        )
        raise TargetError(message, "leave out readPreference, or name the mongod of a replica set")
    members = len(hello.get("hosts", ())) + len(hello.get("passives", ()))
    if members > 1:
        concern = WriteConcern(w=members, wtimeout=MEMBERS_MS)
        marks = client[name].get_collection(MARKER, write_concern=concern)
        marks.update_one({"_id": _MARK["_id"]}, {"$inc": {"windows": 1}})


def drop(client: MongoClient[dict[str, Any]], name: str, run: str) -> None:
    """Drop the database ``name`` if it is that of the run."""
    if _exists(client, name) and _run(client, name) == run:
        _drop(client, name)


def _drop(client: MongoClient[dict[str, Any]], name: str) -> None:
    """Drop the database, or all of its collections, which a user with ``readWrite`` alone is permitted."""
    from pymongo.errors import OperationFailure

    try:
        client.drop_database(name)
    except OperationFailure as error:
        if not is_refused(error):
            raise
        # The marker goes last: a run that is cut off here leaves the rest to the next.
        for collection in sorted(client[name].list_collection_names(), key=MARKER.__eq__):
            client[name].drop_collection(collection)


def was_made_by_run(client: MongoClient[dict[str, Any]], name: str) -> bool:
    """Whether the database ``name``, which exists, carries the marker of a run."""
    return _run(client, name) is not None


def _run(client: MongoClient[dict[str, Any]], name: str) -> str | None:
    """Whose the database is by its marker, which earlier versions made without a name; None when it has none."""
    mark = _mark(client, name)
    return None if mark is None else str(mark.get("run", ""))


def _mark(client: MongoClient[dict[str, Any]], name: str) -> Mapping[str, Any] | None:
    from pymongo import ReadPreference

    # Wherever the connection string has reads done: a secondary may not have heard of it yet.
    database = client.get_database(name, read_preference=ReadPreference.PRIMARY)
    return database[MARKER].find_one({"_id": _MARK["_id"]})


def _exists(client: MongoClient[dict[str, Any]], name: str) -> bool:
    return name in client.list_database_names()
