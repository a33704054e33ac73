"""Servers say what they are, and counters are subtracted within one process alone.

A deployment that somebody gives: its rows say what its servers are, as far as the user may ask, and what not.

Of serverStatus a result keeps what tables subtract and what explains a number, and nothing else.

Counters are subtracted of one process of one server alone.
"""

from __future__ import annotations

import io
import json
import socket
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest
from pymongo import MongoClient

from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.measurement import reads
from mongo_tables.runner.options import Options
from mongo_tables.runner.runs import open_run
from mongo_tables.runner.sampling import read_machine
from mongo_tables.runner.servers import (
    GIVEN,
    KEPT,
    PARAMETERS,
    ServerProcess,
    Servers,
    ask_servers,
    cache_bytes,
    describe_change,
    is_one_process,
    process_of,
    status,
    topology,
)
from mongo_tables.runner.store import FileStore, check_document
from mongo_tables.runner.target import UriTarget
from mongo_tables.runner.terminal import Progress
from tests.runner.measured import measure
from tests.runner.test_runs import DATABASE, RECORDS

EXPERIMENT = (
    RECORDS.replace("workload", "warm = false\nworkload", 1)
    + """
[[variants]]
recordcount = 100
readproportion = 1.0
"""
)
OPTIONS = Options(scale=1.0, seconds=0.2, repeats=1, seed=1)
ANY = "readWriteAnyDatabase"
USERS = {
    "narrow": [{"role": "readWrite", "db": DATABASE}],
    "writer": [ANY],
    "looking": [ANY, "looking"],
    "monitor": [ANY, "clusterMonitor"],
    "owner": [ANY, "clusterMonitor", "hostManager"],
}
OF_MONITOR = {
    "serverStatus", "hostInfo", "getCmdLineOpts", "getParameter", "replSetGetConfig", "replSetGetStatus", "getDiagnosticData",
}  # fmt: skip
PASSWORD = "known-only-to-this-test"


@pytest.fixture(scope="module")
def users(replica_set):
    """Users of the set by what they may ask; it samples its machine ten times a second meanwhile."""
    status = {"resource": {"cluster": True}, "actions": ["serverStatus"]}
    period = "diagnosticDataCollectionPeriodMillis"
    with MongoClient(replica_set.uri) as client:
        client.admin.command("createRole", "looking", privileges=[status], roles=[])
        for user, roles in USERS.items():
            client.admin.command("createUser", user, pwd=PASSWORD, roles=roles)
        client.admin.command({"setParameter": 1, period: 100})
        yield lambda user: "mongodb://{}:{}@{}".format(user, PASSWORD, replica_set.uri.rpartition("@")[2])
        client.admin.command({"setParameter": 1, period: 1000})
        for user in USERS:
            client.admin.command("dropUser", user)
        client.admin.command("dropRole", "looking")


@pytest.fixture(scope="module")
def measured(users, crew, tmp_path_factory):
    """User → the row that a run writes with its rights, and what is said on the terminal."""
    found = {}
    for user in USERS:
        store, said = FileStore(tmp_path_factory.mktemp(user)), io.StringIO()
        experiment = experiments.read(EXPERIMENT.encode(), "tiny.toml")
        # The server samples its machine every 0.1 s.
        options = replace(OPTIONS, seconds=0.7 if user == "monitor" else 0.2)
        run = open_run(experiment, options, UriTarget(users(user)), crew, Progress(said))
        measure([run], store)
        found[user] = store.rows("tiny")[0], said.getvalue()
    return found


def missing(row):
    return {one["what"]: one.get("role") for one in row["servers"]["not_known"]}


def test_a_user_who_may_only_read_is_told_in_a_line_what_is_not_permitted_and_what_permits_it(
    replica_set, users, tmp_path
):
    experiment = experiments.read(EXPERIMENT.encode(), "tiny.toml")
    with MongoClient(replica_set.uri) as client:
        client.admin.command("createUser", "reading", pwd=PASSWORD, roles=["readAnyDatabase"])
        run = open_run(
            experiment, OPTIONS, UriTarget(users("reading")), WorkerPool(0), Progress(io.StringIO())
        )
        try:
            with pytest.raises(TargetError) as told:
                measure([run], FileStore(tmp_path))
        finally:
            client.admin.command("dropUser", "reading")
    assert told.value.message.endswith(
        f": the user may not update in the database '{DATABASE}': the role readWrite on that database, or "
        "readWriteAnyDatabase, permits it"
    )


