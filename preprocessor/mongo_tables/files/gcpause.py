"""The garbage collector during a command.

A command keeps what it reads and makes to its end, and leaves little behind that only the collector finds. Yet that
goes through the pages, documents and rows of a site again and again as they come in.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SELDOM: Final = 100_000
"""Objects between two collections; Python's own number is 700. With more, what lies about takes memory for no time."""


@contextmanager
def seldom_collected(objects: int = _SELDOM) -> Iterator[None]:
    """With a collection after so many objects; none at the end.

    What is there then goes with the process: Python would look through all of it several times.
    """
    often = gc.get_threshold()
    gc.set_threshold(objects, *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)
        atexit.register(gc.freeze)


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Without the collector, for where much comes in at once."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
