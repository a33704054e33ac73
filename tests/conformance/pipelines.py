"""Generated pipelines: stages by the catalogue, over the documents of ``generator``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bson.decimal128 import Decimal128
from bson.int64 import Int64
from hypothesis import strategies as st

from tests.conformance.generator import _ANY, _NUMBERS, _STRINGS, EXPRESSIONS, expressions, operation

_FIELD = st.sampled_from(
    ["n", "i", "s", "b", "d", "a", "r", "o", "t", "m", "o.n", "o.name", "r.n", "a.x", "missing"]
)
_NEW = st.sampled_from(["x", "y", "z", "o.x", "n", "r.x"])
_DIRECTION = st.sampled_from([1, -1])
_BIT_TESTS = st.sampled_from(["$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear"])
_MASKS = st.one_of(
    st.integers(0, 9), st.lists(st.sampled_from([0, 1, 2, 5, 31, 62, 63, 200]), max_size=3), st.just(b"\x05")
)


@st.composite
def _computed(draw: st.DrawFn) -> dict[str, Any]:
    """One operator, top level, in a field of its own: every operator is met equally often."""
    one = draw(st.sampled_from(EXPRESSIONS))
    return {"$project": {"result": draw(operation(one, 2))}}


@st.composite
def _set(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(["$set", "$addFields"]))
    return {name: {draw(_NEW): draw(expressions()) for _ in range(draw(st.integers(1, 2)))}}


@st.composite
def _project(draw: st.DrawFn) -> dict[str, Any]:
    fields = draw(
        st.lists(st.sampled_from(["n", "s", "a", "o", "r", "m", "d"]), min_size=1, max_size=3, unique=True)
    )
    if draw(st.booleans()):
        return {"$project": dict.fromkeys(fields, 0)}
    parts: dict[str, Any] = {}
    for name in fields:
        parts[name] = draw(st.one_of(st.just(1), st.just(True), expressions()))
    parts["made"] = draw(expressions())
    return {"$project": parts}


@st.composite
def condition(draw: st.DrawFn) -> dict[str, Any]:
    """One condition of the query language."""
    name = draw(_FIELD)
    value = draw(st.one_of(_NUMBERS, _STRINGS, _ANY))
    compared = draw(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]))
    tests: list[Any] = [
        {compared: value},
        {"$in": draw(st.lists(_ANY, max_size=3))},
        {"$nin": draw(st.lists(_NUMBERS, max_size=3))},
        {"$exists": draw(st.booleans())},
        {
            "$type": draw(
                st.sampled_from(
                    [
                        "number",
                        "string",
                        "array",
                        "object",
                        "null",
                        "bool",
                        "date",
                        "int",
                        "double",
                        "long",
                        "decimal",
                        2,
                        16,
                        ["int", "string"],
                    ]
                )
            )
        },
        {"$size": draw(st.integers(0, 4))},
        {"$mod": [draw(st.integers(1, 4)), draw(st.integers(0, 2))]},
        {"$all": draw(st.lists(_NUMBERS, max_size=2))},
        {"$elemMatch": {compared: value}},
        {"$elemMatch": {"n": {compared: value}}},
        {"$not": {compared: value}},
        {"$regex": draw(st.sampled_from(["a", "^b", "[A-Z]", "c$"]))},
        {draw(_BIT_TESTS): draw(_MASKS)},
        {draw(_BIT_TESTS): draw(_MASKS)},
    ]
    return {name: draw(st.sampled_from(tests))}


@st.composite
def _match(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return {"$match": {"$expr": draw(expressions("bool"))}}
    if kind == 1:
        return {
            "$match": {
                draw(st.sampled_from(["$and", "$or", "$nor"])): draw(
                    st.lists(condition(), min_size=1, max_size=3)
                )
            }
        }
    if kind == 2:
        return {"$match": {draw(_FIELD): draw(_ANY.filter(lambda value: not isinstance(value, dict)))}}
    return {"$match": draw(condition())}


@st.composite
def _sort(draw: st.DrawFn) -> dict[str, Any]:
    keys = {draw(_FIELD): draw(_DIRECTION) for _ in range(draw(st.integers(1, 2)))}
    return {"$sort": {**keys, "_id": 1}}


_ACCUMULATORS = ["$sum", "$avg", "$min", "$max", "$push", "$first", "$last", "$stdDevPop", "$stdDevSamp"]


@st.composite
def _accumulated(draw: st.DrawFn) -> Any:
    name = draw(
        st.sampled_from(
            [
                *_ACCUMULATORS,
                *_ACCUMULATORS,
                "$count",
                "$mergeObjects",
                "$firstN",
                "$minN",
                "$top",
                "$bottomN",
                "$lastN",
                "$maxN",
                "$bottom",
                "$topN",
            ]
        )
    )
    if name == "$count":
        return {name: {}}
    if name in ("$firstN", "$minN", "$lastN", "$maxN"):
        return {name: {"n": draw(st.integers(1, 3)), "input": draw(expressions(depth=1))}}
    if name in ("$top", "$bottomN", "$bottom", "$topN"):
        more = {"n": 2} if name.endswith("N") else {}
        return {
            name: {**more, "sortBy": {"n": draw(_DIRECTION), "_id": 1}, "output": draw(expressions(depth=1))}
        }
    return {name: draw(expressions("object" if name == "$mergeObjects" else "number", depth=1))}


@st.composite
def _group_key(draw: st.DrawFn) -> Any:
    """A key: a value, or a document of one or two fields, written so or wrapped up."""
    plain = st.one_of(_FIELD.map(lambda name: "$" + name), expressions(depth=1))
    names = draw(st.sampled_from([(), ("k",), ("k",), ("k", "j")]))
    if not names:
        return draw(st.one_of(st.none(), plain))
    made = {name: draw(plain) for name in names}
    return draw(
        st.sampled_from(
            [
                made,
                made,
                made,
                {"x": made},
                {"$let": {"vars": {}, "in": made}},
                {"$cond": [True, made, 0]},
                {"$mergeObjects": [made]},
            ]
        )
    )


@st.composite
def _counted(draw: st.DrawFn) -> list[dict[str, Any]]:
    key = draw(_group_key())
    if key is None or (isinstance(key, dict) and not next(iter(key)).startswith("$")):
        key = {"$let": {"vars": {}, "in": key}}
    return [{"$sort": {"_id": 1}}, {"$sortByCount": key}, {"$sort": {"_id": 1}}]


@st.composite
def _group(draw: st.DrawFn) -> list[dict[str, Any]]:
    key = draw(_group_key())
    fields = {name: draw(_accumulated()) for name in ("x", "y")[: draw(st.integers(1, 2))]}
    # A server gives groups in any order: sort them.
    return [{"$sort": {"_id": 1}}, {"$group": {"_id": key, **fields}}, {"$sort": {"_id": 1}}]


@st.composite
def _unwind(draw: st.DrawFn) -> dict[str, Any]:
    path = "$" + draw(st.sampled_from(["a", "r", "o", "m", "o.x"]))
    if draw(st.booleans()):
        return {"$unwind": path}
    extra = {"includeArrayIndex": "at"} if draw(st.booleans()) else {}
    return {"$unwind": {"path": path, "preserveNullAndEmptyArrays": draw(st.booleans()), **extra}}


@st.composite
def _inner(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    """A stage of a joined pipeline, with the variable of the join."""
    if kind == "match":
        return {"$match": {"$expr": draw(expressions("bool", 2, ("v",)))}}
    if kind == "group":
        return {"$group": {"_id": None, "k": {"$sum": draw(expressions("number", 1, ("v",)))}}}
    return {
        "$project": {"z": draw(st.one_of(expressions("any", 2, ("v",)), st.just({"$eq": ["$$v", "$n"]})))}
    }


@st.composite
def _lookup(draw: st.DrawFn) -> dict[str, Any]:
    plain = {"localField": draw(_FIELD), "foreignField": draw(_FIELD)}
    inner = {
        "let": {"v": draw(expressions(depth=1))},
        "pipeline": [
            {"$sort": {"_id": 1}},
            draw(st.one_of(_inner("project"), _inner("match"), _inner("group"))),
        ],
    }
    chosen = draw(st.sampled_from([plain, inner, {**plain, **inner}]))
    return {
        "$lookup": {"from": "case", "as": draw(st.sampled_from(["found", "found", "m", "o.x"])), **chosen}
    }


@st.composite
def _graph(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Followed through the collection; what is found comes in any order, so it is sorted."""
    spec = {
        "from": "case",
        "startWith": draw(expressions(depth=1)),
        "connectFromField": draw(_FIELD),
        "connectToField": draw(st.one_of(_FIELD, st.just("_id"))),
        "as": "found",
        **draw(
            st.sampled_from(
                [{}, {"maxDepth": 0}, {"maxDepth": 1}, {"restrictSearchWithMatch": {"n": {"$gt": 0}}}]
            )
        ),
    }
    ordered = {"$sortArray": {"input": "$found", "sortBy": {"_id": 1}}}
    return [{"$graphLookup": spec}, {"$set": {"found": ordered}}]


