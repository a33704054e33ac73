"""Processors of the machine, divided among the members of a local replica set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

ATLAS_PROCESSORS = {"M30": 2, "M40": 4, "M50": 8, "M60": 16, "M80": 32}
"""Processors of a tier of Atlas on AWS (https://www.mongodb.com/docs/atlas/reference/amazon-aws/)."""


def shares(members: int, each: int, processors: Sequence[int]) -> list[set[int]] | None:
    """For each member ``each`` processors that no other has, one of the machine's being left for the client.

    None when there are not so many: members that share processors do not have the number that was asked for.
    """
    if members * each >= len(processors):
        return None
    ordered = sorted(processors)
    return [set(ordered[number * each : (number + 1) * each]) for number in range(members)]


def divide(members: int, each: int) -> list[set[int]] | None:
    """The processors of this machine for each member; None where there are too few, or the system cannot do it."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    return shares(members, each, sorted(os.sched_getaffinity(0)))


def pin(pids: Sequence[int], each: int) -> bool:
    """Let each process and its threads run on ``each`` processors of its own; False when that is not possible."""
    division = divide(len(pids), each)
    if division is None:
        return False
    for pid, mine in zip(pids, division, strict=True):
        _place(pid, mine)
    return True


def unpin(pids: Sequence[int]) -> None:
    """Let the processes run on all processors that the runner may use."""
    if hasattr(os, "sched_setaffinity"):
        for pid in pids:
            _place(pid, os.sched_getaffinity(0))


def _place(pid: int, processors: set[int]) -> None:
    import psutil

    # A thread that a server starts later is born where the one that started it runs.
    with suppress(psutil.NoSuchProcess):  # a member that has ended; the work that misses it says so
        for thread in psutil.Process(pid).threads():
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.sched_setaffinity(thread.id, processors)
