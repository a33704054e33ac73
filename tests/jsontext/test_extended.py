"""Extended JSON becomes the BSON values it stands for; operators that look like it stay as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from uuid import UUID

import bson
import pytest
from bson import json_util
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.jsontext.extended import decode

BSON_VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | st.integers(-(2**63), 2**63 - 1).map(bson.Int64)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=("Cs",)))
    | st.binary(min_size=12, max_size=12).map(bson.ObjectId)
    | st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(
        lambda d: d.replace(microsecond=d.microsecond // 1000 * 1000)
    )
    | st.decimals(allow_nan=False, places=3, min_value=-(10**9), max_value=10**9).map(bson.Decimal128)
    | st.binary(max_size=9)
    | st.tuples(st.binary(max_size=9), st.sampled_from([5, 128])).map(lambda pair: bson.Binary(*pair))
    | st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)).map(lambda pair: bson.Timestamp(*pair))
    | st.sampled_from([bson.MinKey(), bson.MaxKey(), bson.Regex("^a", "i")])
)
KEYS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="$"), max_size=4)
# Code is a text to Python: Hypothesis falls over it where it makes a failure smaller that has drawn one.
DOCUMENTS = st.dictionaries(
    KEYS, BSON_VALUES | st.lists(BSON_VALUES, max_size=3) | st.dictionaries(KEYS, BSON_VALUES, max_size=3)
).map(lambda document: {**document, "script": bson.Code("x")})


def typed(value):
    """The value with the type of every part, so that 1, 1.0 and Int64(1) are three."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value), value


@given(DOCUMENTS)
@settings(max_examples=150, deadline=None)
def test_what_pymongo_writes_canonically_is_read_back_with_every_type(document):
    text = json_util.dumps(document, json_options=json_util.CANONICAL_JSON_OPTIONS)
    assert (typed(decode(json.loads(text))[0]), decode(json.loads(text))[1]) == (typed(document), [])


@given(DOCUMENTS)
@settings(max_examples=100, deadline=None)
def test_what_pymongo_writes_relaxed_is_read_back_equal(document):
    text = json_util.dumps(document, json_options=json_util.RELAXED_JSON_OPTIONS)
    assert decode(json.loads(text)) == (document, [])


@pytest.mark.parametrize(
    ("literal", "kind"),
    [(2**31 - 1, int), (2**31, bson.Int64), (-(2**31), int), (-(2**31) - 1, bson.Int64),
     (2**63 - 1, bson.Int64), (1.0, float), (True, bool)],
)  # fmt: skip
def test_a_number_literal_gets_the_smallest_type_that_holds_it(literal, kind):
    value, malformed = decode({"n": literal})
    assert (type(value["n"]), value["n"], malformed) == (kind, literal, [])


@pytest.mark.parametrize("literal", [2**63, -(2**64), 10**34 - 1])
def test_a_whole_number_beyond_64_bits_keeps_its_digits(literal):
    value, malformed = decode({"n": literal})
    assert (value["n"], malformed) == (bson.Decimal128(str(literal)), [])


def test_a_whole_number_that_no_type_holds_is_malformed():
    value, malformed = decode({"a": [10**34]})
    assert value == {"a": [None]}
    assert [(one.at, one.message) for one in malformed] == [
        (("a", 0), "a whole number of 35 digits is too long for every number type of MongoDB")
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"$date": "2026-01-31T01:00:00.25+02:00"}, datetime(2026, 1, 30, 23, 0, 0, 250000)),
        ({"$date": "2026-01-31T01:00:00Z"}, datetime(2026, 1, 31, 1)),
        ({"$date": 86_400_000}, datetime(1970, 1, 2)),
        ({"$uuid": "00112233-4455-6677-8899-aabbccddeeff"},
         bson.Binary.from_uuid(UUID("00112233-4455-6677-8899-aabbccddeeff"))),
        ({"$binary": "AAEC", "$type": "05"}, bson.Binary(b"\0\1\2", 5)),
        ({"$undefined": True}, None),
        ({"$symbol": "s"}, "s"),
        ({"$code": "x", "$scope": {}}, bson.Code("x", {})),
        ({"$dbPointer": {"$ref": "c", "$id": {"$oid": "0" * 24}}}, bson.DBRef("c", bson.ObjectId("0" * 24))),
    ],
)  # fmt: skip
def test_the_rarer_wrappers_are_read(written, meant):
    assert decode(written) == (meant, [])


