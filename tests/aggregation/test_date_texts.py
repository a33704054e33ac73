"""Dates read from text."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError, NotOffline, aggregate
from mongo_tables.aggregation.date_formats import date_text, read_date, read_formatted
from mongo_tables.aggregation.dates import UTC


def _millis(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1)) // timedelta(milliseconds=1)


@given(st.datetimes())
def test_what_is_written_in_the_form_of_iso_8601_reads_back(moment: datetime) -> None:
    date = _millis(moment)
    text = date_text(date, UTC, "%Y-%m-%dT%H:%M:%S.%LZ")
    assert read_date(text, UTC) == date
    assert read_formatted(text, "%Y-%m-%dT%H:%M:%S.%L%z", UTC) == date


@given(st.text(max_size=20))
def test_any_text_is_a_date_or_is_refused_with_words(text: str) -> None:
    try:
        assert isinstance(read_date(text, UTC), int)
    except AggregationError as error:
        assert error.message


@pytest.mark.parametrize(
    "text", ["abc", "today", "2020", "2020-02-30", "12.5", "n/a", "31.4.2020x", "-7", "v8 beta"]
)
def test_what_is_no_date_takes_the_way_of_on_error(text: str) -> None:
    pipeline = [
        {"$project": {"_id": 0, "date": {"$convert": {"input": "$s", "to": "date", "onError": "none"}}}}
    ]
    assert aggregate([{"s": text}], pipeline) == [{"date": "none"}]


@pytest.mark.parametrize(
    "text", ["last monday of jan 2020", "Tue, 06 Jan 2020 10:00:00 GMT", "2020-01-02T0304"]
)
def test_a_form_that_is_not_read_here_is_not_taken_for_an_error(text: str) -> None:
    pipeline = [
        {"$project": {"_id": 0, "date": {"$convert": {"input": "$s", "to": "date", "onError": "none"}}}}
    ]
    with pytest.raises(NotOffline):
        aggregate([{"s": text}], pipeline)


def test_a_text_with_an_offset_goes_with_no_other_zone() -> None:
    pipeline = [
        {"$project": {"d": {"$dateFromString": {"dateString": "2020-01-01T00:00:00Z", "timezone": "+01:00"}}}}
    ]
    with pytest.raises(AggregationError) as raised:
        aggregate([{}], pipeline)
    assert raised.value.code == 241
    assert raised.value.path == (0, "$project", "d", "$dateFromString")
