"""A window opens when the speed is steady, by a rule that a row names, and a row says whether it stayed so."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from mongo_tables.runner.series import IntervalSeries
from mongo_tables.runner.warmup import (
    LEAST_INTERVALS,
    LONGEST_SECONDS,
    Lead,
    cut,
    has_lead,
    has_stretch,
    judge,
    lead_seconds,
    speeds_within,
)
from mongo_tables.runner.worker import Load

INTERVALS = 40


def noise(seed, mean=1000.0, spread=0.1):
    chance = random.Random(seed)
    return [chance.gauss(mean, mean * spread) for _ in range(INTERVALS)]


@pytest.mark.parametrize("slow", [4, 10, 19])
def test_the_cut_is_where_a_slow_begin_ends(slow):
    speeds = [400.0 if number < slow else 1000.0 + number % 2 for number in range(INTERVALS)]
    assert cut(speeds) == slow


def test_speeds_that_scatter_are_steady_in_98_of_100_series():
    assert sum(judge(noise(seed)) == "yes" for seed in range(100)) >= 98


@pytest.mark.parametrize("shape", [lambda part: 0.4 + 0.6 * min(1, 4 * part), lambda part: 1.5 - part])
def test_a_speed_that_rises_first_or_falls_all_the_time_is_not_steady(shape):
    found = [
        judge([speed * shape(number / INTERVALS) for number, speed in enumerate(noise(seed, spread=0.05))])
        for seed in range(20)
    ]
    assert found.count("no") >= 18


def poisson(seed, mean, intervals):
    """Answers in each interval, when they come at random."""
    chance, now, found = random.Random(seed), 0.0, [0.0] * intervals
    while (now := now + chance.expovariate(mean)) < intervals:
        found[int(now)] += 1.0
    return found


@pytest.mark.parametrize(
    "speeds",
    [
        [100.0] * 13 + [0.0] * 10 + [1188.0],
        [100.0] * 4 + [0.0] * 20,
        [1000.0] * 20 + [400.0] * 8 + [1000.0] * 12,
        [1000.0] * 20 + [2400.0] * 8 + [1000.0] * 12,
    ],
    ids=["no service", "no service to the end", "slow for a time", "fast for a time"],
)
def test_a_speed_that_was_another_for_a_time_is_not_steady(speeds):
    assert judge(speeds) == "no"


@pytest.mark.parametrize(
    "speeds",
    [
        [32.0, 0.0, 0.0, 0.0] * 10,
        ([1000.0] * 7 + [0.0] * 3) * 4,
        [1000.0] * 50 + [0.0] * 3 + [1000.0] * 47,
    ],
    ids=["answers that come at once", "pauses that come again", "a pause of 3 percent"],
)
def test_empty_intervals_that_are_of_one_state_are_steady(speeds):
    assert judge(speeds) == "yes"


@pytest.mark.parametrize("intervals", [24, 100])
@pytest.mark.parametrize("mean", [0.3, 1, 5])
def test_chance_leaves_empty_intervals_that_are_taken_for_a_stretch_in_less_than_2_of_100_windows(
    mean, intervals
):
    assert sum(has_stretch(poisson(seed, mean, intervals)) for seed in range(1000)) < 20


def test_of_few_intervals_or_few_answers_nothing_is_known():
    assert judge([1000.0] * (LEAST_INTERVALS - 1)) == "unknown"
    assert judge([1000.0] * LEAST_INTERVALS) == "yes"
    assert judge([0.0] * LEAST_INTERVALS) == "unknown"
    assert judge(([0.0] * 9 + [24.0]) * 9) == "unknown"


def opened(lead, speed):
    """After how many seconds a lead is over, whose speed is a function of the time; it is looked at every 20 ms."""
    done = 0.0
    seconds = 0.0
    while not lead.is_over(seconds, int(done)):
        seconds += 0.02
        done += 0.02 * speed(seconds)
    return seconds


def test_a_window_opens_when_its_lead_is_steady_and_says_what_the_transient_was():
    lead = Lead(2.0, 60.0, 0.1)
    seconds = opened(lead, lambda now: min(5000.0, 1000.0 + 1000.0 * now))
    assert 5 < seconds < 9
    told = lead.describe(seconds)
    assert (told.rule, told.most_seconds) == ("MSER-5", 60.0)
    assert told.transient_seconds == pytest.approx(4.0, abs=1.0)


def test_a_speed_that_never_becomes_steady_has_the_longest_lead():
    lead = Lead(2.0, 8.0, 0.1)
    seconds = opened(lead, lambda now: 200.0 + 1000.0 * now)
    assert seconds == pytest.approx(8.0, abs=0.03)
    assert lead.describe(seconds).transient_seconds is None


def test_a_short_window_has_a_lead_of_its_length_and_no_rule():
    least, most = lead_seconds(0.7)
    lead = Lead(least, most, 0.1)
    seconds = opened(lead, lambda now: 1000.0)
    assert seconds == pytest.approx(0.7, abs=0.03)
    assert (lead.describe(seconds).rule, lead.describe(seconds).transient_seconds) == (
        "as long as the window",
        None,
    )


@pytest.mark.parametrize("latency", [0.002, 0.3, 0.8])
def test_a_window_of_two_seconds_can_be_judged(latency):
    asked = Load("", "a", "insert", {"totalDocsToInsert": 10**6, "docSizeKB": 1}, "s", 1, seconds=2.0)
    for load in (asked, replace(asked, workload="query")):
        series = IntervalSeries(load.interval)
        for moment in range(0, 2 * 10**9, load.interval):
            series.add(moment, 100, {"": {1: 100}})
        assert judge(speeds_within(series, 0.0, 2e9, latency * 1e9)) == "yes"


def test_a_long_amount_is_counted_by_tenths_of_a_second_for_it_may_be_done_soon():
    asked = Load("", "a", "insert", {"totalDocsToInsert": 10, "docSizeKB": 1}, "s", 1, seconds=60.0)
    assert asked.interval == 10**8
    assert replace(asked, workload="query").interval == 10**9


def test_a_lead_is_never_longer_than_its_window_nor_than_ten_minutes():
    assert lead_seconds(1.0) == (1.0, 1.0)
    assert lead_seconds(5.0) == (2.0, 5.0)
    assert lead_seconds(3600.0) == (20.0, LONGEST_SECONDS)


def test_what_adds_to_its_data_goes_on_or_has_an_amount_has_no_lead():
    assert has_lead("query", {"testTimeSecs": 1})
    assert has_lead("ycsb", {"recordcount": 1, "readproportion": 1.0})
    assert not has_lead("ycsb", {"recordcount": 1, "insertproportion": 0.05})
    assert not has_lead("event_reports", {})
    assert not has_lead("flat_insert", {})
    assert not has_lead("hot_update", {"nUpdates": 10})


def test_only_intervals_count_that_lie_in_the_window_as_a_whole():
    series = IntervalSeries(100)
    for number in range(10):
        series.add(number * 100, number, {"": {1: 1}})
    assert speeds_within(series, 250.0, 680.0, 0.0) == [3.0, 4.0, 5.0]
    # Requests sent before it opened are answered in the first ones, and are not counted.
    assert speeds_within(series, 0.0, 450.0, 120.0) == [2.0, 3.0]