def test_a_date_beyond_the_calendar_of_python_keeps_its_milliseconds():
    value, _ = decode({"$date": {"$numberLong": "999999999999999"}})
    assert int(value) == 999999999999999


OPERATORS = [
    {"name": {"$regex": "^M", "$options": "i"}},
    {"v": {"$type": "double"}},
    {"$literal": {"$sum": "$date"}},
    {"$dateFromString": {"dateString": "$d"}},
    {"$toDate": "$timestamp"},
    {"$ref": "c", "$id": 1},
    {"date": "$date", "timestamp": ["$$NOW"]},
]


@pytest.mark.parametrize("expression", OPERATORS)
def test_operators_and_fields_that_resemble_wrappers_pass_untouched(expression):
    assert decode(expression) == (expression, [])


MALFORMED = [
    {"$date": "$start"},
    {"$date": "2026-01-31"},
    {"$date": "2026-01-31T00:00:00"},
    {"$date": "2026-13-31T00:00:00Z"},
    {"$date": "0001-01-01T00:00:00+02:00"},
    {"$date": True},
    {"$date": {"$numberLong": 5}},
    {"$date": 2**63},
    {"$oid": "123"},
    {"$oid": 1},
    {"$oid": "0" * 24, "x": 1},
    {"$numberInt": "2147483648"},
    {"$numberInt": 1},
    {"$numberLong": "1.5"},
    {"$numberLong": str(2**63)},
    {"$numberLong": 5},
    {"$numberDouble": "one"},
    {"$numberDouble": "nan"},
    {"$numberDecimal": "one"},
    {"$numberDecimal": 1},
    {"$binary": {"base64": "?", "subType": "00"}},
    {"$binary": {"base64": "AAE", "subType": "00"}},
    {"$binary": {"base64": ""}},
    {"$binary": "AAEC"},
    {"$uuid": "0011"},
    {"$regularExpression": {"pattern": "a", "options": "z"}},
    {"$regularExpression": {"pattern": 1, "options": ""}},
    {"$timestamp": {"t": -1, "i": 0}},
    {"$timestamp": {"t": 2**32, "i": 0}},
    {"$minKey": True},
    {"$undefined": 1},
    {"$symbol": 1},
    {"$code": "x", "$scope": 1},
    {"$code": "x", "$scope": {"a": {"$binary": {"base64": ""}}}},
    {"$code": "x", "$scope": {"a": {"$binary": 1, "$type": "00"}}},
    {"$dbPointer": {"$ref": 1, "$id": {"$oid": "0" * 24}}},
]


@pytest.mark.parametrize("wrapper", MALFORMED)
def test_a_malformed_wrapper_is_told_with_its_path_and_an_example(wrapper):
    value, (fault,) = decode([{"a": wrapper}])
    key = next(iter(wrapper))
    assert value == [{"a": None}]
    assert (fault.at, fault.message) == ((0, "a", key), f"`{key}` is malformed")
    assert decode(json.loads(fault.hint.removeprefix("write ")))[1] == []


def test_plain_json_needs_no_bson():
    script = (
        "import sys; from mongo_tables.jsontext.extended import decode;"
        "decode({'a': [1, 'x', {'$date': '2026-01-31T00:00:00Z'}]}); sys.exit('bson' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_dates_are_in_utc_without_a_zone_as_pymongo_gives_them():
    assert decode({"$date": "2026-01-31T00:00:00Z"})[0] == datetime(2026, 1, 31, tzinfo=UTC).replace(
        tzinfo=None
    )
