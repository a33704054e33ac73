"""Sums and extremes of many values at once are those of one value after the other."""

from __future__ import annotations

import math
from typing import Any

import pytest
from bson.int64 import Int64
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation.numbers import DoubleDouble, certain_sum
from mongo_tables.aggregation.value_order import key, largest, smallest

DOUBLES = st.floats(allow_nan=True, allow_infinity=True)
NEAR_THE_MIDDLE = st.sampled_from(
    [1.0, 1 + 2.0**-52, 2.0**-53, -(2.0**-53), 3 * 2.0**-54, 2.0**-105, 1e16, -1e16, 0.5]
)
MEASURED = st.integers(-(10**6), 10**6).map(lambda number: number / 100)


@given(st.lists(st.one_of(DOUBLES, NEAR_THE_MIDDLE, MEASURED), min_size=1, max_size=30))
def test_a_sum_that_is_certain_is_what_compensation_gives(values: list[float]):
    step_by_step = DoubleDouble()
    step_by_step.add(*values)
    assert certain_sum(values) in (None, step_by_step.double)


def test_the_sum_of_a_measured_series_is_certain():
    assert certain_sum([minute * 1.37 + 5 for minute in range(60)]) == 2724.9


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0**-53],
        [math.inf],
        [math.inf, -math.inf],
        [0.0],
        [1e308, 1e308],
        [1.7e308, -1.7e308, 1.7e308, -1.7e308, 1.0],
    ],
)
def test_where_compensation_decides_no_sum_is_certain(values: list[float]):
    assert certain_sum(values) is None


VALUES = st.one_of(
    st.none(),
    DOUBLES,
    st.integers(-(2**31), 2**31),
    st.integers(-(2**63), 2**63 - 1).map(Int64),
    st.text(max_size=2),
)


@given(st.lists(VALUES, max_size=8))
def test_extremes_are_those_of_the_server_s_order_and_the_first_of_equals(values: list[Any]):
    given_values = [value for value in values if value is not None]
    least, greatest = smallest(values), largest(values)
    if not given_values:
        assert least is None and greatest is None
        return
    assert least is min(given_values, key=key)
    assert greatest is max(given_values, key=key)
