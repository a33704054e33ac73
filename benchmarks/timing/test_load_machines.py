"""What two load machines on this one measure is what a local pool measures, and targets take turns on them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.pretending import READS, pretending
from mongo_tables.results.intervals import interval
from mongo_tables.results.verdicts import judge
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.loadmachines.address import parse_load_machines
from mongo_tables.runner.loadmachines.cluster import open_cluster
from mongo_tables.runner.loadmachines.pool import MachinePool
from mongo_tables.runner.slices import Slices
from mongo_tables.runner.worker import Load

BLOCKS = 6
READING = Load("", "load_test", "query", READS, "s", 8, seconds=1.0)


@pytest.fixture(scope="module")
def machines():
    with open_cluster(parse_load_machines("local:2")) as cluster, MachinePool(cluster, 1) as running:
        yield running


def test_they_measure_what_a_local_pool_does(machines):
    speeds, references = [], []
    with pretending(milliseconds=100) as uri, WorkerPool(2) as pool:
        load = replace(READING, uri=uri)
        for _ in range(BLOCKS):
            for crew, kept in ((machines, speeds), (pool, references)):
                done = crew.perform(load)
                kept.append(done.inside.operations / done.seconds)
    found = interval(speeds, references)
    assert judge(found.low, found.high, differs=False, margin=0.1) == "no difference", found


def test_two_targets_take_turns_on_all_machines_at_the_same_moments(machines):
    slices = Slices(80_000_000, 8, "s", lead=2)
    with pretending(milliseconds=10) as fast, pretending(milliseconds=20) as slow:
        one, other = machines.alternate((replace(READING, uri=fast), replace(READING, uri=slow)), slices)
    # Eight connections, each a request in so many milliseconds, in half of the slices that count.
    for side, each in ((one, 0.010), (other, 0.020)):
        assert side.operations == pytest.approx(8 * slices.counted / 2e9 / each, rel=0.25)
    assert one.operations / other.operations == pytest.approx(2, rel=0.2)
