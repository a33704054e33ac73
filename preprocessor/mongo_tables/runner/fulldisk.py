"""A disk without room: how that shows, and how it is said wherever it does."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

FULL_BYTES: Final = 128 << 20
"""With less room than that a server cannot make the next file of its journal, which has 100 MB from the beginning
(https://www.mongodb.com/docs/manual/core/journaling/), and its log may have had no room to say so."""
NO_SPACE: Final = "No space left on device"
"""As the system and servers say it."""


def is_full(directory: Path) -> bool:
    """Whether servers have no room on the disk of a directory."""
    return shutil.disk_usage(directory).free < FULL_BYTES


def say_no_space(directory: Path) -> str:
    """What is said of the disk of a directory that has no room."""
    return f"there is no space left on the disk of {directory}"
