"""A connection that PyMongo opened, and the messages on it.

PyMongo finds the server, opens the connection, encrypts it and authenticates. Then this module uses the socket
directly. Requests and answers are OP_MSG messages
(https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg). Only the needed parts of an answer are
decoded.
"""

from __future__ import annotations

import ssl
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, NoReturn

import bson
import pymongo
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient
from pymongo.server_selectors import writable_server_selector

from mongo_tables.runner.errors import TargetError, UnexpectedReply
from mongo_tables.runner.window import EVERY, Lag, receive_stamped, stamp

MOST_AT_ONCE = 16 * 1024
WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""The exceptions that a non-blocking socket raises instead of blocking."""
_OF_CONNECTION = ("close_conn", "command", "conn")
_OF_SOCKET = ("fileno", "gettimeout", "recv", "send", "sendall", "setblocking")
"""The attributes of a PyMongo connection and of its socket that this module uses."""


class WireConnection:
    """A connection of PyMongo's pool, checked out until ``close``."""

    def __init__(
        self, client: MongoClient[Any], selector: Any = None, patience: float | None = None, number: int = 0
    ) -> None:
        """``selector`` is the driver's read preference. Without a selector, the connection goes to the primary.

        ``patience`` is the timeout in seconds for the selection of a server, by default the client's timeout. With
        several mongos, ``number`` selects one of them.
        """
        self.lag = Lag()
        """How long answers waited to be read."""
        self._held = ExitStack()
        self._connection = check_out(client, self._held, selector, patience, number)
        self._socket: Any = _socket(self._connection)
        self._wait: Callable[[], object] | None = None
        self._stamped = stamp(self._socket)
        self._to_sample = EVERY

    def fileno(self) -> int:
        """Return the file descriptor from which answers are read."""
        return int(self._socket.fileno())

    @property
    def waits_for_ever(self) -> bool:
        """Return whether no ``socketTimeoutMS`` limits the wait for an answer."""
        return self._socket.gettimeout() is None

    def share_thread(self, wait: Callable[[], object]) -> None:
        """Call ``wait`` instead of blocking, so that other connections run until the socket is readable or writable."""
        self._wait = wait
        self._socket.setblocking(False)
        self._held.callback(_let_block, self._socket)

    def exchange(self, message: bytes) -> bytes:
        """Send a message. Return the BSON of the answer."""
        # Without function calls for the steps: each would take a tenth of the time of a request.
        held, wait = self._socket, self._wait
        if wait is None:
            held.sendall(message)
        else:
            try:
                sent = held.send(message)
            except WOULD_BLOCK:
                sent = 0
            if sent < len(message):
                self._send_rest(memoryview(message)[sent:], wait)
            wait()
        self._to_sample -= 1
        if self._to_sample:
            try:
                # Most answers arrive in one piece. Reading their head first would need another system call.
                answer: bytes = held.recv(MOST_AT_ONCE)
            except WOULD_BLOCK:
                answer = self._receive_some(MOST_AT_ONCE)
        else:
            answer = self._receive_sampled()
        if len(answer) < HEAD.size:
            answer += self._receive(HEAD.size - len(answer))
        length, kind = HEAD.unpack_from(answer)
        if kind != PLAIN:
            # Such an answer may be longer than it says, and its rest would be taken for the next answer.
            raise ConnectionError(
                f"the server sent an unexpected answer: opcode, flags and section are {kind.hex()}"
            )
        if len(answer) < length:
            answer += self._receive(length - len(answer))
        return answer[HEAD.size :]

    def send(self, message: bytes) -> None:
        """Send a message that has no answer."""
        if self._wait is None:
            self._socket.sendall(message)
        else:
            self._send_rest(memoryview(message), self._wait)

    def _send_rest(self, rest: memoryview[int], wait: Callable[[], object]) -> None:
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except WOULD_BLOCK:
                wait()

    def _receive_some(self, most: int) -> bytes:
        """Wait until bytes arrive. Return up to ``most`` bytes."""
        while True:
            try:
                some: bytes = self._socket.recv(most)
            except WOULD_BLOCK:
                if self._wait is None:
                    raise
                self._wait()
            else:
                return some

    def _receive_sampled(self) -> bytes:
        """Return bytes as ``_receive_some`` does, and measure how long the answer waited to be read."""
        self._to_sample = EVERY
        if self._stamped:
            with suppress(BlockingIOError):  # nothing has arrived yet
                return receive_stamped(self._socket, MOST_AT_ONCE, self.lag)
        return self._receive_some(MOST_AT_ONCE)

    def _receive(self, length: int) -> bytes:
        parts: list[bytes] = []
        while length:
            parts.append(self._receive_some(length))
            if not parts[-1]:
                raise ConnectionError("the server closed the connection")
            length -= len(parts[-1])
        return b"".join(parts)

    def give_up(self) -> None:
        """Close the socket, so that no late answer is taken for the answer to another request."""
        self._connection.close_conn(None)
        self._held.close()

    def close(self) -> None:
        """Return the connection to PyMongo's pool."""
        self._held.close()


