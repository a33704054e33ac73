"""Plain files as a results source: which collections they are, what is never left out silently, what is refused."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import bson
import pytest

from mongo_tables.results.file_source import FileSource
from mongo_tables.results.formats import model
from mongo_tables.results.model import PlainRows, Query, ResultsError
from mongo_tables.results.opening import open_source

ROWS = [{"name": "a", "n": 1}, {"name": "b", "n": 2}]
TABLE = "name,n\na,1\nb,2\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with three files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "new.json").write_text(json.dumps(ROWS))
    (tmp_path / "bench" / "old.csv").write_text(TABLE)
    (tmp_path / "start.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    return tmp_path


def opened(where: str) -> FileSource:
    source = open_source(where)
    assert isinstance(source, FileSource)
    return source


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"_id": number, **row} for number, row in enumerate(rows, 1)]


def refusal(where: str, collection: str = "new") -> ResultsError:
    with pytest.raises(ResultsError) as caught:
        open_source(where).aggregate(Query(collection, ()))
    return caught.value


@pytest.mark.parametrize(
    ("where", "collections"),
    [
        ("bench/new.json", ("new",)),
        ("./start.csv.gz", ("start",)),
        ("bench", ("new", "old")),
        ("bench/*", ("new", "old")),
        ("**/*.csv*", ("old", "start")),
        ("bench/old.csv,start.csv.gz", ("old", "start")),
        ("runs=bench/*, start.csv.gz", ("runs", "start")),
        ("now=bench/new.json", ("now",)),
        ("all=bench", ("all",)),
        ("two=bench/old.csv,two=start.csv.gz", ("two",)),
    ],
)
def test_the_collection_of_a_file_is_its_name_without_ending_or_the_one_its_author_names(
    place: Path, where: str, collections: tuple[str, ...]
) -> None:
    assert opened(where).collections() == collections


@pytest.mark.parametrize("where", ["bench/new.json", "bench", "now=bench/new.json,new=bench/old.csv"])
def test_documents_are_numbered_in_the_order_of_the_file(place: Path, where: str) -> None:
    assert opened(where).documents("new") == numbered(ROWS)


def test_documents_of_a_collection_of_several_files_say_of_which_file_they_are(place: Path) -> None:
    keys = [document["_id"] for document in opened("runs=bench/*").documents("runs")]
    assert keys == [{"file": name, "number": number} for name in ("new.json", "old.csv") for number in (1, 2)]
    (place / "bench" / "old.csv").unlink()
    assert opened("runs=bench/*").documents("runs")[0]["_id"] == {"file": "new.json", "number": 1}


def test_documents_of_files_of_one_name_in_several_folders_are_told_apart(place: Path) -> None:
    (place / "bench" / "today").mkdir()
    (place / "bench" / "today" / "new.json").write_text(json.dumps(ROWS))
    found = opened("runs=bench/**/new.json").documents("runs")
    assert [document["_id"]["file"] for document in found[::2]] == ["new.json", "today/new.json"]
    twice = opened("runs=bench/new.json,runs=bench/today/new.json").documents("runs")
    assert [document["_id"]["file"] for document in twice[::2]] == ["bench/new.json", "bench/today/new.json"]


def test_ids_that_stand_in_a_file_are_kept(place: Path) -> None:
    (place / "ids.json").write_text('[{"n": 1, "_id": "x"}, {"_id": "y"}]')
    assert opened("ids.json").documents("ids") == [{"_id": "x", "n": 1}, {"_id": "y"}]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[{"_id": 1}, {"_id": 2}, {"_id": 1}]', "ids.json: two documents have the _id 1"),
        ('[{"_id": 1}, {"n": 2}]', "ids.json: document 2 has no _id, unlike the documents before it"),
        ('[{"n": 2}, {"_id": 1}]', "ids.json: document 2 has an _id, unlike the documents before it"),
    ],
)
def test_ids_are_those_of_a_server_one_for_each_document(place: Path, content: str, said: str) -> None:
    (place / "ids.json").write_text(content)
    assert refusal("ids.json", "ids").message == said


def test_an_id_of_two_files_is_told_with_both(place: Path) -> None:
    for name in ("a", "b"):
        (place / f"{name}.json").write_text('[{"_id": 7}]')
    assert refusal("ids=[ab].json", "ids").message == "b.json: a document of a.json also has the _id 7"


@pytest.mark.parametrize(
    "where", ["bench", "bench/*", "bench/new.json,bench/new.csv", "bench/*.json,bench/new.csv"]
)
def test_two_files_for_one_collection_are_refused_with_both_names_and_others_have_their_rows(
    place: Path, where: str
) -> None:
    (place / "bench" / "new.csv").write_text(TABLE)
    error = refusal(where)
    assert error.message.startswith("the collection `new` is in bench/new.")
    assert "bench/new.csv" in error.message
    assert "bench/new.json" in error.message
    assert not error.environment
    if "old" in opened(where).collections():
        assert opened(where).documents("old") == numbered(ROWS)


def test_a_folder_has_fixture_files_and_plain_files_beside_each_other(place: Path) -> None:
    (place / "bench" / "runs").mkdir()
    (place / "bench" / "runs" / "any.jsonl").write_text('{"_id": {"testname": "t"}, "n": 3}\n')
    for where in ("bench", "start.csv.gz,bench"):
        source = opened(where)
        assert {"new", "old", "runs"} <= set(source.collections())
        assert source.documents("runs") == [{"_id": {"testname": "t"}, "n": 3}]
        assert source.documents("new") == numbered(ROWS)
        assert [*source.lines("runs")] == [b'{"_id": {"testname": "t"}, "n": 3}\n']
        assert [*source.lines("old")][:1] == [b'{"_id":1,"name":"a","n":1}\n']


def test_rows_say_that_they_are_of_plain_files_until_their_collection_is_one_of_fixtures(place: Path) -> None:
    source = opened("bench")
    source.refresh()
    assert isinstance(source.aggregate(Query("new", ())), PlainRows)
    (place / "bench" / "new.json").unlink()
    (place / "bench" / "new").mkdir()
    (place / "bench" / "new" / "a.jsonl").write_text('{"_id": 1, "name": "c"}')
    source.refresh()
    rows = source.aggregate(Query("new", ()))
    assert rows == [{"_id": 1, "name": "c"}] and not isinstance(rows, PlainRows)


def test_a_collection_that_has_a_folder_and_a_file_is_refused_with_both(place: Path) -> None:
    (place / "bench" / "new").mkdir()
    (place / "bench" / "new" / "any.jsonl").write_text('{"_id": 1}\n')
    assert refusal("bench").message == "the collection `new` is in bench/new and in bench/new.json"


def test_files_that_are_there_and_not_read_are_told(place: Path) -> None:
    for name in ("notes.txt", "table.xlsx", "dump.bson", "README.md", "old.csv.zst", ".hidden.csv"):
        (place / "bench" / name).write_text("nothing\n")
    unread = [path.name for path in opened("bench").unread()]
    assert unread == ["dump.bson", "notes.txt", "old.csv.zst", "table.xlsx"]
    unread = [path.name for path in opened("bench/*").unread()]
    assert unread == ["README.md", "dump.bson", "notes.txt", "old.csv.zst", "table.xlsx"]
    assert [*opened("bench/new.json").unread()] == []


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("nothing.json", "there is no file nothing.json"),
        ("nothing/new.csv.gz", "there is no file nothing/new.csv.gz"),
        ("bench/*.parquet", "no file matches bench/*.parquet"),
        ("runs=nothing/*", "no file matches nothing/*"),
        ("bench/new.json,nothing", "there is no file nothing"),
        ("nothing", "there is no fixture folder nothing"),
        ("new=", "`new=` names no file"),
        ("bench/new.json,x= ", "`x=` names no file"),
        ("new=bench/old.csv?n=string", "`n` cannot be of the type `string`"),
        (
            "bench/new.json?n=text",
            "bench/new.json: types of columns are for CSV and TSV only: JSON has its own types",
        ),
        ("new=bench/empty.csv", "bench/empty.csv: the file is empty"),
        ("new=notes.txt", "notes.txt: the format is unknown"),
        ("new=bench/link.csv", "bench/link.csv: a link to nowhere.csv, which does not exist"),
        ("new=bench/out.csv", "bench/out.csv: a link leads out of the folder bench"),
        ("new=bench/pipe.csv", "bench/pipe.csv: not a file"),
        ("new=bench/folder.csv", "bench/folder.csv: "),
        ("new=bench/plain.csv.gz", "bench/plain.csv.gz: cannot be read: Not a gzipped file"),
        ("new=bench/cut.csv.gz", "bench/cut.csv.gz: cannot be read: the packed data is cut off"),
        ("new=bench/bad.csv.gz", "bench/bad.csv.gz: cannot be read: "),
    ],
)
def test_what_cannot_be_read_is_one_line_that_names_it(place: Path, where: str, said: str) -> None:
    bench = place / "bench"
    (bench / "empty.csv").write_text("")
    (place / "notes.txt").write_text("We measured.\n")
    (bench / "link.csv").symlink_to("nowhere.csv")
    (place / "secret.csv").write_text(TABLE)
    (bench / "out.csv").symlink_to("../secret.csv")
    (bench / "plain.csv.gz").write_text(TABLE)
    packed = gzip.compress(os.urandom(5000).hex().encode())
    (bench / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    (bench / "bad.csv.gz").write_bytes(packed[:2000] + b"\0" * 2000 + packed[4000:])
    os.mkfifo(bench / "pipe.csv")
    (bench / "folder.csv").mkdir()
    if "folder" in where:
        (bench / "folder.csv" / "x.csv").write_text("n\n")
        assert opened(where).documents("new") == []
        return
    error = refusal(where)
    assert error.message.startswith(said), error.message
    assert "\n" not in error.message
    assert error.environment


def test_an_unreadable_file_is_one_line(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(self: Path, *arguments: Any, **options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    source = open_source("bench/new.json")
    source.reach()
    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(ResultsError) as caught:
        source.aggregate(Query("new", ()))
    assert caught.value.message == "bench/new.json: cannot be read: Permission denied"


def test_a_link_to_another_file_of_the_folder_is_followed(place: Path) -> None:
    (place / "bench" / "latest.json").symlink_to("new.json")
    assert opened("bench/latest.json").documents("latest") == numbered(ROWS)
    assert opened("bench").documents("latest") == numbered(ROWS)


def test_a_small_file_that_unpacks_to_more_than_memory_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "MOST_UNPACKED", 2**20)
    for name in ("bomb.json.gz", "bomb.csv.gz", "bomb.jsonl.gz"):
        (place / name).write_bytes(gzip.compress(b"n\n" + b"1" * 2**22))
        assert "unpacks to more than" in refusal(f"new={name}").message


def test_a_change_of_a_file_changes_the_state_and_its_documents_alone_are_read_anew(place: Path) -> None:
    source = opened("bench")
    before = source.writes()
    assert source.documents("new") == numbered(ROWS)
    kept = source.documents("old")
    assert source.writes() == before
    (place / "bench" / "new.json").write_text(json.dumps(ROWS[:1]))
    assert source.writes() != before
    source.refresh()
    assert source.documents("new") == numbered(ROWS[:1])
    assert source.documents("old") is kept


@pytest.mark.parametrize("where", ["bench", "bench/*", "new=bench/*"])
def test_a_file_that_comes_or_goes_changes_the_state(place: Path, where: str) -> None:
    source = opened(where)
    before = source.writes()
    (place / "bench" / "third.ndjson").write_text('{"n": 1}\n')
    assert source.writes() != before
    source.refresh()
    assert len(source.documents(source.collections()[-1])) in (1, 5)
    (place / "bench" / "third.ndjson").unlink()
    assert source.writes() == before


def test_the_documents_of_a_plain_file_are_those_of_a_fixture_with_the_same_lines(place: Path) -> None:
    lines = [
        b'{"_id": {"a": 1}, "n": {"$numberLong": "5"}}\n',
        b'{"_id": 2, "at": {"$date": "2026-01-31T00:00:00Z"}}\n',
    ]
    (place / "fixtures" / "runs").mkdir(parents=True)
    (place / "fixtures" / "runs" / "any.jsonl").write_bytes(b"".join(lines))
    (place / "runs.jsonl").write_bytes(b"".join(lines))
    assert opened("runs.jsonl").raws("runs") == opened("fixtures").raws("runs")
    assert [bson.decode(raw)["_id"] for raw in opened("runs.jsonl").raws("runs")] == [{"a": 1}, 2]


def test_a_text_of_a_benchmark_tool_in_a_folder_is_a_collection_and_notes_are_told(place: Path) -> None:
    (place / "bench" / "go.txt").write_text("BenchmarkA\t1\t5 ns/op\n")
    (place / "bench" / "notes.txt").write_text("Measured on a Monday.\n")
    source = opened("bench")
    assert [one["value"] for one in source.documents("go")] == [5e-9]
    assert "notes" not in source.collections()
    assert [path.name for path in source.unread()] == ["notes.txt"]
