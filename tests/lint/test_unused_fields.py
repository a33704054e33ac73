"""Usage: what of a pipeline is shown or read, seen from its end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bson
import pytest
from hypothesis import HealthCheck, given, settings

from mongo_tables.aggregation import AggregationError, NotOffline, aggregate
from mongo_tables.aggregation.fields import split_path
from mongo_tables.lint.field_rules import FieldUsage, Live, usage
from mongo_tables.lint.shape.flow import read_stages
from mongo_tables.render.column import column_value
from tests.conformance.generator import documents
from tests.conformance.pipelines import pipelines

COLUMNS = ["_id", "x", "n", "made", "result", "w"]


def usage_of(pipeline: list[Any], columns: Iterable[str]) -> FieldUsage:
    return usage(read_stages(pipeline), Live(map(split_path, columns)))


def unused(pipeline: list[Any], *columns: str) -> list[str]:
    return [one.name for one in usage_of(pipeline, columns).unused]


@pytest.mark.parametrize(
    ("pipeline", "columns", "names"),
    [
        ([{"$set": {"a": 1, "b": 2}}], ["a"], ["b"]),
        ([{"$set": {"a": 1}}, {"$set": {"b": "$a"}}], ["b"], []),
        ([{"$set": {"a": 1}}, {"$set": {"a": 2}}], ["a"], ["a"]),
        ([{"$set": {"a.b": 1, "a.c": 2}}], ["a.b"], ["a.c"]),
        ([{"$set": {"a": {"b": 1, "c": 2}}}], ["a.b"], ["a.c"]),
        ([{"$set": {"a": 1}}, {"$sort": {"a": 1}}, {"$project": {"b": 1}}], ["b"], []),
        ([{"$set": {"a": 1}}, {"$group": {"_id": "$a"}}], ["_id"], []),
        ([{"$set": {"a": 1}}, {"$count": "n"}], ["n"], ["a"]),
        ([{"$set": {"a": 1}}, {"$facet": {"f": []}}], ["f"], []),
        ([{"$set": {"a": 1}}, {"$replaceWith": "$$ROOT"}], ["b"], []),
        ([{"$project": {"a": 0}}], ["b"], []),
        ([{"$set": {"a": 1}}, {"$project": {"b": {"$getField": "a"}}}], ["b"], []),
        ([{"$set": {"a": 1}}, {"$set": {"b": {"$literal": "$a"}}}], ["b"], ["a"]),
        ([{"$set": {"a": 1}}, {"$unwind": "$a"}], ["b"], []),
        ([{"$set": {"a": [{}, {}]}}, {"$set": {"a.b": 1}}], ["a.b"], []),
        ([{"$set": {"a": [{}, {}]}}, {"$project": {"a.b": {"$literal": 1}}}], ["a.b"], []),
        ([{"$set": {"a": 1}}, {"$set": {"x": {"sortBy": {"k": "$a"}}}}], ["x"], []),
        ([{"$set": {"a.b": 1}}, {"$match": {"a.0.b": 1}}], ["c"], []),
        ([{"$set": {"a": 1}}, {"$match": {"$jsonSchema": {"required": ["a"]}}}], ["c"], []),
        ([{"$set": {"a": 1, "c": 2}}, {"$project": {"_id": 1, "a": 0}}], ["c"], ["a"]),
        ([{"$set": {"a": 1, "b": 2}}, {"$facet": {"f": [{"$project": {"a": 1}}]}}], ["f"], ["b"]),
        ([{"$facet": {"f": [], "g": [{"$count": "n"}]}}], ["f"], ["g"]),
        ([{"$set": {"a": 1, "b": 1}}, {"$unionWith": "o"}], ["a"], ["b"]),
        (
            [{"$set": {"a": 1, "b": 1, "p": 1}}, {"$densify": {"field": "a", "partitionByFields": ["p"]}}],
            ["c"],
            ["b"],
        ),
        (
            [{"$set": {"a": 1, "b": 1}}, {"$fill": {"output": {"a": {"method": "locf"}, "c": {"value": 0}}}}],
            ["a"],
            ["b", "c"],
        ),
    ],
)
def test_what_is_not_used_is_told(pipeline: list[Any], columns: list[str], names: list[str]) -> None:
    assert unused(pipeline, *columns) == names


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), pipelines())
def test_without_what_is_unused_every_shown_cell_stays_the_same(
    docs: list[dict[str, Any]], pipeline: list[dict[str, Any]]
) -> None:
    # What an unused accumulator reads is unused too: left in, it could fail on what the field had hidden.
    stages = ("$set", "$addFields", "$group")
    told = [one for one in usage_of(pipeline, COLUMNS).unused if one.path[1] in stages]
    slimmer = [without(stage, index, told) for index, stage in enumerate(pipeline)]
    try:
        before = aggregate(docs, pipeline, collections={"case": docs})
    except (AggregationError, NotOffline):
        return
    after = aggregate(docs, [stage for stage in slimmer if stage], collections={"case": docs})
    assert cells(after) == cells(before)


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), pipelines())
def test_documents_with_what_a_pipeline_uses_alone_give_the_same_cells(
    docs: list[dict[str, Any]], pipeline: list[dict[str, Any]]
) -> None:
    docs = [bson.decode(bson.encode(one)) for one in docs]
    read = usage_of(pipeline, COLUMNS).read
    short = [{name: value for name, value in one.items() if read.has((name,))} for one in docs]
    try:
        before = aggregate(docs, pipeline, collections={"case": docs})
        after = aggregate(short, pipeline, collections={"case": docs})
    except (AggregationError, NotOffline):
        return
    assert cells(after) == cells(before)


def without(stage: dict[str, Any], index: int, told: list[Any]) -> dict[str, Any]:
    """The stage without the top-level fields that nothing uses; empty when nothing is left."""
    gone = {one.path[2] for one in told if one.path[0] == index and len(one.path) == 3}
    ((name, argument),) = stage.items()
    if not gone:
        return stage
    kept = {key: value for key, value in argument.items() if key not in gone}
    return {name: kept} if kept else {}


def cells(rows: list[dict[str, Any]]) -> list[list[str]]:
    return [[repr(column_value(row, column)) for column in COLUMNS] for row in rows]
