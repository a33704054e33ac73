"""Documents come in the order of their sort keys, whatever way they are ordered by."""

from __future__ import annotations

from typing import Any

import pytest
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError, value_order

NUMBERS = st.sampled_from([0, 1, -1, 1.0, -0.0, 2.5, Int64(2), Int64(2**62), 2.0**62, 10**9])
TEXTS = st.sampled_from(["", "a", "B", "é", "\U0001f600", "\uffff", "10", "9"])
ODD = st.one_of(
    st.none(), st.booleans(), st.just(float("nan")), st.just(Decimal128("1")), st.just({"x": 1}), st.just([])
)
COLUMNS = [NUMBERS, TEXTS, NUMBERS | TEXTS, NUMBERS | ODD, TEXTS | st.lists(NUMBERS, max_size=2)]


@st.composite
def documents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Documents whose fields are of one kind each, or of several."""
    columns = {name: draw(st.sampled_from(COLUMNS)) for name in ("_id", "a", "b")}
    row = (
        st.fixed_dictionaries({}, optional=columns) if draw(st.booleans()) else st.fixed_dictionaries(columns)
    )
    return draw(st.lists(row, max_size=8))


@given(
    documents(),
    st.lists(st.sampled_from(["_id", "a", "b", "a.x"]), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from([1, -1]), min_size=3, max_size=3),
)
@settings(max_examples=400, deadline=None)
def test_documents_come_in_the_order_of_their_keys_and_equal_ones_stay(
    rows: list[dict[str, Any]], names: list[str], ways: list[int]
) -> None:
    pattern = value_order.parse(dict(zip(names, ways, strict=False)), ())
    try:
        keys = [pattern.direct_keys(pattern.keys(row)) for row in rows]
    except AggregationError:
        with pytest.raises(AggregationError):
            pattern.sort(rows)
        return
    wanted = [rows[place] for place in sorted(range(len(rows)), key=keys.__getitem__)]
    assert list(map(id, pattern.sort(rows))) == list(map(id, wanted))
