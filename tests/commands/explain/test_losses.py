"""What a stage loses is said with counts, causes and a remedy, on files and on a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mongo_tables.commands.explain.explanation import explain
from mongo_tables.directives.page_scan import find
from mongo_tables.directives.reader import read
from mongo_tables.directives.specs import TableSpec
from mongo_tables.results.opening import open_source
from tests.commands.explain import sources
from tests.mongod import Mongod

DOCUMENTS: list[dict[str, Any]] = [
    {"_id": 1, "n": 5, "limit": 4, "items": [{"p": 5}, {"p": 7}], "of": "a"},
    {"_id": 2, "n": 3, "limit": 4, "items": [], "of": "b"},
    {"_id": 3, "n": 2, "limit": 4, "items": None, "of": "c"},
    {"_id": 4, "n": 1, "limit": 4, "of": "a"},
]
KINDS = [{"_id": "a", "name": "first"}, {"_id": "b", "name": "second"}]


@pytest.fixture(params=sources.KINDS)
def where(request: pytest.FixtureRequest, tmp_path: Path, mongod: Mongod) -> str:
    """A results source with the documents: a folder, or a database."""
    return sources.stored(request.param, {"runs": DOCUMENTS, "kinds": KINDS}, tmp_path, mongod)


def remarks(where: str, *stages: dict[str, Any]) -> list[tuple[str, str]]:
    """Message and hint of each remark, those of stages first."""
    body = {"collection": "runs", "pipeline": stages, "columns": ["_id"], "headers": ["Id"]}
    (comment,) = find(f"<!-- MONGO_TABLE: {json.dumps(body)} -->", "page.md").comments
    spec = read(comment, "page.md", lambda name: None).spec
    assert isinstance(spec, TableSpec)
    told = explain(spec, spec.columns, open_source(where))
    every = [*(one for stage in told.stages for one in stage.remarks), *told.remarks]
    return [(one.message, one.hint) for one in every]


def test_an_unwind_says_which_documents_it_drops(where: str) -> None:
    assert remarks(where, {"$unwind": "$items"}) == [
        (
            "drops 3 of 4 documents: `items` is empty in 1 and missing in 1 and null in 1",
            '"preserveNullAndEmptyArrays": true keeps them',
        )
    ]


def test_an_unwind_that_keeps_documents_drops_none(where: str) -> None:
    assert remarks(where, {"$unwind": {"path": "$items", "preserveNullAndEmptyArrays": True}}) == []


def test_a_join_says_for_how_many_documents_it_finds_nothing(where: str) -> None:
    join = {"$lookup": {"from": "kinds", "localField": "of", "foreignField": "_id", "as": "kind"}}
    assert remarks(where, join) == [("finds nothing for 1 of 4 documents: `kind` is empty there", "")]
    assert remarks(where, {"$match": {"of": {"$ne": "c"}}}, join) == []


def test_a_path_in_a_query_is_called_a_string(where: str) -> None:
    ((message, hint),) = remarks(where, {"$match": {"n": {"$gt": "$limit"}}})
    assert message == 'stage 1, $match, lost all 4 documents: no document has `n` greater than "$limit"'
    assert hint == '"$limit" is a string in a query; two fields are compared in {"$expr": …}'


def test_a_mean_says_how_many_documents_it_leaves_out(where: str) -> None:
    mean = {"$group": {"_id": None, "mean": {"$avg": "$items"}}}
    assert (
        "the mean in `mean` leaves out 2 of 4 documents, where `items` is null or missing",
        "",
    ) in remarks(where, {"$match": {}}, mean)
