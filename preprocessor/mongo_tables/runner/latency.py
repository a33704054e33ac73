"""Latencies as one reads them: percentiles, and the whole histogram in HDR form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mongo_tables.runner.series import Series

LONGEST_MICROSECONDS = 3_600_000_000
DIGITS = 3
SLOW_MICROSECONDS = 50_000
_PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}


def summarise(latencies: Mapping[int, int]) -> dict[str, Any]:
    """Give percentiles, mean and extremes in microseconds, of counts by whole microseconds.

    ``histogram`` is the HDR histogram itself (V2, compressed, base64; http://hdrhistogram.org), with three
    significant digits, so that others can merge and redraw it. No latencies: every figure is None.
    """
    histogram = _recorded(latencies)
    empty = not latencies
    figures: dict[str, Any] = {"unit": "microseconds", "count": sum(latencies.values())}
    figures["mean"] = mean(latencies)
    figures["min"] = None if empty else min(latencies)
    for name, percentile in _PERCENTILES.items():
        # The histogram gives the upper end of a step, which may lie beyond the longest that there was.
        value = int(histogram.get_value_at_percentile(percentile))
        figures[name] = None if empty else min(value, max(latencies))
    figures["within_50_ms"] = None if empty else _share_within(latencies, SLOW_MICROSECONDS)
    figures["max"] = None if empty else max(latencies)
    figures["histogram"] = _encoded(histogram)
    return figures


def summarise_series(series: Series) -> dict[str, Any]:
    """For each interval, in their order, what was answered in it and the HDR histogram of each kind of operation."""
    return {
        "interval_seconds": series.width / 1e9,
        "intervals": [
            {
                "from_seconds": number * series.width / 1e9,
                "operations": one.operations,
                "histograms": {
                    kind or "all": _encoded(_recorded(counts))
                    for kind, counts in sorted(one.latencies().items())
                },
            }
            for number, one in sorted(series.intervals.items())
        ],
    }


def _recorded(latencies: Mapping[int, int]) -> Any:
    from hdrh.histogram import HdrHistogram

    histogram = HdrHistogram(1, LONGEST_MICROSECONDS, DIGITS)
    for value, count in latencies.items():
        histogram.record_value(min(max(value, 1), LONGEST_MICROSECONDS), count)
    return histogram


def _encoded(histogram: Any) -> str:
    return str(histogram.encode().decode("ascii"))


def _share_within(latencies: Mapping[int, int], most: int) -> float:
    return sum(count for value, count in latencies.items() if value <= most) / sum(latencies.values())


def mean(latencies: Mapping[int, int]) -> float | None:
    """The mean of latencies, None when there are none."""
    count = sum(latencies.values())
    return sum(value * count for value, count in latencies.items()) / count if count else None
