"""A value is printed as it is; only the author's ``format`` changes it."""

from __future__ import annotations

import math
import struct
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from bson import DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.binary import Binary
from bson.code import Code
from bson.datetime_ms import DatetimeMS
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.columns import ColumnFormat
from mongo_tables.render.column import column_value
from mongo_tables.render.values import cell_text, visible


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (139.8, "139.8"),
        (139.80, "139.8"),
        (512.0, "512"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1200000.0, "1200000"),
        (1713870000.123, "1713870000.123"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.000001, "0.000001"),
        (0.0000001, "1e-7"),
        (5e-324, "5e-324"),
        (-0.0, "-0"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (0, "0"),
        (9007199254740993, "9007199254740993"),
        (Int64(-(2**63)), "-9223372036854775808"),
        (Decimal128("139.80"), "139.80"),
        (Decimal128("1E+3"), "1E+3"),
        (Decimal128("NaN"), "NaN"),
        (True, "true"),
        (False, "false"),
        ("007", "007"),
        ("", ""),
        (datetime(2026, 11, 2, 9, 30), "2026-11-02T09:30:00Z"),
        (datetime(2026, 11, 2, 9, 30, 0, 5000), "2026-11-02T09:30:00.005Z"),
        (datetime(2026, 11, 2, 9, 30, tzinfo=timezone(timedelta(hours=2))), "2026-11-02T07:30:00Z"),
        (datetime(7, 1, 2, tzinfo=UTC), "0007-01-02T00:00:00Z"),
        (DatetimeMS(10**17), "Date(100000000000000000)"),
        (ObjectId("65f0c0ffee65f0c0ffee65f0"), "65f0c0ffee65f0c0ffee65f0"),
        (Binary.from_uuid(UUID(int=5)), "00000000-0000-0000-0000-000000000005"),
        (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (b"abc", "YWJj"),
        (Regex("^a", "i"), "/^a/i"),
        (Timestamp(1713870000, 1), "Timestamp(1713870000, 1)"),
        (MinKey(), "MinKey"),
        (MaxKey(), "MaxKey"),
        (Code("f()"), "f()"),
        (DBRef("runs", 1), '{"$ref": "runs", "$id": 1}'),
        ([1, 2.5, "é", None, True], '[1, 2.5, "é", null, true]'),
        ({"a": {"b": Decimal128("1.0")}, "c": []}, '{"a": {"b": 1.0}, "c": []}'),
        ([ObjectId("65f0c0ffee65f0c0ffee65f0")], '["65f0c0ffee65f0c0ffee65f0"]'),
    ],
)
def test_a_value_has_its_text(value: Any, text: str) -> None:
    assert cell_text(value) == text


def test_null_and_missing_differ_and_are_neither_blank_nor_zero() -> None:
    assert (cell_text(None), cell_text(MISSING)) == ("n/a", "—")


@given(st.floats(allow_nan=False))
def test_the_text_of_a_double_reads_back_as_the_same_double(value: float) -> None:
    assert struct.pack("<d", float(cell_text(value))) == struct.pack("<d", value)


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_integer_has_all_its_digits(value: int) -> None:
    assert int(cell_text(Int64(value))) == value


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (2.675, {"decimals": 2}, "2.68"),
        (0.125, {"decimals": 2}, "0.13"),
        (-0.125, {"decimals": 2}, "-0.13"),
        (0.9745, {"decimals": 3}, "0.975"),
        (1.005, {"decimals": 2}, "1.01"),
        (0.375, {"decimals": 2}, "0.38"),
        (-0.001, {"decimals": 2}, "0.00"),
        (5, {"decimals": 1}, "5.0"),
        (1e21, {"decimals": 0}, "1000000000000000000000"),
        (1234567.891, {"thousands": True}, "1,234,567.891"),
        (1234567, {"thousands": True, "decimals": 1}, "1,234,567.0"),
        (1234567, {"thousands": "\u202f"}, "1\u202f234\u202f567"),
        (-1234, {"thousands": "."}, "-1.234"),
        (Decimal128("2.5"), {"decimals": 0}, "3"),
        (Decimal128("3.5"), {"decimals": 0}, "4"),
        (math.nan, {"decimals": 2}, "NaN"),
        (True, {"decimals": 2}, "true"),
        ("12.345", {"decimals": 1}, "12.345"),
        (None, {"missing": "not measured"}, "not measured"),
        (MISSING, {"missing": ""}, ""),
        (None, {"decimals": 2}, "n/a"),
        (139.8, {"unit": "ms"}, "139.8"),
    ],
)
def test_a_number_is_formatted_as_the_author_asks(value: Any, form: dict[str, Any], text: str) -> None:
    assert cell_text(value, ColumnFormat(**form)) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 12))
def test_rounding_is_never_off_by_more_than_half_a_unit(value: float, decimals: int) -> None:
    text = cell_text(value, ColumnFormat(decimals=decimals))
    assert abs(Decimal(text) - Decimal(repr(value))) <= Decimal(5).scaleb(-decimals - 1)
    assert len(text.partition(".")[2]) == decimals


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("a", 1),
        ("b.c", 2),
        ("b.c.d", MISSING),
        ("b.x", MISSING),
        ("x", MISSING),
        ("p.q", "literal"),
        ("list.n", [1, 3]),
        ("none", None),
        ("none.x", MISSING),
    ],
)
def test_a_column_is_a_field_or_a_path(column: str, value: Any) -> None:
    row = {
        "a": 1,
        "b": {"c": 2},
        "p.q": "literal",
        "p": {"q": "path"},
        "list": [{"n": 1}, {"m": 2}, {"n": 3}],
        "none": None,
    }
    assert column_value(row, column) == value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b\x1b[31m\x7f", "a␀b␛[31m␡"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\ud800", "\ufffd"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("żółć 数", "żółć 数"),
    ],
)
def test_what_a_page_cannot_show_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown
