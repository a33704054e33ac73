"""The use of resources in a measured row, and the resource that limited a measured or a published run."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any, Final

from mongo_tables.results.conditions import share_machine
from mongo_tables.results.pooling import FINGERPRINT
from mongo_tables.runner.fingerprint import COUNTERS, find_difference

Row = Mapping[str, Any]

CLIENT_SHARE: Final = 0.5
"""The client is the limit if a larger share of the windows is client-bound."""
DISK: Final = 20
"""The disk is the limit if processors wait for it for this percentage of the time or longer."""
PROCESSORS: Final = 75
"""The processors are the limit if this percentage of them or more is busy."""
DIRTY: Final = 20
"""Eviction is the limit if this percentage of the cache or more is changed data.

Above this percentage, threads that write also evict pages (``eviction_dirty_trigger``,
https://source.wiredtiger.com/develop/tune_cache.html).
"""
EVICTED: Final = 0.01
"""Eviction is the limit if the threads that write evict this many pages per operation or more."""
JOURNAL: Final = 50
"""The journal is the limit if the server flushes it for this percentage of the time or longer."""

PUBLISHED: Final[Mapping[str, float]] = {
    "processors": PROCESSORS,
    "disk operations": 90,
    "disk writes": 95,
    "waiting for the disk": DISK,
}
"""A published run used up a resource if its mean use was this percentage of the machine's capacity or more."""
GP3_GB: Final = 200
"""The size in GB of the gp3 disk for which the published report states the maximum write rate."""
GP3_WRITES: Final = 225
"""The maximum write rate of a gp3 disk of that size in MB/s."""

_MICROSECONDS_FLUSHED: Final = "wiredTiger.log.log sync time duration (usecs)"


def find_resources(row: Row) -> dict[str, Any]:
    """Return the field ``resources`` of a row: the use of each resource, and the resource that limited the row.

    None means unknown. The figures of processors come from the window with the median number of busy processors. If
    the number of windows is even, they come from the less busy of the two in the middle. The figures of disk
    and cache come from the window that the row shows, because rows have them only for that window.
    """
    windows = [one["processors"] for one in row["repeats"] if one.get("processors")]
    windows = sorted(windows, key=lambda one: float(one["busy"])) or [row.get("processors")]
    median = windows[(len(windows) - 1) // 2]
    busy, least, most = (_busy_percent(row, one) for one in (median, windows[0], windows[-1]))
    dirty, cache_gb = _mean(row, "measurements", "CACHE_DIRTY_BYTES"), row["topology"].get("cache_gb")
    found = {
        "client_bound": fmean(bool(one.get("client_bound")) for one in row["repeats"]),
        **{part: median[part] if median else None for part in ("server", "client", "other")},
        "busy": busy,
        "busy_least": least,
        "busy_most": most,
        "iowait": _mean(row, "measurements", "SYSTEM_NORMALIZED_CPU_IOWAIT"),
        "written": _mean(row, "diskMetrics", "DISK_PARTITION_THROUGHPUT_WRITE"),
        "dirty": 100 * (dirty / (cache_gb * 2**30)) if dirty is not None and cache_gb else None,
    }
    return {"limit": _find_limit(row, found), **found}


def _busy_percent(row: Row, processors: Mapping[str, float] | None) -> float | None:
    """Return the busy share of all processors of the servers' machine in per cent, at most 100.

    The counters of the processors cover slightly more than the window, so the computed share may exceed 100.
    """
    members = row.get("servers", {}).get("members", ())
    own = row["hardware"]["cores"] if share_machine(row) else None
    cores = next((one["cores"] for one in members if "cores" in one), own)
    return min(100, processors["busy"] / cores * 100) if processors and cores else None


def _mean(row: Row, part: str, name: str) -> float | None:
    """Return the mean of a series in the window that the row shows, or None if the series has no samples."""
    series = next(
        (one for one in row.get("metrics", {}).get(part, ()) if one["name"] == name), {"dataPoints": ()}
    )
    values = [one["value"] for one in series["dataPoints"] if one["value"] is not None]
    return fmean(values) if values else None


def _find_limit(row: Row, found: Mapping[str, Any]) -> str:
    checks = row["checks"]
    # A row has the states of the server only if both come from one process.
    evicted = find_difference(row, dict.fromkeys(COUNTERS["pages_evicted_by_writers"].paths, 1)) or 0
    flushed = find_difference(row, {_MICROSECONDS_FLUSHED: 1}) or 0
    reached = {
        "client": found["client_bound"] > CLIENT_SHARE,
        "disk": (found["iowait"] or 0) >= DISK,
        "processors": (found["busy"] or 0) >= PROCESSORS,
        "batches in flight": (checks.get("in_flight_share") or 0) > checks.get("in_flight_allowed", 1),
        "eviction": (found["dirty"] or 0) >= DIRTY
        or (evicted > 0 and evicted >= EVICTED * row.get(FINGERPRINT, row["work"])["operations"]),
        "journal": flushed > 0 and flushed / 1000 >= row["duration"] * JOURNAL / 100,
    }
    unexplained = "not known" if found["busy"] is None else "waiting"
    return next((name for name, is_reached in reached.items() if is_reached), unexplained)


def find_published_limit(figures: Row, machine: Row) -> str | None:
    """Return the resources that a published run used up, or None if its monitoring or machine is not published.

    ``machine`` is the machine in the experiment file. The figures are means, which hide peaks: for a time, the run may
    have used up other resources, too.
    """
    # Texts in place of figures are reported when the document is checked.
    known = {name: value for name, value in figures.items() if isinstance(value, (int, float))}
    processors, operations = known.get("meancpu", 0), known.get("meanIops", 0)
    if not (processors or operations) or "atlasIOPS" not in machine:
        return None
    gp3 = (machine.get("atlasDiskType"), machine.get("atlasDiskSizeGB")) == ("STANDARD", GP3_GB)
    used = {
        "processors": processors,
        "disk operations": 100 * operations / machine["atlasIOPS"],
        "disk writes": 100 * known.get("meanWrite", 0) / GP3_WRITES if gp3 else 0,
        "waiting for the disk": known.get("iowait", 0),
    }
    return ", ".join(name for name, percent in used.items() if percent >= PUBLISHED[name]) or "none found"
