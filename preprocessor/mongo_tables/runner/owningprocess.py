"""The process that a run is, told from all others: on the same machine it can be seen whether it still runs."""

from __future__ import annotations

import hashlib
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SAME_START_SECONDS: Final = 30.0
"""When a process began is reckoned from the clock, which may be set meanwhile."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_NUMBERS: Final = Path("/proc/self/ns/pid")


@dataclass(frozen=True, slots=True)
class OwningProcess:
    """A process: ``host`` is the same for all processes that can see each other, ``started`` is a Unix time."""

    host: str
    pid: int
    started: float

    @property
    def is_this(self) -> bool:
        """Whether it is the one that asks."""
        return self.is_here and self.pid == os.getpid()

    @property
    def is_here(self) -> bool:
        """Whether it could be seen from here."""
        return self.host == _host()

    @property
    def runs(self) -> bool:
        """Whether a process that could be seen from here is still there."""
        import psutil

        try:
            found = psutil.Process(self.pid)
            same = bool(abs(found.create_time() - self.started) < SAME_START_SECONDS)
            return same and found.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:
            return True


def this_process() -> OwningProcess:
    """The one that asks."""
    import psutil

    return OwningProcess(_host(), os.getpid(), psutil.Process().create_time())


def _host() -> str:
    """This machine since it was started, and of a container its own numbers of processes: no name can be read in it."""
    words = [socket.gethostname()]
    with suppress(OSError):  # systems other than Linux
        words += [_BOOT.read_text().strip(), str(_NUMBERS.stat().st_ino)]
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:16]
