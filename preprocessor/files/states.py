"""Tells files that were not changed by what the system says of them, without reading them.

That is size, node, and the times at which a file's bytes and its state changed. The latter is nobody's to set, and
moves with every write; a file that changed a moment ago is not settled, because it may change again within one tick of
that clock (https://git-scm.com/docs/racy-git). Windows keeps no such time.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

SETTLED: Final = 2 * 10**9
"""Nanoseconds without a change after which a file's state says that it is the same."""


def list_states(folder: str, ends: tuple[str, ...] = ("",), within: str = "") -> Iterator[tuple[str, str]]:
    """The files in a folder and those below it whose names have one of ``ends`` behind something, with their states.

    Folders behind links are not looked into, nor those that cannot be read. Names begin with ``within``.
    """
    below = []
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(ends) and entry.name not in ends:
            with suppress(OSError):
                found = entry.stat()
                if stat.S_ISREG(found.st_mode):
                    yield f"{within}{entry.name}", state_of(found)
                    continue
        if entry.is_dir(follow_symlinks=False):
            below.append(entry)
    for entry in below:
        yield from list_states(entry.path, ends, f"{within}{entry.name}/")


def list_ways(place: str) -> Iterator[tuple[str, str]]:
    """The folders and links by which files at a place are found, that itself among them, with their states.

    A folder that was renamed and is back has files in the states that they had.
    """
    try:
        found = os.lstat(place)
    except OSError:
        return
    if stat.S_ISDIR(found.st_mode) or stat.S_ISLNK(found.st_mode):
        yield place, state_of(found)
    with suppress(OSError):
        for entry in list(os.scandir(place)):
            if entry.is_symlink():
                yield entry.path, state_of(entry.stat(follow_symlinks=False))
            elif entry.is_dir():
                yield from list_ways(entry.path)


def state_of(found: os.stat_result) -> str:
    """The state of a file, of what the system says of it."""
    return f"{found.st_size} {found.st_ino} {found.st_mtime_ns} {found.st_ctime_ns}"


def is_settled(state: str, now: int) -> bool:
    """Whether a file with this state changed long enough before ``now``, nanoseconds since 1970."""
    return now - int(state.rpartition(" ")[2]) > SETTLED
