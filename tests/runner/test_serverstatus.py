"""Of serverStatus a result keeps what tables subtract and what explains a number, and nothing else."""

from __future__ import annotations

import json

import pytest
from pymongo import MongoClient

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
