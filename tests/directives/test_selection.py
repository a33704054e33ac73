"""A comment without a pipeline is one with the stages that its keys stand for, and every fault stands at its key."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mongo_tables.aggregation import aggregate
from mongo_tables.directives.columns import column_headers
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.reader import read
from mongo_tables.directives.row_keys import read_sort, write_sort
from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec


def spec_of(body: str, keyword: str = "RESULT_TABLE") -> Any:
    (comment,) = find(f"<!-- {keyword}: {body} -->", "page.md").comments
    reading = read(comment, "page.md", lambda name: None)
    spec, findings = reading.spec, reading.findings
    assert findings == []
    return spec


def test_the_keys_of_a_table_become_stages_in_the_order_in_which_they_select() -> None:
    spec = spec_of(
        '{"limit": 3, "sort": ["-mean", "name"], "where": {"at": {"$gt": {"$date": "2026-01-31T00:00:00Z"}}},'
        ' "collection": "bench", "columns": ["name", "mean"]}'
    )
    assert isinstance(spec, TableSpec)
    assert spec.pipeline == (
        {"$match": {"at": {"$gt": datetime(2026, 1, 31)}}},
        {"$sort": {"mean": -1, "name": 1}},
        {"$limit": 3},
    )
    assert list(spec.pipeline[1]["$sort"]) == ["mean", "name"]


def test_a_chart_needs_no_pipeline_either() -> None:
    spec = spec_of('{"collection": "bench", "x": "at", "y": "mean", "sort": "at"}', "MONGO_CHART")
    assert isinstance(spec, ChartSpec)
    assert spec.pipeline == ({"$sort": {"at": 1}},)


@pytest.mark.parametrize("more", ["", ', "where": {}'])
def test_without_a_key_all_documents_are_rows(more: str) -> None:
    spec = spec_of(f'{{"collection": "bench", "columns": ["name"]{more}}}')
    assert spec.pipeline == ()
    assert spec.locate(("pipeline",)) == spec.locate(("collection",))


BODY = """{
  "collection": "bench",
  "columns": ["name", "mean"],
  "where": {"name": {"$in": ["a", "b"]}},
  "sort": ["-mean", "name"],
  "limit": 3
}"""


@pytest.mark.parametrize(
    ("path", "key", "text"),
    [
        (("pipeline", 0), False, '{"name": {"$in"'),
        (("pipeline", 0, "$match"), True, '"where"'),
        (("pipeline", 0, "$match", "name", "$in"), True, '"$in"'),
        (("pipeline", 0, "$match", "name", "$in", 1), False, '"b"'),
        (("pipeline", 1, "$sort"), True, '"sort"'),
        (("pipeline", 1, "$sort", "name"), True, '"name"'),
        (("pipeline", 2, "$limit"), True, '"limit"'),
        (("pipeline", 2), False, "3"),
        (("pipeline",), False, '{"name": {"$in"'),
        (("headers", 1), False, '"mean"]'),
    ],
)
def test_a_place_of_the_pipeline_is_that_of_the_key_it_was_made_from(
    path: tuple[str | int, ...], key: bool, text: str
) -> None:
    spec = spec_of(BODY)
    line, column = spec.locate(path, key=key)
    lines = f"<!-- RESULT_TABLE: {BODY} -->".split("\n")
    assert "\n".join(lines[line - 1 :])[column - 1 :].startswith(text)


def test_the_field_of_a_sort_in_a_list_is_located_in_the_list() -> None:
    spec = spec_of(BODY)
    assert spec.locate(("pipeline", 1, "$sort", "name"), key=True) == (5, 21)
    single = spec_of('{"collection": "bench", "columns": ["name"], "sort": "-mean"}')
    assert single.locate(("pipeline", 0, "$sort", "mean"), key=True) == single.locate(("sort",))


def test_what_a_comment_with_a_pipeline_calls_its_stages_stays() -> None:
    plain = spec_of('{"collection": "bench", "columns": ["a"], "sort": "a"}')
    piped = spec_of('{"collection": "bench", "columns": ["a"], "pipeline": [{"$sort": {"a": 1}}]}')
    assert (plain.name_stage(0), plain.has_own_pipeline) == ("sort", False)
    assert (piped.name_stage(0), piped.has_own_pipeline) == ("$sort", True)
    assert plain.query.key == piped.query.key


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6).filter(
    lambda name: name[0] not in "-$." and "." not in name
)


@given(st.dictionaries(names, st.sampled_from([1, -1]), min_size=1, max_size=4))
def test_a_sort_that_is_written_is_read_as_it_was(keys: dict[str, int]) -> None:
    written = json.loads(f"{{{write_sort(keys)}}}")["sort"]
    assert list(read_sort([written] if isinstance(written, str) else written).items()) == list(keys.items())


rows = st.lists(st.fixed_dictionaries({"a": st.integers(0, 3), "b": st.integers(0, 3)}), max_size=6)


@given(rows, st.integers(0, 3), st.permutations(["a", "-b"]), st.integers(1, 4))
def test_rows_are_those_that_match_in_order_and_no_more_than_the_limit(
    documents: list[dict[str, int]], least: int, sort: list[str], limit: int
) -> None:
    body = {"where": {"a": {"$gte": least}}, "sort": sort, "limit": limit}
    spec: PipelineSpec = spec_of(json.dumps({"collection": "c", "columns": ["a"], **body}))
    kept = [one for one in documents if one["a"] >= least]
    kept.sort(key=lambda one: [-one["b"] if name == "-b" else one["a"] for name in sort])
    assert aggregate(documents, spec.pipeline) == kept[:limit]


@pytest.mark.parametrize(
    ("columns", "headers"),
    [
        (["name", "meanTime", "size_KB"], ("Name", "Mean time", "Size KB")),
        (["stats.mean", "stats.stddev"], ("Mean", "Stddev")),
        (["read.mean", "write.mean"], ("Read mean", "Write mean")),
        (["_id.threads", "_id"], ("Threads", "Id")),
        (["p99.9", "x.p99.9"], ("P99 9", "X p99 9")),
    ],
)
def test_a_column_without_a_header_is_named_in_words(columns: list[str], headers: tuple[str, ...]) -> None:
    assert column_headers(columns) == headers
    written = json.dumps({"collection": "c", "columns": columns})
    assert spec_of(written).headers == headers
