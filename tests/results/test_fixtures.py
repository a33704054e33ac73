"""Fixture folders: what they hold, how faults in them are told, and that the cache is never believed blindly."""

from __future__ import annotations

from pathlib import Path

import bson
import pytest
from bson.datetime_ms import DatetimeMS
from bson.int64 import Int64

from mongo_tables.results import file_documents
from mongo_tables.results.file_source import FileSource, hold, open_fixtures
from mongo_tables.results.mock_database import FixtureDatabase
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.opening import open_source

ALL = Query("results", ())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    results = tmp_path / "fixtures" / "results"
    results.mkdir(parents=True)
    (results / "b.jsonl").write_text(
        '{"_id":3,"n":{"$numberLong":"1"}}\n\n{"n":1.0,"_id":4}\n', encoding="utf-8"
    )
    (results / "a.json").write_text(
        '[{"_id":1,"n":1},\n {"_id":2,"n":{"$numberDecimal":"1.50"}}]', encoding="utf-8"
    )
    return tmp_path / "fixtures"


def test_documents_come_in_the_order_of_file_names_and_lines_with_their_types(folder: Path):
    rows = open_fixtures(folder).aggregate(ALL)
    assert [row["_id"] for row in rows] == [1, 2, 3, 4]
    assert [type(row["n"]).__name__ for row in rows] == ["int", "Decimal128", "Int64", "float"]
    assert list(rows[3]) == ["_id", "n"]


def test_what_cannot_be_read_is_read_again_once_files_are_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    broken = folder / "results/c.jsonl"
    broken.write_text('{"_id":5,')
    source, read = open_fixtures(folder), []
    source.refresh()
    read_text = file_documents.read_fixture
    monkeypatch.setattr(
        file_documents, "read_fixture", lambda *given: read.append(given) or read_text(*given)
    )
    for _ in range(3):
        with pytest.raises(ResultsError, match=r"c\.jsonl"):
            source.aggregate(ALL)
    assert len(read) == 6  # the files of the collection, and once more for all faults of the folder
    broken.write_text('{"_id":5}')
    source.refresh()
    assert [row["_id"] for row in source.aggregate(ALL)] == [1, 2, 3, 4, 5]


def test_a_fault_that_was_there_for_a_while_is_not_told_of_files_that_are_as_they_were(folder: Path):
    file = folder / "results/b.jsonl"
    text, source = file.read_text(), open_fixtures(folder)
    source.refresh()
    file.write_text('{"_id":5,')
    with pytest.raises(ResultsError):
        source.aggregate(ALL)
    file.write_text(text)
    source.refresh()
    assert [row["_id"] for row in source.aggregate(ALL)] == [1, 2, 3, 4]


@pytest.mark.parametrize("millis", [0, 1_500, -1, 253_402_300_800_000])
def test_a_date_in_milliseconds_is_the_date(folder: Path, millis: int):
    (folder / "results" / "c.jsonl").write_text(
        f'{{"_id":5,"at":{{"$date":{{"$numberLong":"{millis}"}}}}}}\n'
    )
    (row,) = open_fixtures(folder).aggregate(Query("results", ({"$match": {"_id": 5}},)))
    assert bson.encode(row) == bson.encode({"_id": 5, "at": DatetimeMS(millis)})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.jsonl", '{"_id":11}\n{"_id":12,"a":}', "x.jsonl:2:15: a value is missing before `}`"),
        ("x.jsonl", '{"_id":11,"n":NaN}', "x.jsonl:1:15: `NaN` is not a JSON number"),
        ("x.jsonl", '{"_id":11}\n{"n":2}', "x.jsonl:2:1: a document without _id"),
        ("x.jsonl", '{"_id":11,"at":{"$oid":"12"}}', "x.jsonl:1:24: `$oid` is malformed"),
        ("x.jsonl", '{"_id":11,"n":1,"n":1}', "x.jsonl:1:17: "),
        ("x.jsonl", '{"_id":11,"n":1e400}', "x.jsonl:1:15: the number `1e400` is too big"),
        (
            "x.jsonl",
            '{"_id":11,"n":' + "9" * 5000 + "}",
            "x.jsonl:1:15: the number `99999999999999999999…` is",
        ),
        ("x.jsonl", '{"_id":11,"n":' + "[" * 150 + "]" * 150 + "}", "x.jsonl:1:114: the nesting is too deep"),
        ("x.jsonl", '{"_id":11,"n":' + "[" * 5000 + "]" * 5000 + "}", ": the nesting is too deep"),
        ("x.jsonl", '{"_id":11,"n":"\\ud800"}', "is half of a character"),
        ("x.json", '[{"_id":11},\n {"_id":12,"n":{"$date":1.5}}]', "x.json:2:25: "),
        ("x.json", '{"_id":11}', "x.json:1:1: a fixture file .json must contain an array"),
        ("x.jsonl", '{"_id":11}\n {"_id":3}', "x.jsonl:2:2: the _id 3 is also that of "),
    ],
)
def test_a_fault_in_a_file_is_told_with_its_place(folder: Path, name: str, text: str, said: str):
    (folder / "results" / name).write_text(text, encoding="utf-8")
    with pytest.raises(ResultsError) as caught:
        open_fixtures(folder).aggregate(ALL)
    assert said in caught.value.message
    assert caught.value.environment


