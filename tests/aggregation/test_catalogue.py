"""The catalogue, the evaluator and the documentation know the same operators."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest
from bson.decimal128 import Decimal128

from hooks.referencepages import offline_page
from mongo_tables.aggregation import AggregationError, NotOffline, aggregate, check
from mongo_tables.aggregation.accumulators import basic
from mongo_tables.aggregation.catalogue import Operator, operators
from mongo_tables.aggregation.compiler import _FORMS
from mongo_tables.aggregation.pipelines import _STAGES

REGISTERED = {"stage": _STAGES, "expression": _FORMS, "accumulator": basic._FORMS}
OFFLINE = [one for one in operators() if not one.refused]
NOT_OF_DECIMALS = [one for one in operators() if one.not_of == "Decimal128"]
REFUSED = [one for one in operators() if one.refused and one.kind in ("stage", "expression", "accumulator")]

# MongoDB 6.0's stages, expressions and accumulators, from its manual; internal and undocumented ones aside.
IN_6_0 = {
    "stage": """addFields bucket bucketAuto changeStream collStats count currentOp densify documents facet fill geoNear
        graphLookup group indexStats limit listLocalSessions listSessions lookup match merge out planCacheStats project
        redact replaceRoot replaceWith sample search searchMeta set setWindowFields shardedDataDistribution skip sort
        sortByCount unionWith unset unwind""",
    "expression": """abs acos acosh add allElementsTrue and anyElementTrue arrayElemAt arrayToObject asin asinh atan atan2
        atanh avg binarySize bsonSize ceil cmp concat concatArrays cond convert cos cosh dateAdd dateDiff dateFromParts
        dateFromString dateSubtract dateToParts dateToString dateTrunc dayOfMonth dayOfWeek dayOfYear degreesToRadians
        divide eq exp filter first firstN floor function getField gt gte hour ifNull in indexOfArray indexOfBytes
        indexOfCP isArray isNumber isoDayOfWeek isoWeek isoWeekYear last lastN let literal ln log log10 lt lte ltrim
        map max maxN mergeObjects meta min minN millisecond minute mod month multiply ne not objectToArray or pow
        radiansToDegrees rand range reduce regexFind regexFindAll regexMatch replaceAll replaceOne reverseArray round
        rtrim second setDifference setEquals setField setIntersection setIsSubset setUnion sin sinh size slice sortArray
        split sqrt stdDevPop stdDevSamp strcasecmp strLenBytes strLenCP substr substrBytes substrCP subtract sum switch
        tan tanh toBool toDate toDecimal toDouble toInt toLong toLower toObjectId toString toUpper trim trunc tsIncrement
        tsSecond type unsetField week year zip""",
    "accumulator": """accumulator addToSet avg bottom bottomN count first firstN last lastN max maxN mergeObjects min minN
        push stdDevPop stdDevSamp sum top topN""",
    "window": """addToSet avg bottom bottomN count covariancePop covarianceSamp denseRank derivative documentNumber
        expMovingAvg first firstN integral last lastN linearFill locf max maxN min minN push rank shift stdDevPop
        stdDevSamp sum top topN""",
    "query": """all and bitsAllClear bitsAllSet bitsAnyClear bitsAnySet comment elemMatch eq exists expr geoIntersects
        geoWithin gt gte in jsonSchema lt lte mod ne near nearSphere nin nor not or rand regex size text type where""",
}


def _id(one: Operator) -> str:
    return f"{one.kind} {one.name}"


@pytest.mark.parametrize("kind", IN_6_0)
def test_every_operator_of_6_0_is_in_the_catalogue(kind: str) -> None:
    known = {one.name for one in operators() if one.kind == kind}
    assert {f"${name}" for name in IN_6_0[kind].split()} <= known


@pytest.mark.parametrize("one", [one for one in OFFLINE if one.kind in REGISTERED], ids=_id)
def test_what_the_catalogue_calls_offline_the_evaluator_has(one: Operator) -> None:
    import_module(f"mongo_tables.aggregation.{one.family}")
    assert one.name in REGISTERED[one.kind]


def test_the_evaluator_has_nothing_that_the_catalogue_does_not_know() -> None:
    for one in OFFLINE:
        if one.kind in REGISTERED:
            import_module(f"mongo_tables.aggregation.{one.family}")
    known = {(one.kind, one.name) for one in operators()}
    for kind in ("stage", "expression"):
        assert {(kind, name) for name in REGISTERED[kind]} <= known
    assert set(basic._FORMS) <= {name for kind, name in known if kind in ("accumulator", "window")}


@pytest.mark.parametrize("one", NOT_OF_DECIMALS, ids=_id)
def test_what_only_a_server_computes_of_a_decimal_is_refused_of_it_and_runs_of_a_double(
    one: Operator,
) -> None:
    def computed(value: Any) -> Any:
        pipeline = [{"$project": {"_id": 0, "value": {one.name: ["$a", 2][: one.least]}}}]
        return aggregate([{"a": value}], pipeline)[0]["value"]

    with pytest.raises(NotOffline, match=f"^{re.escape(one.name)} of a Decimal128 is not available offline"):
        computed(Decimal128("1"))
    assert type(computed(1.0)) is float
    assert computed(None) is None
    assert f"`{one.name}`" in offline_page().split("These run offline only in part:")[1].split("\n## ")[0]


def test_no_other_function_of_one_number_is_refused_of_a_decimal() -> None:
    others = [one for one in OFFLINE if one.family == "expressions.functions" and one not in NOT_OF_DECIMALS]
    assert {one.name for one in others} == {"$sqrt", "$degreesToRadians", "$radiansToDegrees"}
    for one in others:
        assert aggregate([{"a": Decimal128("4")}], [{"$project": {"value": {one.name: "$a"}}}])


@pytest.mark.parametrize("one", REFUSED, ids=_id)
def test_what_it_refuses_is_refused_with_the_reason(one: Operator) -> None:
    pipelines = {
        "stage": [{one.name: {}}],
        "expression": [{"$set": {"x": {one.name: {}}}}],
        "accumulator": [{"$group": {"_id": None, "x": {one.name: {}}}}],
    }
    with pytest.raises(NotOffline) as refusal:
        check(pipelines[one.kind])
    assert one.refused in refusal.value.message
    assert refusal.value.path is not None


def test_an_unknown_operator_is_told_with_those_that_are_known() -> None:
    with pytest.raises(AggregationError) as error:
        check([{"$match": {}}, {"$set": {"x": {"$divde": [1, 2]}}}])
    assert error.value.path == (1, "$set", "x", "$divde")
    assert error.value.unknown == "$divde"
    assert "$divide" in error.value.known


@pytest.mark.parametrize("one", operators(), ids=_id)
def test_the_documentation_lists_it(one: Operator) -> None:
    page = offline_page()
    section = page[page.index(_HEADINGS[one.kind]) :].split("\n## ")[0]
    assert f"`{one.name}`" in section
    assert not one.refused or one.refused in section


_HEADINGS = {
    "stage": "## Stages",
    "expression": "## Expressions",
    "accumulator": "## Accumulators",
    "window": "## Window",
    "query": "## Query",
}
