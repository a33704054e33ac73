"""The operations in each interval of a window, and its latencies.

A long window needs no more memory than a short one.

Latencies are counted in the buckets of an HDR histogram with three significant digits (http://hdrhistogram.org): a
bucket for each microsecond up to 2,047, then 1,024 buckets for each doubling. The name of a bucket is its lower bound.

There are at most ``MOST`` intervals; when there would be more, neighbouring intervals are merged.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from hdrh.histogram import HdrHistogram

EXACT_BELOW = 2048
"""Each latency in microseconds below this value has its own bucket."""
MOST = 600
"""The maximum number of intervals of a series: enough for half a minute in 1/20 s, or for ten minutes in seconds."""
SHORT_SECONDS = 20
FINE_SECONDS = (1, 4)
"""Windows between these lengths in seconds have intervals of 1/20 s. With 1/10 s, they would have too few intervals to
judge steadiness."""
Counts = dict[str, dict[int, int]]
"""For each kind of operation, the number of requests by latency bucket."""
_BITS = 11
_ADDING = threading.Lock()


def bucket(microseconds: int) -> int:
    """Return the lower bound of the bucket in which this latency is counted.

    Example:
        >>> bucket(2047), bucket(5001)
        (2047, 5000)
    """
    if microseconds < EXACT_BELOW:
        return microseconds
    shift = microseconds.bit_length() - _BITS
    return microseconds >> shift << shift


def interval_for(seconds: float | None) -> int:
    """Return the length in nanoseconds of the intervals of a window of ``seconds`` seconds; None means unknown."""
    if seconds is None:
        return 100_000_000
    if FINE_SECONDS[0] < seconds < FINE_SECONDS[1]:
        return 50_000_000
    return 100_000_000 if seconds < SHORT_SECONDS else 1_000_000_000


def widest(seconds: float, since: int) -> int:
    """Return the longest possible interval of a window of ``seconds`` seconds that has been open for ``since``.

    ``since`` and the result are in nanoseconds.
    """
    return max(interval_for(seconds), 2 * since // MOST)


def merge(total: Counts, counts: Mapping[str, Mapping[int, int]]) -> None:
    """Add ``counts`` to ``total``."""
    for kind, latencies in counts.items():
        merged = total.setdefault(kind, {})
        for took, count in latencies.items():
            merged[took] = merged.get(took, 0) + count


GREATEST: Final = {"greatest": True}
"""The metadata of a field, such as a moment, of which ``add_counts`` keeps the maximum."""


def add_counts(total: Any, other: Any) -> None:
    """Add ``other`` to ``total``, an object of the same dataclass, field by field.

    Numbers, lists and counts by latency are added. An empty text is replaced by the text of ``other``. Fields of other
    types do not change.
    """
    for one in fields(total):
        mine, theirs = getattr(total, one.name), getattr(other, one.name)
        if isinstance(mine, dict):
            merge(mine, theirs)
        elif is_dataclass(mine):
            add_counts(mine, theirs)
        elif one.metadata:
            setattr(total, one.name, max(mine, theirs))
        elif isinstance(mine, str):
            setattr(total, one.name, mine or theirs)
        elif isinstance(mine, int | float | list):
            setattr(total, one.name, mine + theirs)


class IntervalSeries:
    """The operations in each interval, and the latencies of all requests. Several threads may add to a series."""

    def __init__(self, width: int) -> None:
        """``width`` is in nanoseconds."""
        self.width = width
        self.operations: Counter[int] = Counter()
        """The operations answered in each interval, by the interval's number."""
        self.latencies: Counts = {}

    def add(self, since: int, operations: int, counts: Mapping[str, Mapping[int, int]]) -> None:
        """Add answers to the interval that contains ``since``, in nanoseconds after the start of the series."""
        with _ADDING:
            while since // self.width >= MOST:
                self._put_neighbours_together()
            self.operations[since // self.width] += operations
            merge(self.latencies, counts)

    def merge(self, other: IntervalSeries) -> None:
        """Add the series of another process."""
        while self.width < other.width:
            self._put_neighbours_together()
        for number, operations in other.operations.items():
            self.add(number * other.width, operations, {})
        merge(self.latencies, other.latencies)

    def _put_neighbours_together(self) -> None:
        before, self.operations = self.operations, Counter()
        self.width *= 2
        for number, operations in before.items():
            self.operations[number // 2] += operations


def mean(latencies: Mapping[int, int]) -> float | None:
    """Return the mean of latencies, or None if there are none."""
    count = sum(latencies.values())
    return sum(value * count for value, count in latencies.items()) / count if count else None


LONGEST_MICROSECONDS = 3_600_000_000
DIGITS = 3
SLOW_MICROSECONDS = 50_000
_PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}


def summarise(latencies: Mapping[int, int]) -> dict[str, Any]:
    """Return percentiles, mean and extremes of latencies in microseconds. ``latencies`` has the count of each latency.

    ``histogram`` is an HDR histogram (V2, compressed, base64; http://hdrhistogram.org) with three significant digits,
    which other tools can merge and draw. If there are no latencies, percentiles, mean and extremes are None.
    """
    histogram = HdrHistogram(1, LONGEST_MICROSECONDS, DIGITS)
    for value, count in latencies.items():
        histogram.record_value(min(max(value, 1), LONGEST_MICROSECONDS), count)
    empty = not latencies
    figures: dict[str, Any] = {"unit": "microseconds", "count": sum(latencies.values())}
    figures["mean"] = mean(latencies)
    figures["min"] = None if empty else min(latencies)
    fast = sum(count for value, count in latencies.items() if value <= SLOW_MICROSECONDS)
    for name, percentile in _PERCENTILES.items():
        # The histogram returns the upper end of a step, which may exceed the longest latency.
        value = int(histogram.get_value_at_percentile(percentile))
        figures[name] = None if empty else min(value, max(latencies))
    figures["within_50_ms"] = None if empty else fast / figures["count"]
    figures["max"] = None if empty else max(latencies)
    figures["histogram"] = str(histogram.encode().decode("ascii"))
    return figures


def summarise_series(series: IntervalSeries) -> dict[str, Any]:
    """Return the number of operations answered in each interval, from the first to the last interval with answers."""
    numbers = [number for number, operations in series.operations.items() if operations]
    first, last = min(numbers, default=0), max(numbers, default=-1)
    return {
        "interval_seconds": series.width / 1e9,
        "from_seconds": first * series.width / 1e9,
        "operations": [series.operations[number] for number in range(first, last + 1)],
    }
