"""Databases that a run may change: only those that carry its marker.

A run makes its databases itself and puts one document into the collection ``mongo_tables_marker`` of each. A
database that exists without that document belongs to somebody else and is never written to nor dropped. The document
also names the run, its process and its last sign of life: one that was killed leaves its database to the next, and one
that works does not.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.runner.connection_strings import is_refused
from mongo_tables.runner.errors import KEPT, TargetError
from mongo_tables.runner.servers import is_router

if TYPE_CHECKING:
    from pymongo import MongoClient


SAME_START_SECONDS: Final = 30.0
"""When a process began is reckoned from the clock, which may be set meanwhile."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_NUMBERS: Final = Path("/proc/self/ns/pid")


@dataclass(frozen=True, slots=True)
class OwningProcess:
    """A process: ``host`` is the same for all processes that can see each other, ``started`` is a Unix time."""

    host: str
    pid: int
    started: float

    @property
    def is_this(self) -> bool:
        """Whether it is the one that asks."""
        return self.is_here and self.pid == os.getpid()

    @property
    def is_here(self) -> bool:
        """Whether it could be seen from here."""
        return self.host == _host()

    @property
    def runs(self) -> bool:
        """Whether a process that could be seen from here is still there."""
        import psutil

        try:
            found = psutil.Process(self.pid)
            same = bool(abs(found.create_time() - self.started) < SAME_START_SECONDS)
            return same and found.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:
            return True


def this_process() -> OwningProcess:
    """The one that asks."""
    import psutil

    return OwningProcess(_host(), os.getpid(), psutil.Process().create_time())


def _host() -> str:
    """This machine since it was started, and of a container its own numbers of processes: no name can be read in it."""
    words = [socket.gethostname()]
    with suppress(OSError):  # systems other than Linux
        words += [_BOOT.read_text().strip(), str(_NUMBERS.stat().st_ino)]
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:16]


def close_beside(client: MongoClient[dict[str, Any]]) -> None:
    """Close a client, and do not wait for it.

    It says goodbye to the sessions that it had, and looks half a minute for a server that is gone.
    """
    threading.Thread(target=client.close, daemon=True).start()


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


BEAT_SECONDS = 60.0
"""Between two signs; ``ownership.ALIVE_SECONDS`` has time for some of them."""


class Heartbeat:
    """Gives a sign before windows, and in those that are long, until it is stopped."""

    def __init__(self, client: MongoClient[dict[str, Any]], database: str, run: str) -> None:
        """The database was claimed just now."""
        self._client = client
        self._database = database
        self._run = run
        self._last = time.monotonic()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat_until_stopped, daemon=True)
        self._thread.start()

    def beat(self) -> None:
        """Give a sign now, while nothing is measured, if the next would fall into what comes."""
        if time.monotonic() - self._last >= BEAT_SECONDS / 2:
            self._beat()

    def stop(self) -> None:
        """Give no more of them."""
        self._stopped.set()

    def _beat_until_stopped(self) -> None:
        while not self._stopped.wait(max(0.0, self._last + BEAT_SECONDS - time.monotonic())):
            if time.monotonic() - self._last >= BEAT_SECONDS:
                self._beat()

    def _beat(self) -> None:
        from pymongo.errors import PyMongoError

        self._last = time.monotonic()
        with suppress(PyMongoError):  # whoever works there sees what is wrong
            give_sign(self._client, self._database, self._run)
