"""Latencies are summed up without losing the tail."""

from __future__ import annotations

from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.runner.series import summarise


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.integers(1, 10**7), st.integers(1, 50), min_size=1, max_size=40))
def test_percentiles_are_within_a_thousandth_of_the_sorted_values(latencies):
    values = sorted(value for value, count in latencies.items() for _ in range(count))
    figures = summarise(latencies)
    assert (figures["min"], figures["max"], figures["count"]) == (values[0], values[-1], len(values))
    middle = values[-(-len(values) // 2) - 1]
    assert abs(figures["p50"] - middle) <= middle / 1000 + 1


def test_the_histogram_can_be_decoded_and_merged_by_others():
    figures = summarise({100: 5, 2_000_000: 1})
    decoded = HdrHistogram.decode(figures["histogram"])
    assert decoded.get_total_count() == 6


def test_the_share_within_fifty_milliseconds_counts_requests():
    assert summarise({100: 5, 50_000: 1, 50_001: 2})["within_50_ms"] == 0.75


def test_no_latencies_are_no_figures():
    figures = summarise({})
    assert figures["count"] == 0
    assert figures["p99"] is None
    assert figures["mean"] is None
    assert figures["within_50_ms"] is None
