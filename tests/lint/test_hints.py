"""What a finding says to do is right: its hint leads to what was meant, and a failure names its cause."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.aggregation import aggregate
from mongo_tables.findings.finding import Finding
from mongo_tables.site.pages import read_page
from tests.judged import asked
from tests.lint.specs import comment_of

FIXTURES = Path(__file__).parent / "pages" / "fixtures"


def told(rule: str, pipeline: list[Any], columns: list[str], collection: str, **more: Any) -> Finding:
    """The only finding of a rule about a table."""
    page = read_page(comment_of(pipeline, columns, collection=collection, **more), "page.md", lambda _: None)
    (one,) = [one for one in asked(FIXTURES, page).findings if one.rule == rule]
    return one


def test_the_mean_of_an_array_is_told_to_unwind_it_since_a_mean_of_sums_is_another_number() -> None:
    group = {"$group": {"_id": "$customer", "value": {"$avg": "$items.price"}}}
    assert "$sum" not in told("MT443", [group], ["_id", "value"], "orders").hint


def test_an_array_in_a_list_is_told_how_to_ask_for_a_common_element() -> None:
    value = {"$in": ["$tags", ["new"]]}
    hint = told("MT435", [{"$project": {"value": value}}], ["_id", "value"], "orders").hint
    assert '{"$gt": [{"$size": {"$setIntersection": ["$tags", ["new"]]}}, 0]}' in hint


def test_a_duration_in_another_unit_is_told_its_divisor() -> None:
    more = {"headers": ["Run", "Time (s)"]}
    one = told("MT404", [{"$project": {"tookMs": 1}}], ["_id", "tookMs"], "runs", **more)
    assert one.hint == "divide by 1000 in the pipeline"


FAILING = [
    ({"$multiply": ["ops", 2]}, "$multiply requires numbers, not string", 'a field is written "$ops"'),
    ({"$month": "started"}, "string is not a date", 'a field is written "$started"'),
    (
        {"$dateToString": {"date": "started", "format": "%Y"}},
        "string is not a date",
        'a field is written "$started"',
    ),
    (
        {"$dateTrunc": {"date": "started", "unit": "day"}},
        "'date' of $dateTrunc must be a date, not string",
        'a field is written "$started"',
    ),
    ({"$add": ["ops", 1]}, "$add requires numbers and dates, not string", 'a field is written "$ops"'),
    ({"$divide": ["ops", 2]}, "$divide cannot divide string by int", 'a field is written "$ops"'),
    ({"$size": "pairs"}, "$size works on an array, not on string", 'a field is written "$pairs"'),
    ({"$in": ["a", "tags"]}, "$in works on an array, not on string", 'a field is written "$tags"'),
    ({"$toInt": "ops"}, "cannot parse 'ops' as int", 'a field is written "$ops"'),
    ({"$add": ["$test", 1]}, "$add requires numbers and dates, not string", ""),
    ({"$divide": ["$ops", "$tookMs"]}, "$divide by zero", '{"$gt": ["$tookMs", 0]}'),
    ({"$size": "$pairs"}, "$size works on an array, not on missing", '{"$ifNull": ["$pairs", []]}'),
]


@pytest.mark.parametrize(("value", "message", "hint"), FAILING)
def test_a_failure_tells_how_to_guard_the_operand(value: Any, message: str, hint: str) -> None:
    one = told("MT301", [{"$project": {"value": value}}], ["_id", "value"], "runs")
    assert one.message == message
    assert hint in one.hint


def test_a_value_outside_all_buckets_is_named_with_the_bounds() -> None:
    bucket = {"$bucket": {"groupBy": "$total", "boundaries": [5, 30]}}
    one = told("MT301", [bucket], ["_id", "count"], "orders")
    assert (
        one.message
        == "30 is outside all buckets, from 5 up to, but not including, 30, and there is no default"
    )
    assert '"default"' in one.hint


EMPTY = [
    ([{"$match": {"at": {"$gte": "2023-01-01"}}}], "`at` of at least", '{"$date": "2023-01-01T00:00:00Z"}'),
    (
        [{"$group": {"_id": "$status"}}, {"$match": {"total": 5}}],
        "no document has `total`: `$group` dropped it",
        "",
    ),
    ([{"$match": {"$expr": {"$eq": ["$total", "5"]}}}], "its values are never strings", "without quotes"),
    ([{"$match": {"$expr": {"$lt": ["$code", "10"]}}}], 'its values are "12" ×1', ""),
    ([{"$match": {"$expr": {"$in": ["$status", ["payed"]]}}}], "no document fulfils", "did you mean `paid`?"),
    ([{"$match": {"_id": 1}}, {"$unwind": "$urgent"}], "no document has `urgent`", ""),
]


@pytest.mark.parametrize(("pipeline", "cause", "hint"), EMPTY)
def test_a_table_without_rows_tells_the_cause(pipeline: list[Any], cause: str, hint: str) -> None:
    one = told("MT303", pipeline, ["_id"], "orders")
    assert cause in one.message
    assert hint in one.hint
    assert one.line == 1 + len(pipeline)


def test_equality_with_a_part_of_a_document_is_told_to_compare_its_fields() -> None:
    one = told("MT303", [{"$match": {"variant": {"order": 1}}}], ["_id"], "runs")
    assert '{"variant.order": 1}' in one.hint


SORTS = [
    ({"sort": "total desc"}, "MT305", 'write "sort": "-total"'),
    ({"sort": ["status", "total:DESC"]}, "MT305", 'write "sort": ["-total", "status"]'),
    ({"sort": "total, _id"}, "MT305", 'write "sort": ["total", "_id"]'),
    ({"sort": "+total"}, "MT305", 'write "sort": "total"'),
    ({"sort": "totla"}, "MT305", "did you mean `total`?"),
    ({"sort": {"total": "desc"}}, "MT132", 'for example: "-mean"'),
    ({"order_by": "total"}, "MT130", "did you mean `sort`?"),
    ({"filter": {"total": 5}}, "MT130", "did you mean `where`?"),
    ({"where": {"total": ">= 500"}}, "MT303", 'write {"$gte": 500}'),
    ({"where": {"total": "5"}}, "MT303", "without quotes"),
    ({"pipeline": [{"$orderBy": {"total": 1}}]}, "MT301", "did you mean `$sort`?"),
    ({"pipeline": [{"order_by": {"total": 1}}]}, "MT134", "did you mean `$sort`?"),
    ({"pipeline": [{"$sort": "total desc"}]}, "MT301", 'write {"$sort": {"total": -1}}'),
    ({"pipeline": [{"$sort": ["status", "-total"]}]}, "MT301", 'write {"$sort": {"status": 1, "total": -1}}'),
    ({"pipeline": [{"$sort": {"total": "DESC"}}]}, "MT301", 'write {"total": -1}'),
    ({"pipeline": [{"$sort": {"total": "asc"}}]}, "MT301", 'write {"total": 1}'),
    ({"pipeline": [{"$sort": {"total desc": 1}}]}, "MT305", 'write {"$sort": {"total": -1}}'),
]


@pytest.mark.parametrize(("body", "rule", "hint"), SORTS)
def test_a_sort_as_in_another_language_is_told_how_it_is_written(
    body: dict[str, Any], rule: str, hint: str
) -> None:
    body = {"collection": "orders", "columns": ["total"], **body}
    page = read_page(f"<!-- RESULT_TABLE: {json.dumps(body)} -->\n", "page.md", lambda _: None)
    (one,) = [one for one in asked(FIXTURES, page).findings if one.rule == rule]
    assert hint in one.hint


ORDERS = [json.loads(line) for line in (FIXTURES / "orders" / "orders.jsonl").read_text("utf-8").splitlines()]

COMPARED = [
    ({"$gt": "$limit"}, "total", [2]),
    ({"$in": ["$limit", 5]}, "total", [4]),
    ({"$nin": ["$limit", 50]}, "total", [1, 2, 3]),
    ({"$not": {"$gt": "$limit"}}, "total", [1, 3, 4]),
    ({"$elemMatch": {"price": {"$gt": "$limit"}}}, "items", []),
    ({"$elemMatch": {"price": {"$lt": "$limit"}}}, "items", [1]),
]


@pytest.mark.parametrize(("condition", "field", "meant"), COMPARED)
def test_a_query_that_compares_with_a_path_is_told_a_condition_that_chooses_what_was_meant(
    condition: Any, field: str, meant: list[int]
) -> None:
    pipeline = [{"$match": {field: condition}}, {"$sort": {"_id": 1}}]
    said = told("MT434", pipeline, ["_id", "total"], "orders", empty="None").hint
    query = json.loads(said.partition(": ")[2])
    there = [one for one in ORDERS if field in one]
    assert [one["_id"] for one in aggregate(there, [{"$match": query}])] == meant


def test_a_query_that_compares_with_a_path_is_not_told_that_its_kind_is_wrong_as_well() -> None:
    pipeline = [
        {"$set": {"total": "$total"}},
        {"$match": {"total": {"$ne": "$limit"}}},
        {"$sort": {"_id": 1}},
    ]
    page = read_page(comment_of(pipeline, ["_id", "total"], collection="orders"), "page.md", lambda _: None)
    assert [one.rule for one in asked(FIXTURES, page).findings] == ["MT434"]


def test_a_field_whose_name_has_a_dot_is_told_how_to_read_it(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "runs.jsonl").write_text('{"_id": 1, "p99.9": 5, "ms": {"p99.9": 7}}\n')
    for path, name in [("$p99.9", '"p99.9"'), ("$ms.p99.9", '{"field": "p99.9", "input": "$ms"}')]:
        comment = comment_of([{"$set": {"value": path}}], ["_id", "value"], collection="runs")
        found = asked(tmp_path, read_page(comment, "page.md", lambda _: None)).findings
        (hint,) = [one.hint for one in found if one.rule == "MT402"]
        assert f'{{"$getField": {name}}}' in hint


def test_a_pattern_that_is_in_a_value_as_it_is_written_is_told_how_to_escape_it(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "runs.jsonl").write_text('{"_id": 1, "name": "parse (fast)"}\n')
    comment = comment_of([{"$match": {"name": {"$regex": "parse (fast)"}}}], ["_id"], collection="runs")
    found = asked(tmp_path, read_page(comment, "page.md", lambda _: None)).findings
    (hint,) = [one.hint for one in found if one.rule == "MT303"]
    query = json.loads(hint.partition(": ")[2])
    assert aggregate([{"name": "parse (fast)"}], [{"$match": {"name": query}}])
