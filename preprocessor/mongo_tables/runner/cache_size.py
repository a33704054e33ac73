"""The cache size of local members, the size of data relative to a cache, and the cache that requests in flight fill.

The cache is scaled down with the data, so that data that exceeds the cache at full size also exceeds the scaled cache.
``mongod`` does not start with less than 0.25 GB, but accepts less while it runs. The smallest usable cache depends on
the work: besides cached data, the cache needs room for changed pages, and for pages that requests in flight read. So
the scaled cache may be too large for the scaled data. An experiment about caches therefore gives its data size as a
multiple of the cache, not as a number of records.

A run at a small scale has a small cache, but as many connections as the published run. If their requests fill much of
the cache, the server evicts pages for them, and the row measures eviction. So the cache is made large enough for these
requests (``allowed_share``). ``--profile publish`` refuses targets where that is impossible.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import ceil
from typing import Any, Final

import psutil
from bson.min_key import MinKey
from pymongo import MongoClient
from pymongo.collection import Collection

from mongo_tables.directives import schemas
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.experiment import LABELS, Experiment, config_of, configs
from mongo_tables.runner.window import Inside
from mongo_tables.runner.workloads import workload

SMALLEST_AT_START_GB = 0.25
"""The smallest cache that ``mongod`` accepts at start (``--wiredTigerCacheSizeGB``)."""
SMALLEST_GB = 0.008
"""The smallest cache. With less, 48 connections that read documents of 1 KB wait for room for their pages of 32 KiB."""
WRITING_GB = 2**-5
"""The smallest cache for work that writes: a secondary applies up to 5,000 operations at once.

With 8 MiB, two secondaries stopped while they applied batches of 512 small documents, and flow control then stopped the
primary.
"""
JOIN_GB = 2**-10
"""The cache for each connection that uses ``$lookup``, which needs several pages at once.

With 8 MiB, 24 connections that joined 100 documents each used so many pages that ``mongod`` 6.0.5 could evict none and
stopped answering.
"""
EVERYTHING_TIMES = 3
"""The cache of a control, which must hold all data, is this many times as large as the data: pages take more bytes in
memory, and writers evict when a fifth of the cache is dirty (``eviction_dirty_trigger``)."""
LOCAL_SHARE = 0.45
"""The largest share of the machine's memory that the caches of all members may have."""
SHRINK_SECONDS = 10.0
_FULL_SHARE = 0.95
"""The share of the cache above which requests must evict pages themselves (``eviction_trigger``)."""


def room_gb(experiment: Experiment, scaled: Experiment) -> float:
    """Return the smallest cache in GB that suffices for every variant's work. ``experiment`` is at full size."""
    writes = any(workload(config["workload"]).writes for config in configs(scaled))
    least = WRITING_GB if writes else SMALLEST_GB
    joins = (
        float(config["numberOfThreads"] * JOIN_GB)
        for config in configs(scaled)
        if any("$lookup" in stage for stage in config.get("pipeline", ()))
    )
    everything = EVERYTHING_TIMES if scaled.control_of else 0
    datas = (round_up(everything * _data_gb(config)) for config in configs(scaled) if everything)
    return max(float(least), cache_for(experiment, scaled), *joins, *datas)


def _data_gb(config: Mapping[str, Any]) -> float:
    """Return the GB of documents that are loaded before a variant's window, or inserted in a known number in it."""
    kind = workload(config["workload"])
    return sum(plan.bytes for plan in (kind.plan(config), kind.plan_load(config)) if plan) / 2**30


def of_local(config: Mapping[str, Any], wanted: float, members: int, least: float = 0.0) -> float:
    """Return the cache in GB of a local member: ``wanted``, but at least ``least`` and within the machine's memory.

    ``members`` is the number of members of all local sets, which share the memory. If the number of records follows the
    cache, the cache is at least the smallest cache with which ``mongod`` starts.
    """
    if "workingSetRatio" in config:
        least = SMALLEST_AT_START_GB
    most = psutil.virtual_memory().total / 2**30 * LOCAL_SHARE / members
    return float(round(min(max(wanted, least, SMALLEST_GB), max(most, SMALLEST_AT_START_GB)), 3))


def describe(size: float, wanted: float) -> dict[str, Any]:
    """Return the description of a local member's cache in rows."""
    return {
        "cache_gb": size,
        "wanted_cache_gb": wanted,
        "cache_ratio_kept": size == round(wanted, 3),
        "cache_set": "at start" if size == SMALLEST_AT_START_GB else "while it ran",
        "below_cache": "page cache of the operating system",
    }


