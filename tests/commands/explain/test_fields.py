"""Fields of stages are read from their text; fields of documents are counted; a wrong path has a near one."""

from __future__ import annotations

from typing import Any

import pytest

from mongo_tables.lint.walk import (
    difference,
    fields_computed,
    fields_guarded,
    fields_named,
    fields_read,
    shape_of,
    suggest_path,
)
from mongo_tables.results.row_names import has_path

ROWS = [
    {"_id": {"testname": "insert", "docSizeKB": 1}, "ops": 1, "ms": None},
    {"_id": {"testname": "insert", "docSizeKB": 4}, "ops": 2.5, "points": [{"t": 1}, {"value": 2}]},
]


def test_a_shape_counts_types_in_the_order_of_fields() -> None:
    shape = shape_of(ROWS)
    assert [field.path for field in shape.fields] == [
        *("_id", "_id.testname", "_id.docSizeKB"),
        *("ops", "ms", "points"),
    ]
    types = {field.path: field.types for field in shape.fields}
    assert types["ops"] == (("double", 1), ("int", 1))
    assert types["ms"] == (("null", 1),)


def test_nothing_is_said_of_the_difference_to_no_documents() -> None:
    assert difference(shape_of(ROWS), shape_of([])).went == ()


def test_a_type_that_fewer_documents_have_is_no_change() -> None:
    assert difference(shape_of(ROWS), shape_of(ROWS[:1])).changed == ()


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("_id.testnam", "_id.testname"),
        ("testname", "_id.testname"),
        ("docsizekb", "_id.docSizeKB"),
        ("_ids.testname", "_id.testname"),
        ("opps", "ops"),
        ("points.vale", "points.value"),
        ("temperature", ""),
    ],
)
def test_a_wrong_path_leads_to_the_one_that_was_meant(path: str, meant: str) -> None:
    assert suggest_path(path, ROWS) == (f"did you mean `{meant}`?" if meant else "")


def test_paths_look_into_arrays_and_take_places_in_them() -> None:
    assert has_path(ROWS[1], ["points", "t"])
    assert has_path(ROWS[1], ["points", "1", "value"])
    assert not has_path(ROWS[1], ["points", "2"])
    assert has_path(ROWS[0], ["ms"])


@pytest.mark.parametrize(
    ("stage", "paths"),
    [
        (
            {"$match": {"a.b": 1, "$or": [{"c": 1}, {"d": {"$gt": 2}}], "$expr": {"$eq": ["$e", "$$x"]}}},
            "a.b c d e",
        ),
        ({"$set": {"x": {"$add": ["$a", "$$ROOT.b", "$$CURRENT.c", {"$literal": "$no"}]}}}, "a b c"),
        ({"$set": {"x": {"$map": {"input": "$a", "in": "$$this.no"}}}}, "a"),
        ({"$set": {"x": {"$getField": {"field": "no", "input": "$a"}}}}, "a"),
        ({"$project": {"a": 1, "b": 0, "c": {"d": True, "e": "$f"}, "g": "$h"}}, "a c.d f h"),
        ({"$group": {"_id": {"k": "$a"}, "n": {"$sum": 1}, "m": {"$max": "$b"}}}, "a b"),
        ({"$sort": {"a": 1, "s": {"$meta": "textScore"}}}, "a"),
        ({"$unwind": {"path": "$a.b", "includeArrayIndex": "no"}}, "a.b"),
        ({"$lookup": {"from": "x", "localField": "a", "foreignField": "no", "as": "no"}}, "a"),
        (
            {"$lookup": {"from": "x", "let": {"v": "$a"}, "pipeline": [{"$match": {"no": 1}}], "as": "no"}},
            "a",
        ),
        (
            {"$setWindowFields": {"partitionBy": "$a", "sortBy": {"b": 1}, "output": {"o": {"$sum": "$c"}}}},
            "a b c",
        ),
        ({"$facet": {"x": [{"$match": {"no": 1}}]}}, ""),
        ({"$unionWith": {"coll": "x", "pipeline": [{"$match": {"no": 1}}]}}, ""),
        ({"$limit": 3}, ""),
        ({"$fill": {"sortBy": {"t": 1}, "output": {"f": {"value": "$v"}}}}, "t f v"),
        ({"$densify": {"field": "d", "partitionByFields": ["p"], "range": {"step": 1}}}, "d p"),
        ({"$redact": {"$cond": ["$a", "$$KEEP", "$$PRUNE"]}}, "a"),
    ],
)
def test_fields_that_a_stage_reads_of_its_documents(stage: dict[str, Any], paths: str) -> None:
    assert fields_read(stage) == paths.split()


def test_fields_that_a_stage_computes_are_dotted() -> None:
    assert fields_computed({"$set": {"a": 1, "b": {"c": "$d"}}}) == {"a": 1, "b.c": "$d"}
    assert fields_computed({"$project": {"a": 1, "b": "$c", "_id": False}}) == {"b": "$c"}
    assert fields_computed({"$match": {"a": 1}}) == {}


def test_fields_are_guarded_where_if_null_has_something_else() -> None:
    assert fields_guarded({"$set": {"x": {"$add": [{"$ifNull": ["$a", "$b"]}, "$c"]}}}) == {"a"}
    assert fields_guarded({"$fill": {"output": {"f": {"value": "$v"}}}}) == {"f"}


def test_a_stage_is_about_what_it_writes_and_then_what_it_reads() -> None:
    assert fields_named({"$group": {"_id": "$a", "n": {"$max": "$b"}}}) == ["_id", "n", "a", "b"]
    assert fields_named({"$count": "n"}) == ["n"]
    assert fields_named({"$project": {"_id": 0, "a": 1, "b": "$c"}}) == ["b", "a", "c"]
    assert fields_named({"$lookup": {"from": "x", "localField": "a", "foreignField": "k", "as": "j"}}) == [
        "j",
        "a",
    ]
