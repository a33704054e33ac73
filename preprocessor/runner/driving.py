"""One connection's work in a window: a step repeated at its pace, and the count of what it did."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from preprocessor.runner.series import EXACT_BELOW, Counts, Series, bucket, merge
from preprocessor.runner.window import Inside, Window
from preprocessor.runner.workloads import Step

ERRORS_IN_A_ROW = 10
"""After so many failures without a success between them, or one that more must follow, the run is given up."""
NO_LONGER_PRIMARY = frozenset({91, 189, 10058, 10107, 11600, 11602, 13435, 13436})
"""Codes of a server that is not the primary any more, or not for long: every request that follows would fail as well.
https://github.com/mongodb/specifications/blob/master/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md
"""


@dataclass(slots=True)
class ConnectionStats:
    """What was done; ``finished`` is on the monotonic clock.

    ``operations``, ``documents`` and ``bytes`` are all that was done, ``inside`` is what of it lies in the window;
    processor time is that of the process, in the window and in all its work. ``unfinished`` counts requests that were
    under way when the window closed, ``late`` their latencies.
    """

    series: Series
    operations: int = 0
    documents: int = 0
    bytes: int = 0
    inside: Inside = field(default_factory=Inside)
    unfinished: int = 0
    finished: float = 0.0
    cpu_seconds: float = 0.0
    whole_cpu_seconds: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    late: Counts = field(default_factory=dict)
    gave_up: str = ""


@dataclass(frozen=True, slots=True)
class Pace:
    """When a connection starts its operations, in seconds on the monotonic clock.

    ``interval`` 0 is a closed loop: the next operation when the one before is answered. Else the operation n
    is meant to start at ``first + n * interval``, and its latency counts from there even when the connection
    was still busy: what a user who does not wait for others would see.
    """

    first: float
    interval: float


def drive(
    step: Step,
    tally: ConnectionStats,
    pace: Pace,
    window: Window,
    slot: int,
    sleep: Callable[[float], None] | None = None,
) -> None:
    """Repeat the step at its pace until it is finished or its time is over; ``sleep`` lets other connections go on.

    ``window.counters[slot]`` is kept at the number of operations so far, for whoever shows progress.
    """
    clock, edges, counters, inside = time.monotonic_ns, window.edges, window.counters, tally.inside
    operations = documents = size = requests = busy = failures = 0
    recorded = began = over = 0
    counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for sent, meant in _starts(pace, edges, sleep or time.sleep):
        try:
            done = step()
        except Exception as error:  # whatever a driver raises is counted under its name
            failures += 1
            tally.errors[_name(error)] += 1
            if failures == ERRORS_IN_A_ROW or _is_cut_off(error):
                tally.gave_up = one_line(error)
                break
            continue
        now = clock()
        if done is None:
            window.find_nothing_left(now)
            break
        failures = 0
        if done.microseconds is not None:
            sent = meant = now - done.microseconds * 1000
        if now >= over:  # an interval of the series is over, or the first has not begun
            if counts:
                tally.series.add(began - edges[2], operations - recorded, counts)
                counts = defaultdict(dict)
            recorded = operations
            began, over = _interval(now, edges[2], tally.series.width)
        operations += done.operations
        documents += done.documents
        size += done.bytes
        counters[slot] = operations
        requests += 1
        busy += now - sent
        took = (now - meant) // 1000
        if edges[0] > sent or now > edges[1]:
            inside.take_off(done, now - sent, 1 - window.part(slot, sent, now))
            if _is_recorded_apart(tally, edges, (sent, now), (done.kind, took)):
                recorded += done.operations
                continue
        if took >= EXACT_BELOW:
            took = bucket(took)
        of_kind = counts[done.kind]
        of_kind[took] = of_kind.get(took, 0) + 1
    if counts:
        tally.series.add(began - edges[2], operations - recorded, counts)
    tally.operations, tally.documents, tally.bytes = operations, documents, size
    inside.add(Inside(operations, documents, size, requests, busy))
    tally.finished = time.monotonic()


def _is_recorded_apart(
    tally: ConnectionStats, edges: memoryview[int], times: tuple[int, int], latency: tuple[str, int]
) -> bool:
    """Whether a request is in no interval of the series; one that was under way at the end is counted as such."""
    (sent, answered), (kind, took) = times, latency
    if sent < edges[1] < answered and sent >= edges[2]:
        tally.unfinished += 1
        merge(tally.late, {kind: {bucket(took): 1}})
    return sent < edges[2] or answered > edges[1]


def _interval(now: int, first: int, width: int) -> tuple[int, int]:
    """When the interval began that ``now`` lies in, and when it is over; 0 while nothing is counted yet."""
    if now < first:
        return 0, 0
    began = now - (now - first) % width
    return began, began + width


def _starts(pace: Pace, edges: memoryview[int], sleep: Callable[[float], None]) -> Iterator[tuple[int, int]]:
    """When each operation starts and from when it counts, in nanoseconds; waits until it is that time."""
    clock = time.monotonic_ns
    meant, interval = round(pace.first * 1e9), round(pace.interval * 1e9)
    # Where operations are rare, the first of a connection may come too late.
    sleep(max(0, min(meant, edges[3]) - clock()) / 1e9)
    if not interval:
        while (now := clock()) < edges[3]:
            yield now, now
        return
    while meant < edges[3] and (now := clock()) < edges[3]:
        if meant > now:
            sleep((meant - now) / 1e9)
            now = clock()
        yield now, meant
        meant += interval
    # The window is as long as it was to be, not only until its last operation.
    sleep(max(0, edges[3] - clock()) / 1e9)


def add_up(tallies: list[ConnectionStats]) -> ConnectionStats:
    """What all connections of a process did together, which share their series."""
    total = ConnectionStats(tallies[0].series)
    for tally in tallies:
        total.operations += tally.operations
        total.documents += tally.documents
        total.bytes += tally.bytes
        total.inside.add(tally.inside)
        total.unfinished += tally.unfinished
        total.finished = max(total.finished, tally.finished)
        total.errors.update(tally.errors)
        total.gave_up = total.gave_up or tally.gave_up
        merge(total.late, tally.late)
    return total


def _is_cut_off(error: Exception) -> bool:
    from pymongo.errors import ConnectionFailure

    return isinstance(error, OSError | ConnectionFailure) or _code(error) in NO_LONGER_PRIMARY


def _name(error: Exception) -> str:
    code = _code(error)
    return f"{type(error).__name__} {code}" if code else type(error).__name__


def _code(error: Exception) -> Any:
    return getattr(error, "code", None)


def one_line(error: Exception) -> str:
    """The kind of error and the first line of what it says, at most 500 characters."""
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:500]