@st.composite
def _several(draw: st.DrawFn) -> dict[str, Any]:
    """Pipelines in a pipeline: over the same documents, or after them."""
    inner = draw(st.one_of(_set(), _match(), _project(), _sort(), _unwind()))
    if draw(st.booleans()):
        return {"$facet": {"one": [{"$sort": {"_id": 1}}, inner], "all": [inner, {"$count": "n"}]}}
    return {"$unionWith": {"coll": "case", "pipeline": [{"$sort": {"_id": 1}}, inner]}}


@st.composite
def _window(draw: st.DrawFn) -> dict[str, Any]:
    documents = draw(
        st.sampled_from([["unbounded", "current"], [-1, 1], [0, "unbounded"], ["unbounded", "unbounded"]])
    )
    name = draw(st.sampled_from(["$sum", "$avg", "$min", "$max", "$push", "$first", "$last", "$stdDevPop"]))
    ranked = draw(
        st.sampled_from(
            [
                {"$rank": {}},
                {"$denseRank": {}},
                {"$documentNumber": {}},
                {"$shift": {"output": "$n", "by": -1}},
                {"$locf": "$n"},
                {"$linearFill": "$n"},
                {"$derivative": {"input": "$n"}, "window": {"documents": [-1, 0]}},
                {"$integral": {"input": "$n"}, "window": {"documents": [-2, 0]}},
                {"$expMovingAvg": {"input": "$n", "N": 2}},
                {"$covariancePop": ["$n", "$i"], "window": {"documents": [-1, 1]}},
                {"$covarianceSamp": ["$i", "$n"]},
            ]
        )
    )
    computed = {name: draw(expressions("number", depth=1)), "window": {"documents": documents}}
    around = {name: draw(expressions("number", depth=1)), "window": {"range": draw(_RANGES)}}
    output = {"w": draw(st.sampled_from([computed, computed, around, ranked]))}
    if draw(st.integers(0, 4)) == 0:
        output["also"] = ranked
    partition = draw(
        st.sampled_from([{}, {"partitionBy": "$b"}, {"partitionBy": "$s"}, {"partitionBy": {"k": "$b"}}])
    )
    return {"$setWindowFields": {**partition, "sortBy": {"_id": 1}, "output": output}}


