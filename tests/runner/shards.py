"""A sharded cluster of real servers: shards and config server are started as such, and routers stand in for mongos.

What a mongos keeps on the config server the routers keep there, and documents go to the shard that has the chunk of
their key: what is counted of each shard is what that server counted. Their hash is another one than MongoDB's, and
nothing is moved between shards once it is there.
"""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count, cycle, islice
from typing import Any
from uuid import uuid4

import bson
from bson.binary import Binary
from bson.int64 import Int64
from bson.max_key import MaxKey
from bson.min_key import MinKey
from bson.timestamp import Timestamp
from pymongo import MongoClient
from pymongo.errors import ConnectionFailure, InvalidOperation, OperationFailure

from tests.mongod import running
from tests.runner.router import LOST, OF_MEMBERS, OF_STORAGE, listening, read_command, read_message, reply_to

OF_SESSIONS = {"lsid", "txnNumber", "$clusterTime", "$readPreference", "apiVersion"}
"""What a request has for the router itself; it asks the servers with sessions of its own."""
OF_SHARD = {"$clusterTime", "operationTime", "$configTime", "$topologyTime", "electionId", "opTime"}
EVERYWHERE = {"create", "createIndexes", "drop", "dropDatabase", "fsync"}
SUMMED = ("count", "size", "storageSize", "totalIndexSize")
SPACE = 2**64
"""Of hashes, from -SPACE / 2 on."""


