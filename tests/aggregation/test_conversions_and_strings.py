"""Conversions and strings: what fails, where, and what is not looked at."""

from __future__ import annotations

from typing import Any

import pytest
from bson.binary import Binary
from bson.code import Code
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError, aggregate


def value_of(expression: Any, **fields: Any) -> Any:
    """What the expression gives for a document with these fields; "missing" when nothing."""
    return aggregate([fields], [{"$project": {"_id": 0, "value": expression}}])[0].get("value", "missing")


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_a_substring_by_code_points_is_a_slice(text: str, start: int, length: int) -> None:
    assert value_of({"$substrCP": ["$s", start, length]}, s=text) == text[start : start + length]


@given(st.lists(st.text(alphabet="ab,é", max_size=4), min_size=1, max_size=5))
def test_what_is_joined_with_a_separator_splits_again(parts: list[str]) -> None:
    text = ";".join(parts)
    assert value_of({"$split": ["$s", ";"]}, s=text) == parts


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_int64_survives_being_a_string(number: int) -> None:
    found = value_of({"$toLong": {"$toString": "$n"}}, n=Int64(number))
    assert type(found) is Int64
    assert found == number


def test_binary_data_survives_being_a_string() -> None:
    expression = {"$convert": {"input": {"$toString": "$b"}, "to": "binData", "format": "base64"}}
    assert value_of(expression, b=Binary(b"\x00\xff~", 0)) == Binary(b"\x00\xff~", 0)


@pytest.mark.parametrize("order", ["little", "big"])
def test_a_number_survives_being_binary_data_in_either_byte_order(order: str) -> None:
    binary = {"$convert": {"input": "$n", "to": "binData", "byteOrder": order}}
    assert value_of({"$convert": {"input": binary, "to": "double", "byteOrder": order}}, n=-2.5) == -2.5


def test_an_integer_is_written_and_read_in_a_base() -> None:
    written = {"$convert": {"input": "$n", "to": "string", "base": 16}}
    assert value_of(written, n=255) == "FF"
    assert value_of({"$convert": {"input": written, "to": "int", "base": 16}}, n=255) == 255


def test_on_error_is_not_computed_unless_there_is_one() -> None:
    expression = {"$convert": {"input": "$n", "to": "string", "onError": {"$divide": ["$n", 0]}}}
    assert value_of(expression, n=1) == "1"


def test_an_error_within_the_input_is_not_caught() -> None:
    with pytest.raises(AggregationError) as raised:
        value_of({"$convert": {"input": {"$toInt": "$s"}, "to": "int", "onError": 0}}, s="x")
    assert raised.value.path == (0, "$project", "value", "$convert", "input", "$toInt")
    assert raised.value.code == 241


def test_a_constant_that_cannot_be_converted_fails_without_documents() -> None:
    with pytest.raises(AggregationError):
        aggregate([], [{"$project": {"value": {"$toInt": "x"}}}])


def test_code_is_no_string() -> None:
    with pytest.raises(AggregationError) as raised:
        value_of({"$strLenCP": "$c"}, c=Code("f"))
    assert raised.value.code == 34471


def test_decimals_keep_their_digits_as_text() -> None:
    assert value_of({"$toString": "$d"}, d=Decimal128("1.10")) == "1.10"


def test_a_constant_regular_expression_is_compiled_without_documents() -> None:
    with pytest.raises(AggregationError) as raised:
        aggregate([], [{"$project": {"value": {"$regexMatch": {"input": "$s", "regex": "("}}}}])
    assert raised.value.code == 51111
