"""A write that timed out is there: at once on the primary, and for good when the other members go on."""

from __future__ import annotations

import pytest
from pymongo import MongoClient
from pymongo.write_concern import WriteConcern

from mongo_tables.runner.store import FileStore
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import workload
from tests.runner.processes import finish, start

DATABASE = "write_timeout_test"
MAJORITY = {"w": "majority", "wtimeout": 200}
ALL = {"w": 3, "wtimeout": 200}


@pytest.mark.parametrize("client", ["wire", pytest.param("pymongo", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    ("held", "concern", "in_time"),
    [(1, {"w": "majority"}, True), (1, ALL, False), (2, {"w": 1}, True), (2, MAJORITY, False)],
)
def test_what_held_members_do_not_acknowledge_is_done_nevertheless(
    crew, three_members, client, held, concern, in_time
):
    config = {"collection": "c", "nWrites": 8, "heldSecondaries": held, "writeConcern": concern}
    with MongoClient(three_members.uri) as mongo:
        workload("write_timeout").create(mongo[DATABASE], config)
        workload("write_timeout").reset(mongo[DATABASE], config)
        load = Load(three_members.uri, DATABASE, "write_timeout", config, "seed", 4, client)
        done = crew.perform(load)
        found = workload("write_timeout").conclude(mongo[DATABASE], config)
    assert (done.operations, done.errors) == (8, {})
    assert done.documents == (8 if in_time else 0)
    assert found == {"applied": 8, "keptByMajority": 8}


EXPERIMENT = """\
name = "held"
title = "Held"
workload = "write_timeout"

[parameters]
database = "mongo_tables_held"
collection = "writes"
numberOfThreads = 2
nWrites = 4

[[variants]]
heldSecondaries = 2
writeConcern = { w = "majority", wtimeout = 150 }
"""


@pytest.mark.thorough
def test_the_row_says_what_was_acknowledged_what_timed_out_and_what_was_applied(tmp_path):
    (tmp_path / "held.toml").write_text(EXPERIMENT, encoding="utf-8")
    code, _, err = finish(start(tmp_path / "held.toml", "--output", tmp_path))
    assert code == 0, err
    (row,) = FileStore(tmp_path).rows("held")
    assert row["testResults"] == {"acknowledged": 0, "timedOut": 4, "applied": 4, "keptByMajority": 4}
    assert row["latency"]["min"] >= 150_000
    assert row["write_concern"] == {"w": "majority", "wtimeout": 150}


def test_members_of_a_deployment_that_is_not_the_runs_own_are_never_held(replica_set, tmp_path):
    (tmp_path / "held.toml").write_text(EXPERIMENT, encoding="utf-8")
    arguments = (tmp_path / "held.toml", "--target", replica_set.uri, "--output", tmp_path)
    code, _, err = finish(start(*arguments))
    assert code == 2
    assert "held holds up members of the deployment" in err
    assert "--target local" in err
    with MongoClient(replica_set.uri) as client:
        assert "mongo_tables_held" not in client.list_database_names()


def test_members_that_were_held_twice_go_on(three_members):
    config = {"collection": "c", "heldSecondaries": 1}
    with MongoClient(three_members.uri) as mongo:
        workload("write_timeout").create(mongo[DATABASE], config)
        for _ in range(2):  # before a window that warms, and before the one that is measured
            workload("write_timeout").reset(mongo[DATABASE], config)
        assert workload("write_timeout").conclude(mongo[DATABASE], config) == {
            "applied": 0,
            "keptByMajority": 0,
        }


def test_a_member_that_is_not_held_acknowledges_whichever_it_is(three_members):
    config = {"collection": "c", "nWrites": 1, "heldSecondaries": 1, "writeConcern": MAJORITY}
    with MongoClient(three_members.uri) as mongo:
        workload("write_timeout").create(mongo[DATABASE], config)
        workload("write_timeout").reset(mongo[DATABASE], config)
        try:
            concern = WriteConcern("majority", wtimeout=120_000)
            mongo[DATABASE].get_collection("c", write_concern=concern).insert_one({})
        finally:
            assert workload("write_timeout").conclude(mongo[DATABASE], config) == {
                "applied": 1,
                "keptByMajority": 1,
            }
