"""What was done in each interval is counted, and latencies are summarised.

Latencies are summed up without losing the tail.

A series counts everything, in memory that does not grow with the length of the window.
"""

from __future__ import annotations

import pickle
import random

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.runner.series import (
    LONGEST_MICROSECONDS,
    MOST,
    IntervalSeries,
    bucket,
    interval_for,
    summarise,
    summarise_series,
)


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


SECOND = 10**9


def test_buckets_are_those_of_a_histogram_with_three_digits():
    histogram = HdrHistogram(1, LONGEST_MICROSECONDS, 3)
    chance = random.Random("buckets")
    for value in (1, 2047, 2048, 2049, *(int(10 ** chance.uniform(0, 9)) for _ in range(2000))):
        assert bucket(value) == histogram.get_lowest_equivalent_value(value)


@pytest.mark.parametrize(
    ("seconds", "interval"), [(None, 0.1), (0.7, 0.1), (2, 0.05), (4, 0.1), (19.9, 0.1), (20, 1), (3600, 1)]
)
def test_intervals_are_fine_enough_to_judge_a_short_window_and_seconds_in_long_ones(seconds, interval):
    assert interval_for(seconds) == interval * SECOND


def test_neighbours_are_put_together_when_there_are_too_many_and_nothing_is_lost():
    series = IntervalSeries(SECOND)
    for second in range(3600):
        series.add(second * SECOND, 3, {"read": {100 + second % 7: 2}, "update": {5_000: 1}})
    series.add(0, 1, {"read": {9: 1}})  # a connection that waited for its answer
    assert len(series.operations) <= MOST
    assert series.width == 8 * SECOND
    assert series.operations.total() == 3600 * 3 + 1
    counts = series.latencies
    assert sum(counts["read"].values()) == 7201
    assert counts["update"] == {5_000: 3600}


def test_series_of_two_processes_are_one_whatever_the_length_of_their_intervals():
    coarse, fine = IntervalSeries(SECOND), IntervalSeries(SECOND)
    for second in range(700):
        coarse.add(second * SECOND, 1, {"": {50: 1}})
    fine.add(5 * SECOND, 1, {"": {60: 1}})
    merged = pickle.loads(pickle.dumps(fine))
    merged.merge(pickle.loads(pickle.dumps(coarse)))
    assert merged.width == 2 * SECOND
    assert merged.latencies == {"": {50: 700, 60: 1}}
    assert merged.operations[2] == 3


def test_a_row_has_the_operations_of_each_interval_from_the_first_to_the_last():
    series = IntervalSeries(SECOND // 10)
    series.add(2 * SECOND // 10, 2, {"": {100: 2}})
    series.add(5 * SECOND // 10, 5, {"": {2_000: 1}})
    assert summarise_series(series) == {
        "interval_seconds": 0.1, "from_seconds": 0.2, "operations": [2, 0, 0, 5]
    }  # fmt: skip
    assert summarise_series(IntervalSeries(SECOND // 10))["operations"] == []
