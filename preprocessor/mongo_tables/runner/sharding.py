"""Collections of a sharded cluster: how they are sharded, and what data and work each shard has.

All queries go through the mongos. ``$collStats`` answers once for each shard that has a part of a collection
(https://www.mongodb.com/docs/manual/reference/operator/aggregation/collStats/), so the runner needs no direct
connection to a shard. Rows do not name the shards, because a shard's name contains the names of its machines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from pymongo import MongoClient
from pymongo.database import Database
from pymongo.errors import OperationFailure

from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.servers import value_at

SHARD_KEY = "shardKey"
HINT = "name a mongos of a sharded cluster, and a user with the roles readWriteAnyDatabase and clusterManager"
_READ, _WRITTEN = "bytes read into cache", "bytes written from cache"


def is_sharded(client: MongoClient[dict[str, Any]]) -> bool:
    """Return whether the deployment is a sharded cluster. The client must be connected."""
    return bool(client.topology_description.topology_type_name == "Sharded")


def shard(client: MongoClient[dict[str, Any]], database: Database[Any], config: Mapping[str, Any]) -> None:
    """Shard the empty collection as the config says. Without a shard key in the config, do nothing.

    Raises TargetError if the collection cannot be sharded.
    """
    key = config.get(SHARD_KEY)
    if key is None:
        return
    namespace = f"{database.name}.{config['collection']}"
    if not is_sharded(client):
        raise TargetError("the experiment shards its collection, and the target has no shards", HINT)
    points: int | Sequence[Any] | None = config.get("presplit")
    initial = {"numInitialChunks": points} if isinstance(points, int) else {}
    try:
        client.admin.command({"shardCollection": namespace, "key": dict(key), **initial})
        if config.get("balancer") == "off":
            # Like ``sh.disableBalancing``: other collections are not affected.
            client.config.collections.update_one({"_id": namespace}, {"$set": {"noBalance": True}})
        if not isinstance(points, int) and points:
            _split(client, namespace, next(iter(key)), points)
    except OperationFailure as error:
        text = str(error).partition(", full error:")[0]
        raise TargetError(f"the collection cannot be sharded by {dict(key)}: {text}", HINT) from None


def _split(client: MongoClient[dict[str, Any]], namespace: str, field: str, points: Sequence[Any]) -> None:
    """Split chunks at the points, and distribute the chunks over the shards in turn."""
    shards = [one["_id"] for one in client.admin.command("listShards")["shards"]]
    for point in points:
        client.admin.command({"split": namespace, "middle": {field: point}})
    for point, to in zip(points, cycle([*shards[1:], *shards[:1]]), strict=False):
        client.admin.command({"moveChunk": namespace, "find": {field: point}, "to": to})


@dataclass(frozen=True, slots=True)
class ShardLook:
    """The state of a collection's shards at one moment: the data and the work of each shard, by its name."""

    chunks: Mapping[str, int]
    counted: Mapping[str, Mapping[str, Any]]


def look(client: MongoClient[dict[str, Any]], database: str, collection: str) -> ShardLook:
    """Return the current state of a collection's shards. Raises PyMongoError if a shard does not answer."""
    stages: list[Mapping[str, Any]] = [{"$collStats": {"latencyStats": {}, "storageStats": {}, "count": {}}}]
    counted = {one["shard"]: one for one in client[database][collection].aggregate(stages)}
    return ShardLook(_chunks(client, f"{database}.{collection}"), counted)


def _chunks(client: MongoClient[dict[str, Any]], namespace: str) -> dict[str, int]:
    """Return the number of chunks of each shard, or an empty mapping for a collection that is not sharded."""
    known = client.config.collections.find_one({"_id": namespace}) or {}
    if "key" not in known:
        return {}
    of_it = {"uuid": known["uuid"]} if "uuid" in known else {"ns": namespace}
    found = client.config.chunks.aggregate(
        [{"$match": of_it}, {"$group": {"_id": "$shard", "n": {"$sum": 1}}}]
    )
    return {one["_id"]: one["n"] for one in found}


def describe(
    client: MongoClient[dict[str, Any]], namespace: tuple[str, str], before: ShardLook, after: ShardLook
) -> dict[str, Any]:
    """Return the sharding part of a row: the key, the balancer, each shard's work, and its data after the window."""
    known = client.config.collections.find_one({"_id": ".".join(namespace)}) or {}
    names = sorted({*after.chunks, *after.counted, *before.chunks})
    return {
        "shard_key": [
            {"field": field, "kind": "hashed" if kind == "hashed" else "range"}
            for field, kind in known.get("key", {}).items()
        ],
        "balancer": _balancer(client, known),
        "chunks_moved": sum(max(0, after.chunks.get(name, 0) - before.chunks.get(name, 0)) for name in names),
        "shards": [_of_shard(name, before, after) for name in names],
    }


def _balancer(client: MongoClient[dict[str, Any]], known: Mapping[str, Any]) -> str:
    try:
        mode = client.admin.command("balancerStatus")["mode"]
    except OperationFailure:
        return "unknown"
    return "off" if mode == "off" or known.get("noBalance") else "on"


def _of_shard(name: str, before: ShardLook, after: ShardLook) -> dict[str, Any]:
    then, now = before.counted.get(name, {}), after.counted.get(name, {})

    def grown(*path: str) -> int:
        return int(value_at(now, path) or 0) - int(value_at(then, path) or 0)

    cache = ("storageStats", "wiredTiger", "cache")
    return {
        "chunks": after.chunks.get(name, 0),
        "documents": int(now.get("count", 0)),
        "bytes": int(value_at(now, ("storageStats", "size")) or 0),
        "reads": grown("latencyStats", "reads", "ops"),
        "writes": grown("latencyStats", "writes", "ops"),
        "read_into_cache_bytes": grown(*cache, _READ),
        "written_from_cache_bytes": grown(*cache, _WRITTEN),
    }


def remark(sharding: Mapping[str, Any]) -> str:
    """Return a remark if chunks moved in a window, or if the balancer could move chunks, else ""."""
    moved = sharding.get("chunks_moved", 0)
    if moved:
        return f"{moved} chunks were moved to other shards"
    return "the balancer was on" if sharding.get("balancer") == "on" and sharding["shard_key"] else ""
