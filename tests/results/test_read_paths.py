"""Decoding only what a pipeline reads changes nothing in its rows."""

from __future__ import annotations

from typing import Any

import bson
import pytest
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from hypothesis import given, settings
from hypothesis import strategies as st

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.aggregation.fields import ReadsAnything, paths_read
from mongo_tables.results.model import Query
from mongo_tables.results.read_paths import Reader, Tree, prune, tree_of, trees_by_collection
from mongo_tables.results.rows import CODEC

from .bsonvalues import documents

NAMES = st.sampled_from(["a", "b", "c", "testname"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(".".join)
REFERENCES = PATHS.map(lambda path: f"${path}")
EXPRESSIONS = st.recursive(
    st.one_of(REFERENCES, REFERENCES.map(lambda text: f"$$ROOT.{text[1:]}"), st.integers(-3, 3)),
    lambda inner: st.one_of(
        st.builds(lambda x: {"$type": x}, inner),
        st.builds(lambda x, y: {"$ifNull": [x, y]}, inner, inner),
        st.builds(lambda x: {"$literal": x}, st.just("$a")),
        st.builds(
            lambda x, y: {"$let": {"vars": {"v": x}, "in": {"$cond": [{"$eq": ["$$v", y]}, "$$v.b", y]}}},
            inner,
            inner,
        ),
    ),
    max_leaves=4,
)
PASSING = st.one_of(
    st.dictionaries(
        PATHS, st.sampled_from(["x", "", {"$in": ["x", "y"]}, {"$exists": True}, 1, None]), max_size=2
    ).map(lambda body: {"$match": body}),
    st.builds(lambda path, value: {"$set": {path: value}}, PATHS, EXPRESSIONS),
    PATHS.map(lambda path: {"$unset": path}),
    PATHS.map(lambda path: {"$project": {path: 0}}),
    REFERENCES.map(lambda path: {"$unwind": {"path": path, "preserveNullAndEmptyArrays": True}}),
    PATHS.map(lambda path: {"$sort": {path: 1}}),
    st.builds(
        lambda local, name: {"$lookup": {"from": "o", "localField": local, "foreignField": "k", "as": name}},
        PATHS,
        PATHS,
    ),
    st.builds(
        lambda value, name: {
            "$lookup": {
                "from": "o",
                "let": {"v": value},
                "pipeline": [{"$match": {"$expr": {"$eq": ["$k", "$$v"]}}}],
                "as": name,
            }
        },
        EXPRESSIONS,
        PATHS,
    ),
    st.just({"$limit": 2}),
    st.builds(
        lambda by, order, name, value: {
            "$setWindowFields": {
                "partitionBy": by,
                "sortBy": {order: 1},
                "output": {name: {"$push": value, "window": {"documents": [-1, 0]}}, "n": {"$rank": {}}},
            }
        },
        REFERENCES,
        PATHS,
        PATHS,
        EXPRESSIONS,
    ),
    st.builds(
        lambda order, name, value: {
            "$setWindowFields": {
                "sortBy": {order: -1},
                "output": {name: {"$shift": {"output": value, "by": 1, "default": 0}}},
            }
        },
        PATHS,
        PATHS,
        EXPRESSIONS,
    ),
)
CUTTING = st.one_of(
    st.builds(
        lambda path, name, value: {"$project": {path: 1, f"z{name}": value}}, PATHS, NAMES, EXPRESSIONS
    ),
    EXPRESSIONS.map(lambda value: {"$group": {"_id": None, "all": {"$push": value}}}),
    EXPRESSIONS.map(lambda value: {"$replaceWith": {"v": value}}),
    st.just({"$count": "n"}),
    st.builds(
        lambda path, value: {
            "$facet": {
                "a": [{"$sort": {path: 1}}, {"$project": {path: 1}}],
                "b": [{"$replaceWith": {"v": value}}],
            }
        },
        PATHS,
        EXPRESSIONS,
    ),
    REFERENCES.map(
        lambda path: {"$bucketAuto": {"groupBy": path, "buckets": 2, "output": {"x": {"$push": path}}}}
    ),
)
OTHERS = [{"_id": 1, "k": "x"}, {"_id": 2, "k": None}, {"_id": 3}, {"_id": 4, "k": 1}]
PIPELINES = st.builds(lambda passing, cut: [*passing, cut], st.lists(PASSING, max_size=3), CUTTING)


def outcome(given_documents: list[dict[str, Any]], pipeline: list[dict[str, Any]]) -> bytes | str:
    try:
        return bson.encode({"rows": aggregate(given_documents, pipeline, collections={"o": OTHERS})})
    except AggregationError as error:
        return f"{error.path} {error.message}"


def read_tree(pipeline: list[Any]) -> Tree | None:
    try:
        return tree_of(paths_read(pipeline))
    except ReadsAnything:
        return None


@given(st.lists(documents(NAMES), max_size=4), PIPELINES)
@settings(max_examples=200, deadline=None)
def test_rows_from_pruned_documents_are_the_rows_from_whole_documents(
    raws: list[bytes], pipeline: list[dict[str, Any]]
):
    whole = [bson.decode(raw, CODEC) for raw in raws]
    tree = read_tree(pipeline)
    pruned = whole if tree is None else [prune(one, tree) for one in whole]
    assert outcome(pruned, pipeline) == outcome(whole, pipeline)


EQUAL = [
    1,
    1.0,
    Int64(1),
    True,
    Decimal128("1"),
    Decimal128("1.0"),
    0,
    -0.0,
    False,
    None,
    "1",
    [1],
    [[1]],
    {"b": 1},
]
EQUAL += [
    2**53,
    2.0**53,
    Int64(2**53 + 1),
    float("nan"),
    Decimal128("NaN"),
    float("inf"),
    0.1,
    Decimal128("0.1"),
]


@pytest.mark.parametrize(
    ("pipeline", "tree"),
    [
        ([{"$match": {"a.b": 1}}, {"$count": "n"}], {"_id": {}, "a": {"b": {}}}),
        (
            [
                {
                    "$setWindowFields": {
                        "partitionBy": "$p",
                        "sortBy": {"s": 1},
                        "output": {"o": {"$sum": "$a.b"}},
                    }
                },
                {"$facet": {"x": [{"$count": "n"}], "y": [{"$group": {"_id": "$g"}}]}},
            ],
            {"_id": {}, "p": {}, "s": {}, "o": {}, "a": {"b": {}}, "g": {}},
        ),
        ([{"$set": {"x": "$a.b.c"}}, {"$project": {"x": 1}}], {"_id": {}, "x": {}, "a": {"b": {"c": {}}}}),
        ([{"$sort": {"s": 1}}, {"$project": {"a": 1, "a.b": 1}}], {"_id": {}, "s": {}, "a": {}}),
        (
            [{"$group": {"_id": "$a", "n": {"$sum": {"$first": "$b.c"}}}}],
            {"_id": {}, "a": {}, "b": {"c": {}}},
        ),
        (
            [
                {
                    "$lookup": {
                        "from": "o",
                        "localField": "a.b",
                        "foreignField": "k",
                        "as": "c",
                        "let": {"v": "$d"},
                    }
                },
                {"$count": "n"},
            ],
            {"_id": {}, "c": {}, "a": {"b": {}}, "d": {}},
        ),
        (
            [{"$lookup": {"from": "o", "let": {"v": "$$ROOT"}, "pipeline": [], "as": "c"}}, {"$count": "n"}],
            None,
        ),
        (
            [
                {"$unionWith": "o"},
                {"$graphLookup": {"from": "o", "startWith": "$s", "as": "g"}},
                {"$fill": {"sortBy": {"t": 1}, "output": {"f": {"value": "$v"}}}},
                {"$densify": {"field": "d", "partitionByFields": ["p"]}},
                {"$project": {"x": ["$a.b"]}},
            ],
            {"_id": {}, **{name: {} for name in "sgtfvdpx"}, "a": {"b": {}}},
        ),
        ([{"$match": {"a": 1}}], None),
        ([{"$project": {"a": 0}}], None),
        ([{"$project": {"x": "$$ROOT"}}], None),
        ([{"$project": {"x": {"$getField": "a"}}}], None),
        ([{"$project": {"x": {"$aLaterOperator": "$a"}}}], None),
        ([{"$aLaterStage": {}}, {"$project": {"x": 1}}], None),
        ([{"$match": {"$jsonSchema": {}}}, {"$project": {"x": 1}}], None),
        (["not a stage"], None),
    ],
)
def test_what_a_pipeline_reads_is_known_or_everything(pipeline: list[Any], tree: dict[str, Any] | None):
    assert read_tree(pipeline) == tree


def test_of_rows_that_stay_documents_the_columns_and_filters_are_read():
    stages = ({"$match": {"_id.testname": "t"}}, {"$set": {"x": "$a.b"}}, {"$sort": {"n": 1}})
    reader = Reader(Query("results", stages), ("rate", "s.p50"), ({"ok": True, "$or": [{"k": 1}]},), "p.md:3")
    other = Reader(Query("results", ({"$group": {"_id": "$g"}},)), ("_id",), (), "p.md:9")
    trees, reasons = trees_by_collection([reader, other])
    names = {
        "_id": {},
        "a": {"b": {}},
        "x": {},
        "n": {},
        "rate": {},
        "s": {"p50": {}},
        "ok": {},
        "k": {},
        "g": {},
    }
    assert trees == {"results": {**names, "s.p50": {}}}
    assert reasons == []


@pytest.mark.parametrize(
    ("pipeline", "filters", "reason"),
    [
        ([{"$redact": "$$KEEP"}], (), "$redact may read every field"),
        ([{"$facet": {"a": [{"$limit": 1}]}}], (), "the rows are whole documents"),
        ([{"$project": {"x": "$$ROOT"}}], (), "$$ROOT is the whole document"),
        ([{"$set": {"x": {"$getField": "a"}}}], (), "$set may read every field"),
        ([], ({"$jsonSchema": {}},), "a condition on the rows may read every field"),
    ],
)
def test_what_is_kept_whole_is_told_with_who_needs_it(pipeline: list[Any], filters: Any, reason: str):
    reader = Reader(Query("results", tuple(pipeline)), ("n",), filters, "p.md:3")
    assert trees_by_collection([reader]) == ({"results": None}, [f"results: p.md:3: {reason}"])


def test_a_collection_that_is_looked_up_is_kept_whole():
    lookup = {"$lookup": {"from": "hosts", "localField": "h", "foreignField": "_id", "as": "host"}}
    trees, reasons = trees_by_collection([Reader(Query("results", (lookup,)), ("n",), (), "p.md:3")])
    assert trees == {"hosts": None, "results": {"_id": {}, "h": {}, "host": {}, "n": {}}}
    assert reasons[0] == "hosts: p.md:3: another collection looks it up"
