"""This machine and this program: disk, processor, system, version; without the names of hosts, users or folders.

Figures of one version may come from different code while the version lasts. Git says the commit of a checkout; where
``pip`` fetched the program from a repository, the note of ``pip`` says it
(https://packaging.python.org/en/latest/specifications/direct-url/).

The speed of a disk is that of random reads of 4 KiB past the page cache, one after the other. ``fio``
(https://fio.readthedocs.io) measures it where it is installed, else a small loop of our own; the result says which.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import platform
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import mongo_tables
from mongo_tables.runner.errors import TargetError

UNKNOWN = "unknown"
_BLOCK_DEVICES = Path("/sys/dev/block")
_KINDS = {"0": "not rotational", "1": "rotational"}


def describe_disk(directory: Path, devices: Path = _BLOCK_DEVICES) -> dict[str, str]:
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


_PACKAGE = Path(mongo_tables.__file__).parent
_DISTRIBUTION = "mongo-tables"
_DIGITS = 12
"""Of a commit: enough to find it, and the same number on every machine."""


@cache
def harness() -> str:
    """``mongo-tables 0.1.0+gCOMMIT``, with ``.changed`` where files differ from it; the number alone where unknown.

    The form is that of a local version (https://packaging.python.org/en/latest/specifications/version-specifiers/).
    It is asked for once: what a running program was started from does not change.
    """
    commit = _of_checkout(_PACKAGE) or _of_installation(_noted())
    return f"mongo-tables {mongo_tables.__version__}" + (f"+g{commit}" if commit else "")


def _of_checkout(package: Path) -> str:
    """The commit of a package's folder in a work tree; empty where Git does not follow its files."""
    if _git(package, "ls-files", "--", "__init__.py") in (None, ""):
        return ""
    commit = _git(package, "rev-parse", f"--short={_DIGITS}", "HEAD")
    if not commit:
        return ""
    # Results and pages may differ: a run writes some itself.
    changed = _git(package, "status", "--porcelain", "--untracked-files=no", "--", ".")
    return f"{commit}.changed" if changed else commit


def _of_installation(noted: str | None) -> str:
    """The commit in a ``direct_url.json``; empty where there is no such file, or no repository in it."""
    commit = json.loads(noted or "{}").get("vcs_info", {}).get("commit_id", "")
    return str(commit)[:_DIGITS]


def _noted() -> str | None:
    try:
        return metadata.distribution(_DISTRIBUTION).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None


def _git(folder: Path, *asked: str) -> str | None:
    """What Git answers in a folder, None where it cannot."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *asked], capture_output=True, check=False, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def versions(build_info: Mapping[str, Any]) -> dict[str, str]:
    """Versions of server (from ``buildInfo``), driver, harness and Python.

    Two builds of one version of the server differ in its commit alone, where it says that. A product that is not
    MongoDB is named: its ``server`` is the version of MongoDB that it stands in for.
    """
    import pymongo

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
    """What answers in place of MongoDB, with its version, as far as it says so; nothing for MongoDB.

    FerretDB 1 and 2 each have a field of their own (https://docs.ferretdb.io).
    """
    of_2: Mapping[str, Any] = build_info.get("ferretdb") or {}
    version = build_info.get("ferretdbVersion") or of_2.get("version")
    if version:
        return f"FerretDB {str(version).removeprefix('v')}"
    # Each build of MongoDB says which engines it has, or that it is without.
    return "" if "modules" in build_info or "storageEngines" in build_info else "not MongoDB"


Origin = dict[str, Any]
"""Where a window was measured, as far as windows of one row have to agree in it."""


def origin_of(row: Mapping[str, Any]) -> Origin:
    """Versions and machine of a row, without what may differ on one machine."""
    machine = {name: value for name, value in row["hardware"].items() if name != "disk"}
    return {**row["versions"], **machine}


def hardware(data_directory: Path | None) -> dict[str, Any]:
    """The machine that the client runs on: processor, cores, memory in GiB, kernel, system.

    Also the disk of the data, where that is on this machine.
    """
    import psutil

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
"""With less room than that a server cannot make the next file of its journal, which has 100 MB from the beginning
(https://www.mongodb.com/docs/manual/core/journaling/), and its log may have had no room to say so."""
NO_SPACE: Final = "No space left on device"
"""As the system and servers say it."""


def is_full(directory: Path) -> bool:
    """Whether servers have no room on the disk of a directory."""
    return shutil.disk_usage(directory).free < FULL_BYTES


def say_no_space(directory: Path) -> str:
    """What is said of the disk of a directory that has no room."""
    return f"there is no space left on the disk of {directory}"


BLOCK = 4096
FILE_BYTES = 128 * 2**20
SECONDS = 1.5
_WRITTEN_AT_ONCE = 2**20


def measure_disk(directory: Path) -> dict[str, Any] | None:
    """Reads a second and their latencies on the disk of ``directory``, in microseconds.

    None where files cannot be read past the page cache. The file it reads is written for it and removed; raises
    TargetError when it cannot be.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=directory, prefix="baseline-") as file:
            for _ in range(FILE_BYTES // _WRITTEN_AT_ONCE):
                file.write(os.urandom(_WRITTEN_AT_ONCE))
            file.flush()
            os.fsync(file.fileno())
            path = Path(file.name)
            fio = shutil.which("fio")
            return (_by_fio(fio, path) if fio else None) or _by_ourselves(path)
    except OSError as error:
        why = say_no_space(directory.parent) if error.errno == errno.ENOSPC else error.strerror
        message = f"the disk of {directory.parent} cannot be measured: {why}"
        raise TargetError(message, f"it takes a file of {FILE_BYTES >> 20} MiB") from None


def read_report(text: str) -> dict[str, Any]:
    """The figures of a report in JSON that ``fio`` wrote; raises KeyError or ValueError when it has none."""
    read = json.loads(text)["jobs"][0]["read"]
    percentiles = read["clat_ns"]["percentile"]
    return _figures("fio", read["iops"], percentiles["50.000000"] / 1000, percentiles["99.000000"] / 1000)


def _by_fio(program: str, path: Path) -> dict[str, Any] | None:
    command = [
        program, "--name=baseline", f"--filename={path}", f"--size={FILE_BYTES}", "--readonly", "--rw=randread",
        f"--bs={BLOCK}", "--ioengine=psync", "--direct=1", "--time_based", f"--runtime={SECONDS}",
        "--output-format=json",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS * 20, check=True)
        return read_report(done.stdout)
    except (OSError, subprocess.SubprocessError, KeyError, ValueError):
        return None


def _by_ourselves(path: Path) -> dict[str, Any] | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except (AttributeError, OSError):  # no such flag here, or a file system without it
        return None
    try:
        with mmap.mmap(-1, BLOCK) as aligned:
            taken = _read(handle, aligned, random.Random("disk"))
    except OSError:
        return None
    finally:
        os.close(handle)
    speed = len(taken) / (sum(taken) / 1e9)
    return _figures("mongo-tables", speed, _percentile(taken, 0.5), _percentile(taken, 0.99))


def _read(handle: int, block: mmap.mmap, draw: random.Random) -> list[int]:
    """Read blocks until the time is over; the nanoseconds of each."""
    taken: list[int] = []
    clock = time.perf_counter_ns
    end = clock() + round(SECONDS * 1e9)
    while (began := clock()) < end:
        os.preadv(handle, [block], draw.randrange(FILE_BYTES // BLOCK) * BLOCK)
        taken.append(clock() - began)
    return taken


def _percentile(taken: Sequence[int], share: float) -> float:
    """The time in microseconds that this share of the reads did not exceed."""
    return sorted(taken)[round((len(taken) - 1) * share)] / 1000


def _figures(tool: str, iops: float, p50: float, p99: float) -> dict[str, Any]:
    return {
        "tool": tool,
        "block_bytes": BLOCK,
        "iops": float(iops),
        "p50": p50,
        "p99": p99,
        "unit": "microseconds",
    }
