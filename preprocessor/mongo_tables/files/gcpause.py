"""The garbage collector during a command.

A command keeps what it reads and creates until it ends, and leaves few cycles for the collector. By default the
collector would still scan the pages, documents and rows of a site again and again while they are loaded.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SELDOM: Final = 100_000
"""Objects between two collections; Python's default is 700. Higher values use more memory without saving time."""


@contextmanager
def seldom_collected(objects: int = _SELDOM) -> Iterator[None]:
    """Run the collector only after so many objects; do not collect at the end.

    The process end frees the remaining objects: Python would scan them several times.
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
    """Disable the collector while many objects are created at once."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