def resize(members: Iterable[MongoClient[dict[str, Any]]], size_gb: float) -> bool:
    """Set the cache size of each member, and wait until its cached data fits. Return whether all members succeed.

    https://www.mongodb.com/docs/manual/reference/parameters/#mongodb-parameter-param.wiredTigerEngineRuntimeConfig
    """
    size = round(size_gb * 2**30)
    members = list(members)
    for member in members:
        member.admin.command("setParameter", 1, wiredTigerEngineRuntimeConfig=f"cache_size={size}")
    deadline = time.monotonic() + SHRINK_SECONDS
    for member in members:
        while (
            member.admin.command("serverStatus")["wiredTiger"]["cache"]["bytes currently in the cache"]
            > _FULL_SHARE * size
        ):
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
    return True


EFFECTIVE_SHARE = 0.8
"""The share of the cache above which WiredTiger evicts (``eviction_target``,
https://source.wiredtiger.com/develop/tune_cache.html)."""

_INDEX_ENTRY = 64
"""Bytes in the index on ``_id`` for a key of 23 characters: 48 to 84 were measured, more after random insertion."""


def follows_cache(experiment: Experiment) -> bool:
    """Return whether the data size of any variant follows the cache of the variant's deployment."""
    return any("workingSetRatio" in config for config in configs(experiment))


def record_count(ratio: float, record_bytes: int, cache_bytes: float) -> int:
    """Return the number of records that fill ``ratio`` times the effective cache, including index entries."""
    return max(1, round(ratio * EFFECTIVE_SHARE * cache_bytes / (record_bytes + _INDEX_ENTRY)))


def sized(scaled: Experiment, number: int, cache_bytes: Callable[[], float]) -> Experiment:
    """Compute the ``recordcount`` of variant ``number`` from its ``workingSetRatio``, and return the experiment.

    An experiment whose variant has no ``workingSetRatio`` is returned unchanged. ``cache_bytes`` returns the size of
    WiredTiger's cache. It is called only if the variant has a ``workingSetRatio``.
    """
    config = config_of(scaled, scaled.variants[number])
    if "workingSetRatio" not in config:
        return scaled
    record = workload(config["workload"]).plan_load({**config, "recordcount": 1})
    count = record_count(config["workingSetRatio"], record.bytes if record else 0, cache_bytes())
    variants = list(scaled.variants)
    variants[number] = {**variants[number], "recordcount": count}
    return replace(scaled, variants=tuple(variants))


def scan(collection: Collection[dict[str, Any]]) -> None:
    """Read all documents and the whole index on ``_id`` to fill the cache.

    If all records are read with the same probability, the hit rate does not depend on which records are cached. So the
    hit rate is the same as after hours of reading.
    """
    sizes = {"$group": {"_id": None, "bytes": {"$sum": {"$bsonSize": "$$ROOT"}}}}
    list(collection.aggregate([{"$match": {"_id": {"$gte": MinKey()}}}, {"$count": "keys"}]))
    list(collection.aggregate([sizes]))


LARGEST_SHARE = 0.05
"""The largest share of the cache that requests in flight may fill: from 5 % of changed data on, WiredTiger evicts
(``eviction_dirty_target``, https://source.wiredtiger.com/develop/tune_cache.html)."""
TIER_CACHE_GB = {"M30": 2, "M40": 8, "M50": 16, "M60": 32, "M80": 64}
"""The cache in GB of a member on Atlas: a quarter of the memory of an M30 (8 GB), half of the memory of larger tiers
(https://www.mongodb.com/docs/atlas/sizing-tier-selection/)."""
PUBLISHED_TIMES = 2
"""If requests filled a share of the cache in the published run, they may fill this multiple of that share here."""
DOCUMENT_TIMES = 1.1
"""The largest size of a document relative to its ``docSizeKB``: the last fields may exceed it by a tenth of 1 KiB."""


def wanted_cache_gb(reference: Mapping[str, Any], variant: Mapping[str, Any], scale: float) -> float:
    """Return the cache of the published machine of a variant in GB, scaled down with the data."""
    tier = variant.get("instance", {}).get("atlasInstanceType")
    return float(TIER_CACHE_GB.get(tier, reference.get("cache_gb", 8)) * scale)


