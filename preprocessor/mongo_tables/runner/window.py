"""The measured window, as every process of a pool sees it, and which part of the work lies inside.

Speed is the work inside divided by the length of the window. A request counts with the part of its time that lies
inside: if only answers counted, a window would lose the large requests that it cuts off.

The measuring process opens a window just after reading the server's counters, so these belong to the window too. Work
given by amount is handed out from one counter, and the measured part is its steady part: from shortly after the first
answer of the last connection to the moment at which the first one finds no work left.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from typing import Any

from mongo_tables.runner.workloads import Done

NEVER = 1 << 62
MOST_CONNECTIONS = 4096
_OPENS, _CLOSES, _COUNTED_FROM, _STOPS, _LONGEST = range(5)


@dataclass(frozen=True, slots=True)
class Board:
    """Memory that all processes share: moments are nanoseconds on the monotonic clock.

    ``edges`` are when the window opens, when it closes, from when requests are recorded, when the last one may be
    sent, and the length of the window.
    """

    edges: Any
    first_answers: Any
    """The first answer of each connection; 0 for none yet."""
    counters: Any
    """Operations of each connection, for progress displays."""
    handed_out: Any
    """How much of the work has been handed out, with a lock."""

    @classmethod
    def of(cls, context: BaseContext) -> Board:
        """Return a board for the processes that ``context`` starts."""
        raw = context.RawArray
        return cls(raw("q", 5), raw("q", MOST_CONNECTIONS), raw("Q", MOST_CONNECTIONS), context.Value("q"))

    def clear(self, longest: float | None, first: int = 0) -> None:
        """Reset: nothing is done, and the window, at most ``longest`` seconds, is not open.

        ``first`` is the first number of the work that is handed out.
        """
        self.edges[:] = [NEVER] * len(self.edges)
        if longest is not None:
            self.edges[_LONGEST] = round(longest * 1e9)
        self.first_answers[:] = [0] * MOST_CONNECTIONS
        self.counters[:] = [0] * MOST_CONNECTIONS
        self.handed_out.value = first

    def open(self, when: int, *, lengthens: bool = False) -> None:
        """Open the window at ``when``, and close it after its length. One that ``lengthens`` has no end yet."""
        self.edges[_COUNTED_FROM] = when
        self.open_steady_part(when, lengthens=lengthens)

    def open_steady_part(self, when: int, *, lengthens: bool = False) -> None:
        """Open a window whose requests are recorded already. It closes earlier if the work runs out."""
        longest = self.edges[_LONGEST]
        if longest != NEVER and not lengthens:
            self.end(when + longest)
        self.edges[_OPENS] = when

    def end(self, when: int) -> None:
        """Close the window at that moment, or earlier if the work runs out."""
        self.edges[_STOPS] = when
        self.edges[_CLOSES] = min(self.edges[_CLOSES], when)

    def close(self, when: int) -> None:
        """Close the window at that moment, or earlier if the work runs out. Requests continue until all is done."""
        self.edges[_CLOSES] = min(self.edges[_CLOSES], when)

    def take_over(self, edges: Sequence[int]) -> None:
        """Copy the edges of another board. The window may have closed earlier there, or here."""
        closes = min(self.edges[_CLOSES], edges[_CLOSES])
        self.edges[:] = edges
        self.edges[_CLOSES] = closes

    def edges_by(self, offset: int) -> tuple[int, ...]:
        """Return the edges on another clock, which is ``offset`` nanoseconds ahead of this one."""
        moments = (_OPENS, _CLOSES, _COUNTED_FROM, _STOPS)
        return tuple(
            edge + offset if number in moments and edge != NEVER else edge
            for number, edge in enumerate(self.edges)
        )

    def count_from(self, when: int) -> None:
        """Record requests from that moment on, before the window opens: all of them may become the window."""
        self.edges[_COUNTED_FROM] = when

    @property
    def opens(self) -> int:
        """When the window opens, or NEVER if unknown."""
        return int(self.edges[_OPENS])

    @property
    def closes(self) -> int:
        """When the window closes, or NEVER if unknown."""
        return int(self.edges[_CLOSES])

    @property
    def stops(self) -> int:
        """When the last request may be sent, or NEVER if unknown."""
        return int(self.edges[_STOPS])

    @property
    def counted_from(self) -> int:
        """When recording, and the series, begins."""
        return int(self.edges[_COUNTED_FROM])


class Handout:
    """The work given by amount, from one counter for all processes."""

    def __init__(self, board: Board, total: int) -> None:
        self._counter = board.handed_out
        self._total = total

    def take(self, most: int = 1) -> range:
        """Return the next numbers of the work, from 0 on: at most ``most``, fewer at its end, none when it is done."""
        with self._counter.get_lock():
            first = self._counter.value
            end = self._counter.value = min(first + most, self._total)
        return range(first, end)


class MeasuredWindow:
    """What the connections of one process look at after each request."""

    def __init__(self, board: Board, connections: int, by_amount: bool) -> None:
        """``connections`` is the number over all processes."""
        self.edges = memoryview(board.edges).cast("B").cast("q")
        self.counters = memoryview(board.counters).cast("B").cast("Q")
        self._first_answers = memoryview(board.first_answers).cast("B").cast("q")[:connections]
        self.others_close = by_amount
        """Whether it closes when any connection of any process finds no work left."""

    def part(self, slot: int, sent: int, answered: int) -> float:
        """Return the part of a request's time that lies inside, for one that may lie partly outside."""
        if self.edges[_OPENS] == NEVER and self.others_close:
            self._first_answers[slot] = self._first_answers[slot] or answered
        opens, closes = self.edges[_OPENS], self.edges[_CLOSES]
        inside = min(answered, closes) - max(sent, opens)
        return max(0.0, min(1.0, inside / max(1, answered - sent)))

    @property
    def has_end(self) -> bool:
        """Return whether the time of the last request is known."""
        return bool(self.edges[_STOPS] != NEVER)

    def is_over(self) -> bool:
        """Return whether no further request may be sent."""
        return time.monotonic_ns() >= self.edges[_STOPS]

    def find_nothing_left(self, now: int) -> None:
        """Close the steady part, since a connection finds no work left."""
        if self.others_close:
            self.edges[_CLOSES] = min(self.edges[_CLOSES], now)


@dataclass(slots=True)
class Inside:
    """Work inside a window, not in whole numbers, as parts of requests count. ``busy`` is nanoseconds in requests."""

    operations: float = 0.0
    documents: float = 0.0
    bytes: float = 0.0
    requests: float = 0.0
    busy: float = 0.0

    def take_off(self, done: Done, took: int, part: float) -> None:
        """Subtract this part of a request that took ``took`` nanoseconds and was counted completely."""
        self.operations -= part * done.operations
        self.documents -= part * done.documents
        self.bytes -= part * done.bytes
        self.requests -= part
        self.busy -= part * took
