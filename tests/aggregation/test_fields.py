"""What stages say of themselves: the fields that they read, make and keep, and the documents that they give."""

from __future__ import annotations

from typing import Any

import bson
import pytest
from hypothesis import HealthCheck, assume, given, settings

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.catalogue import operators
from mongo_tables.aggregation.fields import (
    WHOLE,
    Gives,
    Order,
    effect_of,
    paths_in,
    paths_in_query,
    record_of,
)
from mongo_tables.results.rows import CODEC
from tests.aggregation.reads import ReadsAnything, paths_read, tree_of
from tests.conformance.generator import documents
from tests.conformance.pipelines import pipelines

PIPELINE = [{"$limit": 1}]
WINDOW = {"partitionBy": "$p", "sortBy": {"s": 1}, "output": {"o.x": {"$sum": "$a.b"}}}
FILLED = {
    "partitionByFields": ["p"],
    "sortBy": {"s": 1},
    "output": {"o": {"method": "locf"}, "f": {"value": "$v"}},
}
RANGE = {"step": 1, "bounds": "full"}
JOIN = {
    "from": "x",
    "localField": "l",
    "foreignField": "no",
    "let": {"v": "$w.u"},
    "pipeline": PIPELINE,
    "as": "j",
}
GRAPH = {"from": "x", "startWith": "$l", "connectFromField": "no", "connectToField": "no", "as": "j"}

# Of each stage: its argument, what it reads, and the fields that it names. "*" stands for all others.
STAGES: list[tuple[str, Any, str, str]] = [
    ("$match", {"a.b": 1, "$or": [{"c": 1}, {"$expr": "$d"}], "$comment": "no"}, "a.b c d", "*"),
    ("$project", {"a": 1, "n": {"x": "$b.c", "y": True}}, "b.c", "+_id a n.x n.y"),
    ("$project", {"_id": 0, "a": ["$b"]}, "b", "a"),
    ("$project", {"_id": 1, "a": 0}, "", "* -a"),
    ("$project", {"_id": 0}, "", "* -_id"),
    ("$project", {"_id": 1}, "", "_id"),
    ("$set", {"a.b": "$c", "n": {"x": {"$add": ["$d", 1]}}}, "c d", "* a.b n.x"),
    ("$addFields", {"a": {"$literal": "$no"}}, "", "* a"),
    ("$unset", ["a", "b.c"], "", "* -a -b.c"),
    ("$replaceRoot", {"newRoot": "$a.b"}, "a.b", ""),
    ("$replaceWith", {"x": "$a"}, "a", ""),
    ("$redact", {"$cond": ["$a", "$$KEEP", "$$PRUNE"]}, "a ?", "*"),
    ("$sort", {"a": 1, "b.c": -1, "no": {"$meta": "textScore"}}, "a b.c", "*"),
    ("$limit", 5, "", "*"),
    ("$skip", 5, "", "*"),
    ("$count", "n", "", "n"),
    ("$group", {"_id": {"k": "$a"}, "n": {"$top": {"sortBy": {"s": 1}, "output": "$b"}}}, "a s b", "_id n"),
    ("$sortByCount", "$a.b", "a.b", "+_id +count"),
    ("$sample", {"size": 3}, "", "*"),
    ("$unwind", {"path": "$a.b", "includeArrayIndex": "i"}, "a.b", "* i"),
    ("$facet", {"x": PIPELINE, "y": PIPELINE}, "", "x y"),
    ("$unionWith", {"coll": "x", "pipeline": PIPELINE}, "", "*"),
    ("$documents", [{"a": 1}], "", ""),
    ("$bucket", {"groupBy": "$a", "boundaries": [0, 1], "output": {"n": {"$sum": "$b"}}}, "a b", "+_id n"),
    ("$bucketAuto", {"groupBy": "$a", "buckets": 2}, "a", "+_id +count"),
    ("$lookup", JOIN, "l w.u", "* j"),
    ("$graphLookup", GRAPH, "l", "* j"),
    ("$setWindowFields", WINDOW, "p s a.b", "* o.x"),
    ("$densify", {"field": "a.b", "partitionByFields": ["p"], "range": RANGE}, "a.b p a.b", "* a.b"),
    ("$fill", FILLED, "p s o f v", "* o f"),
]


def spelt(paths: Any) -> str:
    return " ".join(".".join(path) or "?" for path in paths)


@pytest.mark.parametrize(("name", "argument", "reads", "fields"), STAGES)
def test_a_stage_says_what_it_reads_and_what_becomes_of_fields(
    name: str, argument: Any, reads: str, fields: str
) -> None:
    effect = effect_of(name, argument)
    assert spelt([*effect.reads, *(path for field in effect.fields for path in field.reads)]) == reads
    marks = {"made": "", "kept": "", "dropped": "-"}
    named = [
        ("+" if field.place is None else marks[field.becomes]) + ".".join(field.parts)
        for field in effect.fields
    ]
    assert sorted([*named, *([] if effect.only else ["*"])]) == sorted(fields.split())


