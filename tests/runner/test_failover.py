"""Writes are held up, a primary changes, and what was acknowledged is accounted for.

What is measured while a replica set gets another primary.

A write that timed out is there: at once on the primary, and for good when the other members go on.
"""

from __future__ import annotations

from types import SimpleNamespace

import bson
import pytest
from pymongo import MongoClient
from pymongo.write_concern import WriteConcern

from mongo_tables.runner.measurement import count_lost
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import Share, failover, workload
from mongo_tables.runner.workloads.failover import APART, tell
from tests.runner.processes import finish, start

CONFIG = {"eventAfterSecs": 100, "readproportion": 0.0, "operationsPerSecond": 100}


class Deployment:
    """Keeps what is inserted; ``fails`` says for each request whether it is answered, None for done without an answer."""

    def __init__(self, fails=()):
        self.documents = {}
        self.fails = list(fails)

    def _meet(self):
        return self.fails.pop(0) if self.fails else False

    def insert(self, documents):
        fails = self._meet()
        if fails is not True:
            self.documents.update((one["_id"], one) for one in map(bson.decode, documents))
        if fails is not False:
            raise ConnectionError

    def read(self, selector, projection):
        if self._meet():
            raise ConnectionError
        return (1, 20) if bson.decode(selector)["_id"] in self.documents else (0, 0)

    def told(self):
        return tell(self.documents[number] for number in sorted(self.documents))


def act(deployment, times, connection=0, config=CONFIG):
    """The kinds of the requests that were answered."""
    step = workload("failover").open_steps(deployment, config, Share(connection, 2, "seed"))
    kinds = []
    for _ in range(times):
        try:
            kinds.append(step().kind)
        except ConnectionError:
            kinds.append(None)
    return kinds


def test_documents_tell_what_failed_and_what_of_it_is_there():
    deployment = Deployment([False, True, None, False])
    assert act(deployment, 6) == ["write_before", None, None, *["write_before"] * 3]
    told = deployment.told()
    assert (told["found"], told["failedButApplied"], told["lostAcknowledged"]) == (5, 1, 0)
    assert told["withoutServiceMost"] > 0


def test_an_acknowledged_document_that_is_not_there_is_told():
    deployment = Deployment([False, False, True])
    act(deployment, 8)
    del deployment.documents[1]
    assert deployment.told()["lostAcknowledged"] == 1


def test_a_loss_that_a_write_could_make_up_for_of_which_no_document_tells_is_not_called_none():
    first, second = Deployment([False, True, False]), Deployment([False, False, None])
    act(first, 4)
    act(second, 3, connection=1)
    first.documents.update(second.documents)
    told = first.told()
    assert (told["found"], told["failuresTold"]) == (6, 1)  # nothing is behind the one that failed last
    assert count_lost(told, acknowledged=5, failed=2) is None
    del first.documents[3]  # the last one of the other connection, which was acknowledged
    assert count_lost(first.told(), acknowledged=5, failed=2) is None
    del first.documents[0]
    assert count_lost(first.told(), acknowledged=5, failed=2) == 1
    assert count_lost(told, acknowledged=6, failed=1) == 0


def test_service_is_gone_only_while_no_connection_has_answers():
    def document(connection, *spans):
        outages = [{"from": first, "to": last, "errors": 1} for first, last in spans]
        return {"_id": connection * APART, "failed": [], "outages": outages}

    second = 10**9
    told = tell([document(0, (1 * second, 4 * second)), document(1, (2 * second, 7 * second))])
    assert (told["withoutService"], told["withoutServiceLeast"], told["withoutServiceMost"]) == (
        2.0,
        3.0,
        5.0,
    )
    told = tell([document(0, (1 * second, 4 * second)), document(1)])
    assert (told["withoutService"], told["withoutServiceLeast"], told["withoutServiceMost"]) == (
        0.0,
        0.0,
        3.0,
    )


def test_a_time_without_service_that_nobody_noticed_is_not_known():
    deployment = Deployment()
    act(deployment, 3)
    told = deployment.told()
    names = ("withoutService", "withoutServiceLeast", "withoutServiceMost")
    assert [told[name] for name in names] == [None, None, None]


def test_requests_are_told_apart_by_when_they_are_sent_and_a_read_that_finds_nothing_too():
    deployment = Deployment([False, True])
    assert act(deployment, 4, config={**CONFIG, "eventAfterSecs": 0}) == [
        "write_during", None, "write_during", "write_during",
    ]  # fmt: skip
    assert act(Deployment(), 3, config={**CONFIG, "readproportion": 1.0}) == [
        "write_before",
        *["read_before"] * 2,
    ]
    forgets = Deployment()
    forgets.documents = type("Nothing", (dict,), {"update": lambda self, pairs: None})()
    assert act(forgets, 2, config={**CONFIG, "readproportion": 1.0})[1] == "read_of_nothing_before"


