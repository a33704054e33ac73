"""What the system says of the disk that holds a directory, without the names of folders and hosts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

UNKNOWN = "unknown"
_BLOCK_DEVICES = Path("/sys/dev/block")
_KINDS = {"0": "not rotational", "1": "rotational"}


def describe(directory: Path, devices: Path = _BLOCK_DEVICES) -> dict[str, str]:
    """File system, device, kind and model; ``unknown`` is what the system does not say.

    ``kind`` is ``queue/rotational`` of Linux (https://docs.kernel.org/block/queue-sysfs.html). A virtual disk says of
    itself what its driver was told, or a default.
    """
    disk = whole_disk(directory, devices)
    mount = mount_of(directory, physical=False)
    return {
        "filesystem": mount.fstype if mount else UNKNOWN,
        "device": disk.name if disk else UNKNOWN,
        "kind": _KINDS.get(_said(disk, "queue/rotational"), UNKNOWN),
        "model": _said(disk, "device/model") or UNKNOWN,
    }


def whole_disk(directory: Path, devices: Path = _BLOCK_DEVICES) -> Path | None:
    """Where Linux tells of the disk that holds the directory, not of its partition; None when it is on none."""
    number = directory.stat().st_dev
    try:
        place = (devices / f"{os.major(number)}:{os.minor(number)}").resolve(strict=True)
    except OSError:
        return None
    return place.parent if (place / "partition").exists() else place


def mount_of(directory: Path, *, physical: bool) -> Any | None:
    """The entry of psutil for the file system that the directory is in, None when there is none.

    With ``physical`` only file systems on devices count.
    """
    import psutil

    place = directory.resolve()
    mounts = psutil.disk_partitions(all=not physical)
    around = [mount for mount in mounts if place.is_relative_to(mount.mountpoint)]
    return max(
        reversed(around), key=lambda mount: len(mount.mountpoint), default=None
    )  # the last hides the others


def _said(disk: Path | None, file: str) -> str:
    try:
        return (disk / file).read_text(encoding="utf-8").strip() if disk else ""
    except (OSError, ValueError):
        return ""
