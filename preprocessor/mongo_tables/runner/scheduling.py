"""How the system lets the client's processes have a processor: like any other, or giving way to what runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal

Scheduling = Literal["batch", "normal"]


def give_way() -> None:
    """Let an answer that comes not interrupt what runs: on a machine shared with the server, that is the server.

    Else the server loses its processor at every answer it gives, and we are woken for each alone; so we find several.
    """
    with suppress(AttributeError, OSError):  # other systems have no such thing, or do not permit it
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def scheduling_of(pids: Iterable[int]) -> Scheduling:
    """The class that the system has processes in: ``batch`` where all of them give way. They must be there."""
    if not hasattr(os, "SCHED_BATCH"):
        return "normal"
    return "batch" if all(os.sched_getscheduler(pid) == os.SCHED_BATCH for pid in pids) else "normal"
