"""The calendar in whole numbers, held against Python's own, and time zones."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError
from mongo_tables.aggregation.dates import (
    civil_from_days,
    days_from_civil,
    days_from_iso_week,
    iso_week,
    iso_weekday,
    local_millis,
    local_parts,
    sunday_week,
    zone,
)

ERA = 146_097


@given(st.dates())
def test_days_weeks_and_weekdays_are_those_of_the_standard_library(day: date) -> None:
    days = day.toordinal() - date(1970, 1, 1).toordinal()
    assert civil_from_days(days) == (day.year, day.month, day.day)
    assert days_from_civil(day.year, day.month, day.day) == days
    assert iso_week(days) == day.isocalendar()[:2]
    assert iso_weekday(days) == day.isoweekday()
    assert sunday_week(days) == int(day.strftime("%U"))
    assert days_from_iso_week(*day.isocalendar()) == days


@given(st.integers(-(10**11), 10**11))
def test_the_calendar_repeats_every_four_hundred_years_for_ever(days: int) -> None:
    year, month, day = civil_from_days(days)
    assert civil_from_days(days + ERA) == (year + 400, month, day)
    assert days_from_civil(year, month, day) == days


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_local_time_taken_apart_and_put_together_is_the_same(local: int) -> None:
    parts = local_parts(local)
    whole = (parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second, parts.millisecond)
    assert local_millis(*whole) == local


ZONES = [
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Casablanca",
    "+05:30",
]


@given(st.sampled_from(ZONES), st.datetimes(datetime(1950, 1, 1), datetime(2060, 1, 1)))
def test_a_local_time_read_in_its_zone_is_the_same_date_but_for_the_hour_that_comes_twice(
    name: str, moment: datetime
) -> None:
    place = zone(name)
    when = (moment - datetime(1970, 1, 1)) // timedelta(milliseconds=1)
    back = place.date(place.local(when))
    assert back == when or place.local(back) == place.local(when)


@given(st.sampled_from(ZONES), st.integers(-(2**60), 2**60))
def test_an_offset_is_known_for_years_that_datetime_cannot_hold(name: str, moment: int) -> None:
    assert abs(zone(name).offset(moment)) < 86_400_000


@pytest.mark.parametrize(
    "name", ["utc", "europe/berlin", "+5", "5:30", "", "+05:3", "CEST", "../zones", "posix/UTC"]
)
def test_names_and_offsets_are_taken_exactly_as_the_server_spells_them(name: str) -> None:
    with pytest.raises(AggregationError) as raised:
        zone(name)
    assert raised.value.code == 40485


def test_a_time_that_the_clock_skips_is_read_with_the_offset_before() -> None:
    skipped = local_millis(2021, 3, 14, 2, 30, 0, 0)
    parts = local_parts(zone("America/New_York").date(skipped))
    assert (parts.hour, parts.minute) == (7, 30)
