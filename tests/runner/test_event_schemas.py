"""Fourteen versions of a schema answer the same question in the same way, on events of the published model.

Fourteen versions of a schema answer the same question in the same way.

The generator makes the events that the published model makes, in number and in kind.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import erf, exp, sqrt

import pytest
from bson.codec_options import CodecOptions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pymongo import MongoClient, UpdateOne

from mongo_tables.aggregation import aggregate
from mongo_tables.runner.event_schemas import (
    ANY_USER,
    CLOCKS,
    DEVIATION,
    FIRST_DAY,
    RANGES,
    STATUSES,
    VERSIONS,
    Event,
    day_id,
    key_text,
    loading,
    month_id,
    population,
    quarter_id,
    starts,
)
from tests.runner.event_counting import counted, report_of

DATABASE = "eventschemas_test"
AWARE = CodecOptions(tz_aware=True)


def day(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


REPORTED = day("2022-06-15")
# Two dates before the day of the report in each year, two from it on: one event of each other status a range.
YEARLY = {
    "01-31": {"approved": 1, "rejected": 1},
    "06-14": {"approved": 1},
    "06-15": {"approved": 1, "noFunds": 1},
    "12-31": {"approved": 1, "pending": 1},
}
FIXTURE = [
    Event(7, day(f"{year}-{date}"), counts)
    for year in (2022, 2021, 2019, 2017, 2015, 2012)
    for date, counts in YEARLY.items()
]
EXPECTED = {
    name: {"approved": 4 * n, "noFunds": n, "pending": n, "rejected": n} for n, name in enumerate(RANGES, 1)
}
NOTHING = {name: dict.fromkeys(STATUSES, 0) for name in RANGES}


@pytest.fixture(scope="module")
def client(mongod):
    with MongoClient(mongod.uri()) as connected:
        yield connected
        connected.drop_database(DATABASE)


def load(client, version, events):
    collection = client[DATABASE].get_collection(version.name, codec_options=AWARE)
    collection.delete_many({})
    statements = (version.statement(event) for event in events)
    updates = [UpdateOne(one.selector, one.update, upsert=True) for one in statements]
    if updates:
        collection.bulk_write(updates, ordered=False)
    return collection


def reports(collection, version, key, date):
    """The report by the server, and by the evaluator over the documents that the server has."""
    pipelines = version.pipelines(key, date)
    documents = list(collection.find().sort("_id", 1))
    yield report_of([list(collection.aggregate(pipeline)) for pipeline in pipelines])
    yield report_of([aggregate(documents, pipeline) for pipeline in pipelines])


def test_counting_the_fixture_gives_what_is_published_for_it():
    assert len(FIXTURE) == 24
    assert counted(FIXTURE, 7, REPORTED) == EXPECTED


@pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS.keys())
def test_every_version_reports_what_counting_gives(client, version):
    collection = load(client, version, [*FIXTURE, Event(8, day("2022-01-01"), {"approved": 1000})])
    assert list(reports(collection, version, 7, REPORTED)) == [EXPECTED] * 2


@pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS.keys())
def test_a_key_without_events_gets_no_row_and_events_outside_the_ranges_count_nothing(client, version):
    outside = [Event(7, day(text), {"approved": 1}) for text in ("2012-06-14", "2022-06-15", "2022-06-30")]
    collection = load(client, version, outside)
    assert list(reports(collection, version, 7, REPORTED)) == [NOTHING] * 2
    assert all(list(collection.aggregate(pipeline)) == [] for pipeline in version.pipelines(6, REPORTED))
    assert list(reports(collection, version, 6, REPORTED)) == [NOTHING] * 2


DAYS = st.dates(day("2009-12-25").date(), day("2024-03-02").date()).map(
    lambda date: datetime(date.year, date.month, date.day, tzinfo=UTC)
)
COUNTS = st.dictionaries(st.sampled_from(list(STATUSES)), st.integers(1, 3), min_size=1)
EVENTS = st.lists(st.builds(Event, st.integers(1, 2), DAYS, COUNTS), max_size=25)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EVENTS, DAYS)
def test_whatever_happens_all_versions_agree_with_counting(client, events, date):
    wanted = counted(events, 1, date)
    for version in VERSIONS.values():
        collection = load(client, version, events)
        assert list(reports(collection, version, 1, date)) == [wanted] * 2, version.name


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EVENTS)
def test_days_of_a_quarter_are_kept_once_and_their_totals_are_theirs(client, events):
    for name in ("appV5R2", "appV5R4"):
        for document in load(client, VERSIONS[name], events).find():
            days = [item["date"] for item in document["items"]]
            assert len(days) == len(set(days))
            if name == "appV5R4":
                sums = {
                    short: sum(item.get(short, 0) for item in document["items"])
                    for short in document["totals"]
                }
                assert document["totals"] == sums


def test_ranges_begin_on_the_same_day_of_the_calendar():
    assert starts(REPORTED)["tenYears"] == day("2012-06-15")
    assert starts(day("2020-02-29")) == {name: day(f"{2020 - years}-03-01") for name, years in RANGES.items()}


def test_keys_and_ids_are_the_digits_that_the_published_code_reads_as_hexadecimal():
    date = day("2022-11-05")
    assert key_text(833_334) == "0" * 59 + "CB736"
    assert [len(made(1, date)) for made in (day_id, month_id, quarter_id)] == [36, 35, 35]
    assert day_id(833_334, date).hex().upper() == key_text(833_334) + "20221105"
    assert month_id(833_334, date).hex().upper() == key_text(833_334) + "202211"
    assert [quarter_id(1, day(f"2022-{month:02}-01")).hex()[-2:] for month in range(1, 13)] == [
        f"0{quarter}" for quarter in (1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4)
    ]


def test_documents_look_as_they_are_published(client):
    events = [Event(1, day(text), {status: 1}) for text, status in (
        ("2022-06-05", "approved"), ("2022-06-05", "noFunds"), ("2022-06-29", "pending")
    )]  # fmt: skip
    kept = {
        version.name: [
            {name: value for name, value in document.items() if name != "_id"}
            for document in load(client, version, events).find().sort("_id", 1)
        ]
        for version in VERSIONS.values()
    }
    days = [{"date": day("2022-06-05"), "a": 1, "n": 1}, {"date": day("2022-06-29"), "p": 1}]
    assert kept["appV1"] == [{"approved": 1, "noFunds": 1}, {"pending": 1}]
    assert kept["appV4"] == [{"a": 1, "n": 1}, {"p": 1}]
    assert [len(one["items"]) for one in kept["appV5R0"]] == [3]
    assert kept["appV5R3"] == kept["appV5R2"] == [{"items": days}]
    assert kept["appV5R4"] == [{"totals": {"a": 1, "n": 1, "p": 1}, "items": days}]
    assert kept["appV6R0"] == [{"items": {"05": {"a": 1, "n": 1}, "29": {"p": 1}}}]
    assert kept["appV6R1"] == [{"items": {"0605": {"a": 1, "n": 1}, "0629": {"p": 1}}}]
    assert kept["appV6R2"][0]["totals"] == {"a": 1, "n": 1, "p": 1}
    assert kept["appV6R4"] == [{"items": {"20220605": {"a": 1, "n": 1}, "20220629": {"p": 1}}}]


def test_the_last_two_versions_need_one_pipeline_and_all_others_five():
    pipelines = {name: len(version.pipelines(1, REPORTED)) for name, version in VERSIONS.items()}
    assert [name for name, count in pipelines.items() if count == 1] == ["appV6R3", "appV6R4"]
    assert set(pipelines.values()) == {1, 5}


NUMBER_OF_EVENTS = 200_000
TEN_YEARS = 3650
BUCKETS = {
    "day": lambda event: event.day,
    "month": lambda event: (event.day.year, event.day.month),
    "quarter": lambda event: (event.day.year, (event.day.month - 1) // 3),
}


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return [event for batch in loading(NUMBER_OF_EVENTS, "seed", 250, range(CLOCKS)) for event in batch]


def expected_buckets(users: int, buckets: float) -> float:
    """How many buckets of equal length hold an event: for each user 1 - exp(-events a bucket)."""

    def chance(user: int) -> float:
        busy = erf(user / users / DEVIATION / sqrt(2)) - erf((user - 1) / users / DEVIATION / sqrt(2))
        return ANY_USER / users + (1 - ANY_USER) * busy

    return sum(
        buckets * (1 - exp(-NUMBER_OF_EVENTS * chance(user) / buckets)) for user in range(1, users + 1)
    )


def test_the_published_size_has_the_published_users_and_steps():
    full = population(500_000_000)
    assert full.users == 833_334
    assert full.step == timedelta(milliseconds=12_614.4)


def test_the_events_are_as_many_as_asked_for_over_ten_years(events):
    assert len(events) == NUMBER_OF_EVENTS
    assert min(event.day for event in events) == FIRST_DAY
    assert TEN_YEARS - 5 < (max(event.day for event in events) - FIRST_DAY).days <= TEN_YEARS
    assert {event.key for event in events} == set(range(1, population(NUMBER_OF_EVENTS).users + 1))


@pytest.mark.parametrize(("bucket", "number"), [("day", TEN_YEARS), ("month", 120), ("quarter", 40)])
def test_buckets_are_as_many_as_the_model_expects(events, bucket, number):
    found = len({(event.key, BUCKETS[bucket](event)) for event in events})
    assert found == pytest.approx(expected_buckets(population(NUMBER_OF_EVENTS).users, number), rel=0.01)


def test_statuses_have_their_shares(events):
    counts = Counter(name for event in events for name in event.counts)
    shares = [counts[name] / NUMBER_OF_EVENTS for name in STATUSES]
    assert shares == pytest.approx([0.8, 0.1, 0.075, 0.025], abs=0.003)
    assert all(list(event.counts.values()) == [1] for event in events)


def test_days_come_at_their_time_whoever_brings_them(events):
    firsts = [batch[0].day for batch in loading(NUMBER_OF_EVENTS, "seed", 250, [3, 11])]
    assert max(before - after for before, after in pairwise(firsts)) <= timedelta(1)
    shared = [list(loading(NUMBER_OF_EVENTS, "seed", 250, range(worker, CLOCKS, 4))) for worker in range(4)]
    all_of_them = [event for part in shared for batch in part for event in batch]
    assert Counter(map(repr, all_of_them)) == Counter(map(repr, events))


def test_another_seed_makes_other_events():
    one, other = (next(loading(1000, seed, 50, [0])) for seed in ("a", "b"))
    assert one != other
    assert one == next(loading(1000, "a", 50, [0]))


def test_an_event_is_at_midnight_utc(events):
    assert {event.day.time() for event in events} == {datetime.min.time()}
    assert {event.day.tzinfo for event in events} == {UTC}
