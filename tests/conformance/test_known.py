"""What is known to differ excuses the order of fields and errors of one side: no value, and no row more or less."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.known import known_difference
from tests.conformance.outcomes import Case, Documents, Outcome, encoded, evaluated

JOIN = [{"$lookup": {"from": "case", "localField": "a", "foreignField": "_id", "as": "a"}}]
WINDOWS = [{"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"x": {"$sum": "$a"}, "y": {"$sum": "$b"}}}}]
BEFORE_A_MATCH = [{"$set": {"b": {"$divide": [1, "$a"]}}}, {"$match": {"a": 2}}]


def excuse(documents: Documents, pipeline: Documents, theirs: Outcome) -> str:
    ours = evaluated(documents, pipeline, {})
    return known_difference(Case(documents, pipeline, {}, ours, theirs))


@pytest.mark.parametrize(
    ("pipeline", "row", "other"),
    [
        (JOIN, {"a": [], "_id": 1}, {"a": [1], "_id": 1}),
        (WINDOWS, {"_id": 1, "a": 2, "y": 0, "x": 2}, {"_id": 1, "a": 2, "y": 0, "x": 3}),
    ],
)
def test_an_order_of_fields_is_excused_and_a_value_or_a_row_is_not(
    pipeline: Documents, row: dict[str, Any], other: dict[str, Any]
) -> None:
    documents = [{"_id": 1, "a": 2}]
    assert excuse(documents, pipeline, ("rows", encoded([row]))).startswith("order of fields only")
    assert excuse(documents, pipeline, ("rows", encoded([other]))) == ""
    assert excuse(documents, pipeline, ("rows", encoded([row, row]))) == ""


def test_a_failure_before_a_match_is_excused_for_the_rows_that_the_match_leaves_and_no_others() -> None:
    documents = [{"_id": 1, "a": 0}, {"_id": 2, "a": 2}]
    row = {"_id": 2, "a": 2, "b": 0.5}
    assert "moves ahead" in excuse(documents, BEFORE_A_MATCH, ("rows", encoded([row])))
    assert excuse(documents, BEFORE_A_MATCH, ("rows", encoded([{**row, "b": 0.25}]))) == ""
    assert excuse(documents, BEFORE_A_MATCH, ("rows", [])) == ""


def test_a_failure_in_a_union_before_a_match_is_excused_likewise() -> None:
    documents = [{"_id": 1, "a": 0}, {"_id": 2, "a": 2}]
    pipeline = [{"$unionWith": {"coll": "case", "pipeline": BEFORE_A_MATCH[:1]}}, BEFORE_A_MATCH[1]]
    rows = [{"_id": 2, "a": 2}, {"_id": 2, "a": 2, "b": 0.5}]
    assert "moves ahead" in excuse(documents, pipeline, ("rows", encoded(rows)))
    assert excuse(documents, pipeline, ("rows", encoded(rows[:1]))) == ""


def test_a_failure_in_a_join_is_excused_where_no_document_gets_to_it() -> None:
    failing = {"$divide": [1, 0]}
    graph = {"from": "case", "startWith": failing, "connectFromField": "a", "connectToField": "a", "as": "x"}
    pipeline = [{"$match": {"a": 3}}, {"$graphLookup": graph}]
    assert "no document gets to" in excuse([{"_id": 1}], pipeline, ("rows", []))
    assert excuse([{"_id": 1}], pipeline, ("rows", encoded([{"_id": 1}]))) == ""
    assert excuse([{"_id": 1, "a": 3}], pipeline, ("rows", encoded([{"_id": 1}]))) == ""


def test_rows_beside_an_error_of_the_server_are_excused_only_where_a_moved_stage_fails_here_too() -> None:
    assert excuse([{"_id": 1}], [{"$set": {"x": 1}}], ("error", "2: it fails")) == ""
    assert excuse([{"_id": 1}], [{"$set": {"x": 1}}], ("error", "4822806: duplicate field: _id")) == ""


def test_a_match_on_a_document_may_be_asked_before_a_field_within_is_set_and_no_other() -> None:
    documents = [{"_id": 1, "o": {"a": 1}}, {"_id": 2}]
    pipeline = [{"$set": {"o.x": 3}}, {"$match": {"o": {"$exists": True}}}]
    row = {"_id": 1, "o": {"a": 1, "x": 3}}
    assert "before an earlier stage sets" in excuse(documents, pipeline, ("rows", encoded([row])))
    assert excuse(documents, pipeline, ("rows", encoded([{"_id": 2, "o": {"x": 3}}]))) == ""
    apart = [{"$set": {"p": 3}}, {"$match": {"p": {"$exists": True}}}]
    assert excuse(documents, apart, ("rows", [])) == ""
