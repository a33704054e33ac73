"""Connections in one thread do what as many threads would, where answers, room to send and moments are waited for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.pretending import READS, pretending
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.worker import Load


@pytest.mark.parametrize("connections", [20, 1])
def test_every_operation_that_is_due_was_sent_or_is_counted_as_unsent(connections):
    with pretending() as uri, WorkerPool(1) as crew:
        done = crew.perform(Load(uri, "a", "query", READS, "s", connections, seconds=1, rates=(200.0,)))
    assert done.sendings.operations + done.unsent == pytest.approx(200, abs=3)


def test_at_twice_what_can_be_done_the_rest_is_counted_and_waits_longer_and_longer():
    tails = []
    with pretending(milliseconds=10) as uri, WorkerPool(1) as crew:
        for seconds in (0.5, 1.5):  # ten connections at 10 ms do at most 1,000 a second
            done = crew.perform(Load(uri, "a", "query", READS, "s", 10, seconds=seconds, rates=(2000.0,)))
            assert done.sendings.operations + done.unsent == pytest.approx(2000 * seconds, abs=10)
            assert done.unsent > 0.45 * 2000 * seconds
            latencies = sorted(took for took, count in done.latencies.items() for _ in range(count))
            tails.append(latencies[int(0.99 * len(latencies))])
    assert tails[0] > 0.2e6
    assert tails[1] > 0.6e6


def test_a_connection_that_is_lost_stops_the_work_before_the_window_is_over():
    load = Load("", "a", "query", READS, "s", 50, seconds=3600)
    told = pytest.raises(WorkFailed, match="given up: ConnectionError: the server closed the connection")
    with pretending(milliseconds=10, close_after=20) as uri, WorkerPool(2) as crew, told:
        crew.perform(replace(load, uri=uri))


def test_a_connection_that_is_lost_may_be_opened_again_and_how_long_that_took_is_known():
    load = Load("", "a", "query", READS, "s", 50, seconds=2, on_error="reconnect")
    with pretending(milliseconds=10, close_after=20) as uri, WorkerPool(2) as crew:
        done = crew.perform(replace(load, uri=uri))
    assert (done.failures.lost, sum(done.errors.values())) == (1, 1)
    assert done.failures.without_service >= 0.01e9
    assert done.seconds == pytest.approx(2)
    assert done.failures.times == {"ConnectionError": {min(done.failures.times["ConnectionError"]): 1}}
