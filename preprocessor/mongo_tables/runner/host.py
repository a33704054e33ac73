"""This machine's disk, processor and system, and this program's version, without names of hosts, users or folders.

Different code may have the same version number, so the version includes the commit. Git knows the commit of a checkout;
``pip`` records the commit when it installs the program from a repository.

The speed of a disk is measured by random reads of 4 KiB, one after the other, that bypass the page cache.
"""

from __future__ import annotations

import errno
import mmap
import os
import platform
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import psutil
import pymongo

import mongo_tables
from mongo_tables.files.process import read_origin
from mongo_tables.runner.errors import TargetError

UNKNOWN = "unknown"
_BLOCK_DEVICES = Path("/sys/dev/block")
_KINDS = {"0": "not rotational", "1": "rotational"}


def describe_disk(directory: Path, devices: Path = _BLOCK_DEVICES) -> dict[str, str]:
    """Return file system, device, kind and model of a disk. A property that the system does not report is ``unknown``.

    ``kind`` is ``queue/rotational`` of Linux (https://docs.kernel.org/block/queue-sysfs.html). For a virtual disk it is
    a setting of the disk's driver, or a default.
    """
    disk = whole_disk(directory, devices)
    mount = mount_of(directory, physical=False)
    return {
        "filesystem": mount.fstype if mount else UNKNOWN,
        "device": disk.name if disk else UNKNOWN,
        "kind": _KINDS.get(read_fact(disk, "queue/rotational"), UNKNOWN),
        "model": read_fact(disk, "device/model") or UNKNOWN,
    }


def whole_disk(directory: Path, devices: Path = _BLOCK_DEVICES) -> Path | None:
    """Return the folder in which Linux describes the whole disk (not a partition) of the directory, or None."""
    number = directory.stat().st_dev
    try:
        place = (devices / f"{os.major(number)}:{os.minor(number)}").resolve(strict=True)
    except OSError:
        return None
    return place.parent if (place / "partition").exists() else place


def mount_of(directory: Path, *, physical: bool) -> Any | None:
    """Return psutil's entry for the file system that contains the directory, or None if there is none.

    With ``physical`` only file systems on devices count.
    """
    place = directory.resolve()
    mounts = psutil.disk_partitions(all=not physical)
    around = [mount for mount in mounts if place.is_relative_to(mount.mountpoint)]
    # The last mount at a mount point hides the earlier ones.
    return max(reversed(around), key=lambda mount: len(mount.mountpoint), default=None)


def read_fact(disk: Path | None, file: str) -> str:
    """Return the content of a file in the folder ``disk``, which describes a disk, or "" if it cannot be read."""
    try:
        return (disk / file).read_text(encoding="utf-8").strip() if disk else ""
    except (OSError, ValueError):
        return ""


_PACKAGE = Path(mongo_tables.__file__).parent
_DIGITS = 12
"""The number of digits of a commit. By default, Git would choose a number that depends on the clone."""


@cache
def harness() -> str:
    """Return ``mongo-tables 0.1.0+gCOMMIT``, with ``.changed`` if files differ from the commit.

    Without a known commit, return only the version. The result has the form of a local version
    (https://packaging.python.org/en/latest/specifications/version-specifiers/). The result is cached: the code of a
    running program does not change.
    """
    installed = str(read_origin().get("vcs_info", {}).get("commit_id", ""))[:_DIGITS]
    commit = _of_checkout(_PACKAGE) or installed
    return f"mongo-tables {mongo_tables.__version__}" + (f"+g{commit}" if commit else "")


def _of_checkout(package: Path) -> str:
    """Return the commit of a package's folder in a work tree, or "" if Git does not track its files."""
    if _git(package, "ls-files", "--", "__init__.py") in (None, ""):
        return ""
    commit = _git(package, "rev-parse", f"--short={_DIGITS}", "HEAD")
    if not commit:
        return ""
    # Only files of the package count: a run itself changes results and pages.
    changed = _git(package, "status", "--porcelain", "--untracked-files=no", "--", ".")
    return f"{commit}.changed" if changed else commit


def _git(folder: Path, *asked: str) -> str | None:
    """Return Git's output in a folder, or None if it fails."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *asked], capture_output=True, check=False, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def versions(build_info: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions of server (from ``buildInfo``), driver, harness and Python.

    Two builds of one server version may differ only in the commit. For a product that is not MongoDB, ``product`` is
    its name, and ``server`` is the version of MongoDB that it emulates.
    """
    product = product_of(build_info)
    return {
        "server": build_info["version"],
        **({"product": product} if product else {}),
        **({"server_commit": build_info["gitVersion"]} if build_info.get("gitVersion") else {}),
        "driver": f"PyMongo {pymongo.version}",
        "harness": harness(),
        "python": platform.python_version(),
    }


