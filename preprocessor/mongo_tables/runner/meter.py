"""What a thread of the client uses and waits for: what only grows is read at both edges of the window.

Who works notices an edge at the first answer behind it. Until then a thread that waits has used nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from mongo_tables.runner.lag import Lag, run_queue_delay
from mongo_tables.runner.window import NEVER, Window


@dataclass(frozen=True, slots=True)
class Usage:
    """Processor time of a process in seconds, and what its threads waited for on this side."""

    cpu_seconds: float = 0.0
    lag: Lag = field(default_factory=Lag)


class Connected(Protocol):
    """A client that knows how long answers waited for being read."""

    @property
    def lag(self) -> Lag:
        """So far."""


class _Reading(NamedTuple):
    """Processor time of the process so far, and what this thread waited for so far."""

    cpu_seconds: float
    lag: Lag


class Meter:
    """Reads what one thread uses, as a context manager around its work, in that thread."""

    def __init__(self, window: Window, clients: Sequence[Connected] = ()) -> None:
        """``clients`` are those that the thread works with."""
        self._window = window
        self._clients = clients
        self.begun: _Reading | None = None
        self.opened: _Reading | None = None
        """None while no answer came behind the opening."""
        self.closed: _Reading | None = None
        self.ended: _Reading | None = None

    def __enter__(self) -> Self:
        """The work begins; where the window opens with it, it opens now."""
        self.begun = self._read()
        if self._window.edges[0] != NEVER:
            self.opened = self.begun
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The work has ended, and the window with it if it has not closed."""
        self.ended = self._read()
        self.closed = self.closed or self.ended
        self.opened = self.opened or self.closed

    def note(self, closes: int, now: int) -> None:
        """Read when the first answer behind an edge has come; the window is open."""
        if self.opened is None:
            self.opened = self._read()
        if self.closed is None and closes < now:
            self.closed = self._read()

    def _read(self) -> _Reading:
        lag = Lag(run_queue_delay())
        for client in self._clients:
            lag.add(client.lag)
        return _Reading(time.process_time(), lag)


def in_window(meters: Sequence[Meter]) -> Usage:
    """What the threads of one process used in the window, when their work has ended."""
    return _between([(meter.opened, meter.closed) for meter in meters], min)


def in_all(meters: Sequence[Meter]) -> Usage:
    """What the threads of one process used in all their work, when it has ended."""
    return _between([(meter.begun, meter.ended) for meter in meters], max)


def _between(
    readings: Sequence[tuple[_Reading | None, _Reading | None]], last_of: Callable[[list[float]], float]
) -> Usage:
    """``last_of`` chooses the thread whose last reading is of the whole process."""
    known = [(first, last) for first, last in readings if first and last]
    if not known:
        return Usage()
    lag = Lag()
    for first, last in known:
        lag.add(last.lag.since(first.lag))
    begun = min(first.cpu_seconds for first, _ in known)  # who was answered late read late
    return Usage(last_of([last.cpu_seconds for _, last in known]) - begun, lag)
