from __future__ import annotations

from typing import Any

import pytest
from bson.code import Code

from preprocessor.results import Query, ResultsError
from preprocessor.results.readonly import REFUSED_OPERATORS, REFUSED_STAGES, refusals
from preprocessor.results.running import guard


def paths(pipeline: list[Any]) -> list[tuple[str | int, ...]]:
    return [refusal.path for refusal in refusals(pipeline)]


@pytest.mark.parametrize("stage", sorted(REFUSED_STAGES))
def test_a_stage_that_writes_or_reads_server_state_is_refused(stage: str):
    assert paths([{"$match": {}}, {stage: {}}]) == [(1, stage)]


@pytest.mark.parametrize("operator", sorted(REFUSED_OPERATORS))
def test_an_operator_that_runs_code_is_refused_in_expressions_and_filters(operator: str):
    assert paths([{"$set": {"x": {"$add": [1, {operator: {}}]}}}]) == [(0, "$set", "x", "$add", 1, operator)]
    assert paths([{"$match": {"$or": [{operator: "1"}]}}]) == [(0, "$match", "$or", 0, operator)]
    assert paths([{"$match": {"$expr": {"$not": {operator: {}}}}}]) == [
        (0, "$match", "$expr", "$not", operator)
    ]
    assert paths([{"$group": {"_id": None, "x": {operator: {}}}}]) == [(0, "$group", "x", operator)]


@pytest.mark.parametrize(
    ("stage", "path"),
    [
        (
            {"$lookup": {"from": "b", "as": "b", "pipeline": [{"$out": "x"}]}},
            ("$lookup", "pipeline", 0, "$out"),
        ),
        ({"$facet": {"one": [{"$limit": 1}, {"$merge": "x"}]}}, ("$facet", "one", 1, "$merge")),
        (
            {"$unionWith": {"coll": "b", "pipeline": [{"$facet": {"f": [{"$out": "x"}]}}]}},
            ("$unionWith", "pipeline", 0, "$facet", "f", 0, "$out"),
        ),
        (
            {"$rankFusion": {"input": {"pipelines": {"a": [{"$collStats": {}}]}}}},
            ("$rankFusion", "input", "pipelines", "a", 0, "$collStats"),
        ),
    ],
)
def test_pipelines_inside_pipelines_are_looked_through(stage: dict[str, Any], path: tuple[str | int, ...]):
    assert paths([stage]) == [(0, *path)]


def test_every_refusal_is_reported_in_reading_order():
    assert paths([{"$out": "a"}, {"$match": {"$where": "1"}}]) == [(0, "$out"), (1, "$match", "$where")]


def test_javascript_as_a_value_is_refused_even_as_data():
    assert paths([{"$set": {"x": Code("1")}}]) == [(0, "$set", "x")]
    assert paths([{"$set": {"x": {"$literal": [Code("1")]}}}]) == [(0, "$set", "x", "$literal", 0)]


def test_a_field_that_only_has_such_a_name_is_data():
    assert paths([{"$set": {"x": {"$literal": {"$out": 1, "a": {"$where": 2}}}}}]) == []
    assert paths([{"$match": {"metrics.$where": 1, "out": "$out"}}, {"$project": {"merge": "$merge"}}]) == []


def test_the_variables_of_a_query_are_looked_through_as_well():
    with pytest.raises(ResultsError, match=r"\$function runs code"):
        guard(Query("results", (), {"x": {"$function": {}}}))


def test_the_error_tells_the_place_and_that_nothing_was_sent():
    with pytest.raises(ResultsError) as caught:
        guard(Query("results", ({"$match": {}}, {"$out": "x"})))
    assert caught.value.path == (1, "$out")
    assert not caught.value.environment
    assert "nothing was sent" in caught.value.hint
