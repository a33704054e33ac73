"""The fast path: commands as prepared bytes over a connection that PyMongo opened.

PyMongo finds the primary, opens the connection, encrypts it and signs in; then this module writes OP_MSG
messages to its socket and reads the answers
(https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg). A command is encoded once, and
for each operation only the selector, the update or the documents are put in. An answer is checked for ``ok``,
``writeErrors``, ``writeConcernError`` and for a cursor that has more.

It exists because encoding, sessions and checks make a driver cost several times what the request itself
costs, and a load generator must not be what is measured. ``clients.PyMongoClient`` is the reference for what
it does.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from preprocessor.runner.clients import PROJECTION, UnexpectedReply
from preprocessor.runner.lag import EVERY, Lag, receive_stamped, stamp
from preprocessor.runner.wire.replies import (
    EMPTY,
    FIRST_BATCH,
    HEAD,
    NEXT_BATCH,
    PLAIN,
    batch,
    beginning,
    checked,
    number,
)
from preprocessor.runner.wire.requests import alone, cut, document, elements, int32, int64, with_documents

if TYPE_CHECKING:
    from pymongo import MongoClient

    from preprocessor.runner.wire.loop import Hub

MOST_AT_ONCE = 16 * 1024
RECONNECT_PATIENCE_SECONDS = 0.05
"""For a primary: others wait meanwhile, and it is tried again."""
WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""What a socket that does not block raises in place of waiting."""


