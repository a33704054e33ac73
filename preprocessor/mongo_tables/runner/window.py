"""The measured window, which all processes of a pool share, and the part of the work inside it.

Speed is the work inside the window divided by the window's length. A request counts with the part of its time that lies
inside. If only complete requests counted, the window would lack the long requests at its edges.

The measuring process reads the server's counters and opens the window just afterwards, so the counters cover the same
time. Work that ends after an amount, not after a time, is handed out from one counter. The window of such work is its
steady part: from shortly after the first answer of the last connection to the moment when the first connection finds no
work left.

A client that gets too little processor time makes every latency longer. In a closed loop, neither the client's
processor time nor Little's law shows the delay. Two other figures show it. One is the time for which the client's
threads were runnable but did not run, which Linux counts (https://docs.kernel.org/scheduler/sched-stats.html). The
other is the time from the arrival of an answer, by its timestamp (SO_TIMESTAMPNS,
https://docs.kernel.org/networking/timestamping.html), to the moment when the client reads the answer, for a sample of
the answers. Each thread reads its counters at the first answer after an edge of the window; until that answer, it waits
and uses no resources.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, Protocol, Self

from mongo_tables.runner.series import add_counts

NEVER = 1 << 62
MOST_CONNECTIONS = 4096
_OPENS, _CLOSES, _COUNTED_FROM, _STOPS, _LONGEST = range(5)


@dataclass(frozen=True, slots=True)
class Board:
    """Memory that all processes share. Moments are nanoseconds on the monotonic clock.

    ``edges`` has five numbers: when the window opens, when it closes, when the recording of requests begins, when
    sending ends, and the length of the window.
    """

    edges: Any
    first_answers: Any
    """The moment of the first answer of each connection; 0 means no answer yet."""
    counters: Any
    """Operations of each connection, for progress displays."""
    handed_out: Any
    """The amount of work that has been handed out, with a lock."""

    @classmethod
    def of(cls, context: BaseContext) -> Board:
        """Return a board for the processes that ``context`` starts."""
        raw = context.RawArray
        return cls(raw("q", 5), raw("q", MOST_CONNECTIONS), raw("Q", MOST_CONNECTIONS), context.Value("q"))

    def clear(self, longest: float | None, first: int = 0) -> None:
        """Reset the board: no work is done, and the window, of at most ``longest`` seconds, is not open.

        ``first`` is the first number of the work to hand out.
        """
        self.edges[:] = [NEVER] * len(self.edges)
        if longest is not None:
            self.edges[_LONGEST] = round(longest * 1e9)
        self.first_answers[:] = [0] * MOST_CONNECTIONS
        self.counters[:] = [0] * MOST_CONNECTIONS
        self.handed_out.value = first

    def open(self, when: int, *, lengthens: bool = False) -> None:
        """Open the window at ``when``, and close it after its length. A window that ``lengthens`` has no end yet.

        Requests are recorded from ``when`` on, if they are not recorded already.
        """
        self.count_from(min(when, self.counted_from))
        longest = self.edges[_LONGEST]
        if longest != NEVER and not lengthens:
            self.end(when + longest)
        self.edges[_OPENS] = when

    def end(self, when: int) -> None:
        """End the sending of requests at ``when``, and close the window then, unless it closes earlier."""
        self.edges[_STOPS] = when
        self.close(when)

    def close(self, when: int) -> None:
        """Close the window at ``when``, unless it closes earlier. Requests continue until all work is done."""
        self.edges[_CLOSES] = min(self.edges[_CLOSES], when)

    def take_over(self, edges: Sequence[int]) -> None:
        """Copy the edges of another board, but keep this board's closing time if it is earlier."""
        closes = min(self.edges[_CLOSES], edges[_CLOSES])
        self.edges[:] = edges
        self.edges[_CLOSES] = closes

    def edges_by(self, offset: int) -> tuple[int, ...]:
        """Return the edges in the time of another clock, which is ``offset`` nanoseconds ahead."""
        moments = (_OPENS, _CLOSES, _COUNTED_FROM, _STOPS)
        return tuple(
            edge + offset if number in moments and edge != NEVER else edge
            for number, edge in enumerate(self.edges)
        )

    def count_from(self, when: int) -> None:
        """Record requests from ``when`` on, even before the window opens.

        If the work ends after few requests, all of it becomes the window.
        """
        self.edges[_COUNTED_FROM] = when

    @property
    def opens(self) -> int:
        """The moment when the window opens, or NEVER if unknown."""
        return int(self.edges[_OPENS])

    @property
    def closes(self) -> int:
        """The moment when the window closes, or NEVER if unknown."""
        return int(self.edges[_CLOSES])

    @property
    def stops(self) -> int:
        """The moment when sending ends, or NEVER if unknown."""
        return int(self.edges[_STOPS])

    @property
    def counted_from(self) -> int:
        """The moment when recording begins, which is also the start of the series."""
        return int(self.edges[_COUNTED_FROM])


