"""What a pipeline uses, each at its place and as what stands there: an expression, an accumulator, a part of a query."""

from __future__ import annotations

from typing import Any

import pytest

from mongo_tables.aggregation.uses import list_uses


def used(*pipeline: Any) -> list[tuple[str, str]]:
    return [(use.kind, use.name) for use in list_uses(pipeline)]


@pytest.mark.parametrize(
    ("stage", "inner"),
    [
        ({"$group": {"_id": {"$first": "$a"}, "x": {"$first": {"$abs": "$b"}}}}, "e$first a$first e$abs"),
        ({"$bucket": {"groupBy": {"$abs": "$a"}, "output": {"x": {"$sum": 1}}}}, "e$abs a$sum"),
        (
            {"$setWindowFields": {"sortBy": {"a": 1}, "output": {"x": {"$shift": {"by": 1}, "window": {}}}}},
            "w$shift",
        ),
        ({"$match": {"a": {"$gt": 1}, "$or": [{"b": {"$not": {"$in": [1]}}}]}}, "q$gt q$or q$not q$in"),
        ({"$match": {"$expr": {"$gt": ["$a", {"$rand": {}}]}}}, "q$expr e$gt e$rand"),
        ({"$match": {"a": {"$elemMatch": {"$gt": 1, "$lt": 2}}}}, "q$elemMatch q$gt q$lt"),
        ({"$match": {"a": {"$elemMatch": {"b": {"$gt": 1}}}}}, "q$elemMatch q$gt"),
        ({"$match": {"a": {"$all": [{"$elemMatch": {"$gt": 1}}]}}}, "q$all q$elemMatch q$gt"),
        ({"$match": {"a": {"$geoWithin": {"$box": [[0, 0], [1, 1]]}}}}, "q$geoWithin q$box"),
        ({"$match": {"a": {"b": {"$gt": 1}}}}, ""),  # a document to equal
        ({"$match": {"a": {"$eq": {"$gt": 1}}}}, "q$eq"),  # a value to equal
        ({"$project": {"a": {"$literal": {"$abs": 1}}}}, "e$literal"),
        ({"$lookup": {"from": "b", "pipeline": [{"$limit": 1}], "as": "c"}}, "s$limit"),
        ({"$unionWith": {"coll": "b", "pipeline": [{"$set": {"a": {"$abs": 1}}}]}}, "s$set e$abs"),
        ({"$unionWith": "b"}, ""),
        ({"$facet": {"a": [{"$count": "n"}], "b": []}}, "s$count"),
        ({"$rankFusion": {"input": {"pipelines": {"a": [{"$sort": {"b": 1}}]}}}}, "s$sort"),
        ({"$graphLookup": {"restrictSearchWithMatch": {"a": {"$gt": 1}}}}, "q$gt"),
        ({"$vectorSearch": {"filter": {"a": {"$gt": 1}}}}, "q$gt"),
        ({"$search": {"text": {"$no": "operator"}}}, ""),
        ({"$group": 5}, ""),
        ({"$match": ["$a"]}, ""),
        ({"$lookup": {"pipeline": [5, "a"]}}, ""),
    ],
)
def test_operators_are_found_as_what_stands_in_their_place(stage: dict[str, Any], inner: str) -> None:
    kinds = {"e": "expression", "a": "accumulator", "w": "window", "q": "query", "s": "stage"}
    (name,) = stage
    assert used(stage) == [("stage", name), *((kinds[one[0]], one[1:]) for one in inner.split())]


def test_a_use_has_its_path_and_its_argument() -> None:
    uses = list(list_uses([{"$limit": 1}, {"$set": {"a": [{"$abs": "$b"}]}}]))
    assert [(use.path, use.argument) for use in uses] == [
        ((0, "$limit"), 1),
        ((1, "$set"), {"a": [{"$abs": "$b"}]}),
        ((1, "$set", "a", 0, "$abs"), "$b"),
    ]
