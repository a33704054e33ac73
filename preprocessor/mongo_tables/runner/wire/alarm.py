"""A file that can be read from a moment on, to the microsecond: epoll itself knows milliseconds only.

It is Linux's ``timerfd`` (https://man7.org/linux/man-pages/man2/timerfd_create.2.html), which Python has from 3.13 on.
"""

from __future__ import annotations

import ctypes
import os
import time
from typing import Self

RINGS = hasattr(ctypes.CDLL(None), "timerfd_create")
"""Whether this system has such a file."""
_NON_BLOCKING, _AT_A_MOMENT = 0o4000, 1


class _Times(ctypes.Structure):
    """``struct itimerspec``: how often to ring, and when first."""

    _fields_ = (
        ("_again_seconds", ctypes.c_long),
        ("_again_nanoseconds", ctypes.c_long),
        ("seconds", ctypes.c_long),
        ("nanoseconds", ctypes.c_long),
    )


class Alarm:
    """Rings once at the moment it was last set to; a context manager that closes its file."""

    def __init__(self) -> None:
        """Raises OSError when the process may open no more files."""
        self._system = ctypes.CDLL(None, use_errno=True)
        self.file = self._system.timerfd_create(time.CLOCK_MONOTONIC, _NON_BLOCKING)
        """What is waited for."""
        if self.file < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._times = _Times()
        self._at = 0

    def ring_at(self, moment: int) -> None:
        """Ring at that moment, in nanoseconds on the monotonic clock, or at once when it is over."""
        if moment != self._at:
            self._at = moment
            self._times.seconds, self._times.nanoseconds = divmod(moment, 1_000_000_000)
            self._system.timerfd_settime(self.file, _AT_A_MOMENT, ctypes.byref(self._times), None)

    def __enter__(self) -> Self:
        """Give the alarm itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        os.close(self.file)
