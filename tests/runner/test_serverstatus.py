"""Of serverStatus a result keeps what tables subtract and what explains a number, and nothing else."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from pymongo import MongoClient

from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.measurement import reads
from mongo_tables.runner.servers import KEPT, cache_bytes, status


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
    assert kept["metrics"]["operation"]["writeConflicts"] >= 0
    assert {"pid", "uptime", "opcounters", "opLatencies"} <= kept.keys()


def test_it_is_a_third_of_the_whole_and_has_no_other_sections(client):
    kept, whole = status(client), client.admin.command("serverStatus")
    assert kept.keys() <= KEPT.keys()
    assert kept["wiredTiger"].keys() <= KEPT["wiredTiger"].keys()
    assert 3 * len(json.dumps(kept, default=str)) < len(json.dumps(whole, default=str))


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
