"""Limits of a machine, imposed on the members of a local replica set as far as the system permits.

Control groups of Linux (https://docs.kernel.org/admin-guide/cgroup-v2.html) limit memory and disk, affinity limits
processors. Version 1 of control groups is not used: its disk limit does not cover writes through the page cache.
Whether a group can be created, and with which controllers, depends on the user and the system, so the code tries it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import psutil

from mongo_tables.runner.host import read_fact, whole_disk

ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS = ("io", "memory")


class ControlGroup:
    """A control group with one server. Each method returns whether its limit now holds. None removes the limit."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def limit_memory(self, size: int | None) -> bool:
        """Limit the bytes of the process and of the page cache that it fills, together."""
        return _written(self.path / "memory.max", "max" if size is None else str(size))

    def limit_disk(self, directory: Path, operations: int | None) -> bool:
        """Limit reads, and likewise writes, per second on the disk that holds ``directory``.

        This holds only if memory is controlled too: otherwise the kernel does not attribute writes from the page
        cache to a process.
        """
        device = device_of(directory)
        if device is None or not (self.path / "memory.max").exists():
            return False
        most = "max" if operations is None else operations
        return _written(self.path / "io.max", f"{device} riops={most} wiops={most}")


def open_group(
    name: str, pid: int, root: Path = ROOT, own: Path = Path("/proc/self/cgroup")
) -> ControlGroup | None:
    """Create the group ``name`` and put the process into it. Return None if that is not permitted.

    The group is created below the runner's own group, or below the root if the runner's cannot have children.
    ``supervisor`` removes it when the process has ended.
    """
    for path in _make_groups(name, root, own):
        if _written(path / "cgroup.procs", str(pid)):
            return ControlGroup(path)
    return None


def are_permitted(root: Path = ROOT, own: Path = Path("/proc/self/cgroup")) -> bool:
    """Return whether a group with limits can be created here, by creating and removing one."""
    return bool([*_make_groups(f"mongo-tables-{os.getpid()}", root, own)])


def remove_group(name: str, root: Path = ROOT, own: Path = Path("/proc/self/cgroup")) -> None:
    """Remove the group ``name``, wherever ``open_group`` created it, after its server has ended."""
    for parent in _parents(root, own):
        with suppress(OSError):
            (parent / name).rmdir()


def device_of(directory: Path) -> str | None:
    """Return ``MAJOR:MINOR`` of the whole disk that holds the directory, or None if it is on none."""
    return read_fact(whole_disk(directory), "dev") or None


def _make_groups(name: str, root: Path, own: Path) -> Iterator[Path]:
    """Yield the group ``name`` in each place that permits it. Advancing removes the previous one."""
    if not (root / "cgroup.controllers").exists():
        return  # version 1, or no Linux
    for parent in _parents(root, own):
        path = parent / name
        with suppress(OSError):
            path.mkdir(exist_ok=True)
            if _has_controller(parent, path):
                yield path
            path.rmdir()


def _parents(root: Path, own: Path) -> Iterator[Path]:
    with suppress(OSError):
        for line in own.read_text(encoding="utf-8").splitlines():
            if line.startswith("0::"):
                yield root / line.removeprefix("0::").strip("/")
    yield root


def _has_controller(parent: Path, path: Path) -> bool:
    for controller in _CONTROLLERS:
        if not (path / f"{controller}.max").exists():
            # One by one: the kernel refuses all of them if it lacks one.
            _written(parent / "cgroup.subtree_control", f"+{controller}")
    return any((path / f"{controller}.max").exists() for controller in _CONTROLLERS)


def _written(file: Path, text: str) -> bool:
    try:
        with file.open("r+", encoding="ascii") as opened:  # never created: a missing file means no limit
            opened.write(text)
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Tier:
    """A tier of Atlas on AWS: its processors, and the cache of a member in GB."""

    processors: int
    cache_gb: int


TIERS = {
    "M30": Tier(2, 2), "M40": Tier(4, 8), "M50": Tier(8, 16), "M60": Tier(16, 32), "M80": Tier(32, 64),
}  # fmt: skip
"""Processors by https://www.mongodb.com/docs/atlas/reference/amazon-aws/. The cache is half of 16, 32, 64, 128 GB of
memory, up to M30 a quarter of 8 GB: https://www.mongodb.com/docs/atlas/sizing-tier-selection/."""


def divide(members: int, each: int, processors: Iterable[int] = ()) -> list[set[int]] | None:
    """Return ``each`` exclusive processors for each member, by default of those of this process.

    One is left for the client. Return None if there are too few, since members that share processors do not have the
    requested number, or if it is unsupported.
    """
    if not hasattr(os, "sched_setaffinity"):
        return None
    there = sorted(processors or os.sched_getaffinity(0))
    if members * each >= len(there):
        return None
    return [set(there[number * each : (number + 1) * each]) for number in range(members)]


def pin(pids: Sequence[int], each: int | None) -> bool:
    """Let each process run on ``each`` exclusive processors, or on all of this one; return whether it has its own."""
    division = divide(len(pids), each) if each else None
    if hasattr(os, "sched_setaffinity"):
        for pid, mine in zip(pids, division or repeat(os.sched_getaffinity(0)), strict=False):
            _place(pid, mine)
    return division is not None


def _place(pid: int, processors: set[int]) -> None:
    # A thread that a server starts later inherits the affinity of the thread that started it.
    with suppress(psutil.NoSuchProcess):  # an ended member; its work reports that
        for thread in psutil.Process(pid).threads():
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.sched_setaffinity(thread.id, processors)


def impose(
    asked: Mapping[str, Any],
    groups: Sequence[ControlGroup],
    pids: Sequence[int],
    directory: Path,
    cache_gb: float,
) -> dict[str, Any]:
    """Limit each member as the variant asks, and lift other limits. Return what holds for all of them.

    ``groups`` has one group for each member, or is empty if there can be none. The names are those of the variant's
    machine, and ``processors``, which follows from a tier.
    """
    holds: dict[str, Any] = {}
    operations, memory = asked.get("atlasIOPS"), memory_bytes(asked, cache_gb)
    disk = [group.limit_disk(directory, operations) for group in groups]
    if operations and disk and all(disk):
        holds["atlasIOPS"] = operations
    held = [group.limit_memory(memory) for group in groups]
    if memory and held and all(held):
        holds["memoryRatio"] = asked["memoryRatio"]
    processors = _processors(asked)
    if pin(pids, processors):
        holds["processors"] = processors
    return holds


def expect(asked: Mapping[str, Any], members: int) -> dict[str, Any]:
    """Return what ``impose`` would return for a variant, as far as it is known before the members exist."""
    expected: dict[str, Any] = {}
    if needs_groups(asked) and are_permitted():
        expected = {name: asked[name] for name in ("atlasIOPS", "memoryRatio") if asked.get(name)}
    processors = _processors(asked)
    if processors and divide(members, processors):
        expected["processors"] = processors
    return expected


def _processors(asked: Mapping[str, Any]) -> int | None:
    tier = TIERS.get(asked.get("atlasInstanceType", ""))
    return tier.processors if tier else None


def memory_bytes(asked: Mapping[str, Any], cache_gb: float) -> int | None:
    """Return the memory limit in bytes for a member and its page cache, or None if the variant sets none."""
    ratio = asked.get("memoryRatio")
    return round(ratio * cache_gb * 2**30) if ratio else None


def needs_groups(asked: Mapping[str, Any]) -> bool:
    """Return whether the variant asks for something that only a control group can provide."""
    return "atlasIOPS" in asked or "memoryRatio" in asked
