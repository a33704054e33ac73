"""Stages that are compiled once: whatever a pipeline reads besides its documents, it reads anew."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from bson import Int64

from mongo_tables.aggregation import (
    AggregationError,
    LimitReached,
    PipelineLimits,
    aggregate,
    check,
    pipelines,
)
from mongo_tables.aggregation.join_index import IndexedCollection, JoinIndex

SQUARES = [{"$set": {"squares": {"$map": {"input": "$n", "as": "one", "in": {"$pow": ["$$one", 2]}}}}}]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The names of the stages that are compiled while the test runs."""
    stages: list[Any] = []
    find_form = pipelines.find_form

    def recorded(kind: Any, name: str, *rest: Any) -> Any:
        stages.append(name)
        return find_form(kind, name, *rest)

    monkeypatch.setattr(pipelines, "find_form", recorded)
    return stages


def test_what_was_checked_is_not_compiled_again_to_be_run(compiled: list[Any]) -> None:
    pipeline = [{"$match": {"n": {"$gt": 12345}}}, {"$set": {"twelve": {"$add": ["$n", 12]}}}]
    check(pipeline)
    assert aggregate([{"n": 12346}], pipeline) == [{"n": 12346, "twelve": 12358}]
    assert compiled == ["$match", "$set"]


def test_the_same_stage_runs_on_other_documents() -> None:
    assert aggregate([{"n": [1, 2]}, {"n": [3]}], SQUARES) == [
        {"n": [1, 2], "squares": [1, 4]},
        {"n": [3], "squares": [9]},
    ]
    assert aggregate([{"n": [5]}], SQUARES) == [{"n": [5], "squares": [25]}]


def test_numbers_keep_their_types() -> None:
    for one in (1, Int64(1), 1.0, True):
        (row,) = aggregate([{}], [{"$set": {"one": {"$literal": one}}}])
        assert type(row["one"]) is type(one)


def test_an_error_is_told_where_the_stage_stands() -> None:
    failing = {"$set": {"x": {"$divide": [1, "$zero"]}}}
    for before in ([], [{"$limit": 1}]):
        with pytest.raises(AggregationError) as caught:
            aggregate([{"zero": 0}], [*before, failing])
        assert caught.value.path is not None
        assert caught.value.path[0] == len(before)


def test_time_collections_and_seeds_are_those_of_the_call() -> None:
    for year in (2025, 2026):
        now = datetime(year, 1, 1)
        assert aggregate([{}], [{"$set": {"now": "$$NOW"}}], now=now) == [{"now": now}]
    join = [{"$lookup": {"from": "c", "localField": "a", "foreignField": "a", "as": "found"}}]
    nested = [{"$facet": {"joined": join}}]
    for here in ([{"a": 1, "b": 1}], [{"a": 1, "b": 2}]):
        assert aggregate([{"a": 1}], join, collections={"c": here})[0]["found"] == here
        assert aggregate([{"a": 1}], nested, collections={"c": here})[0]["joined"][0]["found"] == here
    draws = [aggregate([{}], [{"$set": {"r": {"$rand": {}}}}], seed=seed)[0]["r"] for seed in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]


def test_joins_to_a_collection_that_stays_as_it_is_look_through_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[tuple[str, ...]] = []
    build = JoinIndex._build

    def recorded(index: JoinIndex) -> Any:
        built.append(index._path)
        return build(index)

    monkeypatch.setattr(JoinIndex, "_build", recorded)
    others = {"c": IndexedCollection([{"a": 1, "b": 2}, {"a": 2, "b": 1}])}
    for foreign, found in (("a", 0), ("b", 1), ("a", 0), ("b", 1)):
        join = {"from": "c", "localField": "n", "foreignField": foreign, "as": "found"}
        (row,) = aggregate([{"n": 1}], [{"$lookup": join}], collections=others)
        assert row["found"] == [others["c"][found]]
    assert built == [("a",), ("b",)]


def test_variables_of_the_call_are_read_anew() -> None:
    for value in (1, 2):
        assert aggregate([{}], [{"$set": {"x": "$$given"}}], variables={"given": value}) == [{"x": value}]


@pytest.mark.parametrize("stage", ["$match", "$set"])
def test_a_constant_is_computed_within_the_limits_of_the_call(stage: str) -> None:
    size = {"$size": {"$range": [0, 300_000]}}
    pipeline = [{stage: {"$expr": {"$gt": [size, "$n"]}} if stage == "$match" else {"size": size}}]
    assert aggregate([{"n": 1}], pipeline)
    with pytest.raises(LimitReached):
        aggregate([{"n": 1}], pipeline, limits=PipelineLimits(stage_bytes=2**20))


def test_a_pattern_is_matched_within_the_limits_of_the_call() -> None:
    pipeline = [{"$match": {"a": {"$regex": "^(a+)+$"}}}]
    documents = [{"a": "a" * 20 + "b"}]
    with pytest.raises(LimitReached):
        aggregate(documents, pipeline)
    assert aggregate(documents, pipeline, limits=PipelineLimits(regex_steps=10**8)) == []


def test_large_constants_count_as_memory_of_each_pipeline_that_has_them() -> None:
    large = {"$range": [0, 600_000]}
    stages = [{"$set": {name: {"$size": large}}} for name in "ab"]
    limits = PipelineLimits(stage_bytes=30_000_000)
    for stage in stages:
        assert aggregate([{}], [stage], limits=limits)
    with pytest.raises(LimitReached):
        aggregate([{}], stages, limits=limits)