def hand_out(counter: Any, total: int, most: int) -> range:
    """Reserve the next ``most`` units of ``total`` units of work, or all that are left. Return their numbers.

    ``counter`` is the board's ``handed_out``, which all processes share.
    """
    with counter.get_lock():
        first = counter.value
        end = counter.value = min(first + most, total)
    return range(first, end)


class MeasuredWindow:
    """The window as the connections of one process see it on the shared board."""

    def __init__(self, board: Board, connections: int, by_amount: bool) -> None:
        """``connections`` is the number of connections of all processes."""
        self.edges = memoryview(board.edges).cast("B").cast("q")
        self.counters = memoryview(board.counters).cast("B").cast("Q")
        self._first_answers = memoryview(board.first_answers).cast("B").cast("q")[:connections]
        self.others_close = by_amount
        """Whether the window closes when any connection of any process finds no work left."""

    def part(self, slot: int, sent: int, answered: int) -> float:
        """Return the share of a request's time that lies inside the window. Note the first answer of a connection."""
        if self.edges[_OPENS] == NEVER and self.others_close:
            self._first_answers[slot] = self._first_answers[slot] or answered
        opens, closes = self.edges[_OPENS], self.edges[_CLOSES]
        inside = min(answered, closes) - max(sent, opens)
        return max(0.0, min(1.0, inside / max(1, answered - sent)))

    @property
    def stops(self) -> int:
        """The moment when sending ends, or NEVER if unknown."""
        return self.edges[_STOPS]

    def find_nothing_left(self, now: int) -> None:
        """If the work ends after an amount, close the window, because a connection finds no work left."""
        if self.others_close:
            self.edges[_CLOSES] = min(self.edges[_CLOSES], now)


@dataclass(slots=True)
class Inside:
    """The work inside a window. Parts of requests count as fractions. ``busy`` is the nanoseconds spent in requests."""

    operations: float = 0.0
    documents: float = 0.0
    bytes: float = 0.0
    requests: float = 0.0
    busy: float = 0.0

    def take_off(self, done: Any, took: int, part: float) -> None:
        """Subtract the share ``part`` of a request that was counted as a whole and took ``took`` nanoseconds."""
        self.operations -= part * done.operations
        self.documents -= part * done.documents
        self.bytes -= part * done.bytes
        self.requests -= part
        self.busy -= part * took


EVERY = 16
"""The lag of one answer in this many is measured."""
_STAMP = 35
_TIME = struct.Struct("qq")
_ROOM = socket.CMSG_SPACE(_TIME.size) if hasattr(socket, "CMSG_SPACE") else 0


@dataclass(slots=True)
class Lag:
    """Delays in the client in nanoseconds: of threads in the run queue, and of ``sampled`` answers that wait unread."""

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
        """Return the mean microseconds from an answer's arrival to its reading, or None if no answer was sampled."""
        return self.unread / self.sampled / 1000 if self.sampled else None


