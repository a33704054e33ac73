"""Requests at random moments, about so many a second: what a workload does that has a rate of its own.

After each request a connection sleeps for a random time, from none to twice its interval, less what the request
took. That is a closed loop: a connection that waits for a slow answer sends less, and does not catch up, so that the
times of the requests it did not send are in no latency (coordinated omission; ``--rate``, which goes with other
workloads, counts them).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import TypeVar

from mongo_tables.runner.workloads import Done, Step

Prepared = TypeVar("Prepared")


@dataclass(frozen=True, slots=True)
class Pacing:
    """How often one connection sends, and for how long.

    ``interval`` gives the mean seconds between two requests, from the part of the window that is over; ``length`` is
    the length of the window in seconds.
    """

    interval: Callable[[float], float]
    length: float
    draw: random.Random

    def pause(self, over: float, took: float) -> float:
        """Seconds from a request that ``took`` so many to the next, when ``over`` of the window are.

        The first request (``took`` 0) waits for what is left, on average, of a pause that began before the window: so
        the rate is that of a connection that has been at it for long, however short the window is.
        """
        part = self.draw.random() if took else 1 - sqrt(self.draw.random())
        return 2 * part * self.interval(over / self.length) - took


def pace_requests(
    prepare: Callable[[], Prepared],
    send: Callable[[Prepared], Done],
    pacing: Pacing,
    sleep: Callable[[float], None],
    clock: Callable[[], int] = time.monotonic_ns,
) -> Step:
    """A step that prepares a request, sleeps, and sends it, or waits for the end of the window if that is before.

    What is counted is the time of the request alone. ``sleep`` is the client's: one that stops the thread would hold
    up all connections that the thread serves.
    """
    begun = took = 0

    def step() -> Done | None:
        nonlocal begun, took
        now = clock()
        begun = begun or now
        pause = pacing.pause((now - begun) / 1e9, took / 1e9)
        request = prepare()
        rest = pacing.length - (clock() - begun) / 1e9
        if (pause := max(0.0, pause - (clock() - now) / 1e9)) >= rest:
            sleep(max(0.0, rest))
            return None
        sleep(pause)
        sent = clock()
        done = send(request)
        took = clock() - sent
        return Done(done.operations, done.documents, done.bytes, done.kind, took // 1000)

    return step
