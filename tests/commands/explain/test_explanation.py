"""Whatever the documents and the pipeline: an explanation adds up, and says nothing that is not so."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mongo_tables.commands.explain.explanation import Explanation, explain
from mongo_tables.commands.explain.terminal import lines
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.reader import read
from mongo_tables.directives.specs import TableSpec
from mongo_tables.results.model import ResultsError
from mongo_tables.results.opening import open_source

names = st.sampled_from(["a", "b", "c", "d"])
paths = st.one_of(names, st.builds("{}.{}".format, names, names))
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.sampled_from([0.5, 2.0]), st.sampled_from("xyz")
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(names, inner, max_size=3)),
    max_leaves=4,
)
documents = st.lists(st.dictionaries(names, values, max_size=4), max_size=6)

fields = paths.map("${}".format)
expressions = st.recursive(
    st.one_of(fields, st.integers(-3, 3), st.none()),
    lambda inner: st.one_of(
        st.builds(lambda x, y: {"$divide": [x, y]}, inner, inner),
        st.builds(lambda x, y: {"$ifNull": [x, y]}, inner, inner),
        st.builds(lambda x, y, z: {"$cond": [x, y, z]}, inner, inner, inner),
        st.builds(lambda x, y: {"$cond": {"if": x, "then": y, "else": 1}}, inner, inner),
        st.builds(lambda x: {"$toString": x}, inner),
        st.builds(lambda x: {"$max": [x, None]}, inner),
    ),
    max_leaves=4,
)
conditions = st.one_of(
    st.builds(lambda path, value: {path: value}, paths, scalars),
    st.builds(lambda path, value: {path: {"$gte": value, "$ne": 3}}, paths, st.integers(-9, 9)),
    st.builds(lambda path, listed: {path: {"$in": listed}}, paths, st.lists(scalars, max_size=3)),
    st.builds(lambda one, two: {"$and": [{one: 1}, {two: {"$exists": True}}]}, paths, paths),
    st.builds(lambda path: {"$or": [{path: 1}, {path: "x"}]}, paths),
    st.builds(lambda expression: {"$expr": {"$gt": [expression, 1]}}, expressions),
)
stages = st.one_of(
    st.builds(lambda condition: {"$match": condition}, conditions),
    st.builds(lambda path, expression: {"$set": {path: expression}}, paths, expressions),
    st.builds(lambda path, expression: {"$project": {path: expression, "_id": 0}}, paths, expressions),
    st.builds(lambda one: {"$project": {one: 1}}, names),
    st.builds(
        lambda key, path: {"$group": {"_id": key, "n": {"$sum": path}, "m": {"$max": path}}}, fields, fields
    ),
    st.builds(lambda path: {"$sort": {path: 1}}, paths),
    st.builds(lambda path: {"$unwind": path}, fields),
    st.builds(lambda path: {"$unset": path}, names),
    st.integers(1, 4).map(lambda number: {"$limit": number}),
    st.integers(0, 4).map(lambda number: {"$skip": number}),
    st.sampled_from(
        [{"$count": "n"}, {"$facet": {"a": [{"$limit": 1}]}}, {"$sortByCount": "$a"}, {"$nothing": 1}]
    ),
)
pipelines = st.lists(stages, min_size=1, max_size=4)


def explained(folder: str, rows: list[dict[str, Any]], pipeline: list[Any]) -> tuple[Explanation, Any]:
    """The explanation, and the rows (or the error) that the table itself gets."""
    collection = Path(folder) / "runs"
    collection.mkdir()
    numbered = [{"_id": number, **row} for number, row in enumerate(rows)]
    (collection / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in numbered))
    body = {"collection": "runs", "pipeline": pipeline, "columns": ["a", "b.c"], "headers": ["A", "B"]}
    (comment,) = find(f"<!-- MONGO_TABLE: {json.dumps(body)} -->", "page.md").comments
    spec = read(comment, "page.md", lambda name: None).spec
    assert isinstance(spec, TableSpec)
    source = open_source(folder)
    told = explain(spec, spec.columns, source)
    try:
        return told, source.aggregate(spec.query)
    except ResultsError as error:
        return told, error


def has(row: Any, path: list[str]) -> bool:
    """Whether an expression can find anything at a path, told in another way than the program does."""
    if not path:
        return True
    if isinstance(row, Mapping):
        return path[0] in row and has(row[path[0]], path[1:])
    return isinstance(row, list) and any(isinstance(item, Mapping) and has(item, path) for item in row)


def lost(count: int) -> str:
    """How the loss of documents is put."""
    return f"all {count} documents" if count > 1 else "the only document"


def valued(row: Any, path: list[str]) -> bool:
    """Whether there is something other than null at a path."""
    if not path:
        return row is not None
    if isinstance(row, Mapping):
        return path[0] in row and valued(row[path[0]], path[1:])
    return isinstance(row, list)


@pytest.mark.parametrize(
    ("behind", "counts"),
    [
        ([{"$skip": 1}], [2, 2, 1]),
        ([{"$skip": 2}], [2, 2, 0]),
        ([{"$skip": 1}, {"$sort": {"b": 1}}], [2, 2, 1, 1]),
    ],
)
def test_no_error_is_told_that_the_pipeline_as_a_whole_does_not_have(
    behind: list[Any], counts: list[int], tmp_path: Path
) -> None:
    rows = [{"a": [], "b": 1}, {"a": 7, "b": 2}]
    told, outcome = explained(str(tmp_path), rows, [{"$set": {"a": {"$toString": "$a"}}}, *behind])
    assert not any(one.severity == "error" for one in told.findings)
    assert [told.stages[0].before.count, *(one.after.count for one in told.stages)] == counts
    assert told.stages[-1].after.rows == outcome


@pytest.mark.parametrize(
    "pipeline",
    [
        [{"$sort": {"a": 1}}, {"$sort": {"b": 1}}],
        [{"$sort": {"a": 1}}, {"$match": {"a": {"$lt": 3}}}, {"$sort": {"b": 1}}],
        [{"$sort": {"a": 1}}, {"$sort": {"a": -1}}, {"$sort": {"b": 1}}, {"$limit": 1}, {"$set": {"c": 1}}],
        [{"$sort": {"a": 1}}, {"$set": {"c": 1}}, {"$sort": {"a": -1}}, {"$sort": {"b": 1}}],
    ],
)
def test_a_sort_that_the_next_one_replaces_does_not_order_what_is_equal(
    pipeline: list[Any], tmp_path: Path
) -> None:
    told, outcome = explained(str(tmp_path), [{"a": 2, "b": 1}, {"a": 1, "b": 1}, {"a": 3, "b": 1}], pipeline)
    assert told.stages[-1].after.rows == outcome
    assert [row["a"] for row in told.stages[0].after.rows] == [1, 2, 3]
    assert all(
        one.after == next_one.before for one, next_one in zip(told.stages, told.stages[1:], strict=False)
    )


@settings(max_examples=150, deadline=None)
@given(documents, pipelines)
@example([{}, {"a": []}], [{"$sort": {"a": 1}}, {"$sort": {"b": 1}}])
@example([{}, {}, {}, {}], [{"$sort": {"a": 1}}, {"$limit": 4}])
@example([{"a": []}], [{"$set": {"a": {"$divide": ["$a", "$a"]}}}, {"$match": {"a": 1}}, {"$nothing": 1}])
def test_counts_add_up_and_the_last_are_the_rows_of_the_table(
    rows: list[dict[str, Any]], pipeline: list[Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        told, outcome = explained(folder, rows, pipeline)
    if isinstance(outcome, ResultsError):
        assert told.rows is None
        (one,) = told.findings
        if one.message != outcome.message:  # Documents may fail in a stage before one that is always refused.
            with tempfile.TemporaryDirectory() as folder:
                _, outcome = explained(folder, rows, pipeline[: len(told.stages) + 1])
            assert isinstance(outcome, ResultsError) and one.message == outcome.message
        assert len(told.stages) + len(told.unreached) == len(pipeline)
        return
    assert not any(one.severity == "error" for one in told.findings)
    assert told.rows == len(outcome)
    assert told.stages[-1].after.rows == outcome
    assert told.stages[0].before.count == len(rows)
    for one, following in zip(told.stages, told.stages[1:], strict=False):
        assert one.after == following.before


@settings(max_examples=150, deadline=None)
@given(documents, pipelines)
def test_what_is_called_absent_or_null_is_so(rows: list[dict[str, Any]], pipeline: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        told, _ = explained(folder, rows, pipeline)
    for report in told.stages:
        for remark in report.remarks:
            if remark.message.startswith("reads `"):
                path = remark.message.split("`")[1].split(".")
                assert not any(has(row, path) for row in report.before.rows)
        for gap in report.gaps:
            assert gap.empty
            assert gap.documents == report.after.count
            if gap.culprit:
                assert not all(valued(row, gap.culprit.split(".")) for row in report.before.rows)
    if told.rows == 0 and rows:
        loser = next(report for report in told.stages if not report.after.count)
        assert told.remarks[0].stage == loser.number
        assert f"lost {lost(loser.before.count)}" in told.remarks[0].message


@settings(max_examples=100, deadline=None)
@given(documents.filter(bool), st.lists(conditions, min_size=1, max_size=2))
def test_the_condition_that_is_blamed_keeps_nothing(rows: list[dict[str, Any]], parts: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        told, _ = explained(folder, rows, [{"$match": {"$and": parts}}])
    if told.rows != 0:  # It keeps some, or fails.
        return
    message = told.remarks[0].message
    assert message.startswith(f"stage 1, $match, lost {lost(len(rows))}")
    blamed = re.search(r"no document has ((?:`[^`]*`(?: or )?)+)$", message)
    for path in re.findall("`([^`]*)`", blamed[1] if blamed else ""):
        assert not any(has(row, path.split(".")) for row in rows)
    equal = re.search(r"no document has `([^`]*)` equal to ([^;]*);", message)
    if equal and "." not in equal[1]:
        wanted = json.loads(equal[2])
        held = [row[equal[1]] for row in rows if equal[1] in row]
        assert not any(
            value == wanted and isinstance(value, bool) == isinstance(wanted, bool) for value in held
        )


@settings(max_examples=100, deadline=None)
@given(documents, pipelines, st.integers(40, 130), st.integers(0, 4))
def test_every_explanation_can_be_written(
    rows: list[dict[str, Any]], pipeline: list[Any], width: int, shown: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        told, _ = explained(folder, rows, pipeline)
    written = lines(told, width=width, rows=shown)
    assert all("\n" not in line for line in written)
    assert "\x1b" not in "".join(written)
