"""Why a member of a local set ended, as far as its log and its disk tell."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

FULL_BYTES = 128 << 20
"""With less room than that a server cannot make the next file of its journal, which has 100 MB from the beginning
(https://www.mongodb.com/docs/manual/core/journaling/), and its log may have had no room to say so."""
LONGEST = 300
_NO_SPACE = "No space left on device"


def demise(directory: Path, pids: Sequence[int]) -> str:
    """Say why, when one of the processes ``pids`` has ended; empty while all of them run.

    ``directory`` holds a folder with data and ``mongod.log`` of each.
    """
    if not any(_has_ended(pid) for pid in pids):
        return ""
    if not directory.exists():
        return "mongod ended, and its files are gone"
    entries = list(_grave(directory))
    if shutil.disk_usage(directory).free < FULL_BYTES or any(_NO_SPACE in entry for entry in entries):
        return f"mongod ended, because there is no space left on the disk of {directory.parent}"
    return f"mongod ended: {entries[0]}"[:LONGEST] if entries else "mongod ended"


def _has_ended(pid: int) -> bool:
    import psutil

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _grave(directory: Path) -> Iterator[str]:
    """What the logs say of errors that end a server, in one line each."""
    for log in sorted(directory.glob("*/mongod.log")):
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            if '"s":"F"' in line or '"s":"E"' in line:
                yield _told(line)


def _told(line: str) -> str:
    try:
        entry = json.loads(line)
    except ValueError:  # the line was cut off with the server
        return line
    return f"{entry.get('msg')} {entry.get('attr') or ''}".strip().replace("\n", " ")
