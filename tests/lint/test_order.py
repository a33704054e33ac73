"""What authors are told of the order of rows: two sources show a table alike only where something decides it."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import bson
import pytest
from hypothesis import HealthCheck, given, settings

from mongo_tables.aggregation import AggregationError, aggregate
from mongo_tables.lint.linter import apply_rules
from mongo_tables.lint.row_order import By, orders
from mongo_tables.lint.rule_context import RuleContext
from mongo_tables.lint.shape.document_shapes import learnt
from mongo_tables.site.pages import judge
from tests import forked
from tests.conformance.generator import documents
from tests.conformance.pipelines import pipelines
from tests.lint.specs import table

PLAYERS = [("Ada", 3), ("Ben", 2), ("Cem", 1), ("Dia", 1)]


def check(folder: Path, pipeline: list[Any], columns: list[str], *options: str) -> tuple[int, list[str]]:
    """The exit status of a check of one table, and what it says: rule and severity."""
    results = folder / "fixtures" / "players"
    results.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"_id": n, "name": name, "goals": goals}) for n, (name, goals) in enumerate(PLAYERS)]
    (results / "all.jsonl").write_text("\n".join(lines) + "\n")
    body = {"collection": "players", "pipeline": pipeline, "columns": columns, "headers": columns}
    (folder / "page.md").write_text(f"<!-- MONGO_TABLE: {json.dumps(body)} -->\n")
    asked = ["check", "page.md", "--format", "json", *options]
    done = forked.completed(forked.MONGO_TABLES, asked, folder, os.environ)
    assert done.stderr == ""
    found = json.loads(done.stdout)["findings"]
    return done.returncode, [f"{one['rule']} {one['severity']}" for one in found]


def test_groups_that_nobody_sorted_are_warned_of(tmp_path: Path) -> None:
    pipeline = [{"$group": {"_id": "$goals", "n": {"$sum": 1}}}]
    assert check(tmp_path, pipeline, ["_id", "n"]) == (1, ["MT416 warning"])
    assert check(tmp_path, pipeline, ["_id", "n"], "--static") == (1, ["MT416 warning"])
    assert check(tmp_path, [*pipeline, {"$sort": {"_id": 1}}], ["_id", "n"]) == (0, [])


def test_rows_that_only_storage_has_ordered_are_noted_and_fail_nothing(tmp_path: Path) -> None:
    assert check(tmp_path, [], ["name", "goals"]) == (0, ["MT417 note"])


@pytest.mark.parametrize(
    ("documents", "proposed"),
    [
        ([{"at": datetime(2026, 1, 1)}], '{"$sort": {"at": -1}} for the newest'),
        ([{"name": "Ada"}], "before it"),
        ([{"_id": 1, "name": "Ada"}], '{"$sort": {"_id": 1}}'),
    ],
)
def test_a_sort_is_proposed_by_a_field_that_documents_have(
    documents: list[dict[str, Any]], proposed: str
) -> None:
    spec = table([{"$limit": 1}], ["name"])
    (found,) = [
        one
        for one in apply_rules("pipeline", RuleContext.of(spec, learnt(documents), known=True))
        if one.rule == "MT401"
    ]
    assert found.hint.endswith((proposed, f"{proposed}."))


def test_one_row_needs_no_order(tmp_path: Path) -> None:
    one = [{"$match": {"name": "Ada"}}]
    assert check(tmp_path, one, ["name", "goals"]) == (0, [])
    assert check(tmp_path, [*one, {"$group": {"_id": "$name"}}], ["_id"]) == (0, [])


def test_a_leaderboard_has_rows_that_readers_can_tell_apart(tmp_path: Path) -> None:
    code, rules = check(tmp_path, [{"$sort": {"goals": -1}}], ["name", "goals"])
    assert (code, rules) == (0, ["MT418 note"])


SET = [{"$group": {"_id": "$goals", "names": {"$addToSet": "$_id"}}}, {"$unwind": "$names"}]


@pytest.mark.parametrize("renamed", [[], [{"$project": {"_id": 0, "goals": "$_id", "who": "$names"}}]])
def test_elements_of_a_set_that_sort_alike_are_warned_of_as_what_they_are(
    tmp_path: Path, renamed: list[Any]
) -> None:
    key, element = ("goals", "who") if renamed else ("_id", "names")
    told = [*SET, *renamed, {"$sort": {key: 1}}]
    assert check(tmp_path, told, [key, element]) == (1, ["MT424 warning"])
    assert check(tmp_path, [*SET, *renamed, {"$sort": {key: 1, element: 1}}], [key, element]) == (0, [])


def test_documents_of_two_collections_that_sort_alike_are_warned_of(tmp_path: Path) -> None:
    named = {"$set": {"name": {"$concat": ["$name", " too"]}}}
    both = [{"$unionWith": {"coll": "players", "pipeline": [named]}}]
    assert check(tmp_path, [*both, {"$sort": {"goals": 1}}], ["name", "goals"]) == (1, ["MT424 warning"])


def test_a_tie_at_a_limit_is_told_as_what_it_is(tmp_path: Path) -> None:
    pipeline = [{"$sort": {"goals": -1}}, {"$limit": 3}]
    assert check(tmp_path, pipeline, ["name", "goals"]) == (1, ["MT419 warning"])
    assert check(tmp_path, [{"$sort": {"goals": 1}}, {"$limit": 1}], ["name"]) == (1, ["MT419 warning"])
    assert check(tmp_path, [{"$sort": {"goals": -1}}, {"$limit": 2}], ["name"]) == (0, [])


def test_text_order_is_told_of_values_that_are_there(tmp_path: Path) -> None:
    named = {"$project": {"_id": 0, "shirt": {"$concat": ["P", {"$toString": {"$add": ["$_id", 4]}}]}}}
    assert check(tmp_path, [named, {"$sort": {"shirt": 1}}], ["shirt"]) == (0, [])
    named = {"$project": {"_id": 0, "shirt": {"$concat": ["P", {"$toString": {"$add": ["$_id", 8]}}]}}}
    assert check(tmp_path, [named, {"$sort": {"shirt": 1}}], ["shirt"]) == (1, ["MT408 warning"])


def test_a_value_of_whichever_document_comes_first_is_warned_of(tmp_path: Path) -> None:
    pipeline = [{"$group": {"_id": "$goals", "name": {"$first": "$name"}}}, {"$sort": {"_id": 1}}]
    assert check(tmp_path, pipeline, ["_id", "name"]) == (1, ["MT424 warning"])
    assert check(tmp_path, [{"$sort": {"_id": 1}}, *pipeline], ["_id", "name"]) == (0, [])


def densified(bounds: Any, partitions: tuple[str, ...] | list[str] = ("b",)) -> dict[str, Any]:
    """A `$densify` by one partition."""
    made = {"field": "a", "range": {"step": 1, "bounds": bounds}}
    return {"$densify": {**made, "partitionByFields": list(partitions)}}


GROUP = {"$group": {"_id": "$a", "all": {"$addToSet": "$b"}}}


@pytest.mark.parametrize(
    ("by", "pipeline"),
    [
        (By.STORAGE, []),
        (By.STORAGE, [{"$match": {"a": 1}}, {"$set": {"b": 1}}, {"$unwind": "$a"}]),
        (By.STORAGE, [{"$limit": 5}]),
        (By.CHANCE, [{"$sort": {"a": 1}}, GROUP]),
        (By.CHANCE, [{"$sort": {"a": 1}}, {"$unionWith": "other"}]),
        (By.CHANCE, [{"$sample": {"size": 3}}]),
        (By.CHANCE, [GROUP, {"$sort": {"_id": 1}}, {"$unwind": "$all"}]),
        (By.CHANCE, [GROUP, {"$sort": {"_id": 1}}, {"$set": {"x": "$all"}}, {"$unwind": {"path": "$x"}}]),
        (
            By.CHANCE,
            [{"$graphLookup": {"from": "x", "as": "found"}}, {"$sort": {"a": 1}}, {"$unwind": "$found"}],
        ),
        (By.CHANCE, [{"$sort": {"a": 1}}, {"$lookup": {"as": "f", "pipeline": [GROUP]}}, {"$unwind": "$f"}]),
        (By.CHANCE, [densified("full")]),
        (By.CHANCE, [{"$sort": {"a": 1}}, densified([0, 9])]),
        (By.STAGE, [densified("partition")]),
        (By.STAGE, [densified("full", partitions=[])]),
        (By.STAGE, [{"$match": {"_id": 3}}, densified("full")]),
        (By.STAGE, [densified("full"), {"$sort": {"a": 1}}]),
        (By.STAGE, [GROUP, {"$sort": {"_id": 1}}, {"$unset": "all"}]),
        (By.STAGE, [GROUP, {"$unwind": "$all"}, {"$sort": {"all": 1}}]),
        (By.STAGE, [{"$sort": {"a": 1}}, {"$lookup": {"from": "x", "as": "f"}}, {"$unwind": "$f"}]),
        (By.STAGE, [{"$sortByCount": "$a"}]),
        (By.STAGE, [{"$bucketAuto": {"groupBy": "$a", "buckets": 3}}]),
        (By.STAGE, [{"$setWindowFields": {"sortBy": {"a": 1}, "output": {}}}]),
        (By.STAGE, [{"$facet": {"x": [GROUP, {"$sort": {"_id": 1}}]}}, {"$unwind": "$x"}]),
        (By.ONE, [{"$facet": {"x": [GROUP]}}]),
        (By.ONE, [GROUP, {"$count": "n"}]),
        (By.ONE, [{"$group": {"_id": None}}, {"$sort": {"a": 1}}]),
        (By.ONE, [{"$group": {"_id": {"const": 1}}}]),
        (By.ONE, [{"$group": {"_id": {"$literal": "$a"}}}]),
        (By.ONE, [{"$sort": {"a": 1}}, {"$limit": 1}]),
        (By.ONE, [{"$match": {"_id": 3}}, {"$project": {"a": 1}}]),
        (By.ONE, [{"$match": {"_id": 3}}, GROUP]),
        (By.CHANCE, [{"$match": {"_id": 3}}, {"$unionWith": "other"}]),
        (By.STORAGE, [{"$fill": {"output": {"a": {"value": 0}}}}]),
        (By.STAGE, [{"$searchMeta": {}}, {"$documents": []}]),
        (By.ONE, [{"$collStats": {}}]),
        (By.STAGE, [{"$search": {}}, {"$limit": 3}]),
    ],
)
def test_what_decides_the_order_of_rows(by: By, pipeline: list[dict[str, Any]]) -> None:
    assert ([By.STORAGE] + [one.by for one in orders(pipeline)])[-1] is by


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(documents(), pipelines())
def test_rows_that_come_otherwise_from_a_copy_stored_in_another_order_are_told_of(
    docs: list[dict[str, Any]], pipeline: list[Any]
) -> None:
    docs = [bson.decode(bson.encode(one)) for one in docs]
    pipeline = pipeline[1:] if pipeline[:1] == [{"$sort": {"_id": 1}}] else pipeline
    spec = table(pipeline, ["_id"])
    if judge(spec).faults:
        return
    try:
        rows, others = (aggregate(each, pipeline) for each in (docs, docs[::-1]))
    except AggregationError:
        return
    if bson.encode({"rows": rows}) != bson.encode({"rows": others}) and len(rows) > 1:
        subject = RuleContext.of(spec, learnt(docs), known=True)
        found = [*apply_rules("pipeline", subject), *apply_rules("rows", subject, rows)]
        assert {one.rule for one in found} & {"MT401", "MT416", "MT417", "MT418", "MT420"}