def stamp(held: Any) -> bool:
    """Enable receive timestamps for a socket. Return whether they work; with TLS they do not."""
    if type(held) is not socket.socket or not _ROOM:
        return False
    with suppress(OSError):
        held.setsockopt(socket.SOL_SOCKET, _STAMP, 1)
        return True
    return False


def receive_stamped(held: socket.socket, most: int, lag: Lag) -> bytes:
    """Return up to ``most`` received bytes and count their lag. Raises the errors of ``recv``."""
    received, stamps, _, _ = held.recvmsg(most, _ROOM)
    for _, kind, content in stamps:
        if kind == _STAMP and len(content) >= _TIME.size:
            seconds, nanoseconds = _TIME.unpack_from(content)
            lag.unread += max(0, time.time_ns() - seconds * 1_000_000_000 - nanoseconds)
            lag.sampled += 1
    return received


def run_queue_delay() -> int:
    """Return the nanoseconds for which this thread was runnable but did not run, or 0 if they are unknown."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/thread-self/schedstat").read_text("ascii").split()[1])
    return 0


@dataclass(slots=True)
class Usage:
    """The processor time of a process in seconds, and the delays of its threads."""

    cpu_seconds: float = 0.0
    lag: Lag = field(default_factory=Lag)


class Connected(Protocol):
    """A client that measures how long its answers waited to be read."""

    @property
    def lag(self) -> Lag:
        """The client's total lag so far."""


@dataclass(slots=True)
class Meter:
    """The resource use of one thread, which runs its work in this context manager. ``clients`` are its clients."""

    window: MeasuredWindow
    clients: Sequence[Connected] = ()
    begun: Usage | None = None
    opened: Usage | None = None
    """The reading at the first answer after the opening, or None before that answer."""
    closed: Usage | None = None
    ended: Usage | None = None

    def __enter__(self) -> Self:
        """Read the counters at the start of the work. If the opening of the window is set, it has the same counters."""
        self.begun = self._read()
        if self.window.edges[0] != NEVER:
            self.opened = self.begun
        return self

    def __exit__(self, *error: object) -> None:
        """Read the counters at the end of the work. They also stand for an edge of the window that was not noticed."""
        self.ended = self._read()
        self.closed = self.closed or self.ended
        self.opened = self.opened or self.closed

    def note(self, closes: int, now: int) -> None:
        """Read the counters at the first answer after an edge. The window is open."""
        if self.opened is None:
            self.opened = self._read()
        if self.closed is None and closes < now:
            self.closed = self._read()

    def _read(self) -> Usage:
        """Return the processor time of the process so far, and the delays of this thread so far."""
        lag = Lag(run_queue_delay())
        for client in self.clients:
            add_counts(lag, client.lag)
        return Usage(time.process_time(), lag)


def in_window(meters: Sequence[Meter]) -> Usage:
    """Return the resources that a process used in the window. ``meters`` has the meters of all its threads."""
    return _between([(meter.opened, meter.closed) for meter in meters], min)


def in_all(meters: Sequence[Meter]) -> Usage:
    """Return the resources that a process used in all its work. ``meters`` has the meters of all its threads."""
    return _between([(meter.begun, meter.ended) for meter in meters], max)


def _between(
    readings: Sequence[tuple[Usage | None, Usage | None]], last_of: Callable[[list[float]], float]
) -> Usage:
    """Return the resources that a process used between the first and the last readings of its threads.

    Each thread reads the processor time of the whole process; ``last_of`` chooses one of the last readings.
    """
    known = [(first, last) for first, last in readings if first and last]
    if not known:
        return Usage()
    lag = Lag()
    for first, last in known:
        add_counts(lag, last.lag.since(first.lag))
    begun = min(first.cpu_seconds for first, _ in known)  # the first thread that read it
    return Usage(last_of([last.cpu_seconds for _, last in known]) - begun, lag)
