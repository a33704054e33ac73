"""A server of known behaviour, to hold the load generator's figures against what it counted itself.

    python -m benchmarks.pretending [--milliseconds 10] [--stall-every 300 --stall-milliseconds 1000]
                                    [--bytes-per-second 20e6] [--slow-milliseconds 500] [--close-after 20]
                                    [--greet-milliseconds 1500] [--fail-every 7]

It answers as ``benchmarks.acknowledging`` does, on a free port whose number is the first line of its output, with these
differences: each request takes the given time; of all requests together, every one of a number takes another, or fails;
it takes so many bytes a second from each connection; the first connection that sends work has a time of its own, or is
closed after so many requests, and whoever connects after that is greeted late. One thread does it all, with timers of
microseconds.

The command ``counted`` says how many requests were answered between the moments ``from`` and ``to``, in nanoseconds on
the monotonic clock, ``documents`` how many documents they had, ``late`` how many nanoseconds too late they were
answered in the mean, ``first`` and ``last`` when the first and the last of all requests were answered, ``closed_at``
when it closed a connection.
"""

from __future__ import annotations

import argparse
import heapq
import select
import socket
import struct
import subprocess
import sys
import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import bson
from pymongo import MongoClient

from benchmarks.acknowledging import HEADER, OP_MSG, answer
from mongo_tables.runner.window import Lag, receive_stamped, stamp

READS = {"collection": "things", "query": {"_id": "RANDINT(1,1000)"}, "limit": 1, "testTimeSecs": 60}
"""The config of point reads, which it answers."""
WORK = (b"find", b"insert", b"update", b"delete", b"aggregate")
CHUNK = 256 * 1024


@dataclass(slots=True)
class Connection:
    """One connection: what has come and is not a whole message yet, and what it may do when."""

    socket: socket.socket
    waiting: bytearray = field(default_factory=bytearray)
    unsent: bytearray = field(default_factory=bytearray)
    may_read: float = 0.0
    requests: int = 0
    came: float = 0.0
    """When the system received what was read last; a time to answer counts from there, however late it is read."""


