"""Of serverStatus a result keeps what tables subtract and what explains a number, and nothing else."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from pymongo import MongoClient

from preprocessor.runner.errors import TargetError
from preprocessor.runner.serverstatus import KEPT, status


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
    admin = SimpleNamespace(command=lambda name: {"host": "db-17", "process": "mongos", "pid": 1})


def test_a_server_without_the_counters_that_results_are_made_of_is_told():
    with pytest.raises(TargetError, match="mongos has no WiredTiger") as caught:
        status(WithoutEngine())
    assert "replica set" in caught.value.hint
