"""Copies of what pipelines read of a large collection change no row, and are all that is read of it the next time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bson
import pytest

from mongo_tables.results import bsoncache, fixtures, stored
from mongo_tables.results.fixtures import FixtureSource
from mongo_tables.results.model import Query
from mongo_tables.results.rawdocuments import RawDocuments

BALLAST = {f"counter {number}": number for number in range(20)}
MATCH = {"$match": {"_id.test": "b"}}
QUERIES = {
    "fields of one test": Query(
        "results", (MATCH, {"$project": {"_id": 0, "n": 1, "deep": "$status.inner.x"}})
    ),
    "fields of all": Query(
        "results", ({"$group": {"_id": "$_id.test", "sum": {"$sum": "$n"}}}, {"$sort": {"_id": 1}})
    ),
    "an array": Query(
        "results", (MATCH, {"$unwind": "$points"}, {"$group": {"_id": None, "v": {"$sum": "$points.v"}}})
    ),
    "whole documents": Query("results", (MATCH, {"$sort": {"n": 1}}, {"$limit": 2})),
    "a union": Query(
        "few", ({"$unionWith": {"coll": "results", "pipeline": [MATCH, {"$project": {"n": 1}}]}},)
    ),
    "a join": Query(
        "few",
        (
            {
                "$lookup": {
                    "from": "results",
                    "localField": "_id",
                    "foreignField": "n",
                    "pipeline": [{"$project": {"_id": 0, "x": "$status.inner.x"}}],
                    "as": "found",
                }
            },
        ),
    ),
    "a join with whole documents": Query(
        "few", ({"$lookup": {"from": "results", "localField": "_id", "foreignField": "n", "as": "found"}},)
    ),
}
ANSWERED_BY_COPIES = [name for name in QUERIES if "whole" not in name]


def document(number: int) -> dict[str, Any]:
    return {
        "_id": {"test": "ab"[number % 2], "number": number},
        "n": number,
        "status": {**BALLAST, "inner": {**BALLAST, "x": number * 10}},
        "points": [{"at": place, "v": place * number} for place in range(3)],
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fixtures of which everything counts as large."""
    monkeypatch.setenv("MONGO_TABLES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fixtures, "LEAST", 1)
    monkeypatch.setattr(stored, "_CHOSEN", 1)
    monkeypatch.setattr(stored, "_KEPT", 0)
    monkeypatch.setattr(stored, "_SMALL_PART", 0)
    write(tmp_path / "fixtures", [document(number) for number in range(6)])
    return tmp_path / "fixtures"


def write(folder: Path, documents: list[dict[str, Any]]) -> None:
    for name, held in {"results": documents, "few": [{"_id": 1}, {"_id": 3}]}.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "all.jsonl").write_text("\n".join(map(json.dumps, held)), "utf-8")


def whole(folder: Path, query: Query, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The rows from documents that are decoded whole, without any copy."""
    with monkeypatch.context() as patch:
        patch.setenv("MONGO_TABLES_CACHE", "")
        patch.setattr(stored, "_KEPT", 2**30)
        return FixtureSource(folder).aggregate(query)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_rows_are_the_same_without_a_copy_when_it_is_made_and_from_it(
    folder: Path, query: Query, monkeypatch: pytest.MonkeyPatch
):
    expected = whole(folder, query, monkeypatch)
    assert expected
    assert [FixtureSource(folder).aggregate(query) for _ in range(3)] == [expected] * 3


@pytest.mark.parametrize("name", ANSWERED_BY_COPIES)
def test_the_next_source_reads_nothing_but_the_copies(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
):
    rows = FixtureSource(folder).aggregate(QUERIES[name])
    read = fixtures.FixtureFolder.read

    def refuse(held: fixtures.FixtureFolder, collection: str, *, believing: bool) -> RawDocuments:
        assert collection != "results", "all documents were read"
        return read(held, collection, believing=believing)

    monkeypatch.setattr(fixtures.FixtureFolder, "read", refuse)
    assert FixtureSource(folder).aggregate(QUERIES[name]) == rows


@pytest.mark.parametrize("look", [FixtureSource.state, lambda source: source.read_collection("results")])
def test_no_copy_is_made_of_what_was_written_to_since_its_files_were_looked_at(
    folder: Path, look: Callable[[FixtureSource], object], monkeypatch: pytest.MonkeyPatch
):
    query = QUERIES["fields of one test"]
    expected = whole(folder, query, monkeypatch)
    file = folder / "results/all.jsonl"
    text = file.read_text()
    source = FixtureSource(folder)
    look(source)
    file.write_text(text.replace('"x": ', '"x": 1'))
    assert source.aggregate(query) != expected
    file.write_text(text)
    assert [FixtureSource(folder).aggregate(query) for _ in range(2)] == [expected] * 2


def test_a_copy_holds_no_more_than_what_is_read(folder: Path, tmp_path: Path):
    before = set((tmp_path / "cache").rglob("*.bson"))
    FixtureSource(folder).aggregate(QUERIES["fields of one test"])
    made = {path.stat().st_size: path for path in set((tmp_path / "cache").rglob("*.bson")) - before}
    documents = made[min(made)].read_bytes()[bsoncache._HEADER :]
    assert [bson.decode(raw) for raw in RawDocuments([documents])] == [
        {"_id": document(number)["_id"], "n": number, "status": {"inner": {"x": number * 10}}}
        for number in (1, 3, 5)
    ]


def test_a_file_that_has_changed_is_read_anew(folder: Path):
    query = QUERIES["fields of all"]
    source = FixtureSource(folder)
    source.state()
    assert source.aggregate(query) == [{"_id": "a", "sum": 6}, {"_id": "b", "sum": 9}]
    write(folder, [document(number) for number in range(2)])
    source.state()
    assert source.aggregate(query) == [{"_id": "a", "sum": 0}, {"_id": "b", "sum": 1}]
    assert FixtureSource(folder).aggregate(query) == source.aggregate(query)


def test_a_copy_that_is_no_bson_is_passed_over(folder: Path, tmp_path: Path):
    query = QUERIES["fields of one test"]
    rows = FixtureSource(folder).aggregate(query)
    for path in (tmp_path / "cache").rglob("*.bson"):
        bsoncache.put(path.parent, {path.stem: b"\x07\0\0\0\x99a\0" * 2})
    assert FixtureSource(folder).aggregate(query) == rows


def test_small_files_have_no_copies_of_parts(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fixtures, "LEAST", 2**20)
    FixtureSource(folder).aggregate(QUERIES["fields of one test"])
    assert len(list((tmp_path / "cache").rglob("*.bson"))) == 1
