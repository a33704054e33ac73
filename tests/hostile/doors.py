"""Every door of the program, each time in a process of its own that may take only so much time and memory.

What an attack is given is the time of the work alone: see ``tests.forked``.
"""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests import forked

MEMORY: Final = 1_500_000_000
"""Bytes of address space that a process may have, all that it has loaded included."""
LARGEST_FILE: Final = 200_000_000
SECONDS: Final = 120.0
"""Longer than any attack may take, on a machine that has other things to do as well."""
BUILD: Final = "build"
DOORS: Final[Mapping[str, Sequence[str]]] = {
    "check": ("check", "docs", "--numbers"),
    "render": ("render", "docs/index.md"),
    "explain": ("explain", "docs/index.md"),
    "pull": ("pull", "fixtures", "c", "--to", "copied"),
    "diff": ("diff", "sound", "fixtures", "docs"),
    "init": ("init", "--table", "c"),
    BUILD: (BUILD, "--quiet"),
}
"""What each door is asked in a project of ``projects``."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_COMMAND: Final = re.compile(r"^(?:::(?!error file=|warning file=|notice file=)\w|##\[)", re.MULTILINE)
LIMITS: Final = {
    resource.RLIMIT_AS: MEMORY,
    resource.RLIMIT_FSIZE: LARGEST_FILE,
    resource.RLIMIT_CORE: 0,
}


@dataclass(frozen=True, slots=True)
class Done:
    """How a process ended: ``status`` None when it had to be ended, as it took too long."""

    status: int | None
    out: str
    err: str
    seconds: float

    def check(self) -> None:
        """Assert what holds whatever was attacked: an end in time and in words, and nothing that a reader obeys."""
        said = (self.out + self.err).replace("\r\n", "\n")
        assert self.status is not None, f"it hangs: {said[-500:]}"
        assert "Traceback" not in said, said[-3000:]
        assert "MemoryError" not in said, said[-3000:]
        assert self.status in (0, 1, 2), f"{self.status}: {said[-1000:]}"
        assert not (found := _CONTROL.search(said)), repr(said[max(0, found.start() - 80) : found.end() + 20])
        assert not (found := _COMMAND.search(said)), repr(said[found.start() : found.start() + 100])


def enter(arguments: Sequence[str], folder: Path, seconds: float = SECONDS, **variables: str) -> Done:
    """Go through a door in the folder: ``mongo-tables`` with the arguments, or a build by MkDocs."""
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "COLUMNS": "100", **variables}
    program = forked.MKDOCS if arguments[0] == BUILD else forked.MONGO_TABLES
    return Done(*forked.run(program, arguments, folder, environment, seconds, LIMITS))