def test_all_faults_of_all_files_are_told_at_once_and_of_many_the_first(folder: Path):
    (folder / "results" / "x.jsonl").write_text('{"n":1}\n{"_id":5}\n{"_id":}\n', encoding="utf-8")
    (folder / "other").mkdir()
    (folder / "other" / "y.jsonl").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(ResultsError) as caught:
        open_fixtures(folder).aggregate(ALL)
    places = [line.split(": ")[0].rpartition("/")[2] for line in caught.value.message.split("\n")]
    assert places == ["y.jsonl:1:1", "x.jsonl:1:1", "x.jsonl:3:8"]
    (folder / "results" / "x.jsonl").write_text('{"n":1}\n' * 30, encoding="utf-8")
    with pytest.raises(ResultsError) as caught:
        open_fixtures(folder).aggregate(ALL)
    assert len(caught.value.message.split("\n")) == 21
    assert caught.value.message.endswith("and 11 more")


def test_a_document_given_twice_is_told_with_both_places(folder: Path):
    (folder / "results" / "c.jsonl").write_text('\n{"_id":9}\n{"_id":4}\n{"_id":1}\n', encoding="utf-8")
    with pytest.raises(ResultsError) as caught:
        open_fixtures(folder).aggregate(ALL)
    first, second = caught.value.message.split("\n")
    assert "c.jsonl:3:1: the _id 4 is also that of" in first
    assert first.endswith("b.jsonl:3")
    assert second.endswith("a.json:1")


def test_big_numbers_that_a_double_or_a_decimal_can_hold_are_no_fault(folder: Path):
    (folder / "results" / "x.jsonl").write_text(
        '{"_id":9,"n":1e300,"m":"1e999","i":' + "1" * 34 + "}", encoding="utf-8"
    )
    last = open_fixtures(folder).aggregate(ALL)[-1]
    assert last["n"] == 1e300
    assert str(last["i"]) == "1" * 34


def test_bytes_that_are_not_utf_8_are_told_with_their_place(folder: Path):
    (folder / "results" / "x.jsonl").write_bytes(b'{"_id":9}\n{"_id":"\xff"}')
    with pytest.raises(ResultsError, match=r"x\.jsonl:2:9: not UTF-8"):
        open_fixtures(folder).aggregate(ALL)


def test_a_missing_folder_cannot_be_used_at_all(tmp_path: Path):
    with pytest.raises(ResultsError, match="there is no fixture folder") as caught:
        open_source(str(tmp_path / "nothing")).reach()
    assert caught.value.environment


def test_where_a_folder_is_missing_the_results_that_lie_there_are_named(tmp_path: Path):
    (tmp_path / "package.json").write_text('{"name": "a"}')
    with pytest.raises(ResultsError) as caught:
        open_source(str(tmp_path / "fixtures")).reach()
    assert "`mongo-tables init` searches for results" in caught.value.hint
    (tmp_path / "my bench.json").write_text('[{"name": "a", "mean": 1}]')
    with pytest.raises(ResultsError) as caught:
        open_source(str(tmp_path / "fixtures")).reach()
    assert f"there is {tmp_path.as_posix()}/my bench.json: `mongo-tables init` writes" in caught.value.hint
    assert caught.value.hint.endswith(f"--results '{tmp_path.as_posix()}/my bench.json'")
    assert "package.json" not in caught.value.hint


