"""Pulling: what is written, in which order, under which names, and that a failure leaves nothing behind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pymongo
import pytest
from bson.int64 import Int64

from preprocessor.results import Query, ResultsError
from preprocessor.results.fixtures import FixtureSource
from preprocessor.results.pull import pull
from tests.mongod import Mongod

UNTIDY = "a:b*%\x1b[31m"


@pytest.fixture(scope="module")
def database(mongod: Mongod) -> Iterator[str]:
    with pymongo.MongoClient(mongod.uri()) as client:
        db = client["pulling"]
        ids = [10, 9.5, Int64(100), 1, "b", "B", {"b": 1}, {"a": 2}, {"a": 1, "z": 0}, True, None]
        db["runs"].insert_many([{"_id": one, "n": n} for n, one in enumerate(ids)])
        db[UNTIDY].insert_one({"_id": 1})
        yield mongod.uri("pulling")
        client.drop_database("pulling")


def test_documents_stand_in_the_order_in_which_a_server_sorts_ids(database: str, tmp_path: Path):
    pull(database, tmp_path, ["runs"])
    with pymongo.MongoClient(database) as client:
        ordered = [one["n"] for one in client["pulling"]["runs"].find().sort("_id", 1)]
    assert [row["n"] for row in FixtureSource(tmp_path).aggregate(Query("runs", ()))] == ordered


def test_a_collection_of_any_name_has_a_folder_and_is_read_under_its_name(database: str, tmp_path: Path):
    pull(database, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a%3Ab%2A%25%1B[31m", "runs"]
    source = FixtureSource(tmp_path)
    assert source.collections() == (UNTIDY, "runs")
    assert source.aggregate(Query(UNTIDY, ())) == [{"_id": 1}]
    assert not any(file.is_change for file in pull(database, tmp_path).files)


def test_an_empty_name_is_said_to_be_one(database: str, tmp_path: Path):
    with pytest.raises(ResultsError, match="the name of a collection is empty"):
        pull(database, tmp_path, [""])


def test_a_pull_that_cannot_write_one_file_leaves_everything_as_it_was(database: str, tmp_path: Path):
    folder = tmp_path / "fixtures"
    pull(database, folder, ["runs"])
    (folder / "runs" / "runs.jsonl").write_text('{"_id":1}\n', encoding="utf-8")
    blocked = folder / "a%3Ab%2A%25%1B[31m"
    blocked.write_text("a file where a folder must be", encoding="utf-8")
    with pytest.raises(ResultsError, match="cannot be written: File exists") as caught:
        pull(database, folder)
    assert "None" not in caught.value.message
    assert (folder / "runs" / "runs.jsonl").read_text(encoding="utf-8") == '{"_id":1}\n'
    assert sorted(path.name for path in folder.rglob("*")) == [blocked.name, "runs", "runs.jsonl"]


def test_folders_that_a_failed_pull_has_made_are_removed(database: str, tmp_path: Path):
    folder = tmp_path / "below" / "fixtures"
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "fixtures").mkdir()
    (folder / "runs").mkdir()
    (folder / "runs" / "runs.jsonl").mkdir()  # a folder where the file must be: only the renaming fails
    with pytest.raises(ResultsError, match=r"runs\.jsonl: cannot be written"):
        pull(database, folder)
    assert sorted(path.name for path in folder.rglob("*")) == ["runs", "runs.jsonl"]
    shutil.rmtree(folder)
    assert len(pull(database, folder).files) == 2


@pytest.mark.parametrize("uri", ["mongodb:/bob:Xq7Zk@h/d", "bob:Xq7Zk@h/d", "fixtures"])
def test_what_is_no_uri_is_refused_without_being_shown(uri: str, tmp_path: Path):
    with pytest.raises(ResultsError, match="mongodb://") as caught:
        pull(uri, tmp_path, ["runs"])
    assert "Xq7Zk" not in f"{caught.value} {caught.value.hint}"
