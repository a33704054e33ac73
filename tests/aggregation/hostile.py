"""Pipelines that cost more than anybody wants to pay, each a few lines; and a program that runs one of them.

``python -m tests.aggregation.hostile NAME LIMITS``: says when it begins, runs it under limits (JSON), and prints what came of it as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any, NamedTuple

from mongo_tables.aggregation import AggregationError, LimitReached, PipelineLimits, aggregate

Documents = list[dict[str, Any]]


class Case(NamedTuple):
    """A pipeline over documents, and what ends it: the name of a limit, or a count as its answer."""

    ends: str | int
    pipeline: list[dict[str, Any]]
    documents: Documents = [{"_id": 1}]


def _numbers(count: int) -> dict[str, Any]:
    return {"$range": [0, {"$add": [count, "$_id", -1]}]}


def _repeated(first: Any, step: Any, times: int = 40) -> dict[str, Any]:
    return {"$reduce": {"input": {"$range": [0, times]}, "initialValue": first, "in": step}}


def _counted(array: Any) -> list[dict[str, Any]]:
    return [{"$project": {"_id": 0, "n": {"$size": array}}}]


def _text(text: str) -> Documents:
    return [{"_id": 1, "s": text}]


_TWO = ["$$value", "$$value"]
_NINE_MILLION = [
    {"$set": {"b": _numbers(3000)}},
    {"$unwind": "$b"},
    {"$set": {"c": _numbers(3000)}},
    {"$unwind": "$c"},
]
_GRAPH = [{"_id": node, "e": [(node * 7 + edge * 13) % 2000 for edge in range(50)]} for node in range(2000)]
_REACH = {"from": "t", "startWith": "$e", "connectFromField": "e", "connectToField": "_id", "as": "r"}
_PUSHED = {"x": {"$push": "$_id", "window": {"documents": ["unbounded", "current"]}}}
_WINDOWS = {"$setWindowFields": {"sortBy": {"_id": 1}, "output": _PUSHED}}
_LINE = [{"_id": place} for place in range(20_000)]
_SOME = [{"_id": place} for place in range(1500)]
_EARLIER = {"let": {"x": "$_id"}, "pipeline": [{"$match": {"$expr": {"$lt": ["$_id", "$$x"]}}}]}

CASES = {
    "regex in $match": Case("regex_steps", [{"$match": {"s": {"$regex": "^(a+)+$"}}}], _text("a" * 40 + "!")),
    "$regexFindAll": Case(
        "regex_steps",
        _counted({"$regexFindAll": {"input": "$s", "regex": "(a*)*[cd]"}}),
        _text("a" * 40 + "b"),
    ),
    "matches without end": Case(
        "seconds", _counted({"$regexFindAll": {"input": "$s", "regex": "a"}}), _text("a" * 8_000_000)
    ),
    "a string doubled": Case(
        "document_bytes", [{"$project": {"n": _repeated("$s", {"$concat": _TWO})}}], _text("x" * 1000)
    ),
    "an array doubled": Case("stage_bytes", _counted(_repeated(["$_id"], {"$concatArrays": _TWO}))),
    "an array in itself": Case("document_bytes", [{"$project": {"n": _repeated(["$_id"], _TWO)}}]),
    "a document in itself": Case(
        "document_bytes", [{"$project": {"n": _repeated("$_id", {"a": "$$value", "b": "$$value"})}}]
    ),
    "stages that double": Case("document_bytes", [{"$set": {"a": ["$a", "$a"]}}] * 40),
    "$unwind and $group": Case("seconds", [*_NINE_MILLION, {"$group": {"_id": None, "n": {"$sum": "$c"}}}]),
    "$unwind and many groups": Case(
        "stage_bytes", [*_NINE_MILLION, {"$group": {"_id": {"b": "$b", "c": "$c"}}}, {"$count": "n"}]
    ),
    "$unwind to rows": Case("stage_bytes", _NINE_MILLION),
    "$unwind and $sort": Case("stage_bytes", [*_NINE_MILLION, {"$sort": {"c": 1}}, {"$count": "n"}]),
    "$unwind and $push": Case(
        "stage_bytes",
        [*_NINE_MILLION, {"$group": {"_id": None, "x": {"$push": "$$ROOT"}}}, {"$project": {"n": {"$size": "$x"}}}],
    ),
    "$unwind and $bucketAuto": Case(
        "stage_bytes", [*_NINE_MILLION, {"$bucketAuto": {"groupBy": "$b", "buckets": 5}}]
    ),
    "$unwind and $facet": Case(
        "stage_bytes", [*_NINE_MILLION, {"$facet": {"a": [{"$count": "n"}], "b": [{"$sort": {"b": -1}}]}}]
    ),
    "$zip": Case(
        "stage_bytes", _counted({"$zip": {"inputs": [_numbers(5_000_000), [1]], "useLongestLength": True}})
    ),
    "windows that grow": Case(
        200_010_000, [_WINDOWS, {"$group": {"_id": None, "n": {"$sum": {"$size": "$x"}}}}], _LINE
    ),
    "windows that are kept": Case("stage_bytes", [_WINDOWS], _LINE),
    "$graphLookup": Case(
        "seconds", [{"$graphLookup": _REACH}, {"$group": {"_id": None, "n": {"$sum": {"$size": "$r"}}}}], _GRAPH
    ),
    "$replaceAll": Case(
        "document_bytes",
        [{"$project": {"n": {"$replaceAll": {"input": "$s", "find": "x", "replacement": "$s"}}}}],
        _text("x" * 100_000),
    ),
    "long strings in $map": Case(
        "stage_bytes",
        _counted({"$map": {"input": _numbers(1_000_000), "in": {"$concat": ["$s", {"$toString": "$$this"}]}}}),
        _text("x" * 1_000_000),
    ),
    "$map in $map": Case(
        "stage_bytes",
        _counted({
            "$map": {"input": _numbers(3000), "in": {"$map": {"input": _numbers(3000), "in": {"a": "$$this"}}}}
        }),
    ),
    "sums in $map": Case(
        "seconds",
        [
            {
                "$project": {
                    "n": {
                        "$map": {
                            "input": _numbers(9000),
                            "in": {"$sum": {"$map": {"input": _numbers(9000), "in": {"$add": ["$$this", 1]}}}},
                        }
                    }
                }
            }
        ],
    ),
    "$setUnion": Case("stage_bytes", _counted({"$setUnion": [_numbers(3_000_000), [1]]})),
    "many long arrays": Case(
        "stage_bytes", [{"$set": {f"a{place}": _numbers(3_000_000) for place in range(20)}}, {"$count": "n"}]
    ),
    "a $lookup for each pair": Case(
        "seconds",
        [
            {"$lookup": {"from": "t", "pipeline": [], "as": "a"}},
            {"$unwind": "$a"},
            {"$lookup": {"from": "t", "as": "b", **_EARLIER}},
            {"$count": "n"},
        ],
        _SOME,
    ),
}  # fmt: skip


def _main(name: str, limits: str) -> None:
    case = CASES[name]
    print("begun", flush=True)
    started = time.thread_time()
    found: dict[str, Any]
    try:
        rows = aggregate(
            case.documents,
            case.pipeline,
            collections={"t": case.documents},
            limits=PipelineLimits(**json.loads(limits)),
        )
        found = {"ends": rows[0].get("n"), "path": []}
    except LimitReached as error:
        found = {"ends": error.limit, "path": error.path, "message": error.message}
    except AggregationError as error:
        found = {"ends": f"error {error.code}", "path": error.path, "message": error.message}
    found["seconds"] = time.thread_time() - started
    found["mebibytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    _main(*sys.argv[1:])
