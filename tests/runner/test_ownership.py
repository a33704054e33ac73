"""Only databases of a run are changed, and only by the run that goes on.

A database of a run that is going on is nobody else's; one that was left is the next run's at once.

A client of a server that is gone is closed, and nobody waits for its goodbye.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import asdict
from datetime import timedelta

import psutil
import pytest
from pymongo import MongoClient

from mongo_tables.runner import ownership
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.ownership import Heartbeat, OwningProcess, close_beside, this_process

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


def mark(client, process, seconds_ago=0.0):
    """Have the first run be that process, which gave its last sign of life so long ago."""
    seen = client.admin.command("hello")["localTime"] - timedelta(seconds=seconds_ago)
    client[DATABASE][ownership.MARKER].update_one({}, {"$set": {"process": process, "seen": seen}})


def seen(client):
    return client[DATABASE][ownership.MARKER].find_one()["seen"]


@pytest.mark.parametrize(
    ("process", "seconds_ago", "said"),
    [
        (another(), 9_999, f"process {os.getppid()} of this machine"),
        (another(host="elsewhere", pid=os.getpid()), 100, "sign of life is 10. s old"),
    ],
    ids=["on this machine, however long it is silent", "on another machine"],
)
def test_a_run_that_is_going_on_keeps_its_database(client, process, seconds_ago, said):
    mark(client, process, seconds_ago)
    with pytest.raises(TargetError, match=f"that of a run that is going on: .*{said}") as told:
        ownership.claim(client, DATABASE, "second")
    assert "wait until it has ended" in told.value.hint
    assert client[DATABASE]["data"].count_documents({}) == 1
    ownership.check(client, DATABASE, "first")


@pytest.mark.parametrize(
    ("process", "seconds_ago"),
    [
        (another(started=0.0), 0),
        (another(pid=2**22 + 1), 0),
        (another(host="elsewhere"), 200),
        (asdict(this_process()), 0),
    ],
    ids=["its number is another's", "nobody has its number", "silent elsewhere", "this process"],
)
def test_a_run_that_was_killed_leaves_its_database_to_the_next(client, process, seconds_ago):
    mark(client, process, seconds_ago)
    ownership.claim(client, DATABASE, "second")
    assert client[DATABASE]["data"].count_documents({}) == 0
    ownership.check(client, DATABASE, "second")


def test_a_database_of_an_earlier_version_is_free(client):
    client[DATABASE][ownership.MARKER].update_one({}, {"$unset": {"process": 1, "seen": 1}})
    ownership.claim(client, DATABASE, "second")
    ownership.check(client, DATABASE, "second")


def test_signs_of_life_come_in_long_windows_until_they_are_stopped(client, monkeypatch):
    monkeypatch.setattr(ownership, "BEAT_SECONDS", 0.05)
    mark(client, another(host="elsewhere"), 200)
    beating, long_ago = Heartbeat(client, DATABASE, "first"), seen(client)
    deadline = time.monotonic() + 30
    while seen(client) == long_ago:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert ownership.find_user(client, DATABASE)
    beating.stop()
    beating._thread.join()
    last = seen(client)
    assert not beating._thread.is_alive()
    assert seen(client) == last


def test_a_sign_of_life_is_given_before_a_window_rather_than_in_it(client, monkeypatch):
    mark(client, another(host="elsewhere"), 200)
    beating, first = Heartbeat(client, DATABASE, "first"), seen(client)
    beating.beat()
    assert seen(client) == first  # that was just now
    monkeypatch.setattr(ownership, "BEAT_SECONDS", 0.0)
    beating.beat()
    assert seen(client) > first
    beating.stop()


def test_whoever_has_lost_the_database_gives_no_sign_for_another_and_makes_none(client):
    ownership.claim(client, DATABASE, "second")
    last = seen(client)
    ownership.give_sign(client, DATABASE, "first")
    assert seen(client) == last
    client.drop_database(DATABASE)
    ownership.give_sign(client, DATABASE, "first")
    assert DATABASE not in client.list_database_names()


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