_RANGES = st.sampled_from(
    [[-1, 1], ["unbounded", "current"], [0.5, 2], [-2, "current"], ["current", "unbounded"]]
)


@st.composite
def _fill(draw: st.DrawFn) -> list[dict[str, Any]]:
    ways = st.one_of(
        st.just({}),
        st.sampled_from([{"method": "locf"}, {"method": "linear"}]),
        expressions(depth=1).map(lambda value: {"value": value}),
    )
    output = {draw(_NEW): draw(ways) for _ in range(draw(st.integers(1, 2)))}
    partition = draw(
        st.sampled_from(
            [{}, {"partitionBy": {"k": "$b"}}, {"partitionByFields": ["b"]}, {"partitionBy": {"$not": "$b"}}]
        )
    )
    return [{"$sort": {"_id": 1}}, {"$fill": {**partition, "sortBy": {"_id": 1}, "output": output}}]


@st.composite
def _densify(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Over a range that is narrow: what is made in between is not to be counted in thousands."""
    if draw(st.booleans()):
        name, low, high = draw(st.sampled_from(["n", "i", "o.n"])), -20, 40
        step = draw(st.sampled_from([1, 2, 0.5, 2.5, Int64(3), Decimal128("1.5")]))
        limits: dict[str, Any] = {"step": step}
        ends: list[Any] = draw(
            st.sampled_from([[0, 10], [-3, 4], [0.0, 5.0], [Decimal128("0"), Decimal128("4")]])
        )
    else:
        name, low, high = "d", datetime(2020, 1, 1), datetime(2023, 1, 1)
        limits = {
            "step": draw(st.integers(1, 3)),
            "unit": draw(st.sampled_from(["month", "week", "quarter", "year"])),
        }
        ends = [datetime(2020, 1, 31), datetime(2021, 1, 1)]
    limits["bounds"] = draw(st.sampled_from(["full", "partition", ends]))
    partition = draw(
        st.sampled_from([{}, {"partitionByFields": ["b"]}, {"partitionByFields": ["b", "o.name"]}])
    )
    return [
        {"$match": {name: {"$gte": low, "$lt": high}}},
        {"$densify": {"field": name, **partition, "range": limits}},
        # A server gives what lies beyond the last document in any order of partitions.
        {"$sort": {name: 1, "b": 1, "o.name": 1, "_id": 1}},
    ]


_REST = st.one_of(
    st.integers(1, 4).map(lambda count: {"$limit": count}),
    st.integers(0, 3).map(lambda count: {"$skip": count}),
    st.just({"$count": "how many"}),
    st.sampled_from([{"$unset": "n"}, {"$unset": ["o.n", "a"]}, {"$unset": "r.n"}]),
    expressions("object").map(lambda value: {"$replaceWith": value}),
    st.just({"$replaceRoot": {"newRoot": {"$mergeObjects": ["$o", {"_id": "$_id"}]}}}),
    st.just({"$redact": {"$cond": [{"$gt": ["$n", 1]}, "$$PRUNE", "$$DESCEND"]}}),
    st.just({"$facet": {"one": [{"$sort": {"_id": 1}}, {"$limit": 1}], "all": [{"$count": "n"}]}}),
    st.just({"$unionWith": {"coll": "case", "pipeline": [{"$sort": {"_id": -1}}, {"$project": {"n": 1}}]}}),
)


@st.composite
def _bucket(draw: st.DrawFn) -> list[dict[str, Any]]:
    fields = {"count": {"$sum": 1}, "mean": {"$avg": "$i"}}
    if draw(st.booleans()):
        return [
            {
                "$bucket": {
                    "groupBy": draw(expressions("number", depth=1)),
                    "boundaries": [-5, 0, 2.5, 50],
                    "default": "other",
                    "output": fields,
                }
            }
        ]
    return [{"$bucketAuto": {"groupBy": "$n", "buckets": draw(st.integers(1, 3)), "output": fields}}]


@st.composite
def _one(draw: st.DrawFn) -> list[dict[str, Any]]:
    kind = draw(st.integers(0, 16))
    single = {
        0: _set(),
        1: _set(),
        2: _project(),
        3: _match(),
        4: _match(),
        5: _sort(),
        6: _unwind(),
        7: _lookup(),
        8: _window(),
        9: _REST,
        15: _several(),
    }
    if kind in single:
        return [draw(single[kind])]
    several = {10: _group(), 11: _bucket(), 12: _counted(), 13: _fill(), 14: _densify(), 16: _graph()}
    return draw(several[kind])


@st.composite
def pipelines(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A pipeline: half of them one operator by itself, half of them one to four stages."""
    first: list[dict[str, Any]] = [{"$sort": {"_id": 1}}]
    if draw(st.booleans()):
        return [*first, draw(_computed())]
    parts = draw(st.lists(_one(), min_size=1, max_size=4))
    return [*first, *(stage for part in parts for stage in part)]