def product_of(build_info: Mapping[str, Any]) -> str:
    """Return the product that emulates MongoDB, with its version if it reports one, or "" for MongoDB.

    FerretDB 1 and 2 each have their own field (https://docs.ferretdb.io).
    """
    of_2: Mapping[str, Any] = build_info.get("ferretdb") or {}
    version = build_info.get("ferretdbVersion") or of_2.get("version")
    if version:
        return f"FerretDB {str(version).removeprefix('v')}"
    # Each build of MongoDB lists its storage engines, even if it has none.
    return "" if "modules" in build_info or "storageEngines" in build_info else "not MongoDB"


RowOrigin = dict[str, Any]
"""The versions and the machine of a measurement, which must be equal for all windows of a row."""


def origin_of(row: Mapping[str, Any]) -> RowOrigin:
    """Return versions and machine of a row, without the disk, which may vary on one machine."""
    machine = {name: value for name, value in row["hardware"].items() if name != "disk"}
    return {**row["versions"], **machine}


def hardware(data_directory: Path | None) -> dict[str, Any]:
    """Return the machine of the client: processor, cores, memory in GiB, kernel, system.

    With ``data_directory``, include the disk of that directory.
    """
    machine: dict[str, Any] = {
        "cpu": _value(Path("/proc/cpuinfo"), "model name", ":") or platform.processor() or platform.machine(),
        "cores": psutil.cpu_count(logical=True),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "kernel": f"{platform.system()} {platform.release()}",
        "system": _value(Path("/etc/os-release"), "PRETTY_NAME", "=").strip('"')
        or platform.platform(terse=True),
    }
    return {**machine, "disk": describe_disk(data_directory)} if data_directory else machine


def _value(file: Path, key: str, separator: str) -> str:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    for line in lines:
        name, _, value = line.partition(separator)
        if name.strip() == key:
            return value.strip()
    return ""


FULL_BYTES: Final = 128 << 20
"""The minimum free space for a server.

With less, a server cannot create the next file of its journal, which has 100 MB
(https://www.mongodb.com/docs/manual/core/journaling/), and possibly cannot even log the error.
"""
NO_SPACE: Final = "No space left on device"
"""The message of the operating system and of servers about a full disk."""


def is_full(directory: Path) -> bool:
    """Return whether the disk of a directory has too little space for servers."""
    return shutil.disk_usage(directory).free < FULL_BYTES


def say_no_space(directory: Path) -> str:
    """Return the message that the disk of a directory is full."""
    return f"there is no space left on the disk of {directory}"


BLOCK = 4096
FILE_BYTES = 128 * 2**20
SECONDS = 1.5
_WRITTEN_AT_ONCE = 2**20


def measure_disk(directory: Path) -> dict[str, Any] | None:
    """Measure reads per second and their latencies in microseconds on the disk of ``directory``.

    Return None if reads cannot bypass the page cache. The function writes a file, reads it and removes it; it raises
    TargetError if it cannot write.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=directory, prefix="baseline-") as file:
            for _ in range(FILE_BYTES // _WRITTEN_AT_ONCE):
                file.write(os.urandom(_WRITTEN_AT_ONCE))
            file.flush()
            os.fsync(file.fileno())
            return _read_past_cache(Path(file.name))
    except OSError as error:
        why = say_no_space(directory.parent) if error.errno == errno.ENOSPC else error.strerror
        message = f"the disk of {directory.parent} cannot be measured: {why}"
        raise TargetError(message, f"the measurement writes a file of {FILE_BYTES >> 20} MiB") from None


def _read_past_cache(path: Path) -> dict[str, Any] | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except (AttributeError, OSError):  # the platform lacks the flag, or the file system does not support it
        return None
    draw, taken, clock = random.Random("disk"), list[int](), time.perf_counter_ns
    try:
        with mmap.mmap(-1, BLOCK) as aligned:
            end = clock() + round(SECONDS * 1e9)
            while (began := clock()) < end:
                os.preadv(handle, [aligned], draw.randrange(FILE_BYTES // BLOCK) * BLOCK)
                taken.append(clock() - began)
    except OSError:
        return None
    finally:
        os.close(handle)
    taken.sort()
    p50, p99 = (taken[round((len(taken) - 1) * share)] / 1000 for share in (0.5, 0.99))
    return {
        "tool": "mongo-tables",
        "block_bytes": BLOCK,
        "iops": len(taken) / (sum(taken) / 1e9),
        "p50": p50,
        "p99": p99,
        "unit": "microseconds",
    }
