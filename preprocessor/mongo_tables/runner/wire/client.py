"""The fast client: it sends prepared command bytes over a connection that PyMongo opened.

A command is encoded once. For each operation, the client inserts only the selector, the update or the documents, and
the number of a retryable write (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg). It checks
an answer for ``ok``, ``writeErrors``, ``writeConcernError`` and an open cursor.

A driver spends several times as much processor time on encoding and checks as on the request itself, but a load
generator must not be the bottleneck. The client sends the same requests as PyMongo, with one difference: it does not
retry a retryable write, because failures are counted, and a retried write could run twice but count once.

Selectors, updates and documents are BSON bytes that are encoded once and sent unchanged. A write with the write concern
``w: 0`` has no answer, so its failure is not noticed; the write counts as one matched document.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any
from uuid import uuid4

from bson.binary import Binary
from bson.int64 import Int64
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from mongo_tables.runner.connection_strings import PROJECTION, RequestOptions, read_selector
from mongo_tables.runner.errors import UnexpectedReply
from mongo_tables.runner.series import add_counts
from mongo_tables.runner.window import Lag
from mongo_tables.runner.wire.connection import (
    EMPTY,
    FIRST_BATCH,
    NEXT_BATCH,
    NUMBER_IN_DOCUMENT,
    NUMBER_IN_ELEMENTS,
    NUMBER_IN_MESSAGE,
    TXN_NUMBER,
    WireConnection,
    alone,
    batch,
    beginning,
    check_out,
    checked,
    cut,
    document,
    elements,
    int32,
    int64,
    number,
    with_documents,
)
from mongo_tables.runner.wire.loop import Hub

RECONNECT_PATIENCE_SECONDS = 0.5
"""Seconds to wait for a server in one attempt to reconnect."""
SESSIONS_AT_ONCE = 10_000
"""The maximum number of sessions in one ``endSessions``, as in drivers."""


class WireClient:
    """The client of one collection. It has one connection, or two if reads and writes go to different servers."""

    def __init__(
        self, client: MongoClient[Any], namespace: tuple[str, str], options: RequestOptions, number: int = 0
    ) -> None:
        """``namespace`` is database and collection. ``number`` is the connection's index in its load."""
        self.sessions: list[Any] = []
        """The ids of all sessions; the last one is in use."""
        self._client = client
        self._namespace = namespace
        self._options = options
        self._acknowledged = options.acknowledges
        self._retryable = options.retryable_writes
        self._hub: Hub | None = None
        self._lag = Lag()
        self._seen: bytes | None = None
        """The beginning of an answer that had only empty documents. ``_seen_counts`` are the counts of this answer."""
        self._seen_counts = 0, 0
        self._turn = number
        self._open(None)
        self._begin_session()

    def _open(self, patience: float | None) -> None:
        """Open one connection for writes and one for reads, or a single one if both go to the primary."""
        self._writing = self._reading = WireConnection(self._client, None, patience, self._turn)
        if not self._options.reads_primary:
            selector = read_selector(self._options.read_preference)
            self._reading = WireConnection(self._client, selector, patience, self._turn)
        self._ask, self._order = self._reading.exchange, self._writing.exchange

    def _begin_session(self) -> None:
        """Begin a session, and encode all commands for it."""
        options, (database, collection) = self._options, self._namespace
        session: dict[str, Any] = {}
        if options.sessions:
            self.sessions.append({"id": Binary.from_uuid(uuid4())})
            session = {"lsid": self.sessions[-1]}
        self._number = 0
        read: dict[str, Any] = {}
        if not options.reads_primary:
            read["$readPreference"] = dict(options.read_preference)
        if options.read_concern:
            read["readConcern"] = dict(options.read_concern)
        self._prepare_reads({"$db": database, **session}, read, collection)
        write = {"writeConcern": dict(options.write_concern), "$db": database}
        # An unacknowledged write has no session:
        # https://github.com/mongodb/specifications/blob/master/source/sessions/driver-sessions.md
        self._prepare_writes({**write, **(session if self._acknowledged else {})}, collection)
        self._around_find: dict[tuple[int, int, int], tuple[bytes, bytes]] = {}
        """The bytes before and after a selector, by the selector's length, the limit and the skip."""
        self._around_update: dict[tuple[int, int, bool], tuple[bytearray, bytes]] = {}
        """The bytes before and after selector and update, by their lengths and ``upsert``."""

    def _prepare_reads(
        self, where: Mapping[str, Any], only_first: Mapping[str, Any], collection: str
    ) -> None:
        read = {**where, **only_first}
        self._find = elements({"find": collection, "projection": PROJECTION, **read})
        self._read = elements({"find": collection, "limit": 1, "singleBatch": True, **read})
        self._scan = elements({"find": collection, "sort": {"_id": 1}, **read})
        self._aggregate = elements({"aggregate": collection, "cursor": {}, **read})
        self._more = elements({"collection": collection, **where})

    def _prepare_writes(self, write: Mapping[str, Any], collection: str) -> None:
        if self._retryable:
            write = {**write, "txnNumber": Int64(0)}
        self._insert = _changeable({"insert": collection, "ordered": True, **write})
        self._update = _changeable({"update": collection, "ordered": True, **write})
        self._update_each = _changeable({"update": collection, "ordered": False, **write})
        self._modify = {
            upsert: bytearray(elements({"findAndModify": collection, "new": True, "upsert": upsert, **write}))
            for upsert in (False, True)
        }
        self._delete = _changeable({"delete": collection, "ordered": True, **write})
        self._upsert = {upsert: elements({"upsert": upsert, "multi": False}) for upsert in (False, True)}

    @property
    def files(self) -> tuple[int, ...]:
        """Return the file descriptors from which the client reads answers."""
        return tuple(one.fileno() for one in self._connections)

    @property
    def lag(self) -> Lag:
        """Return how long answers waited to be read."""
        total = Lag()
        for one in (self._lag, *(held.lag for held in self._connections)):
            add_counts(total, one)
        return total

    @property
    def _connections(self) -> tuple[WireConnection, ...]:
        return (self._writing,) if self._reading is self._writing else (self._writing, self._reading)

    def sleep(self, seconds: float) -> None:
        """Let other connections run for ``seconds`` seconds."""
        (self._hub or time).sleep(seconds)

    def share_thread(self, hub: Hub) -> None:
        """Use the ``hub`` to wait, so that other connections of the thread run meanwhile."""
        self._hub = hub
        for one in self._connections:
            one.share_thread(hub.wait)

    def reconnect(self) -> None:
        """Open a new connection to the current primary. Raises the error of the driver or of the system.

        The connection uses a new session, because the server may still execute the failed write in the old one, and the
        next write would wait for it. Other connections of this thread continue meanwhile.
        """
        for one in self._connections:
            add_counts(self._lag, one.lag)
            one.lag = Lag()  # another attempt must not add it again
            one.give_up()
        if self._hub is None:
            self._open(RECONNECT_PATIENCE_SECONDS)
        else:
            self._hub.do_elsewhere(lambda: self._open(RECONNECT_PATIENCE_SECONDS))
            self.share_thread(self._hub)
            self._hub.wait_for(*self.files)
        self._begin_session()

    @property
    def can_share_thread(self) -> bool:
        """Return whether the client waits for answers, and without a time limit (``socketTimeoutMS``)."""
        return self._acknowledged and self._writing.waits_for_ever

    def insert(self, documents: Sequence[bytes]) -> None:
        """Send one ``insert`` with the documents in their own section."""
        message = self._sequence(self._numbered(self._insert), b"documents", documents)
        inserted = self._written(message, len(documents))
        if inserted != len(documents):
            raise UnexpectedReply(f"{inserted} of {len(documents)} documents were inserted")

    def update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """Send one ``update`` with one statement. An upserted document counts as matched."""
        change = selector + b"\x03u\0" + update
        kind = (len(selector), len(update), upsert)
        around = self._around_update.get(kind)
        if around is None:
            statement = document(b"\x03q\0" + change + self._upsert[upsert])
            message = self._sequence(self._update, b"updates", (statement,))
            before, after = cut(message, len(change), len(self._upsert[upsert]) + 1)
            around = self._around_update[kind] = bytearray(before), after
        if self._retryable:
            self._number += 1
            TXN_NUMBER.pack_into(around[0], NUMBER_IN_MESSAGE + len(self._update), self._number)
        return self._written(change.join(around), 1)

    def update_each(self, statements: Sequence[bytes]) -> int:
        """Send one unordered ``update`` with the statements in their own section."""
        message = self._sequence(self._numbered(self._update_each), b"updates", statements)
        return self._written(message, len(statements))

    def find_and_update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """Send one ``findAndModify``."""
        asked = b"\x03query\0" + selector + b"\x03update\0" + update
        command = self._modify[upsert]
        if self._retryable:
            self._number += 1
            TXN_NUMBER.pack_into(command, NUMBER_IN_ELEMENTS, self._number)
        reply = checked(self._order(alone(command + asked)))
        return 0 if reply["value"] is None else 1

    def find(self, selector: bytes, limit: int, skip: int) -> tuple[int, int]:
        """Send one ``find``, and ``getMore`` until the cursor is exhausted."""
        kind = (len(selector), limit, skip)
        around = self._around_find.get(kind)
        if around is None:
            numbers = int32(b"limit", limit) + int32(b"skip", skip)
            message = alone(self._find + b"\x03filter\0" + selector + numbers)
            around = self._around_find[kind] = cut(message, len(selector), len(numbers) + 1)
        return self._drained(selector.join(around))

    def read(self, selector: bytes, projection: bytes) -> tuple[int, int]:
        """Send one ``find`` whose answer is a single batch."""
        return self._drained(
            alone(self._read + b"\x03filter\0" + selector + b"\x03projection\0" + projection)
        )

    def scan(self, selector: bytes, limit: int, projection: bytes) -> tuple[int, int]:
        """Send one ``find`` that sorts by ``_id``, and ``getMore`` until the cursor is exhausted."""
        asked = b"\x03filter\0" + selector + b"\x03projection\0" + projection
        return self._drained(alone(self._scan + asked + int32(b"limit", limit)))

    def replace(self, selector: bytes, document: bytes) -> int:
        """Send one ``update``: a statement without operators replaces."""
        return self.update(selector, document, False)

    def delete(self, selector: bytes) -> int:
        """Send one ``delete`` with one statement."""
        statement = document(b"\x03q\0" + selector + int32(b"limit", 1))
        return self._written(self._sequence(self._numbered(self._delete), b"deletes", (statement,)), 1)

    def aggregate(self, pipeline: bytes) -> tuple[int, int]:
        """Send one ``aggregate``, and ``getMore`` until the cursor is exhausted."""
        return self._drained(alone(self._aggregate + b"\x04pipeline\0" + pipeline))

    def wait_for_writes(self) -> None:
        """Wait until the server has executed the unacknowledged writes.

        A server executes the requests of a connection in order, so it answers the ping after the writes.
        """
        checked(self._order(alone(elements({"ping": 1, "$db": "admin"}))))

    def close(self) -> None:
        """Return the connections to PyMongo's pool. The sessions stay open until ``end_sessions`` ends them."""
        for one in self._connections:
            one.close()

    def _drained(self, message: bytes) -> tuple[int, int]:
        reply = self._ask(message)
        if self._seen and reply.startswith(self._seen):
            return self._seen_counts
        count, size, cursor = batch(reply, FIRST_BATCH)
        if not cursor and size == EMPTY * count:
            # All empty documents have the same bytes, so answers with the same beginning have the same count.
            self._seen, self._seen_counts = beginning(reply), (count, size)
        while cursor:
            more = alone(int64(b"getMore", cursor) + self._more)
            further, length, cursor = batch(self._ask(more), NEXT_BATCH)
            count, size = count + further, size + length
        return count, size

    def _numbered(self, command: bytearray) -> bytearray:
        """Return the command, with the next number if it is a retryable write."""
        if self._retryable:
            self._number += 1
            TXN_NUMBER.pack_into(command, NUMBER_IN_DOCUMENT, self._number)
        return command

    def _sequence(self, command: bytearray, name: bytes, documents: Sequence[bytes]) -> bytes:
        return with_documents(command, name, documents, self._acknowledged)

    def _written(self, message: bytes, documents: int) -> int:
        if self._acknowledged:
            return number(self._order(message))
        self._writing.send(message)
        return documents


def _changeable(command: Mapping[str, Any]) -> bytearray:
    return bytearray(document(elements(command)))


def end_sessions(client: MongoClient[Any], clients: Iterable[WireClient]) -> None:
    """End the sessions of these clients on the server, which would otherwise keep them for half an hour."""
    sessions = [session for one in clients for session in one.sessions]
    with suppress(PyMongoError):  # the sessions expire by themselves
        for first in range(0, len(sessions), SESSIONS_AT_ONCE):
            client.admin.command("endSessions", sessions[first : first + SESSIONS_AT_ONCE])


def open_connections(client: MongoClient[Any], numbers: Sequence[int]) -> None:
    """Open and authenticate a pooled connection for each number before the measured time begins."""
    with ExitStack() as held:
        for number in numbers:
            check_out(client, held, number=number)
