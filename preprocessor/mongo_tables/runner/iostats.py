"""From where a window's reads were served: the cache of WiredTiger, the page cache of the system, or the disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_COUNTERS = {
    "pages_requested": ("cache", "pages requested from the cache"),
    "pages_read": ("cache", "pages read into cache"),
    "bytes_read_into_cache": ("cache", "bytes read into cache"),
    "bytes_read_from_files": ("block-manager", "bytes read"),
}


def disk_bytes(pid: int, pids: Sequence[int]) -> int | None:
    """What the process has had read from disk so far; None when it is none of ours, or nobody tells.

    ``read_bytes`` of https://man7.org/linux/man-pages/man5/proc_pid_io.5.html: what the page cache had is not in it.
    """
    import psutil

    if pid not in pids:
        return None
    try:
        return int(psutil.Process(pid).io_counters().read_bytes)
    except (AttributeError, psutil.Error):
        return None


def reads(
    before: Mapping[str, Any], after: Mapping[str, Any], from_disk: tuple[int | None, int | None]
) -> dict[str, Any]:
    """Counts of a window, from the states of the server around it and what the process had read from disk.

    A count is None where the states do not have it, as those of a server without WiredTiger. A rate is None when
    there was nothing to be found.
    Read-ahead may bring more from disk than was asked for; the page cache has then helped nobody, and its rate is 0.
    """
    from bson.int64 import Int64

    counts = {name: _grown(before, after, *place) for name, place in _COUNTERS.items()}
    started, ended = from_disk
    disk = None if started is None or ended is None else ended - started
    return {
        **{name: None if count is None else Int64(count) for name, count in counts.items()},
        "bytes_read_from_disk": None if disk is None else Int64(disk),
        "cache_hit_rate": _hit_rate(counts["pages_read"], counts["pages_requested"]),
        "page_cache_hit_rate": _hit_rate(disk, counts["bytes_read_from_files"]),
    }


def _grown(before: Mapping[str, Any], after: Mapping[str, Any], group: str, name: str) -> int | None:
    if not ("wiredTiger" in before and "wiredTiger" in after):
        return None
    return int(after["wiredTiger"][group].get(name, 0)) - int(before["wiredTiger"][group].get(name, 0))


def _hit_rate(missed: int | None, asked: int | None) -> float | None:
    if missed is None or asked is None:
        return None
    return max(0.0, 1 - missed / asked) if asked > 0 and missed >= 0 else None
