from __future__ import annotations

from pathlib import Path

import bson
import pytest
from bson.datetime_ms import DatetimeMS
from bson.int64 import Int64
from hypothesis import given, settings

from mongo_tables.results.extended_json import write_line
from mongo_tables.results.file_documents import fixture_documents

from .bsonvalues import SCALARS, documents


@given(documents())
@settings(max_examples=200, deadline=None)
def test_the_bytes_that_went_into_a_line_come_back_from_it(raw: bytes):
    text = write_line(raw)
    assert "\n" not in text
    back = fixture_documents(Path("any.jsonl"), text.encode())
    assert [bson.encode(one) for one in back] == [raw]


def test_the_fields_of_a_scope_keep_their_order() -> None:
    text = '{"_id":0,"a":{"$code":"","$scope":{"b":1,"a":2}}}'
    (back,) = fixture_documents(Path("any.jsonl"), text.encode())
    assert list(back["a"].scope) == ["b", "a"]


@given(SCALARS)
def test_a_failing_example_of_any_value_can_be_made_smaller(value: object):
    plain = (str, bytes, int, bool, float)
    assert type(value) in plain or not isinstance(value, plain)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (5.0, "5.0"),
        (Int64(5), '{"$numberLong":"5"}'),
        (Int64(5_000_000_000), "5000000000"),
        (DatetimeMS(0), '{"$date":"1970-01-01T00:00:00Z"}'),
        (DatetimeMS(1_500), '{"$date":"1970-01-01T00:00:01.500Z"}'),
        (DatetimeMS(-1), '{"$date":{"$numberLong":"-1"}}'),
        (float("inf"), '{"$numberDouble":"Infinity"}'),
        ("é\u2028", '"é\u2028"'),
    ],
)
def test_a_value_is_written_as_plainly_as_its_type_allows(value: object, text: str):
    assert write_line(bson.encode({"_id": value})) == f'{{"_id":{text}}}'