@pytest.mark.parametrize("user", USERS)
def test_every_user_who_may_write_gets_a_row_as_the_schema_says(measured, user):
    row, _ = measured[user]
    check_document("result", row)
    assert row["work"]["operations"] > 0
    assert row["versions"]["server"] == row["servers"]["members"][0]["version"]
    assert row["servers"]["members"][0]["role"] == "primary"


def test_with_clusterMonitor_the_row_has_machine_members_cache_and_processors(measured):
    row, said = measured["monitor"]
    (member,) = row["servers"]["members"]
    assert missing(row) == {}
    assert "not permitted" not in said
    assert (member["cores"], member["cache_gib"]) == (psutil.cpu_count(), 0.25)
    assert member["memory_gib"] == pytest.approx(row["hardware"]["memory_gib"], abs=0.2)
    assert member["options"] == {"cache_size_gb": 0.25, "oplog_size_mb": 990}
    assert (member["votes"], member["storage_engine"], row["servers"]["feature_compatibility"]) == (
        1,
        "wiredTiger",
        "6.0",
    )
    assert row["servers"]["parameters"].items() >= {"enableFlowControl": True, "syncdelay": 60.0}.items()
    assert row["servers"]["parameters"].keys() <= {*PARAMETERS}
    assert row["topology"] == {
        "kind": "replica set", "members": 1, "cache_gb": 0.25, "block_compressor": "snappy", "place": GIVEN
    }  # fmt: skip
    assert row["reads"]["pages_requested"] > 0


def test_the_servers_samples_of_its_machine_fill_what_tables_of_resources_read(measured):
    row, _ = measured["monitor"]
    assert row["metrics"]["source"] == "getDiagnosticData"
    names = {one["name"] for one in (*row["metrics"]["measurements"], *row["metrics"]["diskMetrics"])}
    assert {
        "SYSTEM_NORMALIZED_CPU_USER",
        "SYSTEM_NORMALIZED_CPU_IOWAIT",
        "DISK_PARTITION_IOPS_TOTAL",
    } <= names
    for one in row["metrics"]["measurements"]:
        points = [point["value"] for point in one["dataPoints"]]
        assert points[0] is None
        assert all(point is None or point >= 0 for point in points)
    busy = row["processors"]
    assert busy["server"] > 0
    assert busy["busy"] > 0


def test_what_the_server_sees_of_this_machine_is_what_we_see(users):
    def look():
        return psutil.cpu_times()._asdict(), psutil.disk_io_counters(perdisk=True)

    with MongoClient(users("monitor")) as client:
        cpu, disks = look()
        sample = read_machine(client)
        cpu_behind, disks_behind = look()
    assert sample.cpu.keys() == cpu.keys()
    # Each of them is counted in ticks, and the server's sample is up to a second old.
    slack = 1.0 * psutil.cpu_count() + 0.1
    assert sum(cpu.values()) - slack <= sum(sample.cpu.values()) <= sum(cpu_behind.values()) + slack
    if len(disks) == 1:  # else psutil counts partitions as well
        (name,) = disks
        assert 0 < sample.disk["write_bytes"] <= disks_behind[name].write_bytes


@pytest.mark.parametrize("user", ["narrow", "writer"])
def test_without_any_role_the_row_has_what_the_client_saw_and_names_what_is_missing(measured, user):
    row, said = measured[user]
    assert missing(row) == dict.fromkeys(OF_MONITOR, "clusterMonitor")
    assert not {"before_status", "after_status"} & row.keys()
    assert row["processors"] is None
    assert row["metrics"]["source"] is None
    assert row["metrics"]["diskMetrics"] == []
    assert row["reads"]["pages_requested"] is None
    assert row["topology"] == {"kind": "replica set", "members": 1, "place": GIVEN}
    assert "cores" not in row["servers"]["members"][0]
    assert "not permitted without the role clusterMonitor:  replSetGetConfig, " in said


