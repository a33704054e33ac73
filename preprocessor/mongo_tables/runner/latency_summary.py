"""The figures of latencies and of interval series in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hdrh.histogram import HdrHistogram

from mongo_tables.runner.series import IntervalSeries, mean

LONGEST_MICROSECONDS = 3_600_000_000
DIGITS = 3
SLOW_MICROSECONDS = 50_000
_PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}


def summarise(latencies: Mapping[int, int]) -> dict[str, Any]:
    """Return percentiles, mean and extremes of latencies in microseconds. ``latencies`` has the count of each latency.

    ``histogram`` is the HDR histogram itself (V2, compressed, base64; http://hdrhistogram.org), with three significant
    digits, so that other tools can merge and draw it. Without latencies every figure is None.
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
    """Return the operations answered in each interval, from the first to the last interval that has any."""
    numbers = [number for number, operations in series.operations.items() if operations]
    first, last = min(numbers, default=0), max(numbers, default=-1)
    return {
        "interval_seconds": series.width / 1e9,
        "from_seconds": first * series.width / 1e9,
        "operations": [series.operations[number] for number in range(first, last + 1)],
    }