def test_nothing_counts_as_before_the_event_that_is_answered_behind_it(monkeypatch):
    """The last of eight connections begins seven operations after the window opened."""
    moments = iter(
        (10.07, 10.08, 10.98, 10.99, 10.995, 11.01, 11.03, 11.04)  # sent and answered, in turn
    )
    clock = SimpleNamespace(monotonic_ns=lambda: round(next(moments) * 1e9))
    monkeypatch.setattr(failover, "time", clock)
    config = {**CONFIG, "eventAfterSecs": 1}
    assert act(Deployment(), 4, connection=7, config=config) == [
        *["write_before"] * 2,
        *["write_during"] * 2,
    ]


EXPERIMENT = """\
name = "changes"
title = "Another primary"
workload = "failover"

[parameters]
database = "mongo_tables_changes"
collection = "writes"
numberOfThreads = 3
operationsPerSecond = 60
eventAfterSecs = 1
electionTimeoutMillis = 2000

[[variants]]
event = "kill"
testTimeSecs = 10

[[variants]]
event = "stepDown"
testTimeSecs = 4
"""


@pytest.mark.exhaustive
def test_a_set_whose_primary_is_killed_or_steps_down_serves_again_and_nothing_acknowledged_is_lost(tmp_path):
    (tmp_path / "changes.toml").write_text(EXPERIMENT, encoding="utf-8")
    code, _, err = finish(start(tmp_path / "changes.toml", "--seconds", "0.2", "--output", tmp_path))
    assert code == 0, err
    rows = {row["_id"]["event"]: row for row in FileStore(tmp_path).rows("changes")}
    for row in rows.values():
        told = row["testResults"]
        assert told["lostAcknowledged"] == 0
        assert told["found"] == told["acknowledged"] + told["failedButApplied"]
        assert row["client"]["on_error"] == "reconnect"
        assert row["work"]["connections_lost"] > 0
        assert {"write_before", "write_during", "write_after"} <= set(row["latencies"])
        assert 0 < told["withoutServiceLeast"] <= told["withoutServiceMost"] < 10
    killed = rows["kill"]["testResults"]
    assert killed["secondsToNewPrimary"] > 0.5  # nobody stands for election sooner
    assert killed["withoutService"] > 0.5


def test_a_primary_that_is_not_the_runs_own_is_let_alone(replica_set, tmp_path):
    (tmp_path / "changes.toml").write_text(EXPERIMENT, encoding="utf-8")
    code, _, err = finish(start(tmp_path / "changes.toml", "--target", replica_set.uri, "--output", tmp_path))
    assert code == 2
    assert "--target local" in err


DATABASE = "write_timeout_test"
MAJORITY = {"w": "majority", "wtimeout": 200}
ALL = {"w": 3, "wtimeout": 200}


@pytest.mark.parametrize(
    ("held", "concern", "in_time"),
    [(1, {"w": "majority"}, True), (1, ALL, False), (2, {"w": 1}, True), (2, MAJORITY, False)],
)
def test_what_held_members_do_not_acknowledge_is_done_nevertheless(
    crew, three_members, held, concern, in_time
):
    config = {"collection": "c", "nWrites": 8, "heldSecondaries": held, "writeConcern": concern}
    with MongoClient(three_members.uri) as mongo:
        workload("write_timeout").create(mongo[DATABASE], config)
        workload("write_timeout").reset(mongo[DATABASE], config)
        load = Load(three_members.uri, DATABASE, "write_timeout", config, "seed", 4)
        done = crew.perform(load)
        found = workload("write_timeout").conclude(mongo[DATABASE], config)
    assert (done.operations, done.errors) == (8, {})
    assert done.documents == (8 if in_time else 0)
    assert found == {"applied": 8, "keptByMajority": 8}


TIMEOUTS = """\
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
    (tmp_path / "held.toml").write_text(TIMEOUTS, encoding="utf-8")
    code, _, err = finish(start(tmp_path / "held.toml", "--output", tmp_path))
    assert code == 0, err
    (row,) = FileStore(tmp_path).rows("held")
    assert row["testResults"] == {"acknowledged": 0, "timedOut": 4, "applied": 4, "keptByMajority": 4}
    assert row["latency"]["min"] >= 150_000
    assert row["write_concern"] == {"w": "majority", "wtimeout": 150}


def test_members_of_a_deployment_that_is_not_the_runs_own_are_never_held(replica_set, tmp_path):
    (tmp_path / "held.toml").write_text(TIMEOUTS, encoding="utf-8")
    arguments = (tmp_path / "held.toml", "--target", replica_set.uri, "--output", tmp_path)
    code, _, err = finish(start(*arguments))
    assert code == 2
    assert "held locks or stops members of the deployment" in err
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
