"""The promise on which every rule stands: the shape of a pipeline's rows never denies what a real row has."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import bson
import pymongo
import pytest
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pymongo.errors import OperationFailure

from mongo_tables.aggregation import AggregationError, NotOffline, aggregate
from mongo_tables.aggregation.fields import WHOLE, effect_of
from mongo_tables.aggregation.values import type_name
from mongo_tables.lint.shape.document_shapes import learnt
from mongo_tables.lint.shape.flow import flow_of
from mongo_tables.lint.shape.values import Shape, member, unknown_documents
from mongo_tables.results.rows import CODEC
from tests.aggregation.test_fields import STAGES
from tests.conformance.generator import documents
from tests.conformance.pipelines import pipelines
from tests.mongod import Mongod

Documents = list[dict[str, Any]]

# Messages of the server may cut a character in two.
_OPTIONS = CODEC.with_options(unicode_decode_error_handler="replace")


def denial(shape: Shape, value: Any, at: str = "row") -> str:
    """What the shape says against the value, empty when nothing."""
    kind = type_name(value)
    if not (shape.missing if kind == "missing" else kind in shape.kinds):
        return f"{at} is {kind}, the shape allows {sorted(shape.kinds)}"
    if isinstance(value, dict):
        for name in shape.fields:
            if name not in value and not shape.fields[name].missing:
                return f"{at}.{name} is missing, the shape says it never is"
        parts = ((f"{at}.{name}", member(shape, name), inner) for name, inner in value.items())
    elif isinstance(value, list) and shape.items is not None:
        parts = ((f"{at}[{place}]", shape.items, inner) for place, inner in enumerate(value))
    else:
        return ""
    return next(filter(None, (denial(inner, part, where) for where, inner, part in parts)), "")


def shapes(docs: Documents, pipeline: list[dict[str, Any]]) -> list[Shape]:
    """The rows' shape by what the analysis knows: the documents, or nothing."""
    return [flow_of(pipeline, start).rows for start in (learnt(docs), unknown_documents())]


def check(docs: Documents, pipeline: list[dict[str, Any]], rows: Documents) -> None:
    for shape in shapes(docs, pipeline):
        for row in rows:
            assert not denial(shape, row), denial(shape, row)


def stored(docs: Documents) -> Documents:
    return [bson.decode(bson.encode(one)) for one in docs]


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), pipelines())
@example([{"_id": 0, "a": []}], [{"$project": {"x": {"$first": "$a"}}}])
@example([{"_id": 0, "a": 1}], [{"$set": {"a.b": 1}}, {"$unset": "a.b"}])
@example([{"_id": 0, "r": [{"n": 1}, {}]}], [{"$project": {"r.n": 1, "r.x": "$_id"}}])
@example([{"_id": 0}], [{"$unwind": {"path": "$o.x", "preserveNullAndEmptyArrays": True}}])
@example([{"_id": 0}], [{"$project": {"n": 1, "made": Decimal128("1.10")}}])
@example([{"_id": 0, "o": {"x": None}}], [{"$set": {"y": {"$mergeObjects": ["$o", "$missing", {"z": 1}]}}}])
@example([{"_id": 0}], [{"$fill": {"sortBy": {"_id": 1}, "output": {"o.x": {}}}}])
def test_no_row_of_the_evaluator_is_denied(docs: Documents, pipeline: list[dict[str, Any]]) -> None:
    docs = stored(docs)
    try:
        rows = aggregate(docs, pipeline, collections={"case": docs})
    except (AggregationError, NotOffline):
        rows = []
    check(docs, pipeline, rows)


@pytest.fixture(scope="module")
def collection(mongod: Mongod) -> Any:
    with pymongo.MongoClient(mongod.uri()) as client:
        # Sums of dates and numbers reach years that Python's dates do not have.
        yield client.soundness.get_collection("case", codec_options=_OPTIONS)


@pytest.mark.parametrize("examples", [30, pytest.param(120, marks=pytest.mark.thorough)])
def test_no_row_of_a_server_is_denied(examples: int, collection: Any) -> None:
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(documents(), pipelines())
    @example([{"_id": 0}], [{"$sortByCount": {"$let": {"vars": {}, "in": {"k": "$n"}}}}])
    @example([{"_id": 0}], [{"$group": {"_id": {"k": "$n"}}}])
    @example([{"_id": 0, "d": datetime(2024, 5, 1)}], [{"$project": {"x": {"$add": ["$d", Int64(10**15)]}}}])
    def case(docs: Documents, pipeline: list[dict[str, Any]]) -> None:
        collection.delete_many({})
        collection.insert_many([dict(one) for one in docs])
        try:
            rows = list(collection.aggregate(pipeline))
        except OperationFailure:
            rows = []
        check(list(collection.find()), pipeline, rows)

    case()


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), st.integers(0, 3))
def test_no_document_is_denied_by_what_was_learnt_of_it(docs: Documents, more: int) -> None:
    docs = stored(docs)
    for one in docs[: len(docs) - more] or docs:
        assert not denial(learnt(docs), one)


@pytest.mark.parametrize(
    ("pipeline", "row"),
    [
        ([{"$project": {"n": 1}}], {"_id": 0, "n": "text"}),
        ([{"$project": {"n": 1}}], {"_id": 0, "n": 1, "s": 2}),
        ([{"$project": {"x": {"$add": ["$n", 1]}}}], {"_id": 0, "x": []}),
        ([{"$group": {"_id": None, "x": {"$sum": "$n"}}}], {"_id": None}),
        ([{"$unwind": "$a"}], {"_id": 0, "n": 1, "a": [1]}),
        ([{"$match": {"n": {"$gt": 0}}}], {"_id": 0, "a": [1]}),
    ],
)
def test_a_row_that_cannot_be_is_denied(pipeline: list[dict[str, Any]], row: dict[str, Any]) -> None:
    known, _ = shapes([{"_id": 0, "n": 1, "a": [1, 2]}, {"_id": 1, "n": 2, "a": [3]}], pipeline)
    assert denial(known, row)


@pytest.mark.parametrize(("name", "argument"), [one[:2] for one in STAGES])
def test_a_field_that_a_stage_leaves_alone_stays_known_behind_it(name: str, argument: Any) -> None:
    effect = effect_of(name, argument)
    before = learnt([{"left": 1, "a": {"b": 2}, "s": "x"}])
    after = flow_of([{name: argument}], before).rows
    is_known = "left" in after.fields and "int" in after.fields["left"].kinds
    assert is_known == (not effect.only and WHOLE not in effect.reads)


def test_an_exclusion_that_keeps_the_id_leaves_all_others() -> None:
    rows = flow_of([{"$project": {"_id": 1, "a": 0}}], learnt([{"_id": 1, "a": 1, "b": 1}])).rows
    assert not rows.fields["b"].missing
    assert "a" not in rows.fields
