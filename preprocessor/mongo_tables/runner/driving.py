"""The work of a connection in a window: a step that is repeated at its pace, and its statistics.

A rate counts operations: the pause after a request of a hundred documents is a hundred times as long as after a request
of one document. Operations that were due before the end of the window but not sent are counted with their age at the
end. Otherwise the operations that a connection misses while it waits for a slow answer would have no latency
(coordinated omission).

The connections of a thread share one count, which is added to the series once for each interval. If each of a hundred
connections had its own count, adding them would take longer than counting requests.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pymongo.errors import ConnectionFailure

from mongo_tables.runner.connection_strings import RequestOptions
from mongo_tables.runner.series import (
    EXACT_BELOW,
    GREATEST,
    Counts,
    IntervalSeries,
    add_counts,
    bucket,
    merge,
)
from mongo_tables.runner.window import NEVER, Inside, MeasuredWindow, Meter, Usage
from mongo_tables.runner.workloads import Done, Step

if TYPE_CHECKING:
    from mongo_tables.runner.wire.client import WireClient


class Recording:
    """The count of one thread's requests. The caller calls ``turn`` when an interval may be over."""

    def __init__(
        self,
        series: IntervalSeries,
        window: MeasuredWindow,
        slots: Sequence[int],
        clients: Sequence[WireClient] = (),
    ) -> None:
        """``slots`` are the numbers of the thread's connections, ``clients`` their clients."""
        self.meter = Meter(window, clients)
        self.counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        """For each kind, the number of requests by latency bucket. Each interval clears and reuses the dictionaries."""
        self.apart = 0
        """Operations that belong to no interval."""
        self._series = series
        self._window = window
        self._slots = slots
        self._began = self._over = self._added = 0

    def turn(self, now: int) -> int:
        """Add a finished interval to the series. Return the moment before which every answer is inside the window.

        Return 0 if this moment is unknown, because the window is not open or another process may close it.
        """
        opens, closes, first, *_ = self._window.edges
        if opens <= now and (closes < now or self.meter.opened is None):
            self.meter.note(closes, now)
        if now >= self._over:
            self.add()
            width = self._series.width
            # Both are 0 before requests are recorded.
            self._began = now - (now - first) % width if now >= first else 0
            self._over = self._began + width if now >= first else 0
        return min(self._over, closes) if opens <= now and not self._window.others_close else 0

    def add(self) -> None:
        """Add the count to the series."""
        counters = self._window.counters
        done = sum([counters[slot] for slot in self._slots]) - self.apart
        counts = {kind: latencies for kind, latencies in self.counts.items() if latencies}
        if counts:
            first = self._window.edges[2]
            self._series.add(self._began - first, done - self._added, counts)
            for latencies in counts.values():
                latencies.clear()
        self._added = done