def in_flight_gb(config: Mapping[str, Any]) -> float:
    """Return the GB of documents that all connections of a variant write at once."""
    return float(config["numberOfThreads"] * workload(config["workload"]).request_bytes(config) / 2**30)


def allowed_share(experiment: Experiment, number: int) -> float:
    """Return the largest share of the cache that requests of a variant may fill. ``experiment`` is at full size."""
    variant = experiment.variants[number]
    published = in_flight_gb(config_of(experiment, variant))
    return max(
        LARGEST_SHARE, PUBLISHED_TIMES * published / wanted_cache_gb(experiment.reference, variant, 1.0)
    )


def round_up(cache_gb: float) -> float:
    """Round a cache size up to thousandths of a GB, the unit in which caches are set."""
    return ceil(cache_gb * 1000) / 1000


def cache_for(experiment: Experiment, scaled: Experiment) -> float:
    """Return the smallest cache in GB in which no variant's requests exceed their allowed share."""
    return round_up(
        max(
            in_flight_gb(config) * DOCUMENT_TIMES / allowed_share(experiment, number)
            for number, config in enumerate(configs(scaled))
        )
    )


def check_in_flight(experiment: Experiment, scaled: Experiment, cache_gb: float) -> None:
    """Raise TargetError if the cache is too small for the requests in flight."""
    shares = (
        (in_flight_gb(config) / cache_gb, allowed_share(experiment, number))
        for number, config in enumerate(configs(scaled))
    )
    if over := [(share, allowed) for share, allowed in shares if share > allowed]:
        raise CacheTooSmall(experiment.name, *max(over), cache_for(experiment, scaled))


class CacheTooSmall(TargetError):
    """Requests fill too large a share of the cache."""

    def __init__(self, name: str, share: float, allowed: float, least_gb: float = 0.0) -> None:
        size = f"{least_gb:g} GB or more" if least_gb else "more"
        super().__init__(
            f"requests in flight of {name} fill {share:.1%} of the cache, but --profile publish allows at most "
            f"{allowed:.1%}: above that, the server evicts pages for them",
            f"give the cache {size}, with fewer members (--target 'local?members=1') or on a larger machine; --as-is "
            "measures in any case",
        )


def measured_share(connections: int, window: Inside, cache_gb: float | None, *, writes: bool) -> float | None:
    """Return the share of the cache that data in flight filled during writes, or None if the cache size is unknown.

    Data that is read does not count, because it makes no pages dirty.
    """
    if not cache_gb:
        return None
    each = window.bytes / window.requests if writes and window.requests else 0.0
    return connections * each / (cache_gb * 2**30)


CACHE: Final = "cache"
IN_FLIGHT: Final = "in flight"
_OF_CACHE = (
    "The cache is larger than in proportion to the data: it has to hold the requests in flight, and a server needs a "
    "minimum cache."
)
_OF_IN_FLIGHT = (
    "The share of the cache filled by the documents that all connections write at once. If more than 5 % of the cache "
    "is dirty, a server evicts pages during writes."
)


def parameter_documents(experiment: Experiment) -> list[dict[str, Any]]:
    """Return the documents of the collection ``parameters``.

    There is one for each parameter, one for the cache, and one for the share of the cache in flight.
    """
    names = {name for config in configs(experiment) for name in config} - LABELS - {"workload"}
    scaled = {name.partition(".")[0] for name in experiment.scaled}
    caches = [wanted_cache_gb(experiment.reference, variant, 1.0) for variant in experiment.variants]
    shares = [
        in_flight_gb(config) / cache_gb for config, cache_gb in zip(configs(experiment), caches, strict=True)
    ]
    definitions = schemas.load("experiment")["definitions"]
    words = {name: one.get("scaling" if name in scaled else "kept") for name, one in definitions.items()}
    known = {**words, CACHE: _OF_CACHE, IN_FLIGHT: _OF_IN_FLIGHT, **experiment.changes}
    more = {CACHE: {"full": max(caches)}, **({IN_FLIGHT: {"full": max(shares)}} if any(shares) else {})}
    return [
        {
            "_id": {"parameter": name, "testname": experiment.name},
            "testname": experiment.name,
            "parameter": name,
            "scaled": name in scaled,
            **more.get(name, {}),
            **({"changes": known[name]} if known.get(name) else {}),
        }
        for name in sorted(names | more.keys())
    ]