class Server:
    """All connections, and the moments at which requests were answered."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.listening = socket.create_server((options.host, 0), backlog=512)
        self.port = self.listening.getsockname()[1]
        self._poll = select.epoll()
        self._poll.register(self.listening, select.EPOLLIN)
        self._connections: dict[int, Connection] = {}
        self._timers: list[tuple[float, int, Connection, bytes | None]] = []
        self._order = count()
        self._requests = 0
        self._special: Connection | None = None
        self._closed_at = 0
        self._moments: list[int] = []
        self._documents: list[int] = []
        self._late: list[int] = []

    def serve(self) -> None:
        """Answer until the process ends."""
        while True:
            wait = max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None
            select.select([self._poll], [], [], wait)  # unlike epoll, it knows microseconds
            for file, events in self._poll.poll(0):
                if file == self.listening.fileno():
                    self._accept()
                elif file in self._connections:
                    self._serve(self._connections[file], events)
            while self._timers and self._timers[0][0] <= time.monotonic():
                when, _, connection, reply = heapq.heappop(self._timers)
                self._due(connection, reply, when)

    def _accept(self) -> None:
        accepted, _ = self.listening.accept()
        accepted.setblocking(False)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stamp(accepted)
        if self.options.bytes_per_second:
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, CHUNK)
        self._connections[accepted.fileno()] = Connection(accepted)
        self._poll.register(accepted, select.EPOLLIN)

    def _serve(self, connection: Connection, events: int) -> None:
        if events & select.EPOLLOUT:
            self._send(connection, b"")
        if events & ~select.EPOLLOUT:
            self._read(connection)

    def _due(self, connection: Connection, reply: bytes | None, when: float) -> None:
        if connection.socket.fileno() < 0:
            return
        if reply is None:  # it may be read from again
            self._poll.modify(connection.socket, select.EPOLLIN)
            return
        self._give(connection, reply, when)

    def _give(self, connection: Connection, reply: bytes, when: float) -> None:
        self._moments.append(time.monotonic_ns())
        self._late.append(self._moments[-1] - int(when * 1e9))
        self._documents.append(_written(reply))
        self._send(connection, reply)

    def _read(self, connection: Connection) -> None:
        lag = Lag()
        try:
            data = receive_stamped(connection.socket, CHUNK, lag)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close(connection)
            return
        connection.waiting += data
        connection.came = time.monotonic() - lag.unread / 1e9
        if rate := self.options.bytes_per_second:
            now = time.monotonic()
            connection.may_read = max(now - 0.02, connection.may_read) + len(data) / rate
            if connection.may_read > now:
                self._poll.modify(connection.socket, 0)
                self._later(connection.may_read, connection, None)
        self._take_messages(connection)

    def _take_messages(self, connection: Connection) -> None:
        waiting = connection.waiting
        while len(waiting) >= HEADER.size:
            length, request, _, opcode = HEADER.unpack_from(waiting)
            if len(waiting) < length:
                return
            message = bytes(waiting[HEADER.size : length])
            del waiting[:length]
            self._answer(connection, message, request, opcode)

    def _answer(self, connection: Connection, message: bytes, request: int, opcode: int) -> None:
        name = message[10 : message.index(0, 10)] if opcode == OP_MSG else b""
        if name == b"counted":
            self._send(connection, self._counted(message, request))
            return
        reply = answer(message, request, opcode)
        options = self.options
        if name not in WORK:
            if self._closed_at and opcode != OP_MSG:
                self._later(time.monotonic() + options.greet_milliseconds / 1000, connection, reply)
            else:
                self._send(connection, reply)
            return
        self._requests += 1
        connection.requests += 1
        self._special = self._special or connection
        if options.fail_every and self._requests % options.fail_every == 0:
            reply = _refuse(request)
        milliseconds = options.milliseconds
        if connection is self._special:
            milliseconds = options.slow_milliseconds or milliseconds
            if options.close_after and connection.requests > options.close_after and not self._closed_at:
                self._closed_at = time.monotonic_ns()
                self._close(connection)
                return
        if options.stall_every and self._requests % options.stall_every == 0:
            milliseconds = options.stall_milliseconds
        if milliseconds:
            self._later(connection.came + milliseconds / 1000, connection, reply)
        else:
            self._give(connection, reply, time.monotonic())

    def _later(self, when: float, connection: Connection, reply: bytes | None) -> None:
        heapq.heappush(self._timers, (when, next(self._order), connection, reply))

    def _send(self, connection: Connection, reply: bytes) -> None:
        connection.unsent += reply
        try:
            sent = connection.socket.send(connection.unsent)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._close(connection)
            return
        del connection.unsent[:sent]
        if connection.unsent or not reply:
            self._poll.modify(
                connection.socket, select.EPOLLIN | (select.EPOLLOUT if connection.unsent else 0)
            )

    def _counted(self, message: bytes, request: int) -> bytes:
        asked = bson.decode(message[5 : 5 + struct.unpack_from("<i", message, 5)[0]])
        first = bisect_left(self._moments, asked["from"])
        end = bisect_left(self._moments, asked["to"])
        counts: dict[str, float] = {
            "requests": end - first,
            "documents": sum(self._documents[first:end]),
            "late": bson.Int64(sum(self._late[first:end]) // max(1, end - first)),
            "first": bson.Int64(self._moments[0] if self._moments else 0),
            "last": bson.Int64(self._moments[-1] if self._moments else 0),
            "closed_at": bson.Int64(self._closed_at),
            "ok": 1.0,
        }
        body = b"\0\0\0\0\0" + bson.encode(counts)
        return HEADER.pack(16 + len(body), 1, request, OP_MSG) + body

    def _close(self, connection: Connection) -> None:
        if connection.socket.fileno() >= 0:
            self._connections.pop(connection.socket.fileno(), None)
            connection.socket.close()


def _refuse(request: int) -> bytes:
    body = b"\0\0\0\0\0" + bson.encode({"ok": 0.0, "errmsg": "it was to fail", "code": 50})
    return HEADER.pack(16 + len(body), 1, request, OP_MSG) + body


def _written(reply: bytes) -> int:
    """The documents that an answer tells of: ``n`` of a write, one of anything else."""
    body = reply[HEADER.size + 5 :]
    return struct.unpack_from("<i", body, 7)[0] if body.startswith(b"\x10n\0", 4) else 1


@contextmanager
def pretending(*, host: str = "localhost", **behaviour: float) -> Iterator[str]:
    """The connection string of such a server, in a process of its own, with these options."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in behaviour.items()]
    command = [sys.executable, "-m", "benchmarks.pretending", f"--host={host}", *options]
    server = subprocess.Popen(command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield f"mongodb://{host}:{server.stdout.readline().strip()}/?directConnection=true"
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def counted(uri: str, opens: int, closes: int) -> dict[str, int]:
    """What the server counted between two moments."""
    with MongoClient[dict[str, int]](uri) as client:
        return client.admin.command({"counted": 1, "from": opens, "to": closes})


def main() -> None:
    """Say the port, and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--milliseconds", type=float, default=0.0)
    parser.add_argument("--stall-every", type=int, default=0)
    parser.add_argument("--stall-milliseconds", type=float, default=0.0)
    parser.add_argument("--bytes-per-second", type=float, default=0.0)
    parser.add_argument("--slow-milliseconds", type=float, default=0.0)
    parser.add_argument("--close-after", type=int, default=0)
    parser.add_argument("--greet-milliseconds", type=float, default=0.0)
    parser.add_argument("--fail-every", type=int, default=0)
    server = Server(parser.parse_args())
    print(server.port, flush=True)
    server.serve()


if __name__ == "__main__":
    main()
