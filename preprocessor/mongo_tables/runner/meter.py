"""The resources that a client thread uses and waits for: increasing counters, read at both edges of the window.

In a closed loop neither the client's processor time nor Little's law shows a client that cannot run: its lag is in
every latency. Two figures do. One is the time for which its threads were runnable and did not run, which Linux counts
(https://docs.kernel.org/scheduler/sched-stats.html). The other is the time from the moment at which the system
received an answer, by its timestamp (SO_TIMESTAMPNS, https://docs.kernel.org/networking/timestamping.html), to the
moment at which the client read it, for a sample of the answers.

A thread notices an edge at the first answer after it. A thread that waits until then uses nothing.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from mongo_tables.runner.series import add_counts
from mongo_tables.runner.window import NEVER, MeasuredWindow

EVERY = 16
"""One of this many answers is sampled for its lag."""
_STAMP = 35
_TIME = struct.Struct("qq")
_ROOM = socket.CMSG_SPACE(_TIME.size) if hasattr(socket, "CMSG_SPACE") else 0


@dataclass(slots=True)
class Lag:
    """Delays on the client's side: nanoseconds in the run queue, and after sampled answers had arrived."""

    in_run_queue: int = 0
    unread: int = 0
    sampled: int = 0

    def since(self, earlier: Lag) -> Lag:
        """Return the difference from an earlier reading."""
        return Lag(
            self.in_run_queue - earlier.in_run_queue,
            self.unread - earlier.unread,
            self.sampled - earlier.sampled,
        )

    def of_an_answer(self) -> float | None:
        """Return the mean microseconds from an answer's arrival to its reading, or None without samples."""
        return self.unread / self.sampled / 1000 if self.sampled else None


def stamp(held: Any) -> bool:
    """Enable receive timestamps. Return whether they work, which they do not with TLS."""
    if type(held) is not socket.socket or not _ROOM:
        return False
    with suppress(OSError):
        held.setsockopt(socket.SOL_SOCKET, _STAMP, 1)
        return True
    return False


def receive_stamped(held: socket.socket, most: int, lag: Lag) -> bytes:
    """Return up to ``most`` received bytes and count their lag. Raise as ``recv`` does."""
    received, stamps, _, _ = held.recvmsg(most, _ROOM)
    for _, kind, content in stamps:
        if kind == _STAMP and len(content) >= _TIME.size:
            seconds, nanoseconds = _TIME.unpack_from(content)
            lag.unread += max(0, time.time_ns() - seconds * 1_000_000_000 - nanoseconds)
            lag.sampled += 1
    return received


def run_queue_delay() -> int:
    """Return the nanoseconds for which this thread was runnable and did not run, or 0 if they are unknown."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/thread-self/schedstat").read_text("ascii").split()[1])
    return 0


@dataclass(slots=True)
class Usage:
    """Processor time of a process in seconds, and the delays of its threads on the client's side."""

    cpu_seconds: float = 0.0
    lag: Lag = field(default_factory=Lag)


class Connected(Protocol):
    """A client that knows how long answers waited to be read."""

    @property
    def lag(self) -> Lag:
        """The total so far."""


class _MeterReading(NamedTuple):
    """Processor time of the process so far, and the delays of this thread so far."""

    cpu_seconds: float
    lag: Lag


class Meter:
    """Reads the resource use of one thread; a context manager around its work, in that thread."""

    def __init__(self, window: MeasuredWindow, clients: Sequence[Connected] = ()) -> None:
        """``clients`` are those that the thread uses."""
        self._window = window
        self._clients = clients
        self.begun: _MeterReading | None = None
        self.opened: _MeterReading | None = None
        """None before the first answer after the opening."""
        self.closed: _MeterReading | None = None
        self.ended: _MeterReading | None = None

    def __enter__(self) -> Self:
        """Start the work. A window that opens with it opens now."""
        self.begun = self._read()
        if self._window.edges[0] != NEVER:
            self.opened = self.begun
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the work, and the window if it is still open."""
        self.ended = self._read()
        self.closed = self.closed or self.ended
        self.opened = self.opened or self.closed

    def note(self, closes: int, now: int) -> None:
        """Read the counters at the first answer after an edge. The window is open."""
        if self.opened is None:
            self.opened = self._read()
        if self.closed is None and closes < now:
            self.closed = self._read()

    def _read(self) -> _MeterReading:
        lag = Lag(run_queue_delay())
        for client in self._clients:
            add_counts(lag, client.lag)
        return _MeterReading(time.process_time(), lag)


def in_window(meters: Sequence[Meter]) -> Usage:
    """Return what the threads of one process used in the window, after their work."""
    return _between([(meter.opened, meter.closed) for meter in meters], min)


def in_all(meters: Sequence[Meter]) -> Usage:
    """Return what the threads of one process used in all their work, after its end."""
    return _between([(meter.begun, meter.ended) for meter in meters], max)


def _between(
    readings: Sequence[tuple[_MeterReading | None, _MeterReading | None]],
    last_of: Callable[[list[float]], float],
) -> Usage:
    """``last_of`` chooses the thread whose last reading covers the whole process."""
    known = [(first, last) for first, last in readings if first and last]
    if not known:
        return Usage()
    lag = Lag()
    for first, last in known:
        add_counts(lag, last.lag.since(first.lag))
    begun = min(first.cpu_seconds for first, _ in known)  # a thread with a late answer reads late
    return Usage(last_of([last.cpu_seconds for _, last in known]) - begun, lag)
