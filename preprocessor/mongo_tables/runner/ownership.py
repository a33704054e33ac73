"""Databases that a run may change: only those with a run's marker.

A run creates its databases itself and puts one document into the collection ``mongo_tables_marker`` of each. A database
without that document belongs to somebody else, and no run writes to it or drops it. The document also names the run and
its process. A run may take over the database of an earlier run of this machine whose process has ended. It may not take
over the database of a run on another machine, because it cannot see the processes there.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import psutil
from pymongo import MongoClient, ReadPreference, WriteConcern
from pymongo.errors import OperationFailure

from mongo_tables.runner import MARKER
from mongo_tables.runner.connection_strings import is_refused
from mongo_tables.runner.errors import KEPT, TargetError
from mongo_tables.runner.servers import is_router

SAME_START_SECONDS: Final = 30.0
"""The tolerance in seconds for the start time of a process, which changes when the system clock is set."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_NUMBERS: Final = Path("/proc/self/ns/pid")


@dataclass(frozen=True, slots=True)
class OwningProcess:
    """A process. ``host`` is equal for all processes that can see each other; ``started`` is a Unix time in seconds."""

    host: str
    pid: int
    started: float

    @property
    def runs(self) -> bool:
        """Return whether the process still runs. Call this only for a process of the same ``host``."""
        try:
            found = psutil.Process(self.pid)
            same = bool(abs(found.create_time() - self.started) < SAME_START_SECONDS)
            return same and found.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:
            return True


def this_process() -> OwningProcess:
    """Return the current process."""
    return OwningProcess(_host(), os.getpid(), psutil.Process().create_time())


def _host() -> str:
    """Return a digest of the machine's name, its current boot and the process namespace."""
    words = [socket.gethostname()]
    with suppress(OSError):  # systems other than Linux
        words += [_BOOT.read_text().strip(), str(_NUMBERS.stat().st_ino)]
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:16]


def close_beside(client: MongoClient[dict[str, Any]]) -> None:
    """Close a client in the background.

    Closing ends the client's sessions on the server. If the server is lost, closing takes up to half a minute.
    """
    threading.Thread(target=client.close, daemon=True).start()


MEMBERS_MS = 60_000
_MARK = {"_id": "mongo-tables", "purpose": "made by mongo-tables run, which may drop it at any time"}


def claim(client: MongoClient[dict[str, Any]], name: str, run: str) -> None:
    """Create the empty database ``name`` for the run.

    Raises TargetError if the database exists but no run created it, or if another run is using it.
    """
    if _exists(client, name):
        mark = _mark(client, name)
        if mark is None:
            raise TargetError(
                f"the database {name!r} exists and was not created by mongo-tables; it stays unchanged",
                "rename it, or set another `database` in the experiment",
            )
        if user := _user_of(mark):
            raise TargetError(
                f"the database {name!r} belongs to a run in progress: {user}",
                "wait until the run has ended; if it was killed, drop the database; or set another `database`",
            )
        _drop(client, name)
    change = {"$set": {**_MARK, "run": run, "process": asdict(this_process())}}
    client[name][MARKER].update_one({"_id": _MARK["_id"]}, change, upsert=True)


def _user_of(mark: Mapping[str, Any]) -> str:
    """Return a description of another process that uses the database with this marker, or "" if none is known."""
    if "process" not in mark:  # the marker of an earlier version
        return ""
    owner = OwningProcess(**mark["process"])
    if owner.host != _host():
        return "a process of another machine"
    return f"process {owner.pid} of this machine" if owner.pid != os.getpid() and owner.runs else ""


def check(client: MongoClient[dict[str, Any]], name: str, run: str) -> None:
    """Raise TargetError if the database ``name`` no longer belongs to the run."""
    if not _is_of(client, name, run):
        raise TargetError(f"another run has taken the database {name!r}", f"run one after the other; {KEPT}")


def wait_for_members(client: MongoClient[dict[str, Any]], name: str) -> None:
    """Wait until every member from which clients may read has all writes. ``name`` is a database of the run.

    Raises PyMongoError, for example if a member lags for more than ``MEMBERS_MS`` milliseconds. Raises TargetError for
    a mongos, which does not know the members.
    """
    hello = client.admin.command("hello")
    if is_router(hello):
        message = "a mongos does not report whether the other members already have the data"
        raise TargetError(message, "leave out readPreference, or name the mongod of a replica set")
    members = len(hello.get("hosts", ())) + len(hello.get("passives", ()))
    if members > 1:
        concern = WriteConcern(w=members, wtimeout=MEMBERS_MS)
        marks = client[name].get_collection(MARKER, write_concern=concern)
        marks.update_one({"_id": _MARK["_id"]}, {"$inc": {"windows": 1}})


def drop(client: MongoClient[dict[str, Any]], name: str, run: str) -> None:
    """Drop the database ``name`` if it belongs to the run."""
    if _exists(client, name) and _is_of(client, name, run):
        _drop(client, name)


def _drop(client: MongoClient[dict[str, Any]], name: str) -> None:
    """Drop the database. If the user may not (the role ``readWrite`` does not suffice), drop all of its collections."""
    try:
        client.drop_database(name)
    except OperationFailure as error:
        if not is_refused(error):
            raise
        # The marker is dropped last, so that the next run can drop the rest if this one is interrupted here.
        for collection in sorted(client[name].list_collection_names(), key=MARKER.__eq__):
            client[name].drop_collection(collection)


def _is_of(client: MongoClient[dict[str, Any]], name: str, run: str) -> bool:
    return (_mark(client, name) or {}).get("run") == run


def _mark(client: MongoClient[dict[str, Any]], name: str) -> Mapping[str, Any] | None:
    # Reads use the primary despite the connection string, because a secondary may lag.
    database = client.get_database(name, read_preference=ReadPreference.PRIMARY)
    return database[MARKER].find_one({"_id": _MARK["_id"]})


def _exists(client: MongoClient[dict[str, Any]], name: str) -> bool:
    return name in client.list_database_names()
