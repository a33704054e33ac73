"""What keeps a client from its work is said of it, and nothing else waits meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from benchmarks.pretending import READS, pretending
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.outcome import list_limits
from mongo_tables.runner.worker import Load
from tests.runner.test_events import CONFIG, database, loaded, perform

__all__ = ["database"]


def test_a_client_that_two_busy_loops_keep_from_its_processor_is_the_limit():
    with ExitStack() as held:
        uri = held.enter_context(pretending(milliseconds=1))
        pool = held.enter_context(WorkerPool(1))
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        for process in busy:
            held.callback(process.wait)
            held.callback(process.kill)
        first = {min(os.sched_getaffinity(0))}
        for pid in (pool._processes[0].pid, *(process.pid for process in busy)):
            os.sched_setaffinity(pid, first)
        done = pool.perform(Load(uri, "a", "query", READS, "s", 5, "wire", seconds=1.5))
    assert list_limits(done, 0.0)
    assert done.usage.lag.in_run_queue > 0.1e9


def side_by_side(crew, replica_set, database, client, **config):
    loaded(crew, replica_set, database, "appV6R3")
    config = {**CONFIG, "version": "appV6R3", "eventsFrom": "2020-01-01", "testTimeSecs": 2, **config}
    done = perform(
        crew, replica_set, "event_reports", config, client, connections=config.pop("connections"), seconds=2
    )
    return {kind: done.latencies_by_kind[kind] for kind in ("bulkUpsert", "getReports")}


@pytest.mark.parametrize("client", ["wire", "pymongo"])
def test_reports_and_events_come_about_as_often_as_asked_for(crew, replica_set, database, client):
    asked = {"eventsPerSecond": 400, "reportsPerSecond": 40, "connections": 8}
    times = side_by_side(crew, replica_set, database, client, **asked)
    assert 0.3 < sum(times["bulkUpsert"].values()) / (2 * 400 / 40) < 1.8
    assert 0.2 < sum(times["getReports"].values()) / (2 * 40 * 0.55) < 1.6


@pytest.mark.parametrize("client", ["wire", "pymongo"])
def test_no_report_waits_while_another_connection_pauses(crew, replica_set, database, client):
    asked = {"eventsPerSecond": 200, "reportsPerSecond": 100, "connections": 40}
    times = side_by_side(crew, replica_set, database, client, **asked)["getReports"]
    assert 0.3 < sum(times.values()) / (2 * 100 * 0.55) < 1.4
    # Pauses are 0.2 to 2 s long on average, a report takes about a ms.
    assert sum(count for time, count in times.items() if time < 100_000) > 0.3 * sum(times.values())
