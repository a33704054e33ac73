"""What workers do is looked at when it matters, and one that is gone is told of in a line, whenever it went."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from dataclasses import replace
from math import inf
from types import SimpleNamespace

import pytest

from benchmarks.pretending import READS, pretending
from mongo_tables.runner import load
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.window import NEVER, Board
from mongo_tables.runner.worker import Load

LOAD = Load("mongodb://127.0.0.1:1", "load_test", "query", {"collection": "things"}, "s", 1)


@pytest.fixture
def one():
    with WorkerPool(1) as running:
        yield running


def killed(crew):
    os.kill(crew._processes[0].pid, signal.SIGKILL)


def test_one_that_was_gone_before_the_work(one):
    killed(one)
    one._processes[0].join()
    with pytest.raises(WorkFailed, match="ended without a message"):
        one.perform(LOAD)


def test_one_that_goes_before_it_has_heard_of_the_work(one):
    os.kill(one._processes[0].pid, signal.SIGSTOP)
    threading.Timer(0.3, killed, [one]).start()
    with pytest.raises(WorkFailed, match="ended without a message"):
        one.perform(LOAD)


def test_work_that_is_never_answered_is_given_up_when_a_member_has_ended():
    told = pytest.raises(WorkFailed, match="given up: mongod was killed")
    with WorkerPool(1, fault=lambda: "mongod was killed") as crew, told:
        # Workers that were told nothing, and say nothing.
        crew.wait_for_all(crew._pipes, load._hear, bool, 0.01, load.Patience(lambda: inf, "", ""))


@pytest.fixture
def impatient(monkeypatch):
    """Waits for little of what workers do before their work."""
    for name, seconds in {"CONNECT_SECONDS": 0.5, "CONNECTION_SECONDS": 0.0, "SELECTION_MS": 0}.items():
        monkeypatch.setattr(load, name, seconds)


def test_one_that_does_not_get_its_connections_is_told_of_and_not_waited_for(impatient):
    said = []
    with WorkerPool(1) as crew:
        process = crew._processes[0]
        os.kill(process.pid, signal.SIGSTOP)
        try:
            with pytest.raises(
                WorkFailed, match="1 of 1 worker processes were still opening connections after"
            ):
                crew.perform(LOAD, progress=said.append)
        finally:
            os.kill(process.pid, signal.SIGCONT)
    assert {*said} == {0}


def test_one_that_has_its_connections_is_waited_for_until_its_requests_are_made(impatient):
    with WorkerPool(1) as crew:
        ours, theirs = crew._context.Pipe()
        theirs.send(None)  # as a worker that is connected
        with pytest.raises(
            WorkFailed, match="1 of 1 worker processes were still preparing what they send after"
        ):
            crew._await([ours], 60.0, "opening connections", "", bool)
            crew._await([ours], 0.5, "preparing what they send", "", bool)


def test_a_server_that_answers_never_is_given_up_some_time_after_the_window(one, monkeypatch):
    monkeypatch.setattr(load, "UNANSWERED_SECONDS", 0.2)
    told = pytest.raises(WorkFailed, match="requests that were not answered 0 s after the window")
    with pretending(milliseconds=10, stall_every=5, stall_milliseconds=60_000) as uri, told:
        one.perform(replace(LOAD, uri=uri, config=READS, connections=2, seconds=2.0))


class Closed(Exception):
    """The window is."""


def test_the_end_of_a_window_is_seen_when_it_comes_and_not_at_the_next_look(one):
    def look():
        if time.monotonic_ns() >= one.window[1]:
            raise Closed

    one.board.clear(3.0)
    one.board.open(time.monotonic_ns())
    with pytest.raises(Closed):
        one.wait_for_all(one._pipes, load._hear, look, 3600.0, load.Patience(lambda: inf, "", ""))


@pytest.mark.parametrize("workload", ["query", "insert"])
def test_a_window_that_is_looked_at_long_after_its_length_is_not_closed_with_too_few_requests(
    workload, monkeypatch
):
    now = 10**12
    monkeypatch.setattr(load, "time", SimpleNamespace(monotonic_ns=lambda: now, monotonic=lambda: now / 1e9))
    config = {"totalDocsToInsert": 10**6, "docSizeKB": 1}
    asked = replace(LOAD, workload=workload, config=config, connections=2, seconds=0.7, least=72)
    closed, board = [], Board.of(multiprocessing)
    board.clear(0.7)
    edges = load.Edges(board, bool, lambda: closed.append(True))
    watch = load._LoadWatch(board, bool, edges, 0.0, asked, load.Lead(0.0, 0.0, 0.1), 0)
    opened = now - 2 * 10**9
    board.open(opened, lengthens=asked.lengthens)
    board.counters[0] = 39
    watch.look()
    assert (closed, board.closes) == ([], NEVER)
    board.counters[1] = 40
    watch.look()
    assert closed == []
    assert now < board.closes <= opened + 7 * 10**9
    assert (board.closes - opened) % 175_000_000 == 0


def test_a_pool_that_was_dismissed_has_other_processes_for_the_next_work(one):
    before = one._processes[0]
    one.dismiss()
    assert not before.is_alive()
    with pretending() as uri:
        assert one.perform(replace(LOAD, uri=uri, config=READS, seconds=2.0)).operations > 0
