"""How much is done in a window, so that its speed is more than luck.

An amount that scaling made small is raised until every connection has its first batch, its last one and some between
them: else the window would be the start of the connections. A window that time ends is lengthened while it runs.
"""

from __future__ import annotations

from preprocessor.runner.workloads import BATCHED, Config

LEAST_BATCHES = 5
"""Requests for each connection that an amount is raised to."""
LEAST_REQUESTS = 3
"""Requests for each connection that a window is lengthened for."""
MOST_TIMES_LONGER = 10
_AMOUNTS = {"insert": "totalDocsToInsert", "hot_update": "nUpdates", "update_api": "nUpdates"}
"""What says how much is done, of workloads that can do any amount."""
_UNLIMITED = 10**12


def operations_of_requests(workload: str, config: Config, requests: int) -> int:
    """How many operations so many requests of each connection have."""
    each = config["writeBatchSize"] if workload in BATCHED else 1
    return int(requests * config["numberOfThreads"] * each)


def with_enough_work(workload: str, config: Config, duration: float | None) -> Config:
    """The config with work for a window that means something, or for one of so many seconds."""
    if duration and "testTimeSecs" in config:
        return {**config, "testTimeSecs": duration}
    name = _AMOUNTS.get(workload)
    if name is None:
        return config
    least = operations_of_requests(workload, config, LEAST_BATCHES)
    return {**config, name: _UNLIMITED if duration else max(config[name], least)}