def test_with_a_role_that_permits_serverStatus_only_the_rest_is_named(measured):
    row, _ = measured["looking"]
    assert missing(row) == dict.fromkeys(OF_MONITOR - {"serverStatus"}, "clusterMonitor")
    assert row["before_status"]["wiredTiger"]["cache"]
    assert row["servers"]["members"][0]["cache_gib"] == 0.25
    assert row["processors"] is None


def test_a_row_says_whether_the_server_was_permitted_to_settle(measured):
    settled = {user: row["checks"]["settled"] for user, (row, _) in measured.items()}
    assert settled == dict.fromkeys(USERS, False) | {"owner": True}


def test_a_user_who_may_not_drop_databases_leaves_none(measured, replica_set):
    assert measured
    with MongoClient(replica_set.uri) as client:
        assert DATABASE not in client.list_database_names()


def test_no_name_of_a_host_folder_or_file_and_no_password_is_told(measured, replica_set):
    row, said = measured["owner"]
    told = json.dumps([row["servers"], row["topology"], said], default=str)
    port = replica_set.uri.partition("localhost:")[2].partition("/")[0]
    for secret in (
        "localhost",
        socket.gethostname(),
        port,
        replica_set.directory.name,
        "mongod.log",
        PASSWORD,
    ):
        assert secret not in told


def test_members_that_do_not_answer_are_counted_and_named(replica_set):
    asked = ask_servers(replica_set.uri)
    (address,) = asked.members
    port = address.partition(":")[2]
    other = "elsewhere:1"
    both = type(asked)(
        asked.kind,
        {other: {"role": "primary"}, **asked.members},
        None,
        [{"what": "hostInfo", "reason": "no answer"}],
    )
    told = both.describe(("localhost", int(port)))
    assert [one.get("role") for one in told["members"]] == ["primary", "secondary"]
    assert told["not_known"] == [{"what": "hostInfo", "reason": "no answer"}]
    assert topology(told, {"kind": GIVEN})["members"] == 2
    assert "cache_gb" not in topology(told, {"kind": GIVEN})  # that of one of them is not known
    assert topology(told, {"kind": "replica set", "members": 7})["members"] == 7


def test_of_a_sharded_cluster_neither_members_nor_a_cache_are_told_for_those_of_its_shards():
    mongos = {"localhost:1": {"role": "mongos", "cores": 2}, "localhost:2": {"role": "mongos"}}
    told = Servers("sharded cluster", mongos, None, (), shards=3).describe()
    assert topology(told, {"kind": GIVEN}) == {"kind": "sharded cluster", "shards": 3, "place": GIVEN}
    unknown = Servers("sharded cluster", mongos, None, ()).describe()
    assert topology(unknown, {"kind": GIVEN}) == {"kind": "sharded cluster", "place": GIVEN}


def test_a_window_that_is_too_short_for_samples_of_the_machine_says_so_unless_there_are_none_at_all():
    (why,) = Servers("replica set", {}, None, ()).describe(seen=False)["not_known"]
    assert why["what"] == "processors and disks in the window"
    assert "one a second" in why["reason"]
    refused = {"what": "getDiagnosticData", "role": "clusterMonitor"}
    assert Servers("replica set", {}, None, [refused]).describe(seen=False)["not_known"] == [refused]
    assert Servers("replica set", {}, None, ()).describe(seen=True)["not_known"] == []


def test_a_change_of_the_primary_in_the_window_is_named_as_the_reason_why_its_counters_are_not_there():
    (why,) = Servers("replica set", {}, None, ()).describe(change="the primary changed")["not_known"]
    assert why == {"what": "what the server counted in the window", "reason": "the primary changed"}


@pytest.fixture
def client(mongod):
    with MongoClient(mongod.uri()) as held:
        yield held


