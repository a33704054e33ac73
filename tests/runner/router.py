"""A stand-in for the mongos of a sharded cluster: it passes everything on to one replica set and back.

What a mongos says of itself it says in place of the member behind it; the rest, signing in included, is the member's.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import bson

HEADER = struct.Struct("<iiii")
OP_REPLY, OP_QUERY, OP_MSG = 1, 2004, 2013
OF_MEMBERS = {
    "hosts", "setName", "setVersion", "primary", "me", "secondary", "electionId", "lastWrite", "topologyVersion",
}  # fmt: skip
"""What a member of a set says in ``hello``, and a mongos does not."""
OF_STORAGE = {"wiredTiger", "storageEngine", "repl", "flowControl"}
SHARDS = [{"_id": "first", "host": "first/localhost:1"}, {"_id": "second", "host": "second/localhost:2"}]


@contextmanager
def routed(uri: str, count: int = 1) -> Iterator[str]:
    """The connection string of so many such routers before the one member of the set that ``uri`` names."""
    user, _, place = uri.removeprefix("mongodb://").rpartition("@")
    host, port = place.partition("/")[0].split(":")
    listening = [socket.create_server(("localhost", 0)) for _ in range(count)]
    for one in listening:
        threading.Thread(target=_accept, args=(one, (host, int(port))), daemon=True).start()
    hosts = ",".join(f"localhost:{one.getsockname()[1]}" for one in listening)
    try:
        yield f"mongodb://{user}@{hosts}/?authSource=admin"
    finally:
        for one in listening:
            one.shutdown(socket.SHUT_RDWR)
            one.close()


def _accept(listening: socket.socket, member: tuple[str, int]) -> None:
    with suppress(OSError):  # it is closed
        while True:
            client = listening.accept()[0]
            threading.Thread(target=_serve, args=(client, member), daemon=True).start()


def _serve(client: socket.socket, member: tuple[str, int]) -> None:
    """One connection: a request, its answer, the next."""
    with client, socket.create_connection(member) as behind, suppress(OSError, EOFError):
        while True:
            request = _message(client)
            behind.sendall(request)
            if not _is_unanswered(request):
                client.sendall(_answer(_name(request), _message(behind)))


def _message(held: socket.socket) -> bytes:
    head = _exactly(held, HEADER.size)
    return head + _exactly(held, HEADER.unpack(head)[0] - HEADER.size)


def _exactly(held: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = held.recv(length - len(parts))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def _is_unanswered(request: bytes) -> bool:
    more_to_come = 2
    return HEADER.unpack_from(request)[3] == OP_MSG and bool(request[HEADER.size] & more_to_come)


def _name(request: bytes) -> str:
    """Of the command; before it is known that a server understands others, ``hello`` is asked by a query."""
    if HEADER.unpack_from(request)[3] == OP_QUERY:
        return "hello"
    # Before it are flags, the kind of the section, the length of its document, the type of its first field.
    start = HEADER.size + 10
    return request[start : request.index(0, start)].decode()


def _answer(name: str, reply: bytes) -> bytes:
    if name not in SAID:
        return reply
    _, number, answered, kind = HEADER.unpack_from(reply)
    start = HEADER.size + (20 if kind == OP_REPLY else 5)
    body = reply[HEADER.size : start] + bson.encode(SAID[name](bson.decode(reply[start:])))
    return HEADER.pack(HEADER.size + len(body), number, answered, kind) + body


def _hello(said: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in said.items() if name not in OF_MEMBERS}, "msg": "isdbgrid"}


def _status(said: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in said.items() if name not in OF_STORAGE}, "process": "mongos"}


def _diagnostic_data(said: Mapping[str, Any]) -> dict[str, Any]:
    data = said.get("data", {})
    return {**said, "data": {**data, "serverStatus": _status(data.get("serverStatus", {}))}}


def _shards(said: Mapping[str, Any]) -> dict[str, Any]:
    return {"shards": SHARDS, "ok": 1.0}


SAID = {
    "hello": _hello,
    "ismaster": _hello,
    "serverStatus": _status,
    "getDiagnosticData": _diagnostic_data,
    "listShards": _shards,
}
"""What a mongos says, by the command, of what the member behind it said."""
