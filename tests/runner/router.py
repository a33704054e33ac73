"""A stand-in for the mongos of a sharded cluster: it passes everything on to one replica set and back.

What a mongos says of itself it says in place of the member behind it, and what it would ask config servers and shards
it takes from a ``Cluster`` in memory; the rest, signing in included, is the member's.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from uuid import uuid4

import bson
from bson.binary import Binary
from bson.int64 import Int64

HEADER = struct.Struct("<iiii")
OP_REPLY, OP_QUERY, OP_MSG = 1, 2004, 2013
OF_MEMBERS = {
    "hosts", "setName", "setVersion", "primary", "me", "secondary", "electionId", "lastWrite", "topologyVersion",
}  # fmt: skip
"""What a member of a set says in ``hello``, and a mongos does not."""
OF_STORAGE = {"wiredTiger", "storageEngine", "repl", "flowControl"}
SHARDS = [{"_id": "first", "host": "first/localhost:1"}, {"_id": "second", "host": "second/localhost:2"}]


Saying = Callable[[dict[str, Any]], dict[str, Any]]
"""What is said in place of what a member said."""


class Cluster:
    """What the config servers of the stand-ins know. A ``lost`` shard does not answer from so many inserts on."""

    def __init__(self, *, balances: bool = False, loses_after: int | None = None) -> None:
        self.collections: dict[str, dict[str, Any]] = {}
        self.chunks: dict[str, list[list[Any]]] = {}
        """Of each collection: from where on, and on which shard."""
        self.balances = balances
        self.loses_after = loses_after
        self.inserts: Counter[tuple[int, int]] = Counter()
        """By the port of the router that they came to, and that of the client's end of the connection."""

    @property
    def said(self) -> Mapping[str, Saying]:
        """What a router says of itself, by the command."""
        return SAID

    def answer(self, name: str, asked: Mapping[str, Any], ports: tuple[int, int]) -> dict[str, Any] | None:
        """What the router says by itself; None for what it passes on."""
        if name == "insert" and asked["$db"] != "admin":
            self.inserts[ports] += 1
        if name in ("insert", "aggregate") and asked["$db"] not in ("admin", "config") and self._is_lost():
            return LOST
        if name in ("drop", "dropDatabase"):
            self.collections.clear()
        if asked.get("$db") == "config":
            return self._of_config(name, asked)
        act = {"shardCollection": self._shard, "split": self._split, "moveChunk": self._move}.get(name)
        if act is not None:
            return act(asked) or {"ok": 1.0}
        if name == "balancerStatus":
            return {"mode": "full", "inBalancerRound": False, "ok": 1.0}
        return None

    def _is_lost(self) -> bool:
        return self.loses_after is not None and self.inserts.total() > self.loses_after

    def _shard(self, asked: Mapping[str, Any]) -> dict[str, Any] | None:
        name, key = asked["shardCollection"], asked["key"]
        hashed = "hashed" in key.values()
        count = asked.get("numInitialChunks", 2) if hashed else 1
        self.collections[name] = {"_id": name, "uuid": Binary.from_uuid(uuid4()), "key": key}
        self.chunks[name] = [[number, SHARDS[number % 2]["_id"]] for number in range(count)]
        return None

    def _split(self, asked: Mapping[str, Any]) -> None:
        (point,) = asked["middle"].values()
        self.chunks[asked["split"]].append([point, SHARDS[0]["_id"]])

    def _move(self, asked: Mapping[str, Any]) -> None:
        (point,) = asked["find"].values()
        (chunk,) = [one for one in self.chunks[asked["moveChunk"]] if one[0] == point]
        chunk[1] = asked["to"]

    def _of_config(self, name: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        if name == "update":
            (change,) = asked["updates"]
            self.collections[change["q"]["_id"]].update(change["u"]["$set"])
            return {"n": 1, "nModified": 1, "ok": 1.0}
        if name == "find":
            known = self.collections.get(asked["filter"]["_id"])
            return _cursor("config.collections", [known] if known else [])
        wanted = asked["pipeline"][0]["$match"]["uuid"]
        (of_it,) = [one for one in self.collections.values() if one["uuid"] == wanted]
        chunks = self.chunks[of_it["_id"]]
        found = Counter(shard for _, shard in chunks)
        if self.balances and not of_it.get("noBalance"):  # one more whenever somebody looks
            next(chunk for chunk in chunks if chunk[1] == SHARDS[0]["_id"])[1] = SHARDS[1]["_id"]
        return _cursor("config.chunks", [{"_id": shard, "n": count} for shard, count in found.items()])

    def split_up(self, asked: Mapping[str, Any], said: dict[str, Any]) -> dict[str, Any]:
        """What the shards say of a collection, by what the one member says: each as much as it has chunks."""
        namespace = f"{asked['$db']}.{asked['aggregate']}"
        chunks = Counter(shard for _, shard in self.chunks.get(namespace, [])) or {SHARDS[0]["_id"]: 1}
        (whole,) = said["cursor"]["firstBatch"]
        parts = [
            {**whole, "shard": shard, "count": whole["count"] * count // sum(chunks.values())}
            for shard, count in chunks.items()
        ]
        return {**said, "cursor": {**said["cursor"], "firstBatch": parts}}


LOST = {
    "ok": 0.0,
    "errmsg": 'Could not find host matching read preference { mode: "primary" } for set second',
    "code": 133,
    "codeName": "FailedToSatisfyReadPreference",
}


def _cursor(namespace: str, documents: list[Any]) -> dict[str, Any]:
    return {"cursor": {"id": Int64(0), "ns": namespace, "firstBatch": documents}, "ok": 1.0}


@contextmanager
def routed(uri: str, count: int = 1, cluster: Cluster | None = None) -> Iterator[str]:
    """The connection string of so many such routers before the one member of the set that ``uri`` names."""
    cluster = cluster or Cluster()
    user, _, place = uri.removeprefix("mongodb://").rpartition("@")
    host, port = place.partition("/")[0].split(":")
    with listening(partial(_serve, member=(host, int(port)), cluster=cluster), count) as hosts:
        yield f"mongodb://{user}@{hosts}/?authSource=admin"


@contextmanager
def listening(serve: Callable[[socket.socket], None], count: int) -> Iterator[str]:
    """The addresses of so many servers that ``serve`` each connection until it is closed."""
    heard = [socket.create_server(("localhost", 0)) for _ in range(count)]
    for one in heard:
        threading.Thread(target=_accept, args=(one, serve), daemon=True).start()
    try:
        yield ",".join(f"localhost:{one.getsockname()[1]}" for one in heard)
    finally:
        for one in heard:
            one.shutdown(socket.SHUT_RDWR)
            one.close()


def _accept(heard: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    with suppress(OSError):  # it is closed
        while True:
            client = heard.accept()[0]
            threading.Thread(target=_attend, args=(client, serve), daemon=True).start()


def _attend(client: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    with client, suppress(OSError, EOFError):
        serve(client)


def _serve(client: socket.socket, member: tuple[str, int], cluster: Cluster) -> None:
    """One connection: a request, its answer, the next."""
    ports = client.getsockname()[1], client.getpeername()[1]
    with socket.create_connection(member) as behind:
        while True:
            request = read_message(client)
            name, asked = _name(request), _asked(request)
            own = cluster.answer(name, asked, ports)
            if own is not None:
                client.sendall(reply_to(request, own))
                continue
            behind.sendall(request)
            if _is_unanswered(request):
                continue
            reply = _answer(cluster.said, name, read_message(behind))
            if "$collStats" in str(asked.get("pipeline", ""))[:20]:
                reply = _changed(reply, lambda said, asked=asked: cluster.split_up(asked, said))
            client.sendall(reply)


def _asked(request: bytes) -> dict[str, Any]:
    """The command itself, without documents that follow it, except those for config servers."""
    start = HEADER.size + 5
    if HEADER.unpack_from(request)[3] != OP_MSG or request[start - 1]:
        return {}
    length = int.from_bytes(request[start : start + 4], "little")
    asked = bson.decode(request[start : start + length])
    return read_command(request) if asked.get("$db") == "config" else asked


def read_command(request: bytes) -> dict[str, Any]:
    """The command of a request with all of its documents; what greets before the kind of the server is known, too."""
    start = HEADER.size + 5
    if HEADER.unpack_from(request)[3] == OP_QUERY:
        start = request.index(0, HEADER.size + 4) + 9  # flags, the name of a collection, two numbers
    length = int.from_bytes(request[start : start + 4], "little")
    asked = bson.decode(request[start : start + length])
    rest = request[start + length :]
    if rest[:1] == b"\x01":  # documents in a section of their own
        name, _, documents = rest[5:].partition(b"\0")
        asked[name.decode()] = bson.decode_all(documents)
    return asked


def reply_to(request: bytes, said: Mapping[str, Any]) -> bytes:
    """The answer to a request, as its kind wants it."""
    _, number, _, kind = HEADER.unpack_from(request)
    ours, before = (OP_REPLY, struct.pack("<iqii", 8, 0, 0, 1)) if kind == OP_QUERY else (OP_MSG, bytes(5))
    body = before + bson.encode(said)
    return HEADER.pack(HEADER.size + len(body), 0, number, ours) + body


def read_message(held: socket.socket) -> bytes:
    """The next message; raises EOFError where there is none."""
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


def _answer(said: Mapping[str, Saying], name: str, reply: bytes) -> bytes:
    return _changed(reply, said[name]) if name in said else reply


def _changed(reply: bytes, change: Saying) -> bytes:
    _, number, answered, kind = HEADER.unpack_from(reply)
    start = HEADER.size + (20 if kind == OP_REPLY else 5)
    body = reply[HEADER.size : start] + bson.encode(change(bson.decode(reply[start:])))
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


class Foreign(Cluster):
    """Another product that answers MongoDB's messages: it has neither WiredTiger nor sets, and few commands."""

    LACKING = frozenset(
        {"collStats", "fsync", "getCmdLineOpts", "getDiagnosticData", "getParameter", "hostInfo"}
    )

    @property
    def said(self) -> Mapping[str, Saying]:
        return {
            "hello": _alone,
            "ismaster": _alone,
            "serverStatus": _status_of_foreign,
            "buildInfo": _build,
            "buildinfo": _build,
        }

    def answer(self, name: str, asked: Mapping[str, Any], ports: tuple[int, int]) -> dict[str, Any] | None:
        if name not in self.LACKING:
            return None
        return {"ok": 0.0, "errmsg": f"no such command: '{name}'", "code": 59, "codeName": "CommandNotFound"}


def _alone(said: Mapping[str, Any]) -> dict[str, Any]:
    lacking = OF_MEMBERS | {"logicalSessionTimeoutMinutes"}
    return {name: value for name, value in said.items() if name not in lacking}


def _status_of_foreign(said: Mapping[str, Any]) -> dict[str, Any]:
    return {"host": "secret.example", "version": "7.0.77", "process": "ferretdb", "uptime": 3.0, "ok": 1.0}


def _build(said: Mapping[str, Any]) -> dict[str, Any]:
    return {"version": "7.0.77", "gitVersion": "0", "ferretdb": {"version": "v2.5.0"}, "ok": 1.0}