def test_what_the_tables_subtract_is_there(client):
    kept = status(client)
    assert kept["wiredTiger"]["cache"]["pages read into cache"] >= 0
    assert kept["wiredTiger"]["block-manager"]["bytes written"] >= 0
    assert kept["wiredTiger"]["log"]["total size of compressed records"] >= 0
    assert kept["network"]["physicalBytesOut"] >= 0
    assert kept["network"].keys() == KEPT["network"].keys()
    assert kept["wiredTiger"]["log"].keys() == KEPT["wiredTiger"]["log"].keys()
    assert kept["metrics"]["operation"]["writeConflicts"] >= 0
    assert {"pid", "uptime", "opcounters", "opLatencies"} <= kept.keys()


def test_it_is_a_small_part_of_the_whole_and_has_no_other_counters(client):
    kept, whole = status(client), client.admin.command("serverStatus")
    assert kept.keys() <= KEPT.keys()
    assert kept["wiredTiger"].keys() <= KEPT["wiredTiger"].keys()
    assert kept["wiredTiger"]["cache"].keys() == KEPT["wiredTiger"]["cache"].keys()
    assert 8 * len(json.dumps(kept, default=str)) < len(json.dumps(whole, default=str))


def test_the_order_is_the_servers(client):
    whole = list(client.admin.command("serverStatus"))
    assert list(status(client)) == [name for name in whole if name in KEPT]


def test_the_machine_is_not_named(client):
    assert status(client)["host"] == "{}:{}".format(*client.address)


class WithoutEngine:
    """A client of what has no storage of its own."""

    address = None
    topology_description = SimpleNamespace(server_descriptions=lambda: {"db-17": None})
    admin = SimpleNamespace(command=lambda name: {"host": "db-17", "process": "mongos", "pid": 1})


def test_of_a_server_without_storage_the_rest_is_kept_and_reads_are_not_known():
    kept = status(WithoutEngine())
    assert kept == {"host": "unknown", "process": "mongos", "pid": 1}
    assert set(reads(kept, kept, (None, None)).values()) == {None}


def test_an_experiment_that_needs_the_cache_says_so_of_a_server_without_one():
    with pytest.raises(TargetError, match="size of WiredTiger's cache") as caught:
        cache_bytes(WithoutEngine())
    assert "replica set" in caught.value.hint


def test_what_is_not_permitted_is_empty_and_the_role_is_named_where_nothing_goes_without(
    mongod_with_password,
):
    with MongoClient(mongod_with_password.uri(credentials="owner:known-only-to-tests@")) as owner:
        owner.admin.command("createUser", "few", pwd="few", roles=["readWriteAnyDatabase"])
    with MongoClient(mongod_with_password.uri(credentials="few:few@")) as few:
        assert status(few) == {}
        with pytest.raises(TargetError) as caught:
            cache_bytes(few)
    with MongoClient(mongod_with_password.uri(credentials="owner:known-only-to-tests@")) as owner:
        owner.admin.command("dropUser", "few")
    assert caught.value.hint == "the role clusterMonitor permits serverStatus"


FIRST = ServerProcess("a:1", 7, 60_000)
LATER = ServerProcess("a:1", 7, 90_000)
OTHER = ServerProcess("b:1", 7, 99_000)


def test_a_process_is_known_by_its_server_its_number_and_its_age():
    assert process_of({"host": "a:1", "pid": 7, "uptimeMillis": 60_000, "uptime": 60.0}) == FIRST
    assert is_one_process(FIRST, LATER)
    assert is_one_process(FIRST, FIRST)
    assert not is_one_process(LATER, FIRST)
    assert not is_one_process(FIRST, LATER._replace(pid=8))
    assert not is_one_process(FIRST, OTHER)


def test_an_answer_that_came_late_is_no_other_process():
    assert is_one_process(FIRST, FIRST._replace(uptime=59_000))


def test_where_nobody_may_ask_nothing_is_said_of_a_change():
    assert process_of({}) is None
    assert is_one_process(None, FIRST)
    assert describe_change(None, None, [None, None]) is None


def test_a_primary_that_was_another_for_a_while_is_told_without_the_names_of_machines():
    assert describe_change(FIRST, LATER, [FIRST, LATER]) is None
    said = describe_change(FIRST, LATER, [FIRST, OTHER, LATER])
    assert said == "another server was the primary in a part of the window"
