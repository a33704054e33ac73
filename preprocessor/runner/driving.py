"""One connection's work in a window: a step repeated at its pace, and the count of what it did."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from preprocessor.runner.workloads import Step

ERRORS_IN_A_ROW = 10
"""After so many failures without a success between them, or one that more must follow, the run is given up."""
NO_LONGER_PRIMARY = frozenset({91, 189, 10058, 10107, 11600, 11602, 13435, 13436})
"""Codes of a server that is not the primary any more, or not for long: every request that follows would fail as well.
https://github.com/mongodb/specifications/blob/master/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md
"""
_NEVER = 1 << 62


@dataclass(slots=True)
class ConnectionStats:
    """What was done; ``finished`` is on the monotonic clock.

    ``latencies`` counts, for each kind of operation, whole microseconds.
    """

    operations: int = 0
    documents: int = 0
    bytes: int = 0
    finished: float = 0.0
    cpu_seconds: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    latencies: defaultdict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
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
    end: float | None


def drive(step: Step, tally: ConnectionStats, pace: Pace, counters: Any, slot: int) -> None:
    """Repeat the step at its pace until it is finished or the time is over.

    ``counters[slot]`` is kept at the number of operations so far, for whoever shows progress.
    """
    clock, latencies = time.monotonic_ns, tally.latencies
    operations = documents = size = failures = 0
    for begun in _starts(pace):
        try:
            done = step()
        except Exception as error:  # whatever a driver raises is counted under its name
            failures += 1
            tally.errors[_name(error)] += 1
            if failures == ERRORS_IN_A_ROW or _is_cut_off(error):
                tally.gave_up = one_line(error)
                break
            continue
        if done is None:
            break
        failures = 0
        took = (clock() - begun) // 1000 if done.microseconds is None else done.microseconds
        counts = latencies[done.kind]
        counts[took] = counts.get(took, 0) + 1
        operations += done.operations
        documents += done.documents
        size += done.bytes
        counters[slot] = operations
    tally.operations, tally.documents, tally.bytes = operations, documents, size
    tally.finished = time.monotonic()


def _starts(pace: Pace) -> Iterator[int]:
    """From when each operation counts, in nanoseconds on the monotonic clock; waits until it is that time."""
    clock = time.monotonic_ns
    end = round(pace.end * 1e9) if pace.end else _NEVER
    meant, interval = round(pace.first * 1e9), round(pace.interval * 1e9)
    _sleep_until(min(meant, end))  # where operations are rare, the first of a connection may come too late
    if not interval:
        while (now := clock()) < end:
            yield now
        return
    while meant < end and clock() < end:
        _sleep_until(meant)
        yield meant
        meant += interval
    _sleep_until(end)  # the window is as long as it was to be, not only until its last operation


def _sleep_until(nanoseconds: int) -> None:
    left = nanoseconds - time.monotonic_ns()
    if left > 0:
        time.sleep(left / 1e9)


def add_up(tallies: list[ConnectionStats]) -> ConnectionStats:
    """What all connections of a process did together."""
    total = ConnectionStats()
    for tally in tallies:
        total.operations += tally.operations
        total.documents += tally.documents
        total.bytes += tally.bytes
        total.finished = max(total.finished, tally.finished)
        total.errors.update(tally.errors)
        total.gave_up = total.gave_up or tally.gave_up
        for kind, latencies in tally.latencies.items():
            merged = total.latencies[kind]
            for took, count in latencies.items():
                merged[took] = merged.get(took, 0) + count
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
