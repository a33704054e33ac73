"""The generator makes the events that the published model makes, in number and in kind."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import erf, exp, sqrt

import pytest

from mongo_tables.runner.event_schemas import (
    ANY_USER,
    CLOCKS,
    DEVIATION,
    FIRST_DAY,
    STATUSES,
    Event,
    loading,
    population,
)

EVENTS = 200_000
TEN_YEARS = 3650
BUCKETS = {
    "day": lambda event: event.day,
    "month": lambda event: (event.day.year, event.day.month),
    "quarter": lambda event: (event.day.year, (event.day.month - 1) // 3),
}


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return [event for batch in loading(EVENTS, "seed", 250, range(CLOCKS)) for event in batch]


def expected_buckets(users: int, buckets: float) -> float:
    """How many buckets of equal length hold an event: for each user 1 - exp(-events a bucket)."""

    def chance(user: int) -> float:
        busy = erf(user / users / DEVIATION / sqrt(2)) - erf((user - 1) / users / DEVIATION / sqrt(2))
        return ANY_USER / users + (1 - ANY_USER) * busy

    return sum(buckets * (1 - exp(-EVENTS * chance(user) / buckets)) for user in range(1, users + 1))


def test_the_published_size_has_the_published_users_and_steps():
    full = population(500_000_000)
    assert full.users == 833_334
    assert full.step == timedelta(milliseconds=12_614.4)


def test_the_events_are_as_many_as_asked_for_over_ten_years(events):
    assert len(events) == EVENTS
    assert min(event.day for event in events) == FIRST_DAY
    assert TEN_YEARS - 5 < (max(event.day for event in events) - FIRST_DAY).days <= TEN_YEARS
    assert {event.key for event in events} == set(range(1, population(EVENTS).users + 1))


@pytest.mark.parametrize(("bucket", "number"), [("day", TEN_YEARS), ("month", 120), ("quarter", 40)])
def test_buckets_are_as_many_as_the_model_expects(events, bucket, number):
    found = len({(event.key, BUCKETS[bucket](event)) for event in events})
    assert found == pytest.approx(expected_buckets(population(EVENTS).users, number), rel=0.01)


def test_statuses_have_their_shares(events):
    counts = Counter(name for event in events for name in event.counts)
    shares = [counts[name] / EVENTS for name in STATUSES]
    assert shares == pytest.approx([0.8, 0.1, 0.075, 0.025], abs=0.003)
    assert all(list(event.counts.values()) == [1] for event in events)


def test_days_come_at_their_time_whoever_brings_them(events):
    firsts = [batch[0].day for batch in loading(EVENTS, "seed", 250, [3, 11])]
    assert max(before - after for before, after in pairwise(firsts)) <= timedelta(1)
    shared = [list(loading(EVENTS, "seed", 250, range(worker, CLOCKS, 4))) for worker in range(4)]
    all_of_them = [event for part in shared for batch in part for event in batch]
    assert Counter(map(repr, all_of_them)) == Counter(map(repr, events))


def test_another_seed_makes_other_events():
    one, other = (next(loading(1000, seed, 50, [0])) for seed in ("a", "b"))
    assert one != other
    assert one == next(loading(1000, "a", 50, [0]))


def test_an_event_is_at_midnight_utc(events):
    assert {event.day.time() for event in events} == {datetime.min.time()}
    assert {event.day.tzinfo for event in events} == {UTC}
