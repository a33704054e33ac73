"""A worker process that is gone is told of in a line, whenever it went."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from preprocessor.runner import load
from preprocessor.runner.errors import WorkFailed
from preprocessor.runner.load import WorkerPool
from preprocessor.runner.worker import Load

LOAD = Load("mongodb://127.0.0.1:1", "load_test", "query", {"collection": "things"}, "s", 1, "wire")


@pytest.fixture
def one():
    with WorkerPool(1) as running:
        yield running


def killed(crew):
    os.kill(crew._processes[0].pid, signal.SIGKILL)


def test_one_that_was_gone_before_the_work(one):
    killed(one)
    one._processes[0].join()
    with pytest.raises(WorkFailed, match="ended without a word"):
        one.perform(LOAD)


def test_one_that_goes_before_it_has_heard_of_the_work(one):
    os.kill(one._processes[0].pid, signal.SIGSTOP)
    threading.Timer(0.3, killed, [one]).start()
    with pytest.raises(WorkFailed, match="ended without a word"):
        one.perform(LOAD)


def test_work_that_is_never_answered_is_given_up_when_a_member_has_ended():
    told = pytest.raises(WorkFailed, match="given up: mongod was killed")
    with WorkerPool(1, fault=lambda: "mongod was killed") as crew, told:
        crew._collect(crew._pipes, lambda: None, 0.01)  # workers that were told nothing, and say nothing


def test_one_that_is_never_ready_is_told_of_and_not_waited_for(one, monkeypatch):
    monkeypatch.setattr(load, "PREPARE_SECONDS", 0.5)
    process = one._processes[0]
    os.kill(process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(WorkFailed, match="1 of 1 worker processes were not ready after"):
            one.perform(LOAD)
    finally:
        os.kill(process.pid, signal.SIGCONT)
