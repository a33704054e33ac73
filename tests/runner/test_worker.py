"""Worker processes do what they are told, and give way where they are to.

Connections share a thread where all that they wait for is answers, and none is waited for longer than was asked.

Whether the client gives way to servers, and the same client for all targets that are compared.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial

import bson
import pytest
from pymongo import MongoClient

from mongo_tables.commands.run.targets import choose_client
from mongo_tables.runner import worker
from mongo_tables.runner.connection_strings import RequestOptions
from mongo_tables.runner.driving import Pace, Surroundings, drive
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.target import NamedTarget
from mongo_tables.runner.wire.client import WireClient
from mongo_tables.runner.worker import Load, scheduling_of
from mongo_tables.runner.workloads import Done
from tests.runner.windows import alone, nothing_done, opened

LOAD = Load("", "worker_test", "query", {"collection": "things"}, "s", 2)
NOBODY = {"collection": "things", "writeConcern": {"w": 0}}


def connections(client, concern=1):
    options = RequestOptions({"w": concern}, retryable_writes=False)
    return [WireClient(client, ("worker_test", "things"), options) for _ in range(2)]


def threads_of(uri, load, concern=1):
    """How many threads the work of two connections is done in."""
    seen = set()

    def ask(connection):
        # Not its number, which the next thread gets once this one has ended.
        seen.add((connection.find(bson.encode({}), 1, 0), threading.current_thread()))

    with MongoClient(uri) as client:
        held = connections(client, concern)
        in_one_thread = worker.can_share_thread(held, load)
        loops = [partial(ask, connection) for connection in held]
        if in_one_thread:
            worker.do_in_one_thread(held, loops)
        else:
            worker.do_in_threads(loops)
        for connection in held:
            connection.close()
    assert {found for found, _ in seen} == {(0, 0)}
    assert in_one_thread == (len(seen) == 1)
    return len(seen)


@pytest.mark.parametrize(
    ("load", "concern", "threads"),
    [(LOAD, 1, 1), (replace(LOAD, rates=(10.0,)), 1, 1), (replace(LOAD, config=NOBODY), 0, 2)],
    ids=["answers alone", "a rate", "no answers"],
)
def test_connections_share_a_thread_where_every_request_is_answered(replica_set, load, concern, threads):
    assert threads_of(replica_set.uri, load, concern) == threads


def test_connections_have_a_thread_each_where_the_system_cannot_tell_whose_answer_came(
    replica_set, monkeypatch
):
    monkeypatch.setattr(worker, "AVAILABLE", False)
    assert threads_of(replica_set.uri, LOAD) == 2


def test_an_answer_is_not_waited_for_longer_than_the_connection_string_says(replica_set):
    tallies = [nothing_done(), nothing_done()]
    window = opened()
    silent, other = socket.socketpair()

    def loop(connection, tally):
        held = connection._writing
        held._socket, real = silent, held._socket
        silent.settimeout(real.gettimeout())
        drive(
            lambda: Done(*connection.find(bson.encode({}), 1, 0), 0),
            tally,
            Pace(0.0),
            window,
            0,
            Surroundings(),
            alone(tally, window, 0),
        )
        held._socket = real

    with MongoClient(f"{replica_set.uri}&socketTimeoutMS=200") as client, silent, other:
        held = connections(client)
        assert not worker.can_share_thread(held, LOAD)
        loops = [partial(loop, *each) for each in zip(held, tallies, strict=True)]
        work = threading.Thread(target=worker.do_in_threads, args=(loops,), daemon=True)
        began = time.monotonic()
        work.start()
        work.join(20)
        assert not work.is_alive()
        assert time.monotonic() - began >= 0.2
    assert [tally.gave_up.partition(":")[0] for tally in tallies] == ["TimeoutError"] * 2


def test_a_window_is_over_when_the_server_has_done_what_nobody_waited_for(replica_set, crew):
    config = {**NOBODY, "totalDocsToInsert": 10, "docSizeKB": 1, "writeBatchSize": 1}
    load = Load(replica_set.uri, "worker_test", "insert", config, "s", 2)
    done, began = [], time.monotonic()
    with MongoClient(replica_set.uri) as client:
        client.worker_test.things.drop()
        work = threading.Thread(target=lambda: done.append(crew.perform(load)), daemon=True)
        client.admin.command("fsync", lock=True)  # no write is done until it is unlocked
        try:
            work.start()
            while sum(crew.board.counters[:2]) < 10:
                assert work.is_alive()
                time.sleep(0.01)
            work.join(1.5)
            assert work.is_alive()
        finally:
            client.admin.command("fsyncUnlock")
            unlocked = time.monotonic()
        work.join()
        assert client.worker_test.things.count_documents({}) == done[0].documents == 10
        assert done[0].seconds < unlocked - began
        client.drop_database("worker_test")


def test_what_goes_wrong_beside_the_requests_is_told_and_no_window_is_made_of_it(replica_set):
    config = {"collection": "things", "nFields": 1, "textBytes": 5, "writeBatchSize": 1}
    load = Load(replica_set.uri, "worker_test", "flat_insert", config, "s", 2, seconds=9, rates=(1e-320,))
    with WorkerPool(1) as crew, pytest.raises(WorkFailed, match=r"given up: .*cannot convert float"):
        crew.perform(load)


WAITING = "from mongo_tables.runner.worker import give_way; give_way(); print('ready', flush=True); input()"


def test_processes_that_all_give_way_are_told_from_others():
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "ready\n"
        found = scheduling_of([child.pid]), scheduling_of([child.pid, os.getpid()])
        child.communicate("go\n")
    # Other systems have no such class.
    assert found == ("batch" if hasattr(os, "SCHED_BATCH") else "normal", "normal")


@pytest.mark.parametrize(
    ("places", "asked", "expected"),
    [
        (["local"], None, (4, True)),
        (["mongodb://h"], None, (8, False)),
        (["local", "mongodb://h"], None, (4, True)),
        (["mongodb://h", "local?members=1"], 3, (3, True)),
        (["mongodb://h", "mongodb://i"], None, (8, False)),
    ],
)
def test_all_targets_of_a_run_have_the_same_client(places, asked, expected):
    targets = [NamedTarget(str(number), where) for number, where in enumerate(places)]
    assert choose_client(targets, asked, 8) == expected


def test_one_processor_is_enough_for_a_client():
    assert choose_client([NamedTarget("", "local")], None, 1)[0] == 1
