"""Pulling: what is written, in which order, under which names, and that a failure leaves nothing behind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pymongo
import pytest
from bson.int64 import Int64

from mongo_tables.results.file_source import open_fixtures
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.opening import open_source
from mongo_tables.results.pull import pull
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
    pull(open_source(database), tmp_path, {"runs": "runs"})
    with pymongo.MongoClient(database) as client:
        ordered = [one["n"] for one in client["pulling"]["runs"].find().sort("_id", 1)]
    assert [row["n"] for row in open_fixtures(tmp_path).aggregate(Query("runs", ()))] == ordered


def test_a_collection_of_any_name_has_a_folder_and_is_read_under_its_name(database: str, tmp_path: Path):
    pull(open_source(database), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a%3Ab%2A%25%1B[31m", "runs"]
    source = open_fixtures(tmp_path)
    assert source.collections() == (UNTIDY, "runs")
    assert source.aggregate(Query(UNTIDY, ())) == [{"_id": 1}]
    assert not any(file.is_change for file in pull(open_source(database), tmp_path))


def test_an_empty_name_is_said_to_be_one(database: str, tmp_path: Path):
    with pytest.raises(ResultsError, match="the name of a collection is empty"):
        pull(open_source(database), tmp_path, {"": ""})


def test_a_pull_that_cannot_write_one_file_leaves_everything_as_it_was(database: str, tmp_path: Path):
    folder = tmp_path / "fixtures"
    pull(open_source(database), folder, {"runs": "runs"})
    (folder / "runs" / "runs.jsonl").write_text('{"_id":1}\n', encoding="utf-8")
    blocked = folder / "a%3Ab%2A%25%1B[31m"
    blocked.write_text("a file where a folder must be", encoding="utf-8")
    with pytest.raises(ResultsError, match="cannot be written: File exists") as caught:
        pull(open_source(database), folder)
    assert "None" not in caught.value.message
    assert (folder / "runs" / "runs.jsonl").read_text(encoding="utf-8") == '{"_id":1}\n'
    assert sorted(path.name for path in folder.rglob("*")) == [blocked.name, "runs", "runs.jsonl"]


def test_folders_that_a_failed_pull_has_made_are_removed(database: str, tmp_path: Path):
    folder = tmp_path / "below" / "fixtures"
    folder.mkdir(parents=True)
    (folder / "runs").write_text("a file where a folder must be", encoding="utf-8")
    with pytest.raises(ResultsError, match="cannot be written: File exists"):
        pull(open_source(database), folder)
    assert [path.name for path in folder.rglob("*")] == ["runs"]


def test_a_pull_that_cannot_replace_a_file_makes_no_folder(database: str, tmp_path: Path):
    folder = tmp_path / "below" / "fixtures"
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "fixtures").mkdir()
    (folder / "runs").mkdir()
    (folder / "runs" / "runs.jsonl").mkdir()  # a folder where the file must be: only the renaming fails
    with pytest.raises(ResultsError, match=r"runs\.jsonl: cannot be written"):
        pull(open_source(database), folder)
    assert sorted(path.name for path in folder.rglob("*")) == ["runs", "runs.jsonl"]
    shutil.rmtree(folder)
    assert len(pull(open_source(database), folder)) == 2


@pytest.mark.parametrize("uri", ["mongodb:/bob:Xq7Zk@h/d", "bob:Xq7Zk@h/d"])
def test_what_is_no_uri_is_refused_without_being_shown(uri: str, tmp_path: Path):
    with pytest.raises(ResultsError, match="mongodb://") as caught:
        pull(open_source(uri), tmp_path, {"runs": "runs"})
    assert "Xq7Zk" not in f"{caught.value} {caught.value.hint}"


def test_a_copy_stands_beside_what_it_was_made_of(database: str, tmp_path: Path):
    pull(open_source(database), tmp_path, {"runs": "runs"})
    before = (tmp_path / "runs" / "runs.jsonl").read_bytes()
    made = {"runs": "earlier"}
    assert pull(open_source(str(tmp_path)), tmp_path, made)[0].added == 11
    assert not pull(open_source(str(tmp_path)), tmp_path, made)[0].is_change
    assert (tmp_path / "runs" / "runs.jsonl").read_bytes() == before
    assert len(open_fixtures(tmp_path).documents("earlier")) == 11


def test_a_collection_is_not_written_over_itself(database: str, tmp_path: Path):
    pull(open_source(database), tmp_path / "there", {"runs": "runs"})
    (tmp_path / "same").symlink_to(tmp_path / "there")
    with pytest.raises(ResultsError, match="would be written over itself") as caught:
        pull(open_source(str(tmp_path / "same")), tmp_path / "there", {"runs": "runs"})
    assert "--as" in caught.value.hint
    assert len(open_fixtures(tmp_path / "there").documents("runs")) == 11


def _filled(folder: Path, name: str, *ids: int, array: bool = False) -> Path:
    place = folder / "runs"
    place.mkdir(parents=True, exist_ok=True)
    documents = [f'{{"_id": {one}, "n": {one}}}' for one in ids]
    text = f"[{','.join(documents)}]" if array else "".join(f"{one}\n" for one in documents)
    (place / name).write_text(text, encoding="utf-8")
    return place


def test_documents_in_files_that_somebody_named_stay_where_they_are_and_count_as_the_same(tmp_path: Path):
    _filled(tmp_path / "there", "all.jsonl", 1, 2, 3, 4)
    place = _filled(tmp_path / "here", "by-hand.jsonl", 1, 2)
    _filled(tmp_path / "here", "more.jsonl", 3)
    report = pull(open_source(str(tmp_path / "there")), tmp_path / "here")
    assert [(one.path.name, one.documents, one.added, one.changed, one.removed) for one in report] == [
        ("by-hand.jsonl", 2, 0, 0, 0),
        ("more.jsonl", 1, 0, 0, 0),
        ("runs.jsonl", 1, 1, 0, 0),
    ]
    assert sorted(one.name for one in place.iterdir()) == ["by-hand.jsonl", "more.jsonl", "runs.jsonl"]
    again = pull(open_source(str(tmp_path / "there")), tmp_path / "here")
    assert not any(one.is_change for one in again)


def test_an_array_becomes_a_file_of_lines_and_is_said_to_be_renamed(tmp_path: Path):
    _filled(tmp_path / "there", "all.jsonl", 1, 2)
    place = _filled(tmp_path / "here", "by-hand.json", 1, 2, array=True)
    (change,) = pull(open_source(str(tmp_path / "there")), tmp_path / "here")
    assert (change.path.name, change.note) == ("by-hand.jsonl", "renamed from by-hand.json")
    assert (change.documents, change.added, change.changed, change.removed) == (2, 0, 0, 0)
    assert [one.name for one in place.iterdir()] == ["by-hand.jsonl"]


@pytest.mark.parametrize("array", [False, True])
def test_a_file_of_which_the_source_has_nothing_may_be_the_only_copy_and_is_kept(tmp_path: Path, array: bool):
    _filled(tmp_path / "there", "all.jsonl", 1, 2)
    name = "mine.json" if array else "mine.jsonl"
    place = _filled(tmp_path / "here", name, 8, 9, array=array)
    before = (place / name).read_bytes()
    report = pull(open_source(str(tmp_path / "there")), tmp_path / "here")
    assert [(one.path.name, one.kept, one.removed) for one in report] == [
        (name, True, 0),
        ("runs.jsonl", False, 0),
    ]
    assert (place / name).read_bytes() == before


def test_a_file_that_a_pull_named_goes_with_its_documents(tmp_path: Path):
    _filled(tmp_path / "there", "all.jsonl", 1)
    place = _filled(tmp_path / "here", "runs.jsonl", 7)
    (place / "old.jsonl").write_text('{"_id": {"testname": "old"}}\n', encoding="utf-8")
    report = pull(open_source(str(tmp_path / "there")), tmp_path / "here")
    assert [(one.path.name, one.added, one.removed) for one in report] == [
        ("old.jsonl", 0, 1),
        ("runs.jsonl", 1, 1),
    ]
    assert [one.name for one in place.iterdir()] == ["runs.jsonl"]


def test_a_file_that_cannot_be_read_is_neither_overwritten_nor_removed(tmp_path: Path):
    _filled(tmp_path / "there", "all.jsonl", 1)
    place = _filled(tmp_path / "here", "runs.jsonl", 1)
    (place / "broken.jsonl").write_text('{"_id": 5, "only": "copy"\n', encoding="utf-8")
    with pytest.raises(ResultsError, match=r"broken\.jsonl.*nothing is written"):
        pull(open_source(str(tmp_path / "there")), tmp_path / "here")
    assert sorted(one.name for one in place.iterdir()) == ["broken.jsonl", "runs.jsonl"]


def test_a_file_in_another_order_is_written_anew_and_said_to_have_the_same_documents(tmp_path: Path):
    _filled(tmp_path / "there", "all.jsonl", 1, 2)
    place = _filled(tmp_path / "here", "by-hand.jsonl", 2, 1)
    (change,) = pull(open_source(str(tmp_path / "there")), tmp_path / "here")
    assert change.note == "another order or notation"
    assert (change.added, change.changed, change.removed) == (0, 0, 0)
    assert (place / "by-hand.jsonl").read_text().splitlines()[0].startswith('{"_id":1')
