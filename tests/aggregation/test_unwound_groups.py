"""Arrays that are unwound and grouped at once give the groups of their documents one by one."""

from __future__ import annotations

from typing import Any

import pytest
from bson.int64 import Int64
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.stages import unwind

ELEMENTS = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.floats(-3, 3),
    st.just(Int64(5)),
    st.text("ab", max_size=1),
    st.lists(st.dictionaries(st.sampled_from("vw"), st.integers(0, 2), max_size=2), max_size=2),
    st.dictionaries(
        st.sampled_from("vw"), st.one_of(st.none(), st.floats(-3, 3), st.integers(0, 9)), max_size=2
    ),
)
ARRAYS = st.one_of(st.lists(ELEMENTS, max_size=5), ELEMENTS)
DOCUMENTS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "k": st.integers(0, 1),
            "a": ARRAYS,
            "b": st.fixed_dictionaries({}, optional={"a": ARRAYS}),
        },
    ),
    max_size=5,
)
FIELDS = st.sampled_from(
    ["$a", "$a.v", "$b", "$b.a", "$b.a.v", "$b.a.v.w", "$k", "$none", "$$ROOT.k", 1, None]
)
KEYS = st.one_of(
    FIELDS, st.fixed_dictionaries({"x": FIELDS, "y": FIELDS}), st.fixed_dictionaries({"x": st.just("$k")})
)
SPECS = st.dictionaries(
    st.sampled_from("pqr"),
    st.builds(
        lambda name, field: {name: field}, st.sampled_from(["$sum", "$avg", "$min", "$max", "$push"]), FIELDS
    ),
    max_size=3,
)
UNWINDS = st.builds(
    lambda path, keep: {"$unwind": {"path": path, "preserveNullAndEmptyArrays": keep}},
    st.sampled_from(["$a", "$b.a"]),
    st.booleans(),
)


def outcome(documents: list[Any], pipeline: list[Any]) -> Any:
    try:
        return repr(aggregate(documents, pipeline))
    except AggregationError as error:
        return error.code


@given(DOCUMENTS, st.lists(UNWINDS, min_size=1, max_size=2), KEYS, SPECS)
def test_groups_of_arrays_are_the_groups_of_their_elements(
    documents: list[Any], unwinds: list[Any], key: Any, specs: dict[str, Any]
):
    if isinstance(key, dict) and any(isinstance(value, int) for value in key.values()):
        return
    group = {"$group": {"_id": key, **specs}}
    one_by_one = [*unwinds, {"$match": {}}, group]  # Behind a $match there are documents.
    assert outcome(documents, [*unwinds, group]) == outcome(documents, one_by_one)


def test_no_document_is_made_of_an_element_that_is_grouped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unwind._Unwind, "output", lambda *_: pytest.fail("a document was made"))
    pipeline = [
        {"$unwind": "$points"},
        {"$group": {"_id": {"run": "$run"}, "mean": {"$avg": "$points.value"}, "n": {"$sum": 1}}},
    ]
    runs = [{"run": run, "points": [{"value": run + k} for k in range(3)]} for run in (1, 2)]
    assert aggregate(runs, pipeline) == [
        {"_id": {"run": 1}, "mean": 2.0, "n": 3},
        {"_id": {"run": 2}, "mean": 3.0, "n": 3},
    ]
