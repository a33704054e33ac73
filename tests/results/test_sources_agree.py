"""The same documents on a real server and in files give the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import bson
import pymongo
import pytest
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.objectid import ObjectId
from bson.regex import Regex

from mongo_tables.results.file_source import open_fixtures
from mongo_tables.results.guards import Limits
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.mongodb import MongoSource
from mongo_tables.results.opening import open_source
from mongo_tables.results.pull import pull
from tests.mongod import Mongod
from tests.results.asking import run_all

DOCUMENTS: list[dict[str, Any]] = [
    {"_id": {"testname": "t", "order": 1}, "n": 1, "a": {"b": {"c": 1.0, "d": Int64(2)}, "x": [1, {"y": 2}]}},
    {"_id": {"testname": "t", "order": 2}, "a": {"b": [{"c": 2}, {"c": None}]}, "n": Int64(2), "s": "ü"},
    {"_id": {"testname": "u"}, "when": datetime(2026, 1, 31, 12), "n": 2.5, "price": Decimal128("1.20")},
    {"_id": {"testname": ["t"]}, "n": None, "raw": b"\x00\x01", "o": ObjectId("65f0c0ffee0000000000abcd")},
    {"_id": 7, "n": Int64(2**40), "a": 5, "r": Regex("^a", 2)},
]
PIPELINES: list[list[dict[str, Any]]] = [
    [],
    [{"$match": {"_id.testname": "t"}}],
    [{"$match": {"_id.testname": {"$in": ["t", "u"]}}}, {"$project": {"n": 1, "a.b.c": 1}}],
    [{"$match": {"_id.testname": ["t"]}}, {"$project": {"n": 1}}],
    [{"$match": {"a.b.c": 2}}, {"$project": {"_id": 0, "a": 1}}],
    [{"$set": {"n": {"$add": ["$n", 1]}, "a.b": 1}}, {"$project": {"a": 1, "n": 1, "when": 1}}],
    [{"$sort": {"n": 1, "_id": 1}}, {"$limit": 3}, {"$project": {"_id": 0, "n": 1}}],
    [{"$unset": "a.x"}, {"$project": {"a": 1}}],
    [{"$project": {"a.x": 0, "r": 0}}, {"$match": {"_id.testname": "t"}}],
    [{"$replaceWith": {"z": "$n", "_id": "$_id"}}],
    [{"$group": {"_id": None, "n": {"$sum": "$n"}, "all": {"$push": "$a.b"}}}],
    [{"$set": {"x": {"$concat": ["$$who", "!"]}}}, {"$project": {"x": 1}}],
]


@pytest.fixture(scope="module")
def database(mongod: Mongod) -> Iterator[str]:
    with pymongo.MongoClient(mongod.uri()) as client:
        client["agree"]["results"].insert_many(DOCUMENTS)
        client["agree"]["other"].insert_one({"_id": 1, "k": "t"})
        yield mongod.uri("agree")
        client.drop_database("agree")


@pytest.fixture
def folder(database: str, tmp_path: Path) -> Path:
    pull(open_source(database), tmp_path / "fixtures")
    return tmp_path / "fixtures"


def query(pipeline: list[dict[str, Any]], collection: str = "results") -> Query:
    return Query(collection, tuple(pipeline), {"who": "me"})


def encoded(rows: list[dict[str, Any]]) -> list[bytes]:
    return [bson.encode({"row": row}) for row in rows]


def test_both_sources_give_the_same_bytes_for_every_pipeline(database: str, folder: Path):
    queries = [query(pipeline) for pipeline in PIPELINES]
    server, files = MongoSource(database), open_fixtures(folder)
    # The order of a collection's documents is the server's own affair: sort where the pipeline does not.
    on_server, on_files = run_all(server, queries), run_all(files, queries)
    for asked in queries:
        there, here = on_server[asked.key], on_files[asked.key]
        assert not isinstance(there, ResultsError), there
        assert not isinstance(here, ResultsError), here
        assert sorted(encoded(here)) == sorted(encoded(there)), asked.pipeline
    server.close()


SEVERAL_WINDOWS = [
    {
        "$setWindowFields": {
            "output": {name: {"$sum": "$n"} for name in ("cumulative", "moving", "rank", "share")}
        }
    },
    {"$project": {"n": 1, "cumulative": 1, "moving": 1, "rank": 1, "share": 1}},
    {"$group": {"_id": "$_id", "whole": {"$first": "$$ROOT"}}},
    {"$fill": {"sortBy": {"_id": 1}, "output": {"total": {"method": "locf"}, "delta": {"method": "locf"}}}},
]


def test_fields_of_several_windows_stand_as_the_pipeline_writes_them_whatever_the_source(
    database: str, folder: Path
):
    for source in (open_source(database), open_source(str(folder))):
        for row in source.aggregate(query(SEVERAL_WINDOWS)):
            assert list(row) == ["_id", "whole", "total", "delta"]
            assert [name for name in row["whole"] if name != "n"] == [
                "_id",
                *("cumulative", "moving", "rank", "share"),
            ]
        source.close()


def test_an_int64_stays_one_on_both_sides(database: str, folder: Path):
    asked = query([{"$match": {"_id.order": 2}}, {"$project": {"n": 1}}])
    for source in (open_source(database), open_source(str(folder))):
        (row,) = source.aggregate(asked)
        assert type(row["n"]) is Int64
        source.close()


def test_an_unknown_collection_gives_no_rows_and_is_not_listed(database: str, folder: Path):
    for source in (open_source(database), open_source(str(folder))):
        assert source.aggregate(query([], "nothing")) == []
        assert source.collections() == ("other", "results")
        source.close()


@pytest.mark.parametrize(
    ("pipeline", "path"),
    [
        ([{"$match": {}}, {"$set": {"x": {"$divide": [1, 0]}}}], (1, "$set", "x", "$divide")),
        ([{"$project": {"x": {"$nosuch": 1}}}], (0, "$project", "x", "$nosuch")),
    ],
)
def test_what_the_server_refuses_is_an_error_on_both_sides_and_of_files_at_its_operator(
    database: str, folder: Path, pipeline: list[dict[str, Any]], path: tuple[str | int, ...]
):
    for where in (database, str(folder)):
        source = open_source(where)
        with pytest.raises(ResultsError) as caught:
            source.aggregate(query(pipeline))
        assert caught.value.path in (path, None if where == database else path)
        assert not caught.value.environment
        source.close()


def test_row_and_byte_limits_are_the_same_error_on_both_sides(database: str, folder: Path):
    for where in (database, str(folder)):
        for limits, words in (
            (Limits(rows=3), "more than 3 rows"),
            (Limits(bytes=200), "more than 200 bytes"),
        ):
            source = open_source(where, limits)
            with pytest.raises(ResultsError, match=words):
                source.aggregate(query([]))
            source.close()


def test_a_second_pull_changes_nothing_and_a_dry_run_writes_nothing(
    database: str, folder: Path, tmp_path: Path
):
    before = {path: path.read_bytes() for path in folder.rglob("*.jsonl")}
    assert sorted(path.name for path in before) == ["other.jsonl", "results.jsonl", "t.jsonl", "u.jsonl"]
    assert not any(file.is_change for file in pull(open_source(database), folder))
    assert {path: path.read_bytes() for path in folder.rglob("*.jsonl")} == before
    report = pull(open_source(database), tmp_path / "elsewhere", dry_run=True)
    assert [(file.path.name, file.added) for file in report] == [
        ("other.jsonl", 1),
        ("results.jsonl", 2),
        ("t.jsonl", 2),
        ("u.jsonl", 1),
    ]
    assert not (tmp_path / "elsewhere").exists()


def test_a_pull_tells_what_is_new_different_and_gone(database: str, folder: Path):
    file = folder / "results" / "t.jsonl"
    first, _ = file.read_text(encoding="utf-8").splitlines()
    file.write_text(first.replace('"n":1', '"n":8') + '\n{"_id":"gone"}\n', encoding="utf-8")
    (folder / "results" / "stale.jsonl").write_text('{"_id":{"testname":"stale"}}\n', encoding="utf-8")
    (folder / "results" / "mine.jsonl").write_text('{"_id":"by hand"}\n', encoding="utf-8")
    changes = {
        change.path.name: change
        for change in pull(open_source(database), folder, {"results": "results"})
        if change.is_change
    }
    assert (changes["t.jsonl"].added, changes["t.jsonl"].changed, changes["t.jsonl"].removed) == (1, 1, 1)
    assert changes["stale.jsonl"].removed == 1
    assert not (folder / "results" / "stale.jsonl").exists()
    assert "mine.jsonl" not in changes
    assert (folder / "results" / "mine.jsonl").exists()


def test_a_pull_of_a_collection_without_documents_changes_nothing(database: str, folder: Path):
    with pytest.raises(ResultsError, match=r"'result' of .* has no documents"):
        pull(open_source(database), folder, {"result": "result"})