def test_every_stage_that_runs_has_its_record_and_an_example_here() -> None:
    runnable = {one.name for one in operators() if one.kind == "stage" and not one.refused}
    assert {name for name in runnable if record_of(name) is None} == set()
    assert {name for name, *_ in STAGES} == runnable


def test_a_stage_that_is_not_known_or_malformed_may_read_and_change_anything() -> None:
    assert record_of("$aLaterStage") is None
    for name, argument in [
        ("$aLaterStage", {}),
        ("$geoNear", {}),
        ("$unset", 5),
        ("$group", 3),
        ("$lookup", {}),
    ]:
        assert effect_of(name, argument).reads == (WHOLE,)


@pytest.mark.parametrize(
    ("expression", "reads"),
    [
        ({"$add": ["$a.b", "$$ROOT.c", "$$CURRENT.d", "$$v.no", "no", 1]}, "a.b c d"),
        ("$$ROOT", "?"),
        ({"x": {"$literal": "$no"}, "y": {"$const": "$no"}}, ""),
        ({"$getField": "a"}, "?"),
        ({"$aLaterOperator": "$a"}, "? a"),
        ({"$top": {"sortBy": {"a": 1}, "output": "$b"}}, "a b"),
        ({"sortBy": {"x": "$b"}}, "x b"),
    ],
)
def test_what_an_expression_reads(expression: Any, reads: str) -> None:
    assert spelt(paths_in(expression)) == reads


def test_a_condition_on_whole_documents_reads_them_whole() -> None:
    assert WHOLE in set(paths_in_query({"$and": [{"a": 1}, {"$jsonSchema": {"required": ["b"]}}]}))


def shortened(document: dict[str, Any], tree: dict[str, Any]) -> dict[str, Any]:
    return {
        name: shortened(value, tree[name]) if type(value) is dict and tree[name] else value
        for name, value in document.items()
        if name in tree
    }


def outcome(given: list[dict[str, Any]], pipeline: list[Any], others: list[dict[str, Any]]) -> Any:
    try:
        return bson.encode({"rows": aggregate(given, pipeline, collections={"case": others})})
    except AggregationError as error:
        return error.message


TAKEN = {"$replaceWith": {"x": "$x", "n": "$o.n", "w": ["$w", "$result", "$found", "$_id"]}}


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), pipelines())
def test_documents_without_what_a_pipeline_cannot_read_give_the_same_rows(
    docs: list[dict[str, Any]], pipeline: list[Any]
) -> None:
    docs = [bson.decode(bson.encode(one), CODEC) for one in docs]
    pipeline = [*pipeline, TAKEN]
    try:
        tree = tree_of(paths_read(pipeline))
    except ReadsAnything:
        return
    short = [shortened(one, tree) for one in docs]
    assume(short != docs)
    assert outcome(short, pipeline, docs) == outcome(docs, pipeline, docs)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), pipelines())
def test_every_stage_gives_the_documents_and_fields_that_its_record_says(
    docs: list[dict[str, Any]], pipeline: list[Any]
) -> None:
    before = [bson.decode(bson.encode(one), CODEC) for one in docs]
    for stage in pipeline:
        try:
            after = aggregate(before, [stage], collections={"case": before})
        except AggregationError:
            return
        after = [bson.decode(bson.encode(one), CODEC) for one in after]
        ((name, argument),) = stage.items()
        check_documents(
            name, argument, [bson.encode(one) for one in before], [bson.encode(one) for one in after]
        )
        check_fields(name, argument, before, after)
        before = after


def check_documents(name: str, argument: Any, before: list[bytes], after: list[bytes]) -> None:
    record = record_of(name)
    assert record is not None
    assert not (record.single and record.single(argument)) or len(after) <= 1
    assert record.adds or len(after) <= max(len(before), 1)
    if record.gives is Gives.EACH:
        assert len(after) == len(before)
    if record.gives in (Gives.BY_PLACE, Gives.CHOSEN):
        rest = list(before)
        for one in after:
            place = rest.index(one)
            rest = rest[place + 1 :] if record.order is Order.KEPT else [*rest[:place], *rest[place + 1 :]]


def check_fields(name: str, argument: Any, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    record, effect = record_of(name), effect_of(name, argument)
    assert record is not None
    top = {field.parts[0] for field in effect.fields}
    if effect.only and top:
        assert {key for one in after for key in one} <= top
    if record.gives is Gives.EACH and not effect.only:
        rest = [{key: value for key, value in one.items() if key not in top} for one in before]
        others = [{key: value for key, value in one.items() if key not in top} for one in after]
        assert [bson.encode(one) for one in others] == [bson.encode(one) for one in rest]