def test_a_folder_without_collections_is_said_to_have_none(tmp_path: Path):
    (tmp_path / "results").write_text("no folder")
    for ask in (FileSource.reach, lambda source: source.aggregate(ALL)):
        with pytest.raises(ResultsError, match="has no collections") as caught:
            ask(open_fixtures(tmp_path))
        assert "mongo-tables pull" in caught.value.hint
        assert caught.value.environment


@pytest.mark.parametrize("name", ["results/y.jsonl", "results/deep", "others"])
def test_a_link_to_nothing_is_named_with_what_it_leads_to(folder: Path, name: str):
    (folder / name).symlink_to("nowhere/y.jsonl")
    for _ in range(2):
        with pytest.raises(ResultsError) as caught:
            open_fixtures(folder).aggregate(ALL)
        assert caught.value.message == f"{folder / name}: a link to nowhere/y.jsonl, which does not exist"
        assert caught.value.hint == "correct the link, or remove it"
        assert [fault.file for fault in caught.value.findings] == [str(folder / name)]
    (folder / name).unlink()
    (folder / "results" / ".#y.jsonl").symlink_to("a.lock.of.an.editor")
    assert open_fixtures(folder).aggregate(ALL)


def test_an_unknown_collection_beside_others_has_no_rows(folder: Path):
    assert open_fixtures(folder).aggregate(Query("result", ())) == []


def test_a_changed_file_is_never_answered_from_its_old_entry(folder: Path):
    source = open_fixtures(folder)
    source.aggregate(ALL)
    before = source.writes()
    file = folder / "results" / "b.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace('"1"', '"2"'), encoding="utf-8")
    assert source.writes() != before
    source.refresh()
    assert source.aggregate(ALL)[2]["n"] == Int64(2)
    assert open_fixtures(folder).aggregate(ALL)[2]["n"] == Int64(2)


def test_a_file_with_another_ending_is_read_as_that_says(folder: Path):
    source = open_fixtures(folder)
    assert source.aggregate(Query("results", ()))
    for file in (folder / "results").glob("*.jsonl"):
        file.rename(file.with_suffix(".json"))
    with pytest.raises(ResultsError, match="there is text after the end"):
        open_fixtures(folder).aggregate(Query("results", ()))


def test_a_collection_that_is_gone_has_no_rows_any_more(folder: Path):
    other = folder / "gone" / "a.jsonl"
    other.parent.mkdir()
    other.write_text('{"_id": 1}\n', encoding="utf-8")
    source = open_fixtures(folder)
    source.refresh()
    assert len(source.aggregate(Query("gone", ()))) == 1
    other.unlink()
    other.parent.rmdir()
    source.refresh()
    assert source.aggregate(Query("gone", ())) == []


def test_the_state_is_the_same_while_no_byte_changes(folder: Path):
    before = open_fixtures(folder).writes()
    (folder / "results" / "b.jsonl").touch()
    assert open_fixtures(folder).writes() == before


def _read(folder: str) -> int:
    return len(open_fixtures(Path(folder)).aggregate(ALL))


def test_the_folder_is_a_mongomock_database_too(folder: Path):
    database = FixtureDatabase(open_fixtures(folder))
    assert database.list_collection_names() == ["results"]
    assert database.results.count_documents({"n": 1}) == 3
    assert database.results.find_one({"_id": 2})["n"].to_decimal() == 1.5


def test_aggregate_sees_what_was_written_on_the_mongomock_side(folder: Path):
    database = FixtureDatabase(open_fixtures(folder))
    assert list(database.results.aggregate([{"$count": "n"}])) == [{"n": 4}]
    database.results.insert_one({"_id": 9})
    database.results.with_options().delete_one({"_id": 1})
    database.fresh.insert_one({"_id": 1})
    assert [row["_id"] for row in database.results.aggregate([])] == [2, 3, 4, 9]
    assert list(database.fresh.aggregate([])) == [{"_id": 1}]
    database.results.drop()
    assert list(database.results.aggregate([])) == []


def test_rows_can_be_changed_without_changing_the_source(folder: Path):
    source = open_fixtures(folder)
    source.aggregate(ALL)[0]["n"] = "changed"
    assert source.aggregate(ALL)[0]["n"] == 1


