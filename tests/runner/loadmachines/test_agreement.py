"""What two load machines on this one measure is what a local pool measures, and their control costs little."""

from __future__ import annotations

import pytest

from benchmarks.load_machines import MOST, compare
from benchmarks.pretending import READS, pretending
from mongo_tables.results.intervals import interval
from mongo_tables.results.verdicts import judge
from mongo_tables.runner.load import WorkerPool
from mongo_tables.runner.loadmachines.address import parse_load_machines
from mongo_tables.runner.loadmachines.clusters import open_cluster
from mongo_tables.runner.loadmachines.pool import MachinePool
from mongo_tables.runner.worker import Load

pytestmark = pytest.mark.alone
BLOCKS = 6


def test_they_measure_what_a_local_pool_does():
    speeds, references = [], []
    with (
        pretending(milliseconds=100) as uri,
        WorkerPool(2) as pool,
        open_cluster(parse_load_machines("local:2")) as cluster,
        MachinePool(cluster, 1) as machines,
    ):
        load = Load(uri, "load_test", "query", READS, "s", 8, "wire", seconds=1.0)
        for _ in range(BLOCKS):
            for crew, kept in ((machines, speeds), (pool, references)):
                done = crew.perform(load)
                kept.append(done.window.operations / done.seconds)
    found = interval(speeds, references)
    assert judge(found.low, found.high, differs=False, margin=0.1) == "no difference", found


def test_control_costs_little_beside_what_the_worker_processes_do():
    # Where a neighbour takes the processor, control has more to do for each of fewer requests.
    assert any(compare(rounds=3, seconds=1.0) <= MOST for _ in range(3))
