"""One connection that PyMongo opened: messages sent and answers read, while others go on in the same thread.

PyMongo finds the server, opens the connection, encrypts it and signs in; then its socket is used as it is.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.meter import EVERY, Lag, receive_stamped, stamp
from mongo_tables.runner.wire.messages import HEAD, PLAIN

if TYPE_CHECKING:
    from pymongo import MongoClient

MOST_AT_ONCE = 16 * 1024
WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""What a socket that does not block raises in place of waiting."""
_OF_CONNECTION = ("close_conn", "command", "conn")
_OF_SOCKET = ("fileno", "gettimeout", "recv", "send", "sendall", "setblocking")
"""What is used of a connection of PyMongo and of the socket in it."""


class WireConnection:
    """A connection that is taken from PyMongo's pool until it is closed."""

    def __init__(
        self, client: MongoClient[Any], selector: Any = None, patience: float | None = None, number: int = 0
    ) -> None:
        """``selector`` is the driver's read preference; without it the connection is to the primary.

        A server is waited for as long as the client says, or for so many seconds. Of several mongos it is the one whose
        turn it is by the ``number`` of the connection.
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
        """The number of the file that answers are read from."""
        return int(self._socket.fileno())

    @property
    def waits_for_ever(self) -> bool:
        """Whether no ``socketTimeoutMS`` says how long an answer is waited for."""
        return self._socket.gettimeout() is None

    def share_thread(self, wait: Callable[[], object]) -> None:
        """Call ``wait`` in place of blocking: others go on until there is something to read or room to send."""
        self._wait = wait
        self._socket.setblocking(False)
        self._held.callback(_let_block, self._socket)

    def exchange(self, message: bytes) -> bytes:
        """Send a message; give the BSON of the answer."""
        # What is done for every request is written out here: a call of a function costs a tenth of the rest.
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
                # Most answers come whole: to ask for the head first would be one more call of the system for each.
                answer: bytes = held.recv(MOST_AT_ONCE)
            except WOULD_BLOCK:
                answer = self._receive_some(MOST_AT_ONCE)
        else:
            answer = self._receive_sampled()
        if len(answer) < HEAD.size:
            answer += self._receive(HEAD.size - len(answer))
        length, kind = HEAD.unpack_from(answer)
        if kind != PLAIN:
            # How long it is cannot be trusted: the rest would be taken for the next answer.
            raise ConnectionError(f"an answer of another kind: opcode, flags and section are {kind.hex()}")
        if len(answer) < length:
            answer += self._receive(length - len(answer))
        return answer[HEAD.size :]

    def send(self, message: bytes) -> None:
        """Send a message that is not answered."""
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
        """What has come, at most so much; waits until something has."""
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
        """As ``_receive_some``, and how long it had waited to be read."""
        self._to_sample = EVERY
        if self._stamped:
            with suppress(BlockingIOError):  # nothing has come yet
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
        """Close the connection itself: what may still come on it is nobody's answer."""
        self._connection.close_conn(None)
        self._held.close()

    def close(self) -> None:
        """Give the connection back to PyMongo."""
        self._held.close()


def _let_block(held: Any) -> None:
    with suppress(OSError):  # it is closed
        held.setblocking(True)


def check_out(
    client: Any, held: ExitStack, selector: Any = None, patience: float | None = None, number: int = 0
) -> Any:
    """A connection to the primary, or to a server of that preference, checked out until ``held`` is closed.

    Of several mongos it is to the one whose turn it is by the ``number`` of the connection. PyMongo has no public way
    to a connection of its pool, so ``client`` is taken for what it is inside; raises TargetError where a version of
    PyMongo is another inside.
    """
    import pymongo
    from pymongo.server_selectors import writable_server_selector

    try:
        choose = selector or writable_server_selector
        server = client._topology.select_server(choose, "load", patience)
        if (mongos := _mongos_in_turn(client, number)) is not None:
            server = client._topology.select_server(choose, "load", patience, mongos)
        connection = held.enter_context(server.pool.checkout())
        _look_for(connection, _OF_CONNECTION)
        _look_for(_socket(connection), _OF_SOCKET)
    except (AttributeError, TypeError) as error:
        message = f"PyMongo {pymongo.version} is another inside than what sends the load knows: {error}"
        raise TargetError(message, "PyMongo 4.10 to 4.20 are known") from None
    return connection


def _mongos_in_turn(client: Any, number: int) -> tuple[str, int | None] | None:
    """The address of the mongos whose turn it is; None where there are not several.

    All that the connection string names count: one that does not answer is waited for, and not passed over. Of mongos
    PyMongo asks no selector, and would take the one with the fewest requests under way.
    """
    known = client.topology_description
    addresses = sorted(known.server_descriptions())
    if known.topology_type_name != "Sharded" or len(addresses) < 2:
        return None
    found: tuple[str, int | None] = addresses[number % len(addresses)]
    return found


def check_driver(client: Any) -> None:
    """Raise TargetError where this version of PyMongo is another inside, and what the driver does without a primary."""
    with ExitStack() as held:
        check_out(client, held)


def _socket(connection: Any) -> Any:
    return getattr(connection.conn, "sock", connection.conn)


def _look_for(held: Any, names: Iterable[str]) -> None:
    """Raise AttributeError where it does not have one of them."""
    for name in names:
        getattr(held, name)
