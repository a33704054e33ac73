"""Limits of memory and disk for a server, by a control group of Linux (version 2), where that is permitted.

https://docs.kernel.org/admin-guide/cgroup-v2.html. Control groups of version 1 are not used: their limit of a disk
does not hold for what is written through the page cache.

Whether a group can be made, and with which controllers, depends on who runs and where; so it is tried, and what did
not come about is told by the answers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mongo_tables.runner.disk import whole_disk

ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS = ("io", "memory")


class ControlGroup:
    """A group with one server in it. Each limit says whether it holds now; None takes it away."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def limit_memory(self, size: int | None) -> bool:
        """Bytes for the process and for the page cache that it fills, together."""
        return _written(self.path / "memory.max", "max" if size is None else str(size))

    def limit_disk(self, directory: Path, operations: int | None) -> bool:
        """Reads, and as many writes, in a second on the disk that holds ``directory``.

        Holds only where memory is controlled as well: else the kernel does not know whose are the writes that come
        from the page cache.
        """
        device = device_of(directory)
        if device is None or not (self.path / "memory.max").exists():
            return False
        most = "max" if operations is None else operations
        return _written(self.path / "io.max", f"{device} riops={most} wiops={most}")


def open_group(
    name: str, pid: int, root: Path = ROOT, own: Path = Path("/proc/self/cgroup")
) -> ControlGroup | None:
    """Make the group ``name`` and put the process into it; None where that is not permitted.

    The group is made below the one that the runner is in, or below the root when the runner's cannot have others.
    ``supervisor`` removes it when the process has ended.
    """
    for path in _make_groups(name, root, own):
        if _written(path / "cgroup.procs", str(pid)):
            return ControlGroup(path)
    return None


def are_permitted(root: Path = ROOT, own: Path = Path("/proc/self/cgroup")) -> bool:
    """Whether a group with limits can be made here: one is made, and removed."""
    return bool([*_make_groups(f"mongo-tables-{os.getpid()}", root, own)])


def remove(name: str, root: Path = ROOT, own: Path = Path("/proc/self/cgroup")) -> None:
    """Remove the group ``name``, wherever ``open_group`` made it, once its server has ended."""
    for parent in _parents(root, own):
        with suppress(OSError):
            (parent / name).rmdir()


def device_of(directory: Path) -> str | None:
    """``MAJOR:MINOR`` of the whole disk that holds the directory; None when it is on none."""
    disk = whole_disk(directory)
    try:
        return (disk / "dev").read_text(encoding="ascii").strip() if disk else None
    except OSError:
        return None


def _make_groups(name: str, root: Path, own: Path) -> Iterator[Path]:
    """The group ``name`` in each place that permits it; it is removed when the next place is asked for."""
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
            # One by one: the kernel refuses all of them when it does not have one.
            _written(parent / "cgroup.subtree_control", f"+{controller}")
    return any((path / f"{controller}.max").exists() for controller in _CONTROLLERS)


def _written(file: Path, text: str) -> bool:
    try:
        with file.open("r+", encoding="ascii") as opened:  # never made: a file that is not there is no limit
            opened.write(text)
    except OSError:
        return False
    return True
