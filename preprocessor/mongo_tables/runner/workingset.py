"""How many records make a working set of a given size: a multiple of the cache that the deployment really has.

A cache cannot be made as small as one likes (``cachesize``), so an experiment about caches
says how large its data is in caches, not in records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.experiment import Experiment, configs
from mongo_tables.runner.workloads import workload

if TYPE_CHECKING:
    from pymongo.collection import Collection

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
