"""Filters that are chosen by at a glance keep what the same condition keeps when it is computed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation import aggregate

VALUES = st.one_of(st.none(), st.integers(0, 2), st.sampled_from("ab"), st.just([]))
ITEMS = st.one_of(VALUES, st.dictionaries(st.sampled_from("vw"), VALUES, max_size=2))


@pytest.mark.parametrize(
    "condition",
    [
        {"$ne": ["$$this", None]},
        {"$ne": ["$$this.v", None]},
        {"$eq": ["$$this.v", "a"]},
        {"$eq": ["$$this.v", None]},
        {"$ne": ["$$this.v.w", None]},
    ],
)
@given(items=st.lists(ITEMS, max_size=6))
def test_a_plain_condition_keeps_what_it_keeps_inside_of_another(condition: dict[str, Any], items: list[Any]):
    def kept(cond: Any) -> Any:
        return aggregate([{"a": items}], [{"$project": {"kept": {"$filter": {"input": "$a", "cond": cond}}}}])

    assert kept(condition) == kept({"$and": [condition]})
