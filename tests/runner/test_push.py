"""Files pushed into a results database: the same documents there, none of anybody else's touched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import bson
import pymongo
import pytest
from bson.raw_bson import RawBSONDocument

from benchmarks.results_database import INDEX, make_documents
from mongo_tables.cli import main
from mongo_tables.results.extended_json import write_line
from mongo_tables.results.file_source import open_fixtures
from mongo_tables.results.guards import Limits
from mongo_tables.results.model import Query, ResultsError
from mongo_tables.results.mongodb import MongoSource
from mongo_tables.results.opening import open_source
from mongo_tables.results.pull import PULL_LIMITS, pull
from mongo_tables.runner import MARKER
from mongo_tables.runner.local_address import LocalAddress
from mongo_tables.runner.local_set import LocalReplicaSet
from mongo_tables.runner.ownership import claim
from mongo_tables.runner.push import Pushed, push
from tests.mongod import Mongod

ROWS = [
    {
        "_id": {"testname": "one", "order": 1},
        "n": {"$numberLong": "5"},
        "at": {"$date": "2026-11-20T10:00:00Z"},
    },
    {"_id": {"testname": "one", "order": 2}, "n": 5.0, "price": {"$numberDecimal": "1.10"}},
    {"_id": "three", "z": 1, "a": [1, {"b": None}]},
]


@pytest.fixture
def client(mongod: Mongod) -> Iterator[pymongo.MongoClient[Any]]:
    with pymongo.MongoClient[Any](mongod.uri()) as client:
        for name in ("pushed", "mine"):
            client.drop_database(name)
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "fixtures", "results", ROWS)
    write(tmp_path / "fixtures", "others", [{"_id": 1}])
    return tmp_path / "fixtures"


def write(folder: Path, collection: str, rows: list[dict[str, Any]]) -> None:
    (folder / collection).mkdir(parents=True, exist_ok=True)
    (folder / collection / "all.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def write_result_documents(folder: Path, number: int) -> Path:
    """A fixture folder with so many result documents, without their status and their series."""
    (folder / "fixtures" / "results").mkdir(parents=True)
    with (folder / "fixtures" / "results" / "all.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(f"{write_line(bson.encode(one))}\n" for one in islice(make_documents(), number))
    return folder / "fixtures"


def stored(client: pymongo.MongoClient[Any], collection: str) -> list[bytes]:
    options = bson.CodecOptions(document_class=RawBSONDocument)
    return sorted(bytes(one.raw) for one in client["pushed"].get_collection(collection, options).find())


def test_documents_arrive_byte_for_byte_and_a_second_push_writes_nothing(
    folder: Path, mongod: Mongod, client: pymongo.MongoClient[Any]
) -> None:
    source = open_fixtures(folder)
    assert push(source, mongod.uri("pushed")) == [
        Pushed("others", 1, added=1, changed=0, removed=0, kept=0),
        Pushed("results", 3, added=3, changed=0, removed=0, kept=0),
    ]
    assert stored(client, "results") == sorted(source.raws("results"))
    query = Query("results", ({"$sort": {"_id": 1}}, {"$set": {"twice": {"$multiply": ["$n", 2]}}}))
    assert MongoSource(mongod.uri("pushed")).aggregate(query) == source.aggregate(query)
    before = client.admin.command("serverStatus")["opcounters"]
    assert not any(one.is_change for one in push(source, mongod.uri("pushed")))
    after = client.admin.command("serverStatus")["opcounters"]
    assert [after[name] - before[name] for name in ("insert", "update", "delete")] == [0, 0, 0]


def test_what_changed_is_replaced_and_what_files_do_not_have_stays_unless_it_is_to_go(
    folder: Path, mongod: Mongod, client: pymongo.MongoClient[Any]
) -> None:
    push(open_fixtures(folder), mongod.uri("pushed"))
    write(folder, "results", [{**ROWS[0], "n": 5}, ROWS[2], {"_id": 4}])
    source = open_fixtures(folder)
    assert push(source, mongod.uri("pushed"), ["results"], dry_run=True)[0][2:] == (1, 1, 0, 1)
    assert len(stored(client, "results")) == 3
    assert push(source, mongod.uri("pushed"), ["results"])[0] == Pushed("results", 3, 1, 1, 0, kept=1)
    assert len(stored(client, "results")) == 4
    assert push(source, mongod.uri("pushed"), ["results"], remove=True)[0] == Pushed(
        "results", 3, 0, 0, 1, kept=0
    )
    assert stored(client, "results") == sorted(source.raws("results"))


def test_a_database_of_somebody_else_is_refused_and_its_owner_is_told_how_to_give_it(
    folder: Path, mongod: Mongod, client: pymongo.MongoClient[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    client["mine"]["results"].insert_one({"_id": "three", "precious": True})
    assert main(["push", mongod.uri("mine"), "--from", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "was not created by mongo-tables push, so it stays unchanged" in said
    assert client["mine"].list_collection_names() == ["results"]
    assert client["mine"]["results"].find_one() == {"_id": "three", "precious": True}
    assert f'db.{MARKER}.insertOne({{_id: "mongo-tables push"}})' in said
    client["mine"][MARKER].insert_one({"_id": "mongo-tables push"})
    assert main(["push", mongod.uri("mine"), "--from", str(folder)]) == 0
    assert capsys.readouterr().out == (
        "others: 1 document, 1 new, 0 changed, 0 gone\n"
        "results: 3 documents, 2 new, 1 changed, 0 gone\n2 of 2 collections changed\n"
    )


def test_a_run_never_drops_what_was_pushed_and_a_push_never_writes_into_a_database_of_a_run(
    folder: Path, mongod: Mongod, client: pymongo.MongoClient[Any]
) -> None:
    push(open_fixtures(folder), mongod.uri("pushed"))
    with pytest.raises(Exception, match="was not created by mongo-tables; it stays unchanged"):
        claim(client, "pushed", "a run")
    claim(client, "mine", "a run")
    with pytest.raises(Exception, match="was not created by mongo-tables push"):
        push(open_fixtures(folder), mongod.uri("mine"))


def test_a_dry_run_of_a_new_database_makes_none(
    folder: Path, mongod: Mongod, client: pymongo.MongoClient[Any]
) -> None:
    assert push(open_fixtures(folder), mongod.uri("pushed"), dry_run=True)[1].added == 3
    assert "pushed" not in client.list_database_names()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["URI", "nothing"], "has no collection 'nothing'"),
        (["mongodb://127.0.0.1:1/pushed?serverSelectionTimeoutMS=200"], "no primary answers"),
        (["mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200"], "names no database to write to"),
        (["fixtures"], "fixtures is not a database"),
        (["URI", "--from", "mongodb://127.0.0.1:1/x"], "--from must name files"),
        (["URI", "--from", "nowhere"], "there is no fixture folder nowhere"),
        (["mongodb://u:geheim@127.0.0.1:1/a b?x=y"], "not a usable connection string"),
    ],
)
def test_what_cannot_be_done_is_one_line_without_secrets(
    arguments: list[str], said: str, folder: Path, mongod: Mongod, client: pymongo.MongoClient[Any],
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(folder.parent)
    given = [mongod.uri("pushed") if one == "URI" else one for one in arguments]
    assert main(["push", *given]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "geheim" not in told
    assert "Traceback" not in told


def test_a_fixture_folder_with_faults_is_not_pushed_in_part(
    folder: Path, mongod: Mongod, client: pymongo.MongoClient[Any]
) -> None:
    (folder / "results" / "b.jsonl").write_text('{"_id":', "utf-8")
    assert main(["push", mongod.uri("pushed"), "--from", str(folder)]) == 2
    assert "pushed" not in client.list_database_names()


def test_a_user_who_may_not_write_is_told_the_role(
    folder: Path, mongod_with_password: Mongod, capsys: pytest.CaptureFixture[str]
) -> None:
    owner = "owner:known-only-to-tests@"
    with pymongo.MongoClient[Any](mongod_with_password.uri(credentials=owner)) as client:
        client.drop_database("pushed")
        client["admin"].command(
            "createUser", "reader", pwd="known-to-pages", roles=[{"role": "read", "db": "pushed"}]
        )
        uri = mongod_with_password.uri("pushed", options="authSource=admin")
        writer = uri.replace("://", f"://{owner}")
        assert main(["push", writer, "--from", str(folder)]) == 0
        reader = uri.replace("://", "://reader:known-to-pages@")
        write(folder, "results", [{"_id": 9}])
        assert main(["push", reader, "--from", str(folder)]) == 2
        said = capsys.readouterr().err
        assert "readWrite" in said
        assert "known-to-pages" not in said
        reading = MongoSource(reader)
        reading.reach()
        assert "results" in reading.collections()
        assert reading.writes()
        assert len(list(reading.raws("results"))) == len(reading.aggregate(Query("results", ()))) == 3
        client["admin"].command("dropUser", "reader")


def test_more_documents_than_are_compared_at_once_arrive_and_are_not_written_again(
    tmp_path: Path, mongod: Mongod, client: pymongo.MongoClient[Any]
) -> None:
    source = open_fixtures(write_result_documents(tmp_path, 1_200))
    assert push(source, mongod.uri("pushed")) == [Pushed("results", 1_200, 1_200, 0, 0, 0)]
    assert push(source, mongod.uri("pushed")) == [Pushed("results", 1_200, 0, 0, 0, 0)]
    assert stored(client, "results") == sorted(source.raws("results"))


def test_what_was_pushed_is_read_from_a_secondary_where_the_connection_string_says_so(folder: Path) -> None:
    running = LocalReplicaSet(LocalAddress(members=2))
    try:
        uri = running.uri.replace("/?", "/pushed?")
        push(open_fixtures(folder), uri)
        before = count_aggregates(running)
        source = MongoSource(f"{uri}&readPreference=secondary")
        assert len(source.aggregate(Query("results", ()))) == 3
        source.close()
        asked = [after - then for after, then in zip(count_aggregates(running), before, strict=True)]
        assert asked == [0, 1], "the primary was not asked"
    finally:
        running.close()


def count_aggregates(running: LocalReplicaSet) -> list[int]:
    """How many aggregations each member was asked for, the primary first."""
    found = []
    for member in running.members():
        with member:
            status = member.admin.command("serverStatus")
            found.append(
                (not status["repl"]["isWritablePrimary"], status["metrics"]["commands"]["aggregate"]["total"])
            )
    return [total for _, total in sorted(found)]


@pytest.mark.exhaustive
def test_many_documents_go_there_and_back_and_a_table_of_them_is_found_by_an_index(
    tmp_path: Path, mongod: Mongod, client: pymongo.MongoClient[Any]
) -> None:
    number = 10_000  # `python -m benchmarks.results_database` has twenty times as many
    source, uri = open_fixtures(write_result_documents(tmp_path, number), PULL_LIMITS), mongod.uri("pushed")
    assert push(source, uri) == [Pushed("results", number, number, 0, 0, 0)]
    assert not push(source, uri)[0].is_change
    client["pushed"]["results"].create_index(INDEX)
    stages = (
        {"$match": {INDEX: "insert_docsize"}},
        {"$group": {"_id": "$variant", "n": {"$sum": 1}}},
        {"$sort": {"_id": 1}},
    )
    plan = client["pushed"].command(
        "explain", {"aggregate": "results", "pipeline": list(stages), "cursor": {}}
    )
    assert "IXSCAN" in str(plan)
    assert "COLLSCAN" not in str(plan)
    assert MongoSource(uri).aggregate(Query("results", stages)) == source.aggregate(Query("results", stages))
    slow = Query(
        "results",
        (
            {"$set": {"x": {"$reduce": {"input": {"$range": [0, 1000]}, "initialValue": 0, "in": 1}}}},
            {"$group": {"_id": "$x"}},
        ),
    )
    with pytest.raises(ResultsError, match=r"takes longer than 0\.2 s on the server"):
        MongoSource(uri, Limits(time_ms=200)).aggregate(slow)
    pull(open_source(uri, PULL_LIMITS), tmp_path / "back", {"results": "results"})
    assert sorted(open_fixtures(tmp_path / "back").raws("results")) == sorted(source.raws("results"))