@pytest.mark.parametrize("name", ["c.csv", "c.ndjson", "c.jsonl.gz", "c.JSONL"])
def test_data_in_a_form_that_nobody_reads_is_named(tmp_path: Path, name: str):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / name).write_bytes(b"a,b\n1,2\n")
    source = open_fixtures(tmp_path)
    for _ in range(2):
        with pytest.raises(ResultsError) as caught:
            source.aggregate(Query("c", ()))
        assert caught.value.message == f"no *.jsonl in {tmp_path}/c; there is {name}"
        assert "*.json" in caught.value.hint
        assert not caught.value.environment, "tables over other collections have their rows"
        source.refresh()


def test_a_folder_of_a_collection_with_no_data_at_all_gives_no_rows(tmp_path: Path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "README.md").write_text("Nothing was measured yet.\n", encoding="utf-8")
    assert open_fixtures(tmp_path).aggregate(Query("c", ())) == []


def test_an_array_of_documents_in_a_json_file_is_read(tmp_path: Path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "c.json").write_text('[{"_id": 1}, {"_id": 2}]', encoding="utf-8")
    assert open_fixtures(tmp_path).aggregate(Query("c", ())) == [{"_id": 1}, {"_id": 2}]


UNREAD = ["y.ndjson", "z.jsonl.gz", "X.JSONL", "d.csv", "d.TSV", "a.json.zst", "c.bson", "c.parquet", "more/m.jsonl", "more/k/m.csv.xz"]  # fmt: skip


@pytest.mark.parametrize("name", UNREAD)
def test_documents_beside_those_that_are_read_are_never_left_out_silently(folder: Path, name: str):
    source = open_fixtures(folder)
    assert len(source.aggregate(ALL)) == 4
    before, other = source.digest("results"), folder / "results" / name
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_bytes(b'{"_id": 77}\n')
    source.refresh()
    assert source.digest("results") != before, "what was kept of an earlier build is not taken again"
    with pytest.raises(ResultsError) as caught:
        source.aggregate(ALL)
    assert caught.value.message == f"{folder}/results has documents that are not read: {name}"
    other.unlink()
    source.refresh()
    assert source.digest("results") == before
    assert len(source.aggregate(ALL)) == 4


def test_all_that_is_not_read_is_named_at_once(folder: Path):
    for name in ("y.ndjson", "z.jsonl.gz", "X.JSONL", "w.csv", "v.bson"):
        (folder / "results" / name).write_bytes(b"")
    with pytest.raises(ResultsError, match=r": X\.JSONL, v\.bson, w\.csv, y\.ndjson and 1 more$"):
        open_fixtures(folder).aggregate(ALL)


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "notes.txt",
        ".y.ndjson",
        ".more/m.jsonl",
        "more/README.md",
        "how.yaml",
        "log.gz",
        "r.jsonl~",
    ],
)
def test_what_is_no_data_may_stand_beside_documents(folder: Path, name: str):
    other = folder / "results" / name
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_bytes(b"...\n")
    assert len(open_fixtures(folder).aggregate(ALL)) == 4


def test_documents_in_a_folder_further_down_alone_are_named(tmp_path: Path):
    (tmp_path / "c" / "more").mkdir(parents=True)
    (tmp_path / "c" / "more" / "m.jsonl").write_bytes(b'{"_id": 1}\n')
    with pytest.raises(ResultsError, match=r"no \*\.jsonl in .*; there is more/m\.jsonl"):
        open_fixtures(tmp_path).aggregate(Query("c", ()))


def test_documents_in_memory_are_known_by_their_content():
    first, same, other = (hold("results", [{"n": n}]) for n in (1, 1, 2))
    assert first.digest == same.digest != other.digest


def test_documents_of_another_kind_are_read_once_per_build():
    rows = [{"_id": 1}]
    source = FileSource("memory", read=lambda: [hold("c", rows, Path("c.db"))])
    before = source.writes()
    assert source.aggregate(Query("c", ())) == rows
    assert source.files("c") == (Path("c.db"),)
    rows.append({"_id": 2})
    assert source.writes() != before
    assert len(source.aggregate(Query("c", ()))) == 1
    source.refresh()
    assert len(source.aggregate(Query("c", ()))) == 2


def test_a_long_array_at_the_path_of_a_first_match_is_within_the_limits():
    documents = [{"_id": number, "tags": number} for number in range(40)]
    documents[7] = {"_id": 7, "tags": [*range(1_800_000)]}
    source = FileSource("long", read=lambda *_: [hold("long", documents)])
    rows = source.aggregate(Query("long", [{"$match": {"tags": 9}}, {"$project": {"_id": 1}}]))
    assert rows == [{"_id": 7}, {"_id": 9}]