def _let_block(held: Any) -> None:
    with suppress(OSError):  # already closed
        held.setblocking(True)


def check_out(
    client: Any, held: ExitStack, selector: Any = None, patience: float | None = None, number: int = 0
) -> Any:
    """Check out a connection to the primary, or to a server that ``selector`` accepts, until ``held`` is closed.

    With several mongos, ``number`` selects one of them. This function uses private attributes of ``client``, because
    PyMongo has no public API for a connection of its pool. It raises TargetError if PyMongo lacks such an attribute.
    """
    try:
        choose = selector or writable_server_selector
        server = client._topology.select_server(choose, "load", patience)
        if (mongos := _mongos_in_turn(client, number)) is not None:
            server = client._topology.select_server(choose, "load", patience, mongos)
        connection = held.enter_context(server.pool.checkout())
        _look_for(connection, _OF_CONNECTION)
        _look_for(_socket(connection), _OF_SOCKET)
    except (AttributeError, TypeError) as error:
        message = (
            f"PyMongo {pymongo.version} lacks an internal attribute that the load generator uses: {error}"
        )
        raise TargetError(message, "use a PyMongo from 4.10 to 4.20") from None
    return connection


def _mongos_in_turn(client: Any, number: int) -> tuple[str, int | None] | None:
    """Return the address of the mongos for ``number``, or None if there are not several mongos.

    Every mongos in the connection string has its turn, even if it does not answer. PyMongo itself would ignore the
    selector and choose the mongos with the fewest requests in flight.
    """
    known = client.topology_description
    addresses = sorted(known.server_descriptions())
    if known.topology_type_name != "Sharded" or len(addresses) < 2:
        return None
    found: tuple[str, int | None] = addresses[number % len(addresses)]
    return found


def check_driver(client: Any) -> None:
    """Raise TargetError if PyMongo lacks the needed private attributes, or a PyMongoError if there is no primary."""
    with ExitStack() as held:
        check_out(client, held)


def _socket(connection: Any) -> Any:
    return getattr(connection.conn, "sock", connection.conn)


def _look_for(held: Any, names: Iterable[str]) -> None:
    for name in names:
        getattr(held, name)


OP_MSG = 2013
_MORE_TO_COME = 2
"""The flag of a message without an answer (``moreToCome``)."""
_HEADER = struct.Struct("<iiiiI")
"""Length, request number, number of the answered request, opcode, flags."""
_ALONE = struct.Struct("<iiiiIBi")
"""The header, the kind of the only section, the length of its document."""
_AROUND_ELEMENTS = 5
"""The number of bytes of a document in addition to its elements."""
_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")
TXN_NUMBER = struct.Struct("<q")
"""The format of a retryable write's number. The number is the last element of the command."""
NUMBER_IN_ELEMENTS, NUMBER_IN_DOCUMENT = -TXN_NUMBER.size, -TXN_NUMBER.size - 1
"""The offset of a retryable write's number from the end of the elements, and from the end of the document."""
NUMBER_IN_MESSAGE = _HEADER.size + 1 + NUMBER_IN_DOCUMENT
"""The offset of a retryable write's number in a message with documents, minus the length of the command."""


def elements(values: Mapping[str, Any]) -> bytes:
    """Return the BSON of the elements alone, without the length and the closing zero of a document."""
    return bson.encode(values)[4:-1]


def document(elements: bytes) -> bytes:
    """Return the BSON of the document with these elements."""
    return _INT.pack(len(elements) + _AROUND_ELEMENTS) + elements + b"\0"


def int32(name: bytes, value: int) -> bytes:
    """Return the element with this name and 32-bit number."""
    return b"\x10%b\0%b" % (name, _INT.pack(value))


def int64(name: bytes, value: int) -> bytes:
    """Return the element with this name and 64-bit number."""
    return b"\x12%b\0%b" % (name, _LONG.pack(value))


def alone(elements: bytes | bytearray) -> bytes:
    """Return a message whose only section is the document with these elements."""
    length = len(elements) + _AROUND_ELEMENTS
    head = _ALONE.pack(_HEADER.size + 1 + length, 1, 0, OP_MSG, 0, 0, length)
    return b"".join((head, elements, b"\0"))


