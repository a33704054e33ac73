"""Atlas's own measurements of the primary's machine and disk in a window.

Atlas provides one point a minute, some minutes late. A point whose minute lies inside the window describes the window
alone; a window shorter than a minute has only points that also cover time before and after it. Points without a value
are kept: the first of a rate has none. A process unknown to Atlas (NO_DATA) has no points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from mongo_tables.runner.atlas.api import Api, ApiError, iso
from mongo_tables.runner.sampling import INSIDE, Monitored

SOURCE: Final = "Atlas Administration API"
GRANULARITY: Final = "PT1M"
GRANULE: Final = timedelta(minutes=1)
PARTITION: Final = "data"
"""Atlas's name of the data disk, the same on all clusters."""
PROCESS: Final = (
    "SYSTEM_NORMALIZED_CPU_USER",
    "SYSTEM_NORMALIZED_CPU_KERNEL",
    "SYSTEM_NORMALIZED_CPU_IOWAIT",
    "SYSTEM_NORMALIZED_CPU_STEAL",
    "OP_EXECUTION_TIME_READS",
    "OP_EXECUTION_TIME_WRITES",
    "OP_EXECUTION_TIME_COMMANDS",
    "CACHE_BYTES_READ_INTO",
    "CACHE_BYTES_WRITTEN_FROM",
    "CACHE_FILL_RATIO",
)
"""Measurements per request."""
DISK: Final = (
    "DISK_PARTITION_IOPS_READ",
    "DISK_PARTITION_IOPS_WRITE",
    "DISK_PARTITION_IOPS_TOTAL",
    "DISK_PARTITION_THROUGHPUT_READ",
    "DISK_PARTITION_THROUGHPUT_WRITE",
    "DISK_PARTITION_LATENCY_READ",
    "DISK_PARTITION_LATENCY_WRITE",
)
LONGEST_LAG: Final = timedelta(minutes=8)
"""The longest time to wait for points."""
POLL_SECONDS: Final = 30.0
_PRIMARY: Final = "REPLICA_PRIMARY"
_NO_DATA: Final = "NO_DATA"

_Series = list[dict[str, Any]]


def measured(api: Api, name: str, start: datetime, end: datetime) -> Monitored:
    """Return the series of the cluster's primary for the window. It names what Atlas does not provide."""
    ends = end + LONGEST_LAG
    while True:
        try:
            process, disk, reason = _look(api, name, start, end)
        except ApiError as error:
            return Monitored(SOURCE, [], [], _facts("none", None, error.message))
        now = api.clock.now()
        if _reaches(process, end) and _reaches(disk, end):
            lag = (now - end).total_seconds()
            return _chosen(process, disk, start, end, lag)
        if now >= ends:
            minutes = LONGEST_LAG.total_seconds() / 60
            reason = reason or f"no point had come {minutes:g} minutes after the window"
            return _chosen(process, disk, start, end, None, reason)
        api.clock.sleep(POLL_SECONDS)


def _look(api: Api, name: str, start: datetime, end: datetime) -> tuple[_Series, _Series, str]:
    """Return the current series of process and disk, and the reason if there can be none."""
    members = [
        one
        for one in api.pages("processes")
        if str(one.get("userAlias", "")).startswith(f"{name.lower()}-shard-")
    ]
    primary = next((one for one in members if one.get("typeName") == _PRIMARY), None)
    if primary is None:
        return [], [], _NO_DATA if any(one.get("typeName") == _NO_DATA for one in members) else "no primary"
    place = ("processes", str(primary["id"]))
    query = [("granularity", GRANULARITY), ("start", iso(start - GRANULE)), ("end", iso(end + 2 * GRANULE))]
    process = api.get(*place, "measurements", query=[*query, *(("m", one) for one in PROCESS)])
    disk = api.get(*place, "disks", PARTITION, "measurements", query=[*query, *(("m", one) for one in DISK)])
    return list(_series(process)), list(_series(disk)), ""


def _series(answer: Any) -> Iterator[dict[str, Any]]:
    for one in (answer or {}).get("measurements") or ():
        points = [
            {
                "timestamp": datetime.fromisoformat(point["timestamp"]).astimezone(UTC),
                "value": point.get("value"),
            }
            for point in one.get("dataPoints") or ()
        ]
        yield {"name": one["name"], "units": one["units"], "dataPoints": points}


def _reaches(series: _Series, end: datetime) -> bool:
    """Return whether any series has a value after the end of the window."""
    return any(
        point["value"] is not None and point["timestamp"] >= end
        for one in series
        for point in one["dataPoints"]
    )


def _chosen(
    process: _Series, disk: _Series, start: datetime, end: datetime, lag: float | None, reason: str = ""
) -> Monitored:
    """Return the points of minutes inside the window, or, without any, of minutes that overlap it."""
    inside = [point for point in _points([*process, *disk]) if start + GRANULE <= point["timestamp"] <= end]
    first, last = (start + GRANULE, end) if inside else (start, end + GRANULE)

    def cut(series: _Series) -> _Series:
        return [
            {**one, "dataPoints": [p for p in one["dataPoints"] if first <= p["timestamp"] <= last]}
            for one in series
        ]

    found = [*cut(process), *cut(disk)]
    place = INSIDE if inside else "around the window" if any(_points(found)) else "none"
    return Monitored(SOURCE, cut(process), cut(disk), _facts(place, lag, reason))


def _points(series: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    return (point for one in series for point in one["dataPoints"])


def _facts(place: str, lag: float | None, reason: str) -> dict[str, Any]:
    """Return the facts about the points: their resolution, their lag, and where they lie."""
    return {
        "by": SOURCE,
        "granularity_seconds": GRANULE.total_seconds(),
        "lag_seconds": lag,
        "points": place,
        **({"not_known": reason} if reason else {}),
    }
