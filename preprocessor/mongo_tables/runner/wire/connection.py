"""One connection that PyMongo opened: it sends messages and reads answers while others run in the same thread.

PyMongo finds the server, opens the connection, encrypts it and authenticates; then this module uses the socket
directly.
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
"""The exceptions of a non-blocking socket that would block."""
_OF_CONNECTION = ("close_conn", "command", "conn")
_OF_SOCKET = ("fileno", "gettimeout", "recv", "send", "sendall", "setblocking")
"""The attributes of a PyMongo connection and its socket that are used here."""


class WireConnection:
    """A connection that is checked out of PyMongo's pool until it is closed."""

    def __init__(
        self, client: MongoClient[Any], selector: Any = None, patience: float | None = None, number: int = 0
    ) -> None:
        """``selector`` is the driver's read preference; without it the connection is to the primary.

        ``patience`` is the timeout for a server in seconds, by default the client's. With several mongos, the
        ``number`` of the connection selects one.
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
        """Return whether there is no ``socketTimeoutMS`` to limit the wait for an answer."""
        return self._socket.gettimeout() is None

    def share_thread(self, wait: Callable[[], object]) -> None:
        """Call ``wait`` instead of blocking: others run until the socket is readable or writable."""
        self._wait = wait
        self._socket.setblocking(False)
        self._held.callback(_let_block, self._socket)

    def exchange(self, message: bytes) -> bytes:
        """Send a message; return the BSON of the answer."""
        # The steps of each request are inlined: a function call costs a tenth of the rest.
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
                # Most answers arrive complete: reading the head first would cost one more system call for each.
                answer: bytes = held.recv(MOST_AT_ONCE)
            except WOULD_BLOCK:
                answer = self._receive_some(MOST_AT_ONCE)
        else:
            answer = self._receive_sampled()
        if len(answer) < HEAD.size:
            answer += self._receive(HEAD.size - len(answer))
        length, kind = HEAD.unpack_from(answer)
        if kind != PLAIN:
            # Its length cannot be trusted: the rest would be mistaken for the next answer.
            raise ConnectionError(f"an answer of another kind: opcode, flags and section are {kind.hex()}")
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
        """Return up to ``most`` received bytes; wait until there are some."""
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
        """Do the same as ``_receive_some``, and measure how long the answer waited to be read."""
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
        """Close the socket: data that still arrives belongs to no request."""
        self._connection.close_conn(None)
        self._held.close()

    def close(self) -> None:
        """Give the connection back to PyMongo."""
        self._held.close()


def _let_block(held: Any) -> None:
    with suppress(OSError):  # already closed
        held.setblocking(True)


def check_out(
    client: Any, held: ExitStack, selector: Any = None, patience: float | None = None, number: int = 0
) -> Any:
    """Check out a connection to the primary, or to a server of that preference, until ``held`` is closed.

    With several mongos, the ``number`` of the connection selects one. PyMongo has no public API for a connection of
    its pool, so this function uses private attributes of ``client``; it raises TargetError if a version of PyMongo
    lacks them.
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
    """Return the address of the mongos for this number, or None if there are not several.

    All that the connection string names count: the function waits for one that does not answer, and does not skip it.
    For mongos PyMongo ignores selectors, and would take the one with the fewest requests in flight.
    """
    known = client.topology_description
    addresses = sorted(known.server_descriptions())
    if known.topology_type_name != "Sharded" or len(addresses) < 2:
        return None
    found: tuple[str, int | None] = addresses[number % len(addresses)]
    return found


def check_driver(client: Any) -> None:
    """Raise TargetError if this PyMongo lacks the private attributes, and the driver's error without a primary."""
    with ExitStack() as held:
        check_out(client, held)


def _socket(connection: Any) -> Any:
    return getattr(connection.conn, "sock", connection.conn)


def _look_for(held: Any, names: Iterable[str]) -> None:
    """Raise AttributeError if ``held`` lacks one of the names."""
    for name in names:
        getattr(held, name)
