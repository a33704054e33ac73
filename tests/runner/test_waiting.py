"""Connections in one thread do what as many threads would, where answers, room to send and moments are waited for."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from benchmarks.pretending import READS, counted, pretending
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.worker import Load

LARGE = {"collection": "things", "docSizeKB": 1024, "writeBatchSize": 6, "totalDocsToInsert": 10**6}


def test_batches_larger_than_the_system_takes_at_once_go_out_beside_each_other():
    # Each connection is read at 4 MB a second: one after the other, they would have a fifth of it each.
    with pretending(bytes_per_second=4e6) as uri, WorkerPool(1) as crew:
        speeds = [
            crew.perform(Load(address, "a", "insert", LARGE, "s", 5, "wire", seconds=2.5)).window.bytes
            for address in (uri, f"{uri}&socketTimeoutMS=60000")  # with a timeout, each has a thread
        ]
    assert speeds[0] > 0.6 * speeds[1]


@pytest.mark.parametrize("connections", [20, pytest.param(1, marks=pytest.mark.thorough)])
def test_paced_operations_begin_at_their_time(connections):
    with pretending() as uri, WorkerPool(1) as crew:
        done = crew.perform(
            Load(uri, "a", "query", READS, "s", connections, "wire", seconds=2, rates=(200.0,))
        )
    assert done.paced.sent + done.paced.unsent == pytest.approx(400, abs=3)
    # A machine that does something else at the end leaves some of them.
    assert done.paced.sent > 300
    latencies = sorted(took for took, count in done.latencies.items() for _ in range(count))
    assert latencies[len(latencies) // 2] < 20_000


def test_at_twice_what_can_be_done_the_rest_is_counted_and_waits_longer_and_longer():
    tails = []
    with pretending(milliseconds=10) as uri, WorkerPool(1) as crew:
        for seconds in (1, 3):  # ten connections at 10 ms do at most 1,000 a second
            done = crew.perform(
                Load(uri, "a", "query", READS, "s", 10, "wire", seconds=seconds, rates=(2000.0,))
            )
            assert done.paced.sent + done.paced.unsent == pytest.approx(2000 * seconds, abs=10)
            assert done.paced.unsent > 0.45 * 2000 * seconds
            assert max(done.paced.service) < 1e6 * done.paced.oldest_unsent
            latencies = sorted(took for took, count in done.latencies.items() for _ in range(count))
            tails.append(latencies[int(0.99 * len(latencies))])
    assert tails[0] > 0.4e6
    assert tails[1] > 2 * tails[0]


def test_a_connection_that_is_lost_stops_the_work_at_once():
    load = Load("", "a", "query", READS, "s", 50, "wire", seconds=30)
    with pretending(milliseconds=10, close_after=20) as uri, WorkerPool(2) as crew:
        with pytest.raises(WorkFailed, match="given up: ConnectionError: the server closed the connection"):
            crew.perform(replace(load, uri=uri))
        given_up = time.monotonic_ns()
        assert 0 < given_up - counted(uri, 0, 0)["closed_at"] < 0.5e9


def test_a_connection_that_is_lost_may_be_opened_again_and_how_long_that_took_is_known():
    load = Load("", "a", "query", READS, "s", 50, "wire", seconds=2, on_error="reconnect")
    with pretending(milliseconds=10, close_after=20) as uri, WorkerPool(2) as crew:
        done = crew.perform(replace(load, uri=uri))
    assert (done.lost, sum(done.errors.values())) == (1, 1)
    assert 0.01 <= done.without_service < 2
    assert done.seconds == pytest.approx(2)
    assert done.failed == {"ConnectionError": {min(done.failed["ConnectionError"]): 1}}


def test_a_connection_that_is_opened_again_holds_up_no_other():
    load = Load("", "a", "query", READS, "s", 10, "wire", seconds=2.5, on_error="reconnect")
    with pretending(milliseconds=10, close_after=20, greet_milliseconds=1800) as uri, WorkerPool(1) as crew:
        done = crew.perform(replace(load, uri=uri))
    assert done.lost <= 1
    assert done.errors == {"ConnectionError": 1}
    # Nine connections go on at 10 ms; were they held up, they would have a quarter of the window.
    assert done.window.operations > 0.5 * 9 * 250
