"""What is left of a local set whose holders were killed: servers, their folder, their control groups.

A run and its supervisor watch each other, and whoever is left ends the servers and removes the folder. Where both were
killed, the next run does. It knows such a folder by the lock in it: both hold it, and the system takes it from them
however they end.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mongo_tables.runner import controlgroups

if TYPE_CHECKING:
    import psutil

END_SECONDS: Final = 30.0
PREFIX: Final = "mongo-tables-run-"
LOCK: Final = "lock"
MEMBER: Final = "member-"
"""How the folders of members begin; behind it stands the port."""


def make_directory() -> tuple[Path, int | None]:
    """A new folder for a set, and its lock, to be held by a supervisor too; None where the system has no such locks."""
    directory = Path(tempfile.mkdtemp(prefix=PREFIX))
    file = directory / f".{LOCK}"
    held = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    if not _take(held):
        os.close(held)
        return directory, None
    file.rename(directory / LOCK)  # only now: a lock that nobody holds means that nobody is left
    return directory, held


def remove(directory: Path) -> None:
    """End the servers that have their data in the folder, remove it and their control groups."""
    groups = [f"{directory.name}-{member.name.removeprefix(MEMBER)}" for member in _members(directory)]
    for process in _servers(directory):
        _end(process)
    shutil.rmtree(directory, ignore_errors=True)
    for group in groups:
        controlgroups.remove(group)


def sweep() -> None:
    """Remove what killed runs of this user have left."""
    for directory in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        if _is_left(directory):
            remove(directory)


def _members(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"{MEMBER}*"))


def _servers(directory: Path) -> Iterator[psutil.Process]:
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            # By its data alone: any program may have been named as the mongod.
            if any(
                option == "--dbpath" and data.startswith(f"{directory}{os.sep}")
                for option, data in pairwise(process.cmdline())
            ):
                yield process


def _end(process: psutil.Process) -> None:
    """Kill a process that need not be a child of ours: nobody may ever ask how one ended that has lost its parent."""
    import psutil

    deadline = time.monotonic() + END_SECONDS
    with suppress(psutil.Error):
        process.kill()
        while process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
            time.sleep(0.02)


def _is_left(directory: Path) -> bool:
    """Whether the folder is of this user, and nobody holds its lock any more."""
    if directory.is_symlink() or not hasattr(os, "getuid"):
        return False
    try:
        if directory.stat().st_uid != os.getuid():
            return False
        held = os.open(directory / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # another version's, which has no lock, or one that is just being removed
        return False
    try:
        return _take(held)
    finally:
        os.close(held)


def _take(held: int) -> bool:
    try:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
