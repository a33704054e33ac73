"""Work on a replica set whose members are locked, or whose primary changes."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import bson

from mongo_tables.runner.workloads import Config, Done, Share, Step, Workload

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.collection import Collection
    from pymongo.database import Database

    from mongo_tables.runner.wire.client import WireClient

WRITE_CONCERN_FAILED = 64
"""The code of an acknowledgement that timed out (https://www.mongodb.com/docs/manual/reference/error-codes/)."""
APART = 1_000_000_000
"""The distance between the first document numbers of two connections."""
SHORTEST_CALM_NS = 1_000_000_000
CALM_SHARE = 4
DEFAULT_ELECTION_MS = 10_000
"""The default election timeout of MongoDB:
https://www.mongodb.com/docs/manual/reference/replica-configuration/#mongodb-rsconf-rsconf.settings.electionTimeoutMillis
"""
AGREE_SECONDS = 60.0
LOOK_SECONDS = 0.1
_FILLER = "x" * 500
_OPENED = "opened"
"""The key in ``Share.prepared`` for the opening of the window, in nanoseconds on the monotonic clock."""


class WriteTimeout(Workload, name="write_timeout"):
    """Writes whose acknowledgement may time out, and a count of the writes that were applied nevertheless.

    Before the window, ``heldSecondaries`` of the secondaries are locked (``fsync`` with ``lock``). A locked member
    answers and votes, but does not apply the primary's writes. Each of ``nWrites`` operations inserts a document with
    the ``writeConcern``. An insert that ends with ``wtimeout`` counts as done, but not as acknowledged. After the
    window, the documents are counted before and after the members are unlocked.
    """

    needs = frozenset({"nWrites", "heldSecondaries", "writeConcern"})
    holds_members = True
    whole = True

    def plan(self, config: Config) -> Done:
        """Return ``nWrites`` inserts of one document each."""
        return Done(config["nWrites"], config["nWrites"], 0)

    def reset(self, database: Database[Any], config: Config) -> None:
        """Lock the configured number of secondaries."""
        for member in islice(_secondaries(database), config["heldSecondaries"]):
            member.admin.command("fsync", lock=True)

    def report(self, operations: float, documents: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the numbers of writes that were sent, acknowledged, and timed out."""
        return {"nWrites": operations}, {"acknowledged": documents, "timedOut": operations - documents}

    def conclude(self, database: Database[Any], config: Config) -> dict[str, Any]:
        """Count the primary's documents, unlock the members, and count the documents on a majority of the members."""
        collection = database[config["collection"]]
        applied = collection.count_documents({})
        members = 1
        for number, member in enumerate(_secondaries(database)):
            members += 1
            if number < config["heldSecondaries"]:
                while member.admin.command("fsyncUnlock")["lockCount"]:  # the warm-up may have locked it, too
                    pass
        majority = _of_majority(collection)
        with database.client.start_session(causal_consistency=True) as session:
            # When all members acknowledge a last write, they also have all earlier writes.
            note = {"appendOplogNote": 1, "data": {"of": "all"}, "writeConcern": {"w": members}}
            database.client.admin.command(note, session=session)
            kept = majority.count_documents({}, session=session)
        return {"applied": applied, "keptByMajority": kept}

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Return a step that inserts a document."""

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


def _of_majority(collection: Collection[Any]) -> Collection[Any]:
    """Return the collection with the read concern ``majority``."""
    from pymongo.read_concern import ReadConcern

    return collection.with_options(read_concern=ReadConcern("majority"))


def _secondaries(database: Database[Any]) -> Iterator[MongoClient[dict[str, Any]]]:
    """Yield a client of each secondary, in the order of the replica set's configuration."""
    from pymongo import MongoClient

    signed_in = _signed_in(database.client)
    hello = database.client.admin.command("hello")
    for host in hello["hosts"]:
        if host != hello["me"]:
            with MongoClient[dict[str, Any]](host, directConnection=True, **signed_in) as member:
                yield member


def _signed_in(client: MongoClient[dict[str, Any]]) -> dict[str, Any]:
    """Return a client's credentials, with which another client can sign in. PyMongo has no public API for them."""
    known = client.options.pool_options._credentials
    if known is None:
        return {}
    return {"username": known.username, "password": known.password, "authSource": known.source}


class Failover(Workload, name="failover"):
    """Writes and reads at a steady rate while the primary of the replica set changes.

    Each write inserts a document with the connection's next number, without retries. Each read finds the connection's
    last acknowledged document. Each document records the earlier failures of its connection: the numbers that failed,
    and the periods without an answer in nanoseconds on the monotonic clock, which all processes of a machine share. So
    the documents show afterwards which acknowledged writes are missing.

    The kind of a request ends with its phase: ``before`` for a request answered before the event, ``after`` for a
    request sent when the connection has recovered, ``during`` for any other request. A connection has recovered when it
    has received answers for a quarter of the length of its outage, and for a second or more: by then it has sent its
    backlog.
    """

    needs = frozenset({"event", "eventAfterSecs", "operationsPerSecond", "testTimeSecs"})
    holds_members = True
    changes_primary = True

    def server_counts(self, config: Config) -> Mapping[str, float]:
        """Return an empty mapping, because no single server counts all operations."""
        return {}

    def reset(self, database: Database[Any], config: Config) -> None:
        """Set the election timeout of the members, and wait until a majority has it. This may cause an election."""
        from pymongo.errors import PyMongoError

        wanted = config.get("electionTimeoutMillis", DEFAULT_ELECTION_MS)
        deadline = time.monotonic() + AGREE_SECONDS
        while True:
            try:
                if _agree_on(database.client, wanted):
                    return
            except PyMongoError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(LOOK_SECONDS)

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Return a step that inserts a document or reads one."""
        draw = random.Random(share.seed)
        reads, after = config.get("readproportion", 0.5), round(config["eventAfterSecs"] * 1e9)
        course = _Course(share.worker * APART)
        whole = bson.encode({})

        def step() -> Done | None:
            sent = time.monotonic_ns()
            if not course.answered:
                course.answered = sent
                _note_opening(share, sent, config["operationsPerSecond"])
            reading = course.acknowledged is not None and draw.random() < reads
            try:
                if reading:
                    found, size = client.read(bson.encode({"_id": course.acknowledged}), whole)
                else:
                    document = bson.encode(
                        {
                            "_id": course.number,
                            "failed": course.failed,
                            "outages": course.outages,
                            "filler": _FILLER,
                        }
                    )
                    found, size = 1, len(document)
                    client.insert([document])
            except Exception:
                course.fail(not reading)
                raise
            answered = time.monotonic_ns()
            phase = _phase(sent, answered, share.prepared[_OPENED] + after, course)
            course.succeed(not reading, answered)
            kind = ("read" if found else "read_of_nothing") if reading else "write"
            return Done(1, found, size, f"{kind}_{phase}")

        return step

    def conclude(self, database: Database[Any], config: Config) -> dict[str, Any]:
        """Return the conclusions of ``tell`` from the documents that a majority of the members has."""
        return tell(_of_majority(database[config["collection"]]).find({}, {"filler": 0}).sort("_id"))


def _agree_on(client: MongoClient[Any], wanted: int) -> bool:
    """Return whether a majority of the members has the election timeout ``wanted``. If the timeout differs, set it."""
    answer = client.admin.command("replSetGetConfig", commitmentStatus=True)
    found = answer["config"]
    if found["settings"]["electionTimeoutMillis"] == wanted:
        return bool(answer["commitmentStatus"])
    settings = {**found["settings"], "electionTimeoutMillis": wanted}
    client.admin.command("replSetReconfig", {**found, "version": found["version"] + 1, "settings": settings})
    return False


@dataclass(slots=True)
class _Course:
    """The failures of a connection so far."""

    number: int
    failed: list[int] = field(default_factory=list)
    outages: list[dict[str, int]] = field(default_factory=list)
    acknowledged: int | None = None
    errors: int = 0
    answered: int = 0
    through: int = 0
    """The moment from which the connection counts as recovered from its last outage."""

    def fail(self, wrote: bool) -> None:
        """Note a failed request. A failed write may have been applied, so no other write uses its number."""
        self.errors += 1
        if wrote:
            self.failed.append(self.number)
            self.number += 1

    def succeed(self, wrote: bool, now: int) -> None:
        """Note an answer at the moment ``now``, and the end of an outage."""
        if self.errors:
            self.outages.append({"from": self.answered, "to": now, "errors": self.errors})
            self.through = now + max(SHORTEST_CALM_NS, (now - self.answered) // CALM_SHARE)
            self.errors = 0
        self.answered = now
        if wrote:
            self.acknowledged = self.number
            self.number += 1


def _note_opening(share: Share, sent: int, rate: float) -> None:
    """Estimate when the window opened, from the moment ``sent`` of a connection's first request.

    Connections begin one after the other, at intervals of 1 / ``rate`` seconds. A connection may begin late, so the
    earliest estimate of a process counts.
    """
    opened = sent - round(share.worker * 1e9 / rate)
    share.prepared[_OPENED] = min(opened, share.prepared.get(_OPENED, opened))


def _phase(sent: int, answered: int, event: int, course: _Course) -> str:
    if answered < event:
        return "before"
    return "after" if course.outages and not course.errors and sent > course.through else "during"


def tell(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the conclusions (lost and failed writes, and outages) from the documents, which are sorted by ``_id``.

    ``failuresTold`` counts the recorded failures. Failures after a connection's last stored document are not counted.
    """
    found, last = 0, dict[int, Mapping[str, Any]]()
    there: dict[int, set[int]] = {}
    for document in documents:
        connection = document["_id"] // APART
        there.setdefault(connection, set()).add(document["_id"])
        last[connection] = document
        found += 1
    failed = {connection: set(document["failed"]) for connection, document in last.items()}
    missing = sum(
        document["_id"] - connection * APART + 1 - len(there[connection] | failed[connection])
        for connection, document in last.items()
    )
    applied = sum(len(there[connection] & failed[connection]) for connection in last)
    outages = [document["outages"] for document in last.values()]
    return {
        "found": found,
        "failedButApplied": applied,
        "lostAcknowledged": missing,
        "failuresTold": sum(outage["errors"] for one in outages for outage in one),
        **_without_service(outages),
    }


def _without_service(outages: list[list[Mapping[str, int]]]) -> dict[str, float | None]:
    """Return the seconds without an answer to any connection, and the fewest and most such seconds of one connection.

    The seconds without an answer to any connection begin with the last answer before the outage and end with the first
    answer after the outage. If no request failed, all figures are None: the outage was shorter than the time between
    two requests, or requests waited for the end of the outage.
    """
    longest = [max(one, key=lambda out: out["to"] - out["from"]) for one in outages if one]
    if not longest:
        return {"withoutService": None, "withoutServiceLeast": None, "withoutServiceMost": None}
    each = [(one["to"] - one["from"]) / 1e9 for one in longest]
    everywhere = len(longest) == len(outages)
    overall = min(one["to"] for one in longest) - max(one["from"] for one in longest) if everywhere else 0
    return {
        "withoutService": max(0, overall) / 1e9,
        "withoutServiceLeast": min(each) if everywhere else 0.0,
        "withoutServiceMost": max(each),
    }
