"""The share of the cache that the documents of requests in flight fill, and the share that they may fill.

A small run has a small cache, but as many connections as the published one. If their requests fill much of the cache,
the server evicts for them, and the row measures that. So the cache is enlarged until the share is allowed, and
``--profile publish`` refuses a target where it cannot be.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from mongo_tables.runner import local_limits
from mongo_tables.runner.experiment import Experiment, config_of, configs
from mongo_tables.runner.window import Inside
from mongo_tables.runner.workloads import workload

LARGEST_SHARE = 0.05
"""The largest share of the cache that requests in flight may fill: from 5 % dirty on WiredTiger evicts
(``eviction_dirty_target``, https://source.wiredtiger.com/develop/tune_cache.html)."""
PUBLISHED_TIMES = 2
"""If the share of the published run was larger, this many times that share is allowed."""
DOCUMENT_TIMES = 1.1
"""A document is larger than ``docSizeKB`` by less than its last fields: a tenth of 1 KiB."""


def wanted_cache_gb(reference: Mapping[str, Any], variant: Mapping[str, Any], scale: float) -> float:
    """Return the cache of the published machine of a variant in GB, scaled down with the data."""
    tier = local_limits.TIERS.get(variant.get("instance", {}).get("atlasInstanceType"))
    return float((tier.cache_gb if tier else reference.get("cache_gb", 8)) * scale)


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
    """Return the next thousandth of a GB: caches are set in these."""
    return ceil(cache_gb * 1000) / 1000


def cache_for(experiment: Experiment, scaled: Experiment) -> float:
    """Return the least cache in GB in which requests of no variant fill more than they may."""
    return round_up(
        max(
            in_flight_gb(config) * DOCUMENT_TIMES / allowed_share(experiment, number)
            for number, config in enumerate(configs(scaled))
        )
    )


def find_refusal(experiment: Experiment, scaled: Experiment, cache_gb: float) -> tuple[str, str] | None:
    """Return why such a cache is too small for what is in flight, and the remedy, or None if it is large enough."""
    shares = (
        (in_flight_gb(config) / cache_gb, allowed_share(experiment, number))
        for number, config in enumerate(configs(scaled))
    )
    over = [(share, allowed) for share, allowed in shares if share > allowed]
    return describe_refusal(experiment.name, *max(over), cache_for(experiment, scaled)) if over else None


def describe_refusal(name: str, share: float, allowed: float, least_gb: float = 0.0) -> tuple[str, str]:
    """Return the message for requests that fill too large a share of the cache, and the remedy."""
    size = f"{least_gb:g} GB or more" if least_gb else "more"
    return (
        f"requests in flight of {name} fill {share:.1%} of the cache, and {allowed:.1%} is the most for --profile "
        "publish: the server evicts for them",
        f"give the cache {size}, with fewer members (--target 'local?members=1') or on a larger machine; --as-is "
        "measures it all the same",
    )


def measured_share(connections: int, window: Inside, cache_gb: float | None, *, writes: bool) -> float | None:
    """Return the share of a cache that the requests of a window had in flight, or None if the cache is unknown.

    Only what is written counts: what requests read makes no page dirty.
    """
    if not cache_gb:
        return None
    each = window.bytes / window.requests if writes and window.requests else 0.0
    return connections * each / (cache_gb * 2**30)
