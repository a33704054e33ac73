"""What the stages promise: shapes, orders, joins, and complaints with the culprit's path."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError, NotOffline, aggregate

RUNS = [
    {"_id": 1, "system": "ares", "threads": 1, "ops": [10, 30]},
    {"_id": 2, "system": "hera", "threads": 8, "ops": []},
    {"_id": 3, "system": "ares", "threads": 8, "ops": [20]},
]


def refusal(pipeline: list[Any], documents: list[dict[str, Any]] | None = None) -> AggregationError:
    with pytest.raises(AggregationError) as raised:
        aggregate(RUNS if documents is None else documents, pipeline)
    return raised.value


def test_input_documents_are_left_as_they_were() -> None:
    document = {"_id": 1, "a": {"b": [{"c": 1}]}}
    pipeline = [
        {"$set": {"a.b.c": 2, "x.y": 3}},
        {"$unset": "a.b.d"},
        {"$unwind": "$a.b"},
        {"$project": {"a.b.c": 1}},
    ]
    assert aggregate([document], pipeline) == [{"_id": 1, "a": {"b": {"c": 2}}}]
    assert document == {"_id": 1, "a": {"b": [{"c": 1}]}}


def test_set_keeps_the_place_of_a_field_and_adds_new_ones_in_the_order_written() -> None:
    (row,) = aggregate(RUNS[:1], [{"$set": {"z": 1, "system": "x", "b": 2}}])
    assert list(row) == ["_id", "system", "threads", "ops", "z", "b"]


def test_a_field_that_was_removed_and_is_set_again_stands_in_its_old_place() -> None:
    (row,) = aggregate(
        RUNS[:1], [{"$unset": ["system", "ops"]}, {"$limit": 1}, {"$set": {"ops": 0, "system": 0}}]
    )
    assert list(row) == ["_id", "system", "threads", "ops"]


def test_an_inclusion_says_where_it_turns_into_an_exclusion() -> None:
    error = refusal([{"$limit": 1}, {"$project": {"system": 1, "ops": 0}}])
    assert error.path == (1, "$project", "ops")
    assert "includes" in error.message


def test_sort_orders_by_several_fields_in_their_own_directions() -> None:
    rows = aggregate(RUNS, [{"$sort": {"threads": -1, "system": -1}}])
    assert [row["_id"] for row in rows] == [2, 3, 1]


@given(
    st.lists(
        st.one_of(st.integers(-3, 3), st.none(), st.text(max_size=2), st.floats(allow_nan=False)), max_size=8
    )
)
@settings(max_examples=60, deadline=None)
def test_sorting_downward_reverses_sorting_upward_of_different_values(values: list[Any]) -> None:
    documents = [{"_id": place, "v": value} for place, value in enumerate(values)]
    up = aggregate(documents, [{"$sort": {"v": 1, "_id": 1}}])
    down = aggregate(documents, [{"$sort": {"v": -1, "_id": -1}}])
    assert up == down[::-1]


def test_what_sorts_equal_keeps_its_order() -> None:
    rows = aggregate([{"_id": 2, "v": 1}, {"_id": 1, "v": 1.0}, {"_id": 0}], [{"$sort": {"v": 1}}])
    assert [row["_id"] for row in rows] == [0, 2, 1]


def test_groups_come_in_the_order_in_which_their_keys_first_come() -> None:
    rows = aggregate(RUNS, [{"$group": {"_id": "$system", "n": {"$sum": 1}}}])
    assert rows == [{"_id": "ares", "n": 2}, {"_id": "hera", "n": 1}]


def test_count_of_nothing_is_no_document() -> None:
    assert aggregate(RUNS, [{"$match": {"system": "zeus"}}, {"$count": "n"}]) == []
    assert aggregate(RUNS, [{"$count": "n"}]) == [{"n": 3}]


def test_sort_by_count_puts_the_most_frequent_first() -> None:
    rows = aggregate(RUNS, [{"$sortByCount": "$threads"}])
    assert rows == [{"_id": 8, "count": 2}, {"_id": 1, "count": 1}]


def test_facets_all_see_the_same_documents() -> None:
    (row,) = aggregate(
        RUNS, [{"$skip": 1}, {"$facet": {"n": [{"$count": "n"}], "none": [{"$match": {"x": 1}}]}}]
    )
    assert row == {"n": [{"n": 2}], "none": []}


def test_union_adds_the_documents_of_another_collection_after_its_pipeline() -> None:
    pipeline = [
        {"$unionWith": {"coll": "old", "pipeline": [{"$match": {"threads": 8}}]}},
        {"$project": {"_id": 1}},
    ]
    rows = aggregate(RUNS[:1], pipeline, collections={"old": RUNS})
    assert [row["_id"] for row in rows] == [1, 2, 3]


def test_a_pipeline_may_bring_its_own_documents() -> None:
    pipeline = [{"$lookup": {"pipeline": [{"$documents": [{"unit": "ops"}]}], "as": "units"}}]
    assert aggregate([{"_id": 1}], pipeline) == [{"_id": 1, "units": [{"unit": "ops"}]}]
    assert refusal([{"$documents": [{"a": 1}]}]).path == (0, "$documents")


def test_an_uncorrelated_lookup_gives_every_document_the_same() -> None:
    pipeline = [
        {"$lookup": {"from": "limits", "pipeline": [{"$sort": {"v": 1}}, {"$limit": 1}], "as": "least"}}
    ]
    rows = aggregate(RUNS, pipeline, collections={"limits": [{"v": 3}, {"v": 1}]})
    assert [row["least"] for row in rows] == [[{"v": 1}]] * 3


def test_graph_lookup_follows_references_to_their_depth() -> None:
    people = [{"_id": 1, "boss": 2}, {"_id": 2, "boss": 3}, {"_id": 3, "boss": 1}]
    stage = {
        "from": "people",
        "startWith": "$boss",
        "connectFromField": "boss",
        "connectToField": "_id",
        "as": "above",
        "depthField": "steps",
        "maxDepth": 1,
    }
    (row,) = aggregate(people[:1], [{"$graphLookup": stage}], collections={"people": people})
    assert [(one["_id"], one["steps"]) for one in row["above"]] == [(2, 0), (3, 1)]


def test_a_sample_is_the_same_for_the_same_seed_and_never_repeats_a_document() -> None:
    documents = [{"_id": place} for place in range(50)]
    first = aggregate(documents, [{"$sample": {"size": 20}}], seed=1)
    assert first == aggregate(documents, [{"$sample": {"size": 20}}], seed=1)
    assert len({row["_id"] for row in first}) == 20
    assert len(aggregate(documents, [{"$sample": {"size": 80}}])) == 50


def test_replacing_a_document_by_something_else_fails_with_its_place() -> None:
    error = refusal([{"$replaceRoot": {"newRoot": "$threads"}}])
    assert (error.path, error.code) == ((0, "$replaceRoot", "newRoot"), 40228)


def test_bucket_auto_keeps_equal_values_in_one_bucket() -> None:
    documents = [{"v": value} for value in (1, 2, 2, 2, 3)]
    rows = aggregate(documents, [{"$bucketAuto": {"groupBy": "$v", "buckets": 3}}])
    assert rows == [{"_id": {"min": 1, "max": 3}, "count": 4}, {"_id": {"min": 3, "max": 3}, "count": 1}]


@pytest.mark.parametrize(
    ("stage", "path"),
    [
        ({"$project": {}}, ("$project",)),
        ({"$set": {"a": {}}}, ("$set", "a")),
        ({"$unset": ["a", 1]}, ("$unset", 1)),
        ({"$sort": {"a": 2}}, ("$sort", "a")),
        ({"$group": {"n": {"$sum": 1}}}, ("$group",)),
        ({"$group": {"_id": 1, "n": {"$sun": 1}}}, ("$group", "n", "$sun")),
        ({"$unwind": {"path": "ops"}}, ("$unwind", "path")),
        ({"$unwind": {"path": "$ops", "index": "i"}}, ("$unwind", "index")),
        ({"$lookup": {"from": "x", "localField": "a", "as": "b"}}, ("$lookup",)),
        ({"$bucket": {"groupBy": "$a", "boundaries": [3, 1]}}, ("$bucket", "boundaries", 1)),
        (
            {"$bucketAuto": {"groupBy": "$a", "buckets": 2, "granularity": "R3"}},
            ("$bucketAuto", "granularity"),
        ),
        ({"$facet": {"a": [{"$out": "x"}]}}, ("$facet", "a", 0, "$out")),
        ({"$match": {"a": {"$gtt": 1}}}, ("$match", "a", "$gtt")),
        ({"$match": {"$and": [{}, {"$or": []}]}}, ("$match", "$and", 1, "$or")),
    ],
)
def test_a_wrong_specification_is_told_with_its_place_before_any_document_is_read(
    stage: Any, path: Any
) -> None:
    assert refusal([{"$skip": 0}, stage], []).path == (1, *path)


def test_a_misspelt_option_is_told_with_those_that_there_are() -> None:
    error = refusal([{"$lookup": {"from": "x", "localFeld": "a", "as": "b"}}])
    assert error.unknown == "localFeld"
    assert "localField" in error.known


def test_what_needs_a_server_says_so() -> None:
    with pytest.raises(NotOffline, match="JavaScript"):
        aggregate(RUNS, [{"$match": {"$where": "true"}}])
    with pytest.raises(NotOffline, match="text index"):
        aggregate(RUNS, [{"$match": {"$text": {"$search": "x"}}}])


@pytest.mark.parametrize(
    ("documents", "stage"),
    [
        ([{"a": {1: 2}}], {"$project": {"a": 1}}),
        ([{"a": {1: 2}}, {"a": {"x": 2}}], {"$sort": {"a": 1}}),
        ([{"a": [{None: 2}]}], {"$group": {"_id": "$a"}}),
    ],
)
def test_a_field_name_that_is_no_string_is_told(documents: Any, stage: Any) -> None:
    with pytest.raises(AggregationError, match="a field name that is not a string"):
        aggregate(documents, [stage])
