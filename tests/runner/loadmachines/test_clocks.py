"""A clock is known as well as its shortest ping was, and less well with time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.runner.loadmachines.pool import ClockReading, best_reading

times = st.integers(min_value=0, max_value=10**9)


@given(st.integers(-(10**15), 10**15), times, times)
def test_what_is_wrong_lies_within_the_bound_whichever_way_took_longer(ahead, there, back):
    sent = 10**12
    reading = ClockReading(sent, sent + there + back, sent + there + ahead)
    assert abs(reading.ahead - ahead) <= reading.bound(reading.answered) + 1


def test_the_shortest_ping_is_taken():
    readings = [(0, 3_000, 501_500), (10_000, 10_200, 510_000), (20_000, 29_000, 529_000)]
    assert best_reading([ClockReading(*one) for one in readings], 30_000).ahead == 499_900


def test_one_that_is_long_ago_is_worth_less_than_a_longer_one_of_now():
    hour = 3600 * 10**9
    readings = [ClockReading(0, 100, 50), ClockReading(hour, hour + 10**6, hour)]
    assert best_reading(readings, hour + 10**6).sent == hour
