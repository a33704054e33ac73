"""What tests in several workers need, made by the first of them that comes."""

from __future__ import annotations

import fcntl
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

_Made = TypeVar("_Made")


def made_once(place: Path, make: Callable[[], _Made]) -> _Made:
    """What ``make`` gave, kept in a file beside ``place``: of several workers one makes it, the others wait for it."""
    kept = place.with_suffix(".pickle")
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(make()))
    made: _Made = pickle.loads(kept.read_bytes())
    return made
