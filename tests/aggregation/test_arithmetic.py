"""Arithmetic and rounding: exact where the server is exact, and of the type it gives."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError, aggregate

INT64 = st.integers(-(2**63), 2**63 - 1)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


def value_of(expression: Any, **fields: Any) -> Any:
    """What the expression gives for a document with these fields; "missing" when nothing."""
    return aggregate([fields], [{"$project": {"_id": 0, "value": expression}}])[0].get("value", "missing")


@given(INT64, INT64)
def test_integers_are_subtracted_exactly_or_become_a_double(left: int, right: int) -> None:
    found = value_of({"$subtract": ["$a", "$b"]}, a=Int64(left), b=Int64(right))
    exact = left - right
    if -(2**63) <= exact < 2**63:
        assert found == exact and type(found) is Int64
    else:
        assert found == float(exact) and type(found) is float


@given(INT64, INT64.filter(bool))
def test_a_rest_has_the_sign_of_the_dividend(left: int, right: int) -> None:
    found = value_of({"$mod": ["$a", "$b"]}, a=Int64(left), b=Int64(right))
    assert found == math.copysign(1, left) * (abs(left) % abs(right)) or abs(found) >= 2**53
    assert (left - found) % right == 0


@given(DOUBLES, st.integers(0, 6))
def test_rounding_takes_the_nearest_number_with_so_many_places(number: float, places: int) -> None:
    found = value_of({"$round": ["$a", places]}, a=number)
    step = Fraction(1, 10**places)
    ulp = Fraction(math.ulp(number))
    assert abs(Fraction(found) - Fraction(number)) <= step / 2 + ulp


@given(st.integers(-(10**6), 10**6))
def test_halves_go_to_the_even_neighbour(number: int) -> None:
    assert value_of({"$round": "$a"}, a=number + 0.5) == number + number % 2


@given(st.lists(DOUBLES, min_size=1, max_size=20))
def test_a_sum_of_doubles_is_off_by_less_than_its_last_place(numbers: list[float]) -> None:
    found = value_of({"$sum": "$a"}, a=numbers)
    largest = max(abs(math.fsum(numbers[: end + 1])) for end in range(len(numbers)))
    assert abs(Fraction(found) - sum(map(Fraction, numbers))) <= Fraction(math.ulp(largest)) * len(numbers)


@given(INT64, INT64)
def test_an_exponent_of_two_or_less_multiplies(base: int, other: int) -> None:
    assert value_of({"$pow": ["$a", 1]}, a=Int64(base)) == base
    assert value_of({"$pow": ["$a", 0]}, a=Int64(other)) == 1


def test_a_decimal_beside_a_double_makes_the_result_decimal() -> None:
    assert value_of({"$multiply": ["$a", 3]}, a=Decimal128("0.1")) == Decimal128("0.3")
    assert value_of({"$divide": ["$a", 3]}, a=Decimal128("1")) == Decimal128("0." + "3" * 34)


def test_a_decimal_keeps_34_digits() -> None:
    found = value_of({"$sqrt": "$a"}, a=Decimal128("2"))
    assert found.to_decimal() == Decimal("1.414213562373095048801688724209698")


@pytest.mark.parametrize(
    ("expression", "path"),
    [
        ({"$divide": [1, "$zero"]}, ("$divide",)),
        ({"$add": [1, {"$mod": [1, "$zero"]}]}, ("$add", 1, "$mod")),
        ({"$sqrt": "$negative"}, ("$sqrt",)),
        ({"$round": ["$zero", 101]}, ("$round",)),
        ({"$pow": ["$zero", "$negative"]}, ("$pow",)),
        ({"$abs": "$text"}, ("$abs",)),
    ],
)
def test_what_cannot_be_computed_is_told_with_its_place(expression: Any, path: tuple[Any, ...]) -> None:
    with pytest.raises(AggregationError) as raised:
        value_of(expression, zero=0, negative=-1, text="x")
    assert raised.value.path == (0, "$project", "value", *path)


def test_a_range_too_long_for_the_server_is_refused() -> None:
    with pytest.raises(AggregationError, match="memory"):
        value_of({"$range": [0, 2**31 - 1]})
