"""Requests carry what was asked for, and what is not honoured is refused.

Requests carry what a driver's do: a session, numbers of retryable writes, concerns and the read preference.

What a connection string or an experiment asks for is done or refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bson
import pytest
from bson.binary import Binary
from bson.int64 import Int64
from pymongo import MongoClient, WriteConcern
from pymongo.monitoring import CommandListener

from mongo_tables.commands.run.targets import share_out
from mongo_tables.runner.connection_strings import (
    ACCEPTED,
    RequestOptions,
    check_options,
    check_requests,
    request_options,
)
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.options import Options
from mongo_tables.runner.target import open_target
from mongo_tables.runner.wire.client import WireClient, end_sessions
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import failover
from tests.runner.reference_client import PyMongoClient

DATABASE = "requests_test"
INCREMENT = bson.encode({"$inc": {"n": 1}})
STATEMENT = bson.encode({"q": {"_id": 1}, "u": {"$inc": {"n": 1}}, "upsert": False})


@contextmanager
def profiled(uri: str) -> Iterator[list[dict[str, Any]]]:
    """The commands that the server was given meanwhile, once it is over."""
    with MongoClient[dict[str, Any]](uri) as client:
        yield from _profiled(client)


def _profiled(client: MongoClient[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    database, commands = client[DATABASE], list[dict[str, Any]]()
    database.command("profile", 0)
    database["system.profile"].drop()
    database["things"].drop()
    database["things"].insert_many([{"_id": number, "n": 0} for number in range(300)])
    database.command("profile", 2)
    try:
        yield commands
    finally:
        database.command("profile", 0)
    commands += [
        one["command"] for one in database["system.profile"].find({"ns": f"{DATABASE}.things"}).sort("ts", 1)
    ]


def write(connection):
    connection.insert([bson.encode({"_id": 1000}), bson.encode({"_id": 1001})])
    connection.insert([bson.encode({"_id": 1002})])
    for _ in range(3):
        connection.update(bson.encode({"_id": 1}), INCREMENT, False)
    connection.update_each([STATEMENT, STATEMENT])
    connection.find_and_update(bson.encode({"_id": 2}), INCREMENT, False)
    connection.replace(bson.encode({"_id": 3}), bson.encode({"n": 9}))
    connection.delete(bson.encode({"_id": 1001}))


def read(connection):
    connection.find(bson.encode({"n": 0}), 200, 0)
    connection.read(bson.encode({"_id": 1}), bson.encode({}))
    connection.aggregate(bson.encode({"0": {"$match": {"_id": 5}}}))


def last_number(client, lsid):
    """The number of the last retryable write of a session, as the server keeps it; None when it had none."""
    kept = client["config"]["transactions"].find_one({"_id.id": lsid["id"]})
    return None if kept is None else kept["txnNum"]


def commands_of(kind, uri, options):
    """The commands that the server was given for all writes and reads of a client."""
    with MongoClient(uri) as client, profiled(uri) as commands:
        connection = kind(client, (DATABASE, "things"), options)
        write(connection)
        read(connection)
        connection.close()
    return commands


def test_requests_carry_a_session_and_each_write_a_number_as_those_of_the_driver(replica_set):
    carried = {}
    for kind in (WireClient, PyMongoClient):
        commands = commands_of(kind, replica_set.uri, RequestOptions())
        told = ("lsid", "txnNumber", "readConcern", "$readPreference")
        carried[kind] = [
            (next(iter(command)), [name for name in told if name in command]) for command in commands
        ]
        (lsid,) = {command["lsid"]["id"] for command in commands if "lsid" in command}
        with MongoClient(replica_set.uri) as client:
            assert last_number(client, {"id": lsid}) == 9
    assert carried[WireClient] == carried[PyMongoClient]
    assert ("insert", ["lsid", "txnNumber"]) in carried[WireClient]
    assert ("getMore", ["lsid"]) in carried[WireClient]


@pytest.mark.parametrize(
    ("options", "numbered", "in_session"),
    [
        (RequestOptions(retryable_writes=False), False, True),
        (RequestOptions(sessions=False, retryable_writes=False), False, False),
    ],
    ids=["writes not retryable", "no sessions"],
)
def test_what_is_switched_off_is_not_sent(replica_set, options, numbered, in_session):
    commands = commands_of(WireClient, replica_set.uri, options)
    # An update is profiled by its statement, without the command around it.
    whole = [command for command in commands if "$db" in command]
    assert {"txnNumber" in command for command in whole} == {numbered}
    assert {"lsid" in command for command in whole} == {in_session}
    with MongoClient(replica_set.uri) as client:
        assert {last_number(client, command["lsid"]) for command in whole if in_session} <= {None}


def test_reads_carry_their_concern_and_preference_and_writes_do_not(replica_set):
    asked = RequestOptions({"w": 1}, {"level": "majority"}, {"mode": "nearest"})
    told = ("readConcern", "$readPreference", "writeConcern")
    carried = {
        kind: [
            {name: command[name] for name in told if name in command}
            for command in commands_of(kind, replica_set.uri, asked)
        ]
        for kind in (WireClient, PyMongoClient)
    }
    assert carried[WireClient] == carried[PyMongoClient]
    wanted = {"readConcern": {"level": "majority"}, "$readPreference": {"mode": "nearest"}}
    assert wanted in carried[WireClient]


class Listener(CommandListener):
    """The sessions that were ended."""

    def __init__(self):
        self.ended = []

    def started(self, event):
        if event.command_name == "endSessions":
            self.ended.append(event.command["endSessions"])

    def succeeded(self, event):
        """Nothing is to be known of the answer."""

    def failed(self, event):
        raise AssertionError(event.failure)


def test_sessions_are_ended_where_many_would_be_left(replica_set):
    listener = Listener()
    with MongoClient(replica_set.uri, event_listeners=[listener]) as client:
        clients = [WireClient(client, (DATABASE, "things"), RequestOptions()) for _ in range(3)]
        for one in clients:
            one.find(bson.encode({}), 1, 0)
            one.close()
        there = [one["_id"]["id"] for one in client.admin.aggregate([{"$listLocalSessions": {}}])]
        assert {bytes(one.sessions[0]["id"]) for one in clients} <= set(map(bytes, there))
        end_sessions(client, clients)
    assert listener.ended[0] == [one.sessions[0] for one in clients]


@pytest.mark.parametrize(
    ("query", "config", "numbered"),
    [
        ("", {}, True),
        ("&retryWrites=false", {}, False),
        ("&retryWrites=false", {"retryableWrites": True}, True),
        ("", {"retryableWrites": False}, False),
        ("", {"writeConcern": {"w": 0}}, False),
    ],
)
def test_what_was_sent_is_what_is_told_of_it(replica_set, crew, query, config, numbered):
    config = {
        "collection": "things",
        "totalDocsToInsert": 20,
        "docSizeKB": 0.1,
        "writeBatchSize": 2,
        **config,
    }
    with MongoClient(replica_set.uri) as client:
        client[DATABASE]["things"].drop()
        transactions = client["config"]["transactions"]
        before = {Binary(one["_id"]["id"]): one["txnNum"] for one in transactions.find()}
        done = crew.perform(Load(replica_set.uri + query, DATABASE, "insert", config, "s", 2))
        after = {Binary(one["_id"]["id"]): one["txnNum"] for one in transactions.find()}
    assert (done.documents, done.options.retryable_writes, done.options.sessions) == (20, numbered, True)
    assert sum(after.values()) - sum(before.values()) == (10 if numbered else 0)


def test_a_standalone_server_has_sessions_and_no_retryable_writes(mongod_with_password):
    uri = mongod_with_password.uri(credentials="owner:known-only-to-tests@")
    with MongoClient(uri) as client, WorkerPool(1) as crew:
        client.admin.command("ping")
        options = request_options(client, {"retryableWrites": True})
        assert (options.sessions, options.retryable_writes) == (True, False)
        config = {"collection": "things", "totalDocsToInsert": 4, "docSizeKB": 0.1, "writeBatchSize": 1}
        done = crew.perform(Load(uri, DATABASE, "insert", config, "s", 2))
        assert (done.errors, done.documents) == ({}, 4)
        client.drop_database(DATABASE)


@pytest.mark.thorough
def test_reads_go_to_other_members_where_that_is_asked_for_and_writes_to_the_primary(three_members, crew):
    config = {"collection": "things", "initialDocsToInsert": 50, "documentRange": 50, "docSizeKB": 1}
    config |= {"updateFunction": "UpdateOne", "percentReads": 50, "writeConcern": {"w": 1}}
    config |= {"readPreference": {"mode": "secondary"}, "readConcern": {"level": "local"}}
    with MongoClient(three_members.uri) as client:
        things = client[DATABASE].get_collection("things", write_concern=WriteConcern(w=3))
        things.drop()
        things.insert_many([{"_id": Int64(number), "intfield1": 0} for number in range(50)])

        def asked():
            counts = [client.admin.command("serverStatus")["opcounters"]]
            for member in failover._secondaries(client[DATABASE]):
                counts.append(member.admin.command("serverStatus")["opcounters"])
            return [(one["query"], one["update"]) for one in counts]

        before = asked()
        done = crew.perform(
            Load(three_members.uri, DATABASE, "update", config, "s", 6, seconds=1.0, least=200)
        )
        primary, *others = [
            (reads - was[0], writes - was[1]) for (reads, writes), was in zip(asked(), before, strict=True)
        ]
        client.drop_database(DATABASE)
    assert done.errors == {}
    assert done.options.read_preference == {"mode": "secondary"}
    assert done.in_one_thread
    read = sum(done.latencies_by_kind["read"].values())
    assert sum(reads for reads, _ in others) >= read > 10
    assert primary[0] < read / 4
    assert primary[1] >= sum(done.latencies_by_kind["update"].values()) > 10


@pytest.mark.parametrize("mode", ["primary", "primaryPreferred", "secondaryPreferred", "nearest"])
@pytest.mark.parametrize("place", ["experiment", "connection string"])
def test_reads_are_measured_whichever_preference_leads_to_the_primary(replica_set, crew, mode, place):
    config, uri = {"collection": "things", "initialDocsToInsert": 5, "documentRange": 5, "docSizeKB": 1}, ""
    config |= {"updateFunction": "UpdateOne", "percentReads": 50, "writeConcern": {"w": 1}}
    if place == "experiment":
        config |= {"readPreference": {"mode": mode}}
    else:
        uri = f"&readPreference={mode}"
    load = Load(f"{replica_set.uri}{uri}", DATABASE, "update", config, "s", 6, seconds=0.3, least=60)
    with MongoClient(replica_set.uri) as client:
        client[DATABASE]["things"].drop()
        client[DATABASE]["things"].insert_many([{"_id": Int64(number)} for number in range(5)])
        done = crew.perform(load)
        client.drop_database(DATABASE)
    assert done.errors == {}
    assert done.options.read_preference == {"mode": mode}
    assert set(done.latencies_by_kind) == {"read", "update"}


def test_writes_that_nobody_asks_an_answer_for_are_waited_for_wherever_reads_go(replica_set):
    options = RequestOptions({"w": 0}, {}, {"mode": "nearest"}, retryable_writes=False)
    batch = [bson.encode({"n": number, "text": "x" * 200}) for number in range(1000)]
    with MongoClient(replica_set.uri) as watching, MongoClient(replica_set.uri) as client:
        watching[DATABASE]["unanswered"].drop()
        connections = [WireClient(client, (DATABASE, "unanswered"), options) for _ in range(3)]
        with ThreadPoolExecutor(3) as threads:
            for _ in range(10):
                list(threads.map(lambda connection: connection.insert(batch), connections))
        for connection in connections:
            connection.wait_for_writes()
        assert watching[DATABASE]["unanswered"].count_documents({}) == 30_000
        for connection in connections:
            connection.close()
        watching.drop_database(DATABASE)


REFUSED = {
    "compressors": ["zlib"], "enableOverloadRetargeting": True, "loadBalanced": True, "maxAdaptiveRetries": 1, "timeoutMS": 0.1,
}  # fmt: skip


def given(options):
    """The options of a connection string that has these."""
    return open_target(f"mongodb://localhost/?{options}").given


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_prepared_messages_do_not_carry_is_refused(name):
    asked = {name.lower(): REFUSED[name]}  # PyMongo gives some of them so
    with pytest.raises(TargetError, match=name.lower()):
        check_options(asked)


def test_a_read_is_not_sent_again_so_that_is_refused_and_its_opposite_is_not():
    with pytest.raises(TargetError, match=r"(?i)retryReads"):
        check_options(given("retryReads=true"))
    check_options(given("retryReads=false"))


def test_an_option_that_a_later_driver_has_is_refused_until_somebody_has_looked_at_it():
    with pytest.raises(TargetError, match="quantumLinks"):
        check_options({"quantumLinks": 3})


def test_what_is_switched_off_asks_for_nothing():
    check_options(given("loadBalanced=false&timeoutMS=0&retryReads=false"))


def test_what_is_honoured_and_what_means_nothing_to_a_run_is_not_refused():
    check_options(dict.fromkeys(ACCEPTED, "set"))


@pytest.mark.parametrize("leave_out", [False, True])
def test_a_run_is_refused_before_anything_is_asked_of_the_deployment(leave_out):
    options = Options(scale=1.0, seconds=None, repeats=None, seed=1)
    target = open_target("mongodb://localhost/?compressors=zlib")
    with pytest.raises(TargetError, match="compressors"):
        share_out([], options, [target], SimpleNamespace(), leave_out=leave_out)


def test_the_page_of_targets_names_every_option_and_what_becomes_of_it():
    page = (Path(__file__).parents[2] / "docs" / "targets.md").read_text(encoding="utf-8")
    names = {*ACCEPTED, *REFUSED, "retryReads"}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_what_requests_carry_is_not_refused():
    asked = "readPreference=secondary&readPreferenceTags=use:reports&readConcernLevel=majority&w=1&retryWrites=false"
    check_options(given(asked))
    with MongoClient(f"mongodb://localhost/?{asked}", connect=False) as client:
        options = request_options(client, {})
        assert options.read_preference == {"mode": "secondary", "tags": [{"use": "reports"}]}
        assert (options.read_concern, options.write_concern) == ({"level": "majority"}, {"w": 1})
        assert (options.reads_primary, options.retryable_writes) == (False, False)


def test_an_experiment_counts_before_the_connection_string_and_both_before_what_drivers_do():
    with MongoClient("mongodb://localhost/?readConcernLevel=majority&w=1", connect=False) as client:
        asked = {
            "readConcern": {"level": "local"},
            "writeConcern": {"w": 2},
            "readPreference": {"mode": "nearest"},
        }
        options = request_options(client, asked)
    assert (options.read_concern, options.write_concern) == ({"level": "local"}, {"w": 2})
    assert options.read_preference == {"mode": "nearest"}
    with MongoClient("mongodb://localhost/", connect=False) as client:
        usual = request_options(client, {})
    assert (usual.read_concern, usual.write_concern, usual.read_preference) == (
        {},
        {"w": "majority"},
        {"mode": "primary"},
    )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"session": False, "retryableWrites": True}, "only in a session"),
        ({"readPreference": {"mode": "primary", "tags": [{"use": "reports"}]}}, "cannot be combined"),
        ({"readPreference": {"mode": "often"}}, "readPreference"),
    ],
)
def test_what_cannot_be_sent_together_is_said_before_anything_is_done(asked, said):
    with pytest.raises(TargetError, match=said):
        check_requests(asked)


def test_what_can_be_sent_is_no_conflict():
    check_requests({})
    check_requests({"session": False, "retryableWrites": False})
