"""How large the cache of a local member is, and the data that is measured against a cache.

The cache is made as small as the data, so that what does not fit at full size does not. ``mongod`` starts with no less
than 0.25 GB, but takes less while it runs. How little it bears depends on the work: pages that are being changed, and
what requests under way bring in, need room beside what is kept. So an experiment about caches says how large its data
is in caches, not in records.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.experiment import Experiment, configs
from mongo_tables.runner.workloads import workload

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.collection import Collection


SMALLEST_AT_START_GB = 0.25
"""``mongod`` refuses less (``--wiredTigerCacheSizeGB``)."""
SMALLEST_GB = 0.008
"""With less, reads of documents of 1 KB by 48 connections wait for each other's pages, of 32 KiB each."""
WRITING_GB = 2**-5
"""For work that writes: a secondary brings in up to 5,000 operations at once. With 8 MiB two made no progress any more
with small documents in batches of 512, and flow control stopped the primary too."""
JOIN_GB = 2**-10
"""For each connection that joins: a join holds pages of several places at once. With 8 MiB, 24 connections that
joined 100 documents each held so many that ``mongod`` 6.0.5 found none to evict, and answered none of them any more."""
ROOM_TIMES = 4
"""The cache holds what is under way so many times: WiredTiger has writers evict when a fifth of it is changed
(``eviction_dirty_trigger``, https://source.wiredtiger.com/develop/tune_cache.html), and the oplog has all of it too."""
LOCAL_SHARE = 0.15
"""Of the machine's memory, at most, for the cache of each of three members of the only set that runs."""
SHRINK_SECONDS = 10.0
_FULL_SHARE = 0.95
"""Of the cache: above it requests do the work of eviction (``eviction_trigger``)."""


def room_gb(name: str, config: Mapping[str, Any]) -> float:
    """The least cache for what the connections of a workload have under way at once."""
    kind = workload(name)
    plan = kind.plan(config)
    if plan is None or not plan.operations:
        joins = any("$lookup" in stage for stage in config.get("pipeline", ()))
        least = WRITING_GB if kind.writes else SMALLEST_GB
        return float(max(least, config["numberOfThreads"] * JOIN_GB if joins else 0.0))
    batch = config["writeBatchSize"] if kind.batched else 1
    under_way = config["numberOfThreads"] * min(batch, plan.operations) * plan.bytes / plan.operations
    return float(max(WRITING_GB, ROOM_TIMES * under_way / 2**30))


def of_local(config: Mapping[str, Any], wanted: float, least: float = 0.0, sets: int = 1) -> float:
    """The cache in GB of a local member: as wanted, but with room for what is under way, and within the machine.

    ``sets`` is how many local sets share it. Where data or a limit of memory follows the cache, it is no smaller than a
    server starts with: what a server needs beside its cache would be most of such a limit.
    """
    import psutil

    if "workingSetRatio" in config or "memoryRatio" in config.get("instance", {}):
        least = SMALLEST_AT_START_GB
    most = psutil.virtual_memory().total / 2**30 * LOCAL_SHARE / sets
    return float(round(min(max(wanted, least, SMALLEST_GB), max(most, SMALLEST_AT_START_GB)), 3))


def describe(size: float, wanted: float, memory: int | None) -> dict[str, Any]:
    """What rows say of the cache of a local member, and of what is below it.

    ``memory`` are the bytes that the member and the pages that the system keeps for it may have together.
    """
    return {
        "cache_gb": size,
        "wanted_cache_gb": wanted,
        "cache_ratio_kept": size == round(wanted, 3),
        "cache_set": "at start" if size == SMALLEST_AT_START_GB else "while it ran",
        "below_cache": "page cache of the operating system",
        "memory_limit_bytes": memory,
    }


def resize(members: Iterable[MongoClient[dict[str, Any]]], size_gb: float) -> bool:
    """Give each member a cache of that size and wait until it holds no more than that; whether all do in time.

    https://www.mongodb.com/docs/manual/reference/parameters/#mongodb-parameter-param.wiredTigerEngineRuntimeConfig
    """
    size = round(size_gb * 2**30)
    members = list(members)
    for member in members:
        member.admin.command("setParameter", 1, wiredTigerEngineRuntimeConfig=f"cache_size={size}")
    deadline = time.monotonic() + SHRINK_SECONDS
    return all(_shrinks(member, size, deadline) for member in members)


def _shrinks(member: MongoClient[dict[str, Any]], size: int, deadline: float) -> bool:
    """Whether a member holds no more than fits into that cache, at once or before the deadline."""
    while _held(member) > _FULL_SHARE * size:
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True


def _held(member: MongoClient[dict[str, Any]]) -> int:
    return int(member.admin.command("serverStatus")["wiredTiger"]["cache"]["bytes currently in the cache"])


EFFECTIVE_SHARE = 0.8
"""Of the cache: above it WiredTiger evicts (``eviction_target``, https://source.wiredtiger.com/develop/tune_cache.html)."""

_INDEX_ENTRY = 64
"""Bytes in the index on ``_id`` for a key of 23 characters: 48 to 84 were measured, more after random insertion."""


def follows_cache(experiment: Experiment) -> bool:
    """Whether a variant has as much data as the cache of its deployment asks for."""
    return any("workingSetRatio" in config for config in configs(experiment))


def record_count(ratio: float, record_bytes: int, cache_bytes: float) -> int:
    """How many records of this size, with their entries in the index, are ``ratio`` times the effective cache."""
    return max(1, round(ratio * EFFECTIVE_SHARE * cache_bytes / (record_bytes + _INDEX_ENTRY)))


def sized(scaled: Experiment, number: int, cache_bytes: Callable[[], float]) -> Experiment:
    """The experiment with the ``recordcount`` of variant ``number`` filled in, where it asks for a working set.

    ``cache_bytes`` is asked for the size of WiredTiger's cache only then.
    """
    config = {**scaled.parameters, **scaled.variants[number]}
    if "workingSetRatio" not in config:
        return scaled
    count = record_count(config["workingSetRatio"], _record_bytes(scaled.workload, config), cache_bytes())
    variants = list(scaled.variants)
    variants[number] = {**variants[number], "recordcount": count}
    return replace(scaled, variants=tuple(variants))


def _record_bytes(name: str, config: Mapping[str, Any]) -> int:
    """The BSON bytes of one record, as the workload would load it."""
    first = workload(name).preload({**config, "recordcount": 1})
    planned = workload(first.get("workload", "insert")).plan(first) if first else None
    return planned.bytes if planned else 0


def scan(collection: Collection[dict[str, Any]]) -> None:
    """Read all documents and the whole index on ``_id``, so that the cache holds as much of them as it can.

    Where every record is read with the same chance, it does not matter which of them the cache holds: hits are then
    as many as they would be after hours.
    """
    from bson.min_key import MinKey

    sizes = {"$group": {"_id": None, "bytes": {"$sum": {"$bsonSize": "$$ROOT"}}}}
    list(collection.aggregate([{"$match": {"_id": {"$gte": MinKey()}}}, {"$count": "keys"}]))
    list(collection.aggregate([sizes]))