class ShardedCluster:
    """Two shards and their config server, which are there until the block that made it ends."""

    def __init__(
        self, config: MongoClient[Any], shards: Mapping[str, MongoClient[Any]], pids: Mapping[str, int]
    ) -> None:
        """By the name of each shard its client, and its process."""
        self.config = config
        self.shards = dict(shards)
        self._pids = pids
        self.inserts: Counter[str] = Counter()
        """Documents that the routers sent to each shard."""
        self._lock = threading.Lock()
        self._versions = count(1)
        for name in shards:
            config.config.shards.insert_one({"_id": name, "host": f"tests/{name}.example:1", "state": 1})

    def _next(self) -> Timestamp:
        """A version of a chunk, which no other has."""
        return Timestamp(next(self._versions), 0)

    def end(self, name: str) -> None:
        """Have the server of a shard end at once."""
        os.kill(self._pids[name], signal.SIGKILL)

    @property
    def first(self) -> MongoClient[Any]:
        """The client of the shard that has what is not sharded."""
        return next(iter(self.shards.values()))

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What a mongos would answer."""
        name = next(iter(asked))
        try:
            said = self._answer(name, asked)
        except OperationFailure as error:
            said = dict(error.details or {})
        except ConnectionFailure:
            return dict(LOST)
        except InvalidOperation:
            raise EOFError from None  # the cluster has ended, and so do its connections
        return {key: value for key, value in said.items() if key not in OF_SHARD}

    def _answer(self, name: str, asked: dict[str, Any]) -> dict[str, Any]:
        own: Callable[[dict[str, Any]], dict[str, Any]] | None = getattr(self, f"_{name}", None)
        if own is not None:
            return own(asked)
        if asked.get("$db") == "config":
            return _pass_on(self.config, asked)
        if name in EVERYWHERE:
            return self._everywhere(name, asked)
        return _pass_on(self.first, asked)

    def _hello(self, asked: dict[str, Any]) -> dict[str, Any]:
        said = _pass_on(self.first, {"hello": 1, "$db": "admin"})
        return {key: value for key, value in said.items() if key not in OF_MEMBERS} | {"msg": "isdbgrid"}

    _ismaster = _isMaster = _hello

    def _serverStatus(self, asked: dict[str, Any]) -> dict[str, Any]:
        said = _pass_on(self.first, asked)
        return {key: value for key, value in said.items() if key not in OF_STORAGE} | {"process": "mongos"}

    def _listShards(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"shards": list(self.config.config.shards.find()), "ok": 1.0}

    def _balancerStatus(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"mode": "full", "inBalancerRound": False, "ok": 1.0}

    def _everywhere(self, name: str, asked: dict[str, Any]) -> dict[str, Any]:
        """Of all shards the answer of the first; a collection that is dropped is not sharded any more."""
        if name in ("drop", "dropDatabase"):
            namespace = f"^{asked['$db']}\\." + ("" if name == "dropDatabase" else f"{asked[name]}$")
            for one in self.config.config.collections.find({"_id": {"$regex": namespace}}):
                self.config.config.chunks.delete_many({"uuid": one["uuid"]})
                self.config.config.collections.delete_one({"_id": one["_id"]})
        said, *_ = [_pass_on(shard, asked) for shard in self.shards.values()]
        return said

    def _shardCollection(self, asked: dict[str, Any]) -> dict[str, Any]:
        namespace, key = asked["shardCollection"], asked["key"]
        database, _, collection = namespace.partition(".")
        if self.config.config.collections.find_one({"_id": namespace}):
            return _refusal(23, "AlreadyInitialized", f"sharding already enabled for collection {namespace}")
        field, kind = next(iter(key.items()))
        for shard in self.shards.values():
            shard[database][collection].create_index(list(key.items()))
        uuid = Binary.from_uuid(uuid4())
        many = asked.get("numInitialChunks", 2) if kind == "hashed" else 1
        least = [MinKey(), *(Int64(-SPACE // 2 + SPACE * number // many) for number in range(1, many))]
        owners = islice(cycle(self.shards), many)
        self.config.config.collections.insert_one({"_id": namespace, "uuid": uuid, "key": key})
        self.config.config.chunks.insert_many(
            [
                {
                    "uuid": uuid,
                    "min": {field: low},
                    "max": {field: high},
                    "shard": owner,
                    "lastmod": self._next(),
                }
                for low, high, owner in zip(least, [*least[1:], MaxKey()], owners, strict=True)
            ]
        )
        return {"collectionsharded": namespace, "ok": 1.0}

    def _split(self, asked: dict[str, Any]) -> dict[str, Any]:
        point = asked["middle"]
        chunk = self._chunk(asked["split"], next(iter(point.values())))
        self.config.config.chunks.update_one({"_id": chunk["_id"]}, {"$set": {"max": point}})
        del chunk["_id"]
        self.config.config.chunks.insert_one({**chunk, "min": point, "lastmod": self._next()})
        return {"ok": 1.0}

    def _moveChunk(self, asked: dict[str, Any]) -> dict[str, Any]:
        chunk = self._chunk(asked["moveChunk"], next(iter(asked["find"].values())))
        self.config.config.chunks.update_one({"_id": chunk["_id"]}, {"$set": {"shard": asked["to"]}})
        return {"ok": 1.0}

    def _chunks(self, namespace: str) -> tuple[str, bool, list[dict[str, Any]]]:
        """The field of the key, whether it is hashed, and the chunks in their order; none where nothing is sharded."""
        known = self.config.config.collections.find_one({"_id": namespace})
        if known is None:
            return "", False, []
        field, kind = next(iter(known["key"].items()))
        found = self.config.config.chunks.find({"uuid": known["uuid"]}).sort("min", 1)
        return field, kind == "hashed", list(found)

    def _chunk(self, namespace: str, value: Any) -> dict[str, Any]:
        field, _, chunks = self._chunks(namespace)
        lows = [one["min"][field] for one in chunks[1:]]
        return chunks[bisect_right(lows, value)]

    def _insert(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Each document to the shard that has its chunk."""
        field, hashed, chunks = self._chunks(f"{asked['$db']}.{asked['insert']}")
        if not chunks:
            return _pass_on(self.first, asked)
        lows = [one["min"][field] for one in chunks[1:]]
        parts: dict[str, list[Any]] = {}
        for document in asked["documents"]:
            value = _hash(document.get(field)) if hashed else document.get(field)
            parts.setdefault(chunks[bisect_right(lows, value)]["shard"], []).append(document)
        total = 0
        for name, documents in parts.items():
            said = _pass_on(self.shards[name], {**asked, "documents": documents})
            if "writeErrors" in said:
                return said
            with self._lock:
                self.inserts[name] += len(documents)
            total += said["n"]
        return {"n": total, "ok": 1.0}

    def _aggregate(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["$db"] == "config":
            return _pass_on(self.config, asked)
        if "$collStats" not in asked["pipeline"][0]:
            return _pass_on(self.first, asked)
        parts = []
        for name in self._owners(f"{asked['$db']}.{asked['aggregate']}"):
            said = _pass_on(self.shards[name], asked)
            parts += [{"shard": name, **one} for one in said["cursor"]["firstBatch"]]
        return {**said, "cursor": {**said["cursor"], "firstBatch": parts}}

    def _collStats(self, asked: dict[str, Any]) -> dict[str, Any]:
        owners = self._owners(f"{asked['$db']}.{asked['collStats']}")
        each = [_pass_on(self.shards[name], asked) for name in owners]
        return {**each[0], **{name: sum(one.get(name, 0) for one in each) for name in SUMMED}}

    def _owners(self, namespace: str) -> list[str]:
        """The shards that have a part of the collection."""
        _, _, chunks = self._chunks(namespace)
        having = {one["shard"] for one in chunks} or {next(iter(self.shards))}
        return [name for name in self.shards if name in having]


def _hash(value: Any) -> int:
    digest = hashlib.md5(bson.encode({"": value}), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "little", signed=True)


def _refusal(code: int, name: str, text: str) -> dict[str, Any]:
    return {"ok": 0.0, "errmsg": text, "code": code, "codeName": name}


def _pass_on(client: MongoClient[Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    command = {name: value for name, value in asked.items() if name not in OF_SESSIONS and name != "$db"}
    return dict(client[asked["$db"]].command(command))


@contextmanager
def sharded() -> Iterator[ShardedCluster]:
    """A cluster of its own until the block ends."""
    with ExitStack() as held:

        def started(role: str) -> tuple[MongoClient[Any], int]:
            server = held.enter_context(running(role=role))
            return held.enter_context(MongoClient(server.uri(), serverSelectionTimeoutMS=200)), server.pid

        config, _ = started("configsvr")
        shards = {name: started("shardsvr") for name in ("first", "second")}
        yield ShardedCluster(
            config,
            {name: client for name, (client, _) in shards.items()},
            {name: pid for name, (_, pid) in shards.items()},
        )


@contextmanager
def routed_to(cluster: ShardedCluster, mongos: int = 2) -> Iterator[str]:
    """The connection string of so many routers of the cluster."""

    def serve(client: socket.socket) -> None:
        while True:
            request = read_message(client)
            client.sendall(reply_to(request, cluster.answer(read_command(request))))

    with listening(serve, mongos) as hosts:
        yield f"mongodb://{hosts}/"
