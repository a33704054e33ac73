"""Speed is the server's: what is in the window is what the server did in it, whatever is under way at its ends."""

from __future__ import annotations

import time
from functools import partial

import pytest

from benchmarks.pretending import READS, counted, pretending
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.worker import Load

ENDS = ("before", "opened", "over")


@pytest.fixture(scope="module")
def stalling():
    """Each request takes 10 ms, of all requests every 300th a second."""
    with pretending(milliseconds=10, stall_every=300, stall_milliseconds=1000) as uri:
        yield uri


def perform(uri, workload, config, connections, processes=1, **options):
    with WorkerPool(processes) as crew:
        done = crew.perform(Load(uri, "a", workload, config, "s", connections, **options))
        return done, counted(uri, *crew.window)


def test_a_window_has_what_the_server_did_in_it_however_long_its_slowest_request_takes(stalling):
    done, server = perform(stalling, "query", READS, 50, seconds=0.7, lead=2)
    assert done.seconds == pytest.approx(0.7)
    # Each end cuts through at most one request of each connection.
    assert done.inside.operations == pytest.approx(server["requests"], abs=100)
    assert done.inside.busy / 1e9 <= 50 * 0.7
    assert done.unfinished <= 50
    assert sum(done.process_cpu_seconds) > 0


def test_work_by_amount_is_measured_while_all_connections_have_some():
    # Nine connections insert 100 documents in 20 ms, the tenth in half a second.
    config = {"collection": "things", "totalDocsToInsert": 150_000, "docSizeKB": 0.1, "writeBatchSize": 100}
    with pretending(milliseconds=20, slow_milliseconds=500) as uri:
        done, server = perform(uri, "insert", config, 10, processes=2)
    assert (done.documents, done.steady) == (150_000, True)
    assert (done.warmup.rule, done.warmup.most_seconds) == ("first answer of each connection", None)
    # Each end cuts through at most one request of each connection.
    assert done.inside.documents == pytest.approx(server["documents"], abs=2 * 10 * 100)
    assert 0 <= done.unfinished <= 10
    assert done.inside.busy / 1e9 <= 10 * done.seconds
    assert sum(done.latencies.values()) == pytest.approx(done.inside.requests, abs=10)
    # The first request of each connection is sent before the window opens.
    assert sum(done.latencies.values()) <= 1500 - 10
    in_intervals = done.series.operations.total()
    assert in_intervals + 100 * done.unfinished == 100 * sum(done.latencies.values())


def test_work_that_is_over_before_every_connection_had_some_is_measured_as_a_whole():
    config = {"collection": "things", "totalDocsToInsert": 500, "docSizeKB": 0.1, "writeBatchSize": 100}
    with pretending(milliseconds=20) as uri:
        done, _ = perform(uri, "insert", config, 10)
    assert (done.inside.documents, done.steady) == (500, False)
    assert (done.inside.requests, sum(done.latencies.values()), done.unfinished) == (5, 5, 0)
    assert done.series.operations.total() == 500
    assert done.seconds > 0.02


def test_a_window_with_too_few_requests_is_lengthened():
    # In 0.4 seconds the server answers 10 requests at most.
    with pretending(milliseconds=200) as uri:
        done, _ = perform(uri, "query", READS, 5, seconds=0.4, least=15)
    assert done.seconds > 0.4


def test_who_measures_is_told_of_both_ends_of_a_window_in_their_order():
    told = []
    with pretending(milliseconds=10) as uri, WorkerPool(1) as crew:
        ends = {name: partial(lambda name: told.append((name, time.monotonic_ns())), name) for name in ENDS}
        crew.perform(Load(uri, "a", "query", READS, "s", 2, seconds=0.3, lead=0.2), **ends)
        opens, closes = crew.window
    assert [name for name, _ in told] == list(ENDS)
    before, opened, over = (when for _, when in told)
    assert before <= opens <= opened < over
    assert over >= closes