def with_documents(
    command: bytes | bytearray, name: bytes, documents: Sequence[bytes], answered: bool
) -> bytes:
    """Return a message with two sections: the command document, and a named sequence of documents.

    If ``answered`` is false, the server sends no answer.
    """
    length = _INT.size + len(name) + 1 + sum(map(len, documents))
    flags = 0 if answered else _MORE_TO_COME
    head = _HEADER.pack(_HEADER.size + 1 + len(command) + 1 + length, 1, 0, OP_MSG, flags)
    return b"".join((head, b"\0", command, b"\x01", _INT.pack(length), name, b"\0", *documents))


def cut(message: bytes, length: int, after: int) -> tuple[bytes, bytes]:
    """Return the bytes before and after a part of ``length`` bytes that is followed by ``after`` bytes.

    The caller can then insert another part of the same length.
    """
    place = len(message) - after
    return message[: place - length], message[place:]


HEAD = struct.Struct("<i8x9s")
"""The bytes before the BSON: the total length, then opcode, flags and the kind of the section in one field."""
PLAIN = struct.pack("<iIB", OP_MSG, 0, 0)
"""The second field of ``HEAD`` for an answer without flags and with one document."""
FIRST_BATCH, NEXT_BATCH = b"\x04firstBatch\0", b"\x04nextBatch\0"
EMPTY = 5
"""The number of bytes of a document without elements."""
_DOUBLE = struct.Struct("<d")
_CURSOR = b"\x03cursor\0"
_OK = b"\x01ok\0" + _DOUBLE.pack(1)


def checked(reply: bytes) -> dict[str, Any]:
    """Return the decoded answer. Raises UnexpectedReply if the server refused the command or failed."""
    answer: dict[str, Any] = bson.decode(reply)
    if answer.get("ok") != 1 or "writeErrors" in answer or "writeConcernError" in answer:
        _refuse(answer)
    return answer


def number(reply: bytes) -> int:
    """Return ``n`` in the answer to a write. Answers that contain only counts are not decoded.

    Raises UnexpectedReply as ``checked`` does.
    """
    if reply.startswith(b"\x10n\0", 4) and _OK in reply and b"write" not in reply:
        return int(_INT.unpack_from(reply, 7)[0])
    return int(checked(reply)["n"])


def batch(reply: bytes, name: bytes) -> tuple[int, int, int]:
    """Return the number of documents, their bytes, and the cursor's id (0 means exhausted). No document is decoded.

    ``name`` is FIRST_BATCH or NEXT_BATCH. Raises UnexpectedReply as ``checked`` does.
    """
    start = 16 + len(name)
    if reply.startswith(_CURSOR, 4) and reply.startswith(name, 16):
        end = start + _INT.unpack_from(reply, start)[0]
        whole = 12 + _INT.unpack_from(reply, 12)[0]
        if reply.startswith(b"\x12id\0", end) and reply.startswith(_OK, whole):
            return *_count(reply, start), _LONG.unpack_from(reply, end + 4)[0]
    return _batch_in_any_order(reply, name)


def beginning(reply: bytes) -> bytes | None:
    """Return the part of an answer that determines the result of ``batch``, or None if ``batch`` must decode it."""
    if not reply.startswith(_CURSOR, 4):
        return None
    ok = reply.index(_OK, 12 + _INT.unpack_from(reply, 12)[0])
    return reply[: ok + len(_OK)]


def _refuse(answer: Mapping[str, Any]) -> NoReturn:
    first = (answer.get("writeErrors") or [answer.get("writeConcernError") or answer])[0]
    raise UnexpectedReply(str(first.get("errmsg", "refused")), int(first.get("code", 0)))


def _batch_in_any_order(reply: bytes, name: bytes) -> tuple[int, int, int]:
    answer = RawBSONDocument(reply)
    if answer.get("ok") != 1:
        checked(reply)
    cursor = answer["cursor"]
    documents: list[RawBSONDocument] = cursor[name[1:-1].decode()]
    return len(documents), sum(len(one.raw) for one in documents), int(cursor["id"])


def _count(reply: bytes, start: int) -> tuple[int, int]:
    end = start + _INT.unpack_from(reply, start)[0] - 1
    place, count, size = start + 4, 0, 0
    while place < end:
        place = reply.index(0, place + 1) + 1
        length = _INT.unpack_from(reply, place)[0]
        place += length
        size += length
        count += 1
    return count, size
