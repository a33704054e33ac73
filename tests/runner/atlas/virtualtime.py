"""A clock that goes on when somebody waits, and that processes which are forked from this one share."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime, timedelta


class VirtualTime:
    """The clock of this machine, and on top what was waited for on it."""

    def __init__(self) -> None:
        self._waited = multiprocessing.Value("d", 0.0)

    @property
    def waited(self) -> float:
        """In seconds, in all."""
        return float(self._waited.value)

    def now(self) -> datetime:
        """The moment, in UTC."""
        return datetime.now(UTC) + timedelta(seconds=self._waited.value)

    def sleep(self, seconds: float) -> None:
        """Let so much time pass at once."""
        assert seconds > 0
        with self._waited.get_lock():
            self._waited.value += seconds