Arrivals = Literal["even", "poisson"]


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of a connection's operations. ``first`` is the first start in seconds on the monotonic clock.

    Without ``intervals``, each operation starts when the previous operation is answered (a closed loop). Otherwise, the
    window of ``length`` seconds has steps of equal length, and ``intervals`` has the mean seconds between two
    operations in each step. ``draw`` makes the times between requests random, like the requests of many independent
    users (a Poisson process).
    """

    first: float
    intervals: tuple[float, ...] = ()
    length: float = 0.0
    draw: random.Random | None = None
    each: int = 1
    """The expected number of operations of a request, which is used until the first answer shows the actual number."""

    def after(self, meant: int, operations: int) -> int:
        """Return the due time of the request that follows a request due at ``meant``. Times are in nanoseconds."""
        over = (meant / 1e9 - self.first) / self.length if self.length else 0.0
        step = min(int(over * len(self.intervals)), len(self.intervals) - 1)
        mean = self.intervals[step] * operations
        return meant + round(1e9 * (self.draw.expovariate(1 / mean) if self.draw else mean))


class Schedule:
    """The schedule of one connection with a rate: when its requests are due, and how many were sent."""

    def __init__(self, pace: Pace, counters: memoryview[int], slot: int) -> None:
        """``counters[slot]`` is the number of operations that the connection has done."""
        self._pace = pace
        self._counters = counters
        self._slot = slot
        self._each = pace.each
        self.meant = round(pace.first * 1e9)
        """The due time of the request that is in progress or, if there is none, of the next request."""
        self.sent = 0
        """Operations sent in the window."""
        self.sent_apart = 0
        """Operations sent before or after the window."""
        self.first_late: list[int] = []
        """The delay of the first request in nanoseconds, once it is sent."""

    def starts(self, edges: memoryview[int], sleep: Callable[[float], None]) -> Iterator[int]:
        """Wait until each request is due, and yield its start in nanoseconds."""
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
        # The window does not end with its last operation, but after its planned length.
        sleep(max(0, edges[3] - clock()) / 1e9)

    def unsent(self, closes: int) -> Iterator[tuple[int, int]]:
        """Yield the operations of each unsent request that was due before ``closes``, and its age at ``closes`` in
        nanoseconds."""
        while self.meant < closes:
            yield self._each, closes - self.meant
            self.meant = self._pace.after(self.meant, self._each)


ERRORS_IN_A_ROW = 10
"""A connection gives up after this many consecutive failures, or after a failure that all requests would repeat."""
NO_LONGER_PRIMARY = frozenset({91, 189, 10058, 10107, 11600, 11602, 13435, 13436})
"""Error codes of a server that is no longer the primary, or that is shutting down: all its requests would fail.
https://github.com/mongodb/specifications/blob/master/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md
"""

_NOTHING = Done(0, 0, 0)
UNSENT = "unsent"
"""The name of the kind of operations that were not sent."""


@dataclass(slots=True)
class Failures:
    """The failures of a connection.

    ``times`` counts failed requests by the name of the error and by the time that they took. ``lost`` counts how often
    the connection broke and was reopened. ``without_service`` is the longest time in nanoseconds from a break to the
    next answer.
    """

    times: Counts = field(default_factory=dict)
    lost: int = 0
    without_service: int = field(default=0, metadata=GREATEST)

    def counts(self) -> dict[str, int]:
        """Return the number of failed requests by the name of the error."""
        return {name: sum(self.times[name].values()) for name in sorted(self.times)}


@dataclass(slots=True)
class Sendings:
    """For work with a rate: the number of operations sent, and the times from sending a request to its answer."""

    operations: int = 0
    service: Counts = field(default_factory=dict)


@dataclass(slots=True)
class ConnectionStats:
    """The statistics of a connection, or of all connections of a process.

    ``operations``, ``documents`` and ``bytes`` count all work; ``inside`` counts the part in the window. ``series`` has
    the requests that were sent and answered in the window, ``apart`` all others. ``unfinished`` counts the requests in
    flight when the window closed, ``late`` their latencies. ``usage`` is the use of resources in the window,
    ``whole_usage`` in all work. ``failures`` has the failures of requests sent in the window, and the time without
    service in it; ``failures_apart`` has all other failures, and the whole time without service.

    With a rate, ``sendings`` are the sendings in the window, ``sendings_apart`` all others; ``unsent`` counts the
    operations that were due but not sent, and ``oldest_unsent`` is the age of the oldest unsent operation in
    nanoseconds. ``first_late`` has the delay of each connection's first request in nanoseconds. ``in_one_thread`` and
    ``options`` say how requests were sent. ``finished`` is the end of the work in seconds on the monotonic clock.
    ``gave_up`` is the reason why the work ended early, or "".
    """

    series: IntervalSeries
    apart: IntervalSeries
    operations: int = 0
    documents: int = 0
    bytes: int = 0
    inside: Inside = field(default_factory=Inside)
    unfinished: int = 0
    finished: float = field(default=0.0, metadata=GREATEST)
    usage: Usage = field(default_factory=Usage)
    whole_usage: Usage = field(default_factory=Usage)
    failures: Failures = field(default_factory=Failures)
    failures_apart: Failures = field(default_factory=Failures)
    late: Counts = field(default_factory=dict)
    sendings: Sendings = field(default_factory=Sendings)
    sendings_apart: Sendings = field(default_factory=Sendings)
    unsent: int = 0
    oldest_unsent: int = field(default=0, metadata=GREATEST)
    first_late: list[int] = field(default_factory=list)
    in_one_thread: bool = False
    options: RequestOptions | None = None
    gave_up: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The functions that a connection needs in addition to its step.

    ``sleep`` lets other connections run for a number of seconds. ``reconnect`` reopens the connection and returns
    whether that succeeded; if it is None, a broken connection ends the work. ``tell`` is called at once with the reason
    if the work ends early.
    """

    sleep: Callable[[float], None] = time.sleep
    reconnect: Callable[[], bool] | None = None
    tell: Callable[[str], object] = len


