"""The folders and links by which files are found, for programs that look again and again whether something changed.

Whatever comes or goes in a folder, such as the hidden file of an editor beside a page, moves both times of the folder
alike. The time of its state is moved alone when the folder itself is renamed: that is what is told of it here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from preprocessor.files.states import list_ways, state_of


def look_at_ways(place: Path) -> Iterator[tuple[str, str]]:
    """The ways to a place and to all that is not hidden in it; one that was away is another one when it is back."""
    root = os.path.abspath(place)  # noqa: PTH100 - links are ways
    for way, _ in list_ways(root, is_hidden):
        with suppress(OSError):
            found = os.lstat(way.rstrip("/"))
            yield way, state_of(found) if stat.S_ISLNK(found.st_mode) else _state_of_folder(found)


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is not shown to who lists a folder."""
    return name.startswith(".")


def _state_of_folder(found: os.stat_result) -> str:
    moved = "" if found.st_ctime_ns == found.st_mtime_ns else found.st_ctime_ns
    return f"{found.st_dev} {found.st_ino} {moved}"
