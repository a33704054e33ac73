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
        done = crew.perform(Load(uri, "a", workload, config, "s", connections, "wire", **options))
        return done, counted(uri, *crew.window)


@pytest.mark.parametrize(
    "seconds",
    [0.7, pytest.param(2, marks=pytest.mark.thorough), pytest.param(8, marks=pytest.mark.exhaustive)],
)
def test_a_window_has_what_the_server_did_in_it_however_long_its_slowest_request_takes(stalling, seconds):
    done, server = perform(stalling, "query", READS, 50, seconds=seconds, lead=2)
    assert done.seconds == pytest.approx(seconds)
    # Each end cuts through as many requests as there are connections: on a busy machine their answers are read late.
    assert done.window.operations == pytest.approx(server["requests"], rel=0.01, abs=50)
    assert done.window.busy / 1e9 == pytest.approx(50 * seconds, rel=0.02)
    assert 5 <= done.unfinished <= 50
    assert 0 < sum(done.process_cpu_seconds) < 2 * seconds


def test_work_by_amount_is_measured_while_all_connections_have_some():
    # Nine connections insert 100 documents in 20 ms, the tenth in a second and a half.
    config = {"collection": "things", "totalDocsToInsert": 150_000, "docSizeKB": 0.1, "writeBatchSize": 100}
    with pretending(milliseconds=20, slow_milliseconds=1500) as uri:
        done, server = perform(uri, "insert", config, 10, processes=2)
    assert (done.documents, done.steady) == (150_000, True)
    assert (done.warmup.rule, done.warmup.most_seconds) == ("first answer of each connection", None)
    assert done.window.documents == pytest.approx(server["documents"], rel=0.03)
    assert 0.5 < done.unfinished < 10.5
    assert done.window.busy / 1e9 <= 10 * done.seconds
    # Of 1,500 requests six hundred are sent while the tenth connection waits for its first answer; on a busy machine fewer.
    assert sum(done.latencies.values()) == pytest.approx(done.window.requests, abs=10)
    assert sum(done.latencies.values()) < 1350
    in_intervals = sum(one.operations for one in done.series.intervals.values())
    assert in_intervals + 100 * done.unfinished == 100 * sum(done.latencies.values())


def test_work_that_is_over_before_every_connection_had_some_is_measured_as_a_whole():
    config = {"collection": "things", "totalDocsToInsert": 500, "docSizeKB": 0.1, "writeBatchSize": 100}
    with pretending(milliseconds=20) as uri:
        done, _ = perform(uri, "insert", config, 10)
    assert (done.window.documents, done.steady) == (500, False)
    assert (done.window.requests, sum(done.latencies.values()), done.unfinished) == (5, 5, 0)
    assert sum(one.operations for one in done.series.intervals.values()) == 500
    assert 0.02 < done.seconds < 2


@pytest.mark.alone
def test_a_window_with_too_few_requests_is_lengthened():
    with pretending(milliseconds=200) as uri:
        long, _ = perform(uri, "query", READS, 5, seconds=0.4, least=15)
        enough, _ = perform(uri, "query", READS, 5, seconds=0.4, least=2)
    assert long.window.requests >= 14
    assert 0.5 <= long.seconds < 4.2
    assert enough.seconds == pytest.approx(0.4)


def test_who_measures_is_told_of_both_ends_of_a_window_in_their_order():
    told = []
    with pretending(milliseconds=10) as uri, WorkerPool(1) as crew:
        ends = {name: partial(lambda name: told.append((name, time.monotonic_ns())), name) for name in ENDS}
        crew.perform(Load(uri, "a", "query", READS, "s", 2, "wire", seconds=0.3, lead=0.2), **ends)
        opens, closes = crew.window
    assert [name for name, _ in told] == list(ENDS)
    before, opened, over = (when for _, when in told)
    assert before <= opens <= opened < over
    assert over >= closes