def drive(
    step: Step,
    tally: ConnectionStats,
    pace: Pace,
    window: MeasuredWindow,
    slot: int,
    around: Surroundings,
    recording: Recording,
) -> None:
    """Repeat the step at its pace until the work is finished or its time is over. Count the results in ``tally``.

    ``slot`` is the number of the connection. ``window.counters[slot]`` shows the operations so far. All connections of
    this thread share ``recording``.
    """
    clock, edges, counters = time.monotonic_ns, window.edges, window.counters
    counts = recording.counts
    operations = documents = size = requests = alike = each = busy = over = failures = lost = 0
    nothing_left = False
    last, of_kind, own_time = _NOTHING, counts[""], _NOTHING.microseconds
    starts, schedule = _paced(tally, pace, window, slot, around)
    for sent in starts:
        if sent >= over and sent >= edges[3]:
            break
        try:
            done = step()
        except Exception as error:  # a driver may raise anything; count it under its name
            failures += 1
            lost = lost or sent
            now = clock()
            recording.turn(now)  # an edge may have passed
            noted = tally.failures if _is_sent_in(edges, sent) else tally.failures_apart
            tally.gave_up = count_failure(error, failures, noted, now - sent, around)
            if tally.gave_up:
                break
            continue
        now = clock()
        if done is not last:  # most steps return the same object again, which needs no new lookup
            if done is None:
                window.find_nothing_left(now)
                nothing_left = True
                break
            documents += alike * last.documents
            size += alike * last.bytes
            requests += alike
            last, alike, each, own_time = done, 0, done.operations, done.microseconds
            of_kind = counts[done.kind]
        if failures:
            _note_service(tally, lost, now, edges)
            lost = failures = 0
        meant = sent
        if schedule is not None:
            meant = schedule.meant
            noted_service = tally.sendings if _is_sent_in(edges, sent) else tally.sendings_apart
            merge(noted_service.service, {done.kind: {bucket((now - sent) // 1000): 1}})
        if own_time is not None:
            sent = meant = now - own_time * 1000
        lies_inside = True
        if now >= over:
            over = recording.turn(now)
            lies_inside = edges[0] <= sent and now <= edges[1]
        alike += 1
        operations += each
        counters[slot] = operations
        busy += now - sent
        took = (now - meant) // 1000
        if not lies_inside and _lies_apart(tally, window, slot, done, (sent, now, took)):
            recording.apart += each
            continue
        if took >= EXACT_BELOW:
            took = bucket(took)
        of_kind[took] = of_kind.get(took, 0) + 1
    recording.add()
    _note_service(tally, lost, clock(), edges)
    _note_unsent(tally, schedule, NEVER if nothing_left else edges[1])
    documents, size, requests = (
        documents + alike * last.documents,
        size + alike * last.bytes,
        requests + alike,
    )
    tally.operations, tally.documents, tally.bytes = operations, documents, size
    add_counts(tally.inside, Inside(operations, documents, size, requests, busy))
    tally.finished = time.monotonic()


def _paced(
    tally: ConnectionStats, pace: Pace, window: MeasuredWindow, slot: int, around: Surroundings
) -> tuple[Iterator[int], Schedule | None]:
    """Return an iterator that waits until each request is due and yields the time, and the schedule of a rate."""
    if pace.intervals:
        schedule = Schedule(pace, window.counters, slot)
        return schedule.starts(window.edges, around.sleep), schedule
    clock = time.monotonic_ns
    around.sleep(max(0.0, pace.first - time.monotonic()))
    tally.first_late.append(clock() - round(pace.first * 1e9))
    return iter(clock, None), None  # faster than a Python loop


def _is_sent_in(edges: memoryview[int], sent: int) -> bool:
    return edges[0] <= sent < edges[1]


def count_failure(error: Exception, failures: int, noted: Failures, took: int, around: Surroundings) -> str:
    """Count a failed request in ``noted``. Reopen a broken connection if that is possible.

    ``took`` is the time of the request in nanoseconds, ``failures`` the number of consecutive failures. Return the
    reason why the work must end, which is also reported, or "" if the work continues.
    """
    name, code = type(error).__name__, getattr(error, "code", None)
    merge(noted.times, {f"{name} {code}" if code else name: {bucket(took // 1000): 1}})
    cut_off = isinstance(error, OSError | ConnectionFailure) or code in NO_LONGER_PRIMARY
    if cut_off and around.reconnect is not None and around.reconnect():
        noted.lost += 1
        return ""
    if failures < ERRORS_IN_A_ROW and not cut_off:
        return ""
    why = one_line(error)
    around.tell(why)
    return why


def _note_service(tally: ConnectionStats, lost: int, now: int, edges: memoryview[int]) -> None:
    """Note the time without service from ``lost`` to ``now``. ``lost`` is 0 if no request failed."""
    inside, apart = tally.failures, tally.failures_apart
    if lost and (inside.lost or apart.lost):
        inside.without_service = max(inside.without_service, min(now, edges[1]) - max(lost, edges[0]))
        apart.without_service = max(apart.without_service, now - lost)


def _note_unsent(tally: ConnectionStats, schedule: Schedule | None, closes: int) -> None:
    """Count the operations that were due but not sent, with their age at ``closes``: their latency is at least as long.

    ``closes`` is NEVER if all work is done, because every operation was sent.
    """
    if schedule is None:
        return
    tally.sendings.operations, tally.sendings_apart.operations = schedule.sent, schedule.sent_apart
    tally.first_late += schedule.first_late
    if closes == NEVER:
        return
    for operations, age in schedule.unsent(closes):
        tally.unsent += operations
        tally.oldest_unsent = max(tally.oldest_unsent, age)
        merge(tally.late, {UNSENT: {bucket(age // 1000): 1}})


def _lies_apart(
    tally: ConnectionStats, window: MeasuredWindow, slot: int, done: Done, times: tuple[int, int, int]
) -> bool:
    """Subtract the part of a counted request that lies outside the window. Return whether ``series`` lacks the request.

    ``times`` are the moments when the request was sent and answered, and its latency. A request that was not sent and
    answered inside the window is counted in ``apart``, and as unfinished if it was in flight at the end.
    """
    (sent, answered, took), (opens, closes, counted, *_) = times, window.edges
    tally.inside.take_off(done, answered - sent, 1 - window.part(slot, sent, answered))
    if opens <= sent and answered <= closes:
        return False
    if sent >= counted:
        count = {done.kind: {bucket(took): 1}}
        tally.apart.add(answered - counted, done.operations, count)
        if opens <= sent < closes:
            tally.unfinished += 1
            merge(tally.late, count)
    return True


def add_up(tallies: Sequence[ConnectionStats]) -> ConnectionStats:
    """Add up the statistics of all connections of a process. The connections share ``series`` and ``apart``."""
    total = ConnectionStats(tallies[0].series, tallies[0].apart)
    for tally in tallies:
        add_counts(total, tally)
    return total


def one_line(error: Exception) -> str:
    """Return the kind of error and the first line of its message, at most 500 characters."""
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:500]
