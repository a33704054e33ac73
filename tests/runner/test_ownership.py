"""Only databases of a run are changed, and only by the run that goes on.

A database of a run that is going on is nobody else's; one that was left is the next run's at once.

A client of a server that is gone is closed, and nobody waits for its goodbye.
"""

from __future__ import annotations

import os
import threading
from dataclasses import asdict

import psutil
import pytest
from pymongo import MongoClient

from mongo_tables.runner import ownership
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.ownership import OwningProcess, close_beside, this_process

DATABASE = "ownership_test"


@pytest.fixture
def client(replica_set):
    """A client of a deployment on which the run ``first`` has a database with some data in it."""
    with MongoClient(replica_set.uri) as client:
        client.drop_database(DATABASE)
        ownership.claim(client, DATABASE, "first")
        client[DATABASE]["data"].insert_one({})
        yield client
        client.drop_database(DATABASE)


def another(**facts):
    """The process that started this one, which is there as long, with some facts of another."""
    started = psutil.Process(os.getppid()).create_time()
    return asdict(OwningProcess(this_process().host, os.getppid(), started)) | facts


def mark(client, process):
    """Have the first run be that process."""
    client[DATABASE][ownership.MARKER].update_one({}, {"$set": {"process": process}})


@pytest.mark.parametrize(
    ("process", "said"),
    [
        (another(), f"process {os.getppid()} of this machine"),
        (another(host="elsewhere", pid=os.getpid()), "a process of another machine"),
    ],
    ids=["on this machine", "on another machine"],
)
def test_a_run_that_is_going_on_keeps_its_database(client, process, said):
    mark(client, process)
    with pytest.raises(TargetError, match=f"belongs to a run in progress: .*{said}") as told:
        ownership.claim(client, DATABASE, "second")
    assert "wait until the run has ended" in told.value.hint
    assert client[DATABASE]["data"].count_documents({}) == 1
    ownership.check(client, DATABASE, "first")


@pytest.mark.parametrize(
    "process",
    [another(started=0.0), another(pid=2**22 + 1), asdict(this_process())],
    ids=["its number is another's", "nobody has its number", "this process"],
)
def test_a_run_that_was_killed_leaves_its_database_to_the_next(client, process):
    mark(client, process)
    ownership.claim(client, DATABASE, "second")
    assert client[DATABASE]["data"].count_documents({}) == 0
    ownership.check(client, DATABASE, "second")


def test_a_database_of_an_earlier_version_is_free(client):
    client[DATABASE][ownership.MARKER].update_one({}, {"$unset": {"process": 1}})
    ownership.claim(client, DATABASE, "second")
    ownership.check(client, DATABASE, "second")


class Silent:
    """A client that waits for its server until it is told that there is none."""

    def __init__(self):
        self.gone, self.closed = threading.Event(), threading.Event()

    def close(self):
        self.gone.wait(30)
        self.closed.set()


def test_a_goodbye_is_said_beside_what_goes_on():
    client = Silent()
    close_beside(client)
    assert not client.closed.is_set()
    client.gone.set()
    assert client.closed.wait(10)
