"""When operations of a connection are meant to start where a rate says so.

A rate is in operations: after a request of a hundred documents the next is due as much later. Operations that were to
start before the end of the window and were not sent are counted with their age at its end: they are what a connection
that waits for a slow answer would otherwise leave out (coordinated omission).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

Arrivals = Literal["even", "poisson"]


@dataclass(frozen=True, slots=True)
class Pace:
    """When a connection starts its operations; ``first`` is in seconds on the monotonic clock.

    Without ``intervals`` it is a closed loop: the next operation when the one before is answered. Else they are the
    mean seconds between two operations, in equal steps of the window of ``length`` seconds. ``draw`` makes the time
    between two requests random, as with many users who do not know of each other (a Poisson process).
    """

    first: float
    intervals: tuple[float, ...] = ()
    length: float = 0.0
    draw: random.Random | None = None
    each: int = 1
    """Operations of a request, as far as that is known before."""

    def after(self, meant: int, operations: int) -> int:
        """When the request is meant that follows one of so many operations that was meant at ``meant`` nanoseconds."""
        over = (meant / 1e9 - self.first) / self.length if self.length else 0.0
        step = min(int(over * len(self.intervals)), len(self.intervals) - 1)
        mean = self.intervals[step] * operations
        return meant + round(1e9 * (self.draw.expovariate(1 / mean) if self.draw else mean))


class Schedule:
    """The requests of one paced connection, and those that it could not send in time."""

    def __init__(self, pace: Pace, counters: memoryview[int], slot: int) -> None:
        """``counters[slot]`` is the number of operations that the connection has done."""
        self._pace = pace
        self._counters = counters
        self._slot = slot
        self._each = pace.each
        self.meant = round(pace.first * 1e9)
        """When the request was meant to start that was sent last, or is sent next."""
        self.nothing_left = False
        """Whether all work is done: no further request was meant."""
        self.sent = 0
        """Operations that were sent in the window."""
        self.sent_apart = 0
        """Operations that were sent before it or behind it."""
        self.first_late: list[int] = []
        """By how many nanoseconds the first request was sent later than it was meant, once it is."""

    def starts(self, edges: memoryview[int], sleep: Callable[[float], None]) -> Iterator[int]:
        """When each request starts, in nanoseconds; waits until it is meant to."""
        clock = time.monotonic_ns
        while self.meant < edges[3] and (now := clock()) < edges[3]:
            if self.meant > now:
                sleep((self.meant - now) / 1e9)
                now = clock()
            if not self.first_late:
                self.first_late.append(now - self.meant)
            before = self._counters[self._slot]
            yield now
            self._each = self._counters[self._slot] - before or self._each
            if edges[0] <= now < edges[1]:
                self.sent += self._each
            else:
                self.sent_apart += self._each
            self.meant = self._pace.after(self.meant, self._each)
        # The window is as long as it was to be, not only until its last operation.
        sleep(max(0, edges[3] - clock()) / 1e9)

    def unsent(self, closes: int) -> Iterator[tuple[int, int]]:
        """Operations of each request that was meant before ``closes`` and not sent, and its age then in nanoseconds."""
        while self.meant < closes and not self.nothing_left:
            yield self._each, closes - self.meant
            self.meant = self._pace.after(self.meant, self._each)
