"""Connections in one thread do what as many threads would, where answers, room to send and moments are waited for."""

from __future__ import annotations

import pytest

from preprocessor.runner.load import WorkerPool
from preprocessor.runner.worker import Load
from tests.runner.pretending import READS, pretending

LARGE = {"collection": "things", "docSizeKB": 1024, "writeBatchSize": 6, "totalDocsToInsert": 10**6}


def test_batches_larger_than_the_system_takes_at_once_go_out_beside_each_other():
    # Each connection is read at 10 MB a second: one after the other, they would have a fifth of it each.
    with pretending(bytes_per_second=10e6) as uri, WorkerPool(1) as crew:
        speeds = [
            crew.perform(Load(address, "a", "insert", LARGE, "s", 5, "wire", seconds=2.5)).window.bytes
            for address in (uri, f"{uri}&socketTimeoutMS=60000")  # with a timeout, each has a thread
        ]
    assert speeds[0] > 0.8 * speeds[1]
    assert speeds[0] / 2.5 > 0.7 * 50e6


@pytest.mark.parametrize("connections", [1, 20])
def test_paced_operations_begin_at_their_time(connections):
    with pretending() as uri, WorkerPool(1) as crew:
        done = crew.perform(Load(uri, "a", "query", READS, "s", connections, "wire", seconds=2, rate=200))
    assert done.operations == pytest.approx(400, abs=3)
    latencies = sorted(took for took, count in done.latencies.items() for _ in range(count))
    assert latencies[len(latencies) // 2] < 20_000
