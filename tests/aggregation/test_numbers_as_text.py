"""What numbers look like as text, and which texts are numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation.expressions.conversion import (
    double_text,
    read_decimal,
    read_double,
    read_integer,
)


@given(st.floats(allow_nan=False))
def test_the_text_of_a_double_reads_back_as_the_same_double(value: float) -> None:
    back = read_double(double_text(value))
    if back is None:
        # Subnormal doubles have a text that the server does not read back.
        assert 0 < abs(value) < 2.3e-308
    else:
        assert math.copysign(1, back) == math.copysign(1, value)
        assert back == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (1e15, "1000000000000000"), (1e16, "1e+16"), (1e-5, "1e-05"), (-0.0, "-0")],
)
def test_a_whole_double_has_no_point_and_large_ones_an_exponent(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "--1", "1_000", "1,5", "1e", "1f", "\u0661", "1\n", "infinit"]
)
def test_what_a_person_would_not_call_a_number_is_none(text: str) -> None:
    assert read_double(text) is None
    assert read_decimal(text) is None
    assert read_integer(text) is None


@given(st.integers())
def test_every_integer_is_read_as_it_is_written_unless_it_fits_nothing(number: int) -> None:
    found = read_integer(str(number))
    assert found == number or abs(number) >= 10**19


def test_a_signed_hexadecimal_double_is_read_as_the_c_library_reads_it() -> None:
    assert read_double("-0x1F") == -31.0


def test_what_overflows_is_refused_and_zero_never_does() -> None:
    assert read_double("1e400") is None
    assert read_double("1e-310") is None
    assert read_double("0e99999") == 0.0
    assert read_decimal("1e7000") is None


def test_digits_beyond_thirty_four_are_cut_off_not_rounded() -> None:
    assert str(read_decimal("9" * 35)) == "9." + "9" * 33 + "E+34"
