"""Why a member of a local set ended, as far as its log and its disk tell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from mongo_tables.runner.fulldisk import NO_SPACE, is_full, say_no_space
from mongo_tables.runner.supervisor import OUTPUT

LONGEST = 300
_ENDS = ('"s":"F"', '"msg":"Shutting down"')
"""In the log of a server that ended by itself; servers that go on, or were killed, have harmless errors in theirs."""


def demise(directory: Path, pids: Sequence[int]) -> str:
    """Say why, when one of the processes ``pids`` has ended; empty while all of them run.

    ``directory`` holds a folder with data and ``mongod.log`` of each.
    """
    if not any(_has_ended(pid) for pid in pids):
        return ""
    try:
        return _reason(directory)
    except FileNotFoundError:  # who ended the servers removes their files, at this moment or before
        return "mongod ended, and its files are gone"


def _reason(directory: Path) -> str:
    logs = [
        log.read_text(encoding="utf-8", errors="replace") for log in sorted(directory.glob("*/mongod.log"))
    ]
    entries = [entry for log in logs for entry in _errors(log)]
    if is_full(directory) or any(NO_SPACE in entry for entry in entries):
        return f"mongod ended, because {say_no_space(directory.parent)}"
    if not logs:  # they did not come as far as having one
        return f"mongod ended: {_last_words(directory)}"[:LONGEST]
    reasons = [entry for log in logs if any(end in log for end in _ENDS) for entry in _errors(log)]
    if not reasons:
        return "mongod was killed: it wrote no reason into its log; is there enough memory?"
    return f"mongod ended: {reasons[0]}"[:LONGEST]


def _last_words(directory: Path) -> str:
    """What servers said of options that they do not take: an entry as of a log, or plain text."""
    said = (directory / OUTPUT).read_text(encoding="utf-8", errors="replace")
    plain = (line for line in said.splitlines() if line.strip() and not line.startswith("{"))
    return next(chain(_errors(said), plain), "it said nothing")


def _has_ended(pid: int) -> bool:
    import psutil

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _errors(log: str) -> Iterator[str]:
    """What the log says of errors, in one line each: one that ends the server has others before it."""
    for line in log.splitlines():
        if '"s":"F"' in line or '"s":"E"' in line:
            yield _told(line)


def _told(line: str) -> str:
    try:
        entry = json.loads(line)
    except ValueError:  # the line was cut off with the server
        return line
    return f"{entry.get('msg')} {entry.get('attr') or ''}".strip().replace("\n", " ")