class WireClient:
    """One connection to the primary that works on one collection."""

    def __init__(
        self, client: MongoClient[Any], namespace: tuple[str, str], concern: Mapping[str, Any]
    ) -> None:
        """``namespace`` is database and collection, ``concern`` the write concern."""
        database, collection = namespace
        self.sleep: Callable[[float], None] = time.sleep
        """What lets others go on for so many seconds."""
        self._client = client
        self._held = ExitStack()
        self._connection = _checked_out(client, self._held)
        self._socket = _socket(self._connection)
        self._hub: Hub | None = None
        self.lag = Lag()
        """How long answers waited to be read."""
        self._stamped = stamp(self._socket)
        self._to_sample = EVERY
        self._prepare_reads({"$db": database}, collection)
        self._prepare_writes({"writeConcern": dict(concern), "$db": database}, collection)
        self._acknowledged = concern.get("w") != 0
        self._around_find: dict[tuple[int, int, int], tuple[bytes, bytes]] = {}
        """What is sent before and after a selector, by its length, the limit and the skip."""
        self._around_update: dict[tuple[int, int, bool], tuple[bytes, bytes]] = {}
        """What is sent before and after selector and update, by their lengths and ``upsert``."""
        self._seen: bytes | None = None
        """How an answer with nothing but empty documents began."""
        self._seen_counts = 0, 0

    def _prepare_reads(self, where: Mapping[str, Any], collection: str) -> None:
        self._find = elements({"find": collection, "projection": PROJECTION, **where})
        self._read = elements({"find": collection, "limit": 1, "singleBatch": True, **where})
        self._scan = elements({"find": collection, "sort": {"_id": 1}, **where})
        self._aggregate = elements({"aggregate": collection, "cursor": {}, **where})
        self._more = elements({"collection": collection, **where})

    def _prepare_writes(self, write: Mapping[str, Any], collection: str) -> None:
        self._insert = document(elements({"insert": collection, "ordered": True, **write}))
        self._update = document(elements({"update": collection, "ordered": True, **write}))
        self._update_each = document(elements({"update": collection, "ordered": False, **write}))
        self._modify = {
            upsert: elements({"findAndModify": collection, "new": True, "upsert": upsert, **write})
            for upsert in (False, True)
        }
        self._delete = document(elements({"delete": collection, "ordered": True, **write}))
        self._upsert = {upsert: elements({"upsert": upsert, "multi": False}) for upsert in (False, True)}

    def fileno(self) -> int:
        """The number of the file that answers are read from."""
        return int(self._socket.fileno())

    def share_thread(self, hub: Hub) -> None:
        """Let others go on while this connection waits."""
        self._hub, self.sleep = hub, hub.sleep
        self._socket.setblocking(False)
        self._held.callback(_let_block, self._socket)

    def reconnect(self) -> None:
        """Open another connection in place of this one, to the primary of now; raises what the driver or system does.

        Other connections of this thread wait while it is opened.
        """
        self._connection.close_conn(None)
        self._held.close()
        self._connection = _checked_out(self._client, self._held, RECONNECT_PATIENCE_SECONDS)
        self._socket = _socket(self._connection)
        self._stamped = stamp(self._socket)
        if self._hub is not None:
            self.share_thread(self._hub)
            self._hub.wait_for(self._socket.fileno())

    @property
    def waits_for_ever(self) -> bool:
        """Whether no ``socketTimeoutMS`` says how long an answer is waited for."""
        return self._socket.gettimeout() is None

    def insert(self, documents: Sequence[bytes]) -> None:
        """One ``insert`` with the documents in a section of their own."""
        message = self._sequence(self._insert, b"documents", documents)
        inserted = self._written(message, len(documents))
        if inserted != len(documents):
            raise UnexpectedReply(f"{inserted} of {len(documents)} documents were inserted")

    def update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """One ``update`` with one statement; an upserted document counts as matched."""
        change = selector + b"\x03u\0" + update
        kind = (len(selector), len(update), upsert)
        around = self._around_update.get(kind)
        if around is None:
            statement = document(b"\x03q\0" + change + self._upsert[upsert])
            message = self._sequence(self._update, b"updates", (statement,))
            around = self._around_update[kind] = cut(message, len(change), len(self._upsert[upsert]) + 1)
        return self._written(change.join(around), 1)

    def update_each(self, statements: Sequence[bytes]) -> int:
        """One unordered ``update`` with the statements in a section of their own."""
        message = self._sequence(self._update_each, b"updates", statements)
        return self._written(message, len(statements))

    def find_and_update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """One ``findAndModify``."""
        asked = b"\x03query\0" + selector + b"\x03update\0" + update
        reply = checked(self._exchange(alone(self._modify[upsert] + asked)))
        return 0 if reply["value"] is None else 1

    def find(self, selector: bytes, limit: int, skip: int) -> tuple[int, int]:
        """One ``find``, and ``getMore`` until the cursor is empty."""
        kind = (len(selector), limit, skip)
        around = self._around_find.get(kind)
        if around is None:
            numbers = int32(b"limit", limit) + int32(b"skip", skip)
            message = alone(self._find + b"\x03filter\0" + selector + numbers)
            around = self._around_find[kind] = cut(message, len(selector), len(numbers) + 1)
        return self._drained(selector.join(around))

    def read(self, selector: bytes, projection: bytes) -> tuple[int, int]:
        """One ``find`` whose answer is a single batch."""
        return self._drained(
            alone(self._read + b"\x03filter\0" + selector + b"\x03projection\0" + projection)
        )

    def scan(self, selector: bytes, limit: int, projection: bytes) -> tuple[int, int]:
        """One ``find``, and ``getMore`` until the cursor is empty."""
        asked = b"\x03filter\0" + selector + b"\x03projection\0" + projection
        return self._drained(alone(self._scan + asked + int32(b"limit", limit)))

    def replace(self, selector: bytes, document: bytes) -> int:
        """One ``update``: a statement without operators replaces."""
        return self.update(selector, document, False)

    def delete(self, selector: bytes) -> int:
        """One ``delete`` with one statement."""
        statement = document(b"\x03q\0" + selector + int32(b"limit", 1))
        return self._written(self._sequence(self._delete, b"deletes", (statement,)), 1)

    def aggregate(self, pipeline: bytes) -> tuple[int, int]:
        """One ``aggregate``, and ``getMore`` until the cursor is empty."""
        return self._drained(alone(self._aggregate + b"\x04pipeline\0" + pipeline))

    def close(self) -> None:
        """Give the connection back to PyMongo."""
        self._held.close()

    def _drained(self, message: bytes) -> tuple[int, int]:
        reply = self._exchange(message)
        if self._seen and reply.startswith(self._seen):
            return self._seen_counts
        count, size, cursor = batch(reply, FIRST_BATCH)
        if not cursor and size == EMPTY * count:
            # Empty documents come in the same bytes each time: they need not be counted again.
            self._seen, self._seen_counts = beginning(reply), (count, size)
        while cursor:
            more = alone(int64(b"getMore", cursor) + self._more)
            further, length, cursor = batch(self._exchange(more), NEXT_BATCH)
            count, size = count + further, size + length
        return count, size

    def _sequence(self, command: bytes, name: bytes, documents: Sequence[bytes]) -> bytes:
        return with_documents(command, name, documents, self._acknowledged)

    def _written(self, message: bytes, documents: int) -> int:
        if self._acknowledged:
            return number(self._exchange(message))
        self._send(message)
        return documents

    def _exchange(self, message: bytes) -> bytes:
        """Send a message; give the BSON of the answer."""
        self._send(message)
        if self._hub:
            self._hub.wait()
        # Most answers come whole: to ask for the head first would be one more call of the system for each.
        self._to_sample -= 1
        answer = self._some(MOST_AT_ONCE) if self._to_sample else self._sampled()
        if len(answer) < HEAD.size:
            answer += self._receive(HEAD.size - len(answer))
        length, kind = HEAD.unpack_from(answer)
        if kind != PLAIN:
            # How long it is cannot be trusted: the rest would be taken for the next answer.
            raise ConnectionError(f"an answer of another kind: opcode, flags and section are {kind.hex()}")
        if len(answer) < length:
            answer += self._receive(length - len(answer))
        return answer[HEAD.size :]

    def _send(self, message: bytes) -> None:
        if self._hub is None:
            self._socket.sendall(message)
            return
        sent = self._sent(message)
        if sent < len(message):
            rest = memoryview(message)
            while rest := rest[sent:]:
                self._hub.wait()
                sent = self._sent(rest)

    def _sent(self, message: bytes | memoryview[int]) -> int:
        try:
            return int(self._socket.send(message))
        except WOULD_BLOCK:
            return 0

    def _some(self, most: int) -> bytes:
        """What has come, at most so much; waits until something has."""
        while True:
            try:
                some: bytes = self._socket.recv(most)
            except WOULD_BLOCK:
                if self._hub is None:
                    raise
                self._hub.wait()
            else:
                return some

    def _sampled(self) -> bytes:
        """As ``_some``, and how long it had waited to be read."""
        self._to_sample = EVERY
        if self._stamped:
            with suppress(BlockingIOError):  # nothing has come yet
                return receive_stamped(self._socket, MOST_AT_ONCE, self.lag)
        return self._some(MOST_AT_ONCE)

    def _receive(self, length: int) -> bytes:
        parts: list[bytes] = []
        while length:
            parts.append(self._some(length))
            if not parts[-1]:
                raise ConnectionError("the server closed the connection")
            length -= len(parts[-1])
        return b"".join(parts)


def open_connections(client: MongoClient[Any], number: int) -> None:
    """Have the pool hold so many connections to the primary: opened and signed in, before a clock runs."""
    with ExitStack() as held:
        for _ in range(number):
            _checked_out(client, held)


def _let_block(held: Any) -> None:
    with suppress(OSError):  # it is closed
        held.setblocking(True)


def _socket(connection: Any) -> Any:
    return getattr(connection.conn, "sock", connection.conn)


def _checked_out(client: Any, held: ExitStack, patience: float | None = None) -> Any:
    """A connection to the primary, which stays checked out until ``held`` is closed.

    A primary is waited for as long as the client says, or for so many seconds.

    PyMongo has no public way to a connection of its pool, so ``client`` is taken for what it is inside; the
    test that holds both clients equal notices when that changes.
    """
    from pymongo.server_selectors import writable_server_selector

    server = client._topology.select_server(writable_server_selector, "load", patience)
    return held.enter_context(server.pool.checkout())
