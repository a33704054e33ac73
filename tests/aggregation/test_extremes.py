"""Extremes of many values at once are those of one value after the other."""

from __future__ import annotations

from typing import Any

from bson.int64 import Int64
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation.value_order import key, largest, smallest

VALUES = st.one_of(
    st.none(),
    st.floats(allow_nan=True, allow_infinity=True),
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
