"""What goes wrong with a server: one clear line, in time, without a secret."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import bson
import pymongo
import pytest
from bson.raw_bson import RawBSONDocument

from mongo_tables.results.guards import Limits
from mongo_tables.results.model import Query, ResultsError, Rows
from mongo_tables.results.mongodb import MongoSource
from tests import mongod as servers
from tests.mongod import Mongod, free_port
from tests.results.asking import run_all
from tests.results.proxies import Fault, spoiling


def failure(
    uri: str, limits: Limits | None = None, pipeline: tuple[dict[str, Any], ...] = ()
) -> ResultsError:
    source = MongoSource(uri, limits)
    with pytest.raises(ResultsError) as caught:
        source.aggregate(Query("results", pipeline))
    source.close()
    error = caught.value
    assert "\n" not in error.message
    assert "Xq7Zk" not in f"{error!r} {error.hint} {error.__cause__!r} {error.__context__!r}"
    return error


def test_a_dead_server_is_named_within_the_time_limit():
    error = failure(f"mongodb://me:Xq7Zk@127.0.0.1:{free_port()}/db", Limits(connect_ms=500))
    assert error.environment
    assert error.message.endswith("/db: connection refused")


def test_one_refusing_host_does_not_hide_the_one_that_answers(mongod: Mongod):
    uri = mongod.uri("db").replace("127.0.0.1:", f"127.0.0.1:{free_port()},127.0.0.1:", 1)
    source = MongoSource(uri.replace("directConnection=true", "directConnection=false"))
    source.reach()
    source.close()


def test_a_host_that_never_answers_is_given_up():
    # 192.0.2.0/24 is reserved for documentation (RFC 5737): nothing answers there.
    error = failure("mongodb://me:Xq7Zk@192.0.2.1/db")
    assert error.environment
    assert error.message.startswith("no answer from mongodb://192.0.2.1/db")


def test_a_host_that_accepts_and_says_nothing_is_given_up():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        error = failure(f"mongodb://127.0.0.1:{listener.getsockname()[1]}", Limits(connect_ms=500))
    assert error.message.endswith("nothing within 0.5 s")


def test_an_srv_name_without_records_is_named():
    error = failure("mongodb+srv://me:Xq7Zk@deployment.invalid/db", Limits(connect_ms=500))
    assert error.environment
    assert "mongodb+srv://deployment.invalid/db" in error.message


def test_a_server_without_tls_is_told_from_a_dead_one(mongod: Mongod):
    error = failure(mongod.uri(options="tls=true"), Limits(connect_ms=500))
    assert error.environment
    assert "TLS" in error.message or "tls" in error.hint


def test_a_wrong_password_is_said_to_be_one(mongod_with_password: Mongod):
    error = failure(mongod_with_password.uri("db", "owner:Xq7Zk@", "authSource=admin"))
    assert error.environment
    assert "refuses the user or the password" in error.message


def test_a_database_that_the_user_may_not_read_is_named(mongod_with_password: Mongod):
    owner = mongod_with_password.uri("", "owner:known-only-to-tests@", "authSource=admin")
    with pymongo.MongoClient(owner) as client:
        client.admin.command("createUser", "guest", pwd="Xq7Zk", roles=[])
    error = failure(mongod_with_password.uri("private", "guest:Xq7Zk@", "authSource=admin"))
    assert error.environment
    assert "may not read the database 'private'" in error.message


def test_who_gives_no_user_is_told_that_one_is_asked_for(mongod_with_password: Mongod):
    error = failure(mongod_with_password.uri("private"))
    assert error.environment
    assert error.message.endswith("/private requires a user and a password, and the URI has none")
    assert "USER:PASSWORD@HOST" in error.hint


@pytest.fixture
def filled(mongod: Mongod) -> Iterator[Mongod]:
    with pymongo.MongoClient(mongod.uri()) as client:
        client["performance"]["results"].insert_many([{"_id": n, "text": "x" * 100} for n in range(2000)])
        yield mongod
        client["performance"].drop_collection("results")


@pytest.mark.parametrize("sound", [0, 100, 1500, 20_000])
@pytest.mark.parametrize("fault", ["garbage", "zeros"])
def test_what_is_no_message_of_mongodb_is_said_to_be_none(filled: Mongod, sound: int, fault: Fault):
    with spoiling(filled.port, sound, fault) as proxy:
        error = failure(proxy.uri(), Limits(time_ms=1000, connect_ms=500))
    assert error.environment
    assert re.search("the reply is not in the protocol of MongoDB|connection closed", error.message)


def test_a_connection_that_ends_is_said_to_have_ended(filled: Mongod):
    with spoiling(filled.port, 20_000, "end") as proxy:
        error = failure(proxy.uri(), Limits(time_ms=1000, connect_ms=500))
    assert error.message.endswith("connection closed")


def test_a_silence_is_said_to_have_been_as_long_as_it_was(filled: Mongod):
    with spoiling(filled.port, 20_000, "silence") as proxy:
        error = failure(proxy.uri(), Limits(time_ms=700, connect_ms=500))
    assert error.message.endswith("nothing within 1.7 s")


@pytest.mark.parametrize("command", ["ping", "saslStart", "saslContinue"])
def test_a_server_that_stops_answering_while_it_is_reached_is_given_up_as_soon_as_a_dead_one(
    mongod_with_password: Mongod, command: str
):
    began = time.monotonic()
    with spoiling(mongod_with_password.port, 1 << 30, "silence", b"%s\0" % command.encode()) as proxy:
        uri = proxy.uri().replace("//", "//owner:known-only-to-tests@")
        error = failure(uri, Limits(time_ms=9000, connect_ms=500))
    assert error.environment
    assert error.message.endswith("nothing within 0.5 s")
    assert time.monotonic() - began < 2.5


def test_a_ping_that_the_server_ends_is_no_error_of_the_pipeline(
    mongod: Mongod, monkeypatch: pytest.MonkeyPatch
):
    def end(*_: object) -> None:
        raise pymongo.errors.ExecutionTimeout("operation exceeded time limit", 50)

    monkeypatch.setattr(pymongo.database.Database, "command", end)
    error = failure(mongod.uri(), Limits(connect_ms=500))
    assert error.environment
    assert error.message.endswith("nothing within 0.5 s")


def test_the_driver_writes_no_traceback_of_its_own(mongod: Mongod):
    script = (
        "import sys\n"
        "from pymongo.logger import _log_client_error\n"
        "from mongo_tables.results.mongodb import MongoSource\n"
        "MongoSource(sys.argv[1]).reach()\n"
        "try:\n    raise OSError('in a thread of the driver')\n"
        "except OSError:\n    _log_client_error()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, mongod.uri()], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_database_is_performance_when_the_uri_names_none(mongod: Mongod):
    with pymongo.MongoClient(mongod.uri()) as client:
        client["performance"]["default_check"].insert_one({"_id": 1})
        source = MongoSource(mongod.uri())
        assert source.aggregate(Query("default_check", ())) == [{"_id": 1}]
        source.close()
        client["performance"]["default_check"].drop()


def test_a_pipeline_that_takes_too_long_is_ended_by_the_server(mongod: Mongod):
    with pymongo.MongoClient(mongod.uri()) as client:
        client["slow"]["results"].insert_many([{"_id": n} for n in range(2000)])
    cross = {
        "$lookup": {
            "from": "results",
            "pipeline": [{"$match": {"$expr": {"$gt": ["$_id", "$$x"]}}}],
            "as": "o",
        }
    }
    cross["$lookup"]["let"] = {"x": "$_id"}
    error = failure(mongod.uri("slow"), Limits(time_ms=150), (cross, {"$count": "n"}))
    assert not error.environment
    assert "longer than 0.15 s" in error.message


def test_a_server_that_stops_answering_is_given_up():
    with servers.running() as server:
        source = MongoSource(server.uri(), Limits(time_ms=200, connect_ms=500))
        source.reach()
        os.kill(server.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, server.pid, os.WSTOPPED)  # until then it may answer
        try:
            with pytest.raises(ResultsError) as caught:
                source.aggregate(Query("results", ()))
        finally:
            os.kill(server.pid, signal.SIGCONT)
        source.close()
    assert caught.value.environment


def test_all_queries_share_the_one_error_of_a_dead_server():
    source = MongoSource(f"mongodb://127.0.0.1:{free_port()}", Limits(connect_ms=300))
    queries = [Query("results", ({"$limit": n},)) for n in range(1, 33)]
    answers = run_all(source, queries)
    assert list(answers) == [query.key for query in queries]
    assert len({id(answer) for answer in answers.values()}) == 1


def test_a_failing_query_stops_no_other(mongod: Mongod):
    source = MongoSource(mongod.uri())
    good, bad = Query("results", ({"$limit": 1},)), Query("results", ({"$nosuch": 1},))
    writing = Query("results", ({"$out": "x"},))
    answers: dict[str, Rows | ResultsError] = run_all(source, [bad, good, writing, good])
    assert list(answers) == [bad.key, good.key, writing.key]
    assert answers[good.key] == []
    assert isinstance(answers[bad.key], ResultsError)
    assert isinstance(answers[writing.key], ResultsError)
    source.close()


@pytest.mark.parametrize("shift", range(2))
def test_a_text_that_the_server_cuts_within_a_character_is_an_error_of_the_pipeline(
    filled: Mongod, shift: int
):
    error = failure(filled.uri("db"), pipeline=({"$sort": {"n": "a" * shift + "ü" * 400}},))
    assert not error.environment
    assert "$sort" in error.message
    assert "üüü" in error.message


def test_a_document_with_half_a_character_is_no_answer(filled: Mongod):
    half = RawBSONDocument(bson.encode({"_id": "half", "s": "aü"}).replace("aü".encode(), b"aa\xc3"))
    with pymongo.MongoClient(filled.uri("db")) as client:
        client.db.results.insert_one(half)
    error = failure(filled.uri("db"), pipeline=({"$match": {"_id": "half"}},))
    assert "no answer from" in error.message
