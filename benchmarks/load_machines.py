"""What it costs to have load machines under control, against the local pool.

    python -m benchmarks.load_machines [--rounds 5] [--seconds 2]

The same work on a server that only acknowledges, in turn by a local pool of two processes and by two machines of one
process each on this machine. Control is what the process that measures, Dask's scheduler in it and Dask's workers use
while a window is open; it is compared with what the worker processes use in it. Fails above 5 % more than a local pool,
three times in a row: where a neighbour takes the processor, control has more to do for each of fewer requests.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

import psutil

from benchmarks.pretending import READS
from benchmarks.runner_speed import acknowledging
from mongo_tables.runner.load import Crew, WorkerPool
from mongo_tables.runner.loadmachines.address import parse_load_machines
from mongo_tables.runner.loadmachines.cluster import open_cluster
from mongo_tables.runner.loadmachines.pool import MachinePool
from mongo_tables.runner.worker import Load

MOST = 0.05
CONNECTIONS = 16


@dataclass(slots=True)
class Cost:
    """Seconds of processors in windows: of control, and of worker processes."""

    control: list[float] = field(default_factory=list)
    client: list[float] = field(default_factory=list)
    speeds: list[float] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Of control, on the whole."""
        return sum(self.control) / sum(self.client)


def measure(crew: Crew, load: Load, pids: Sequence[int], into: Cost) -> None:
    """Have the work done once; ``pids`` are the processes that have it under control."""
    watched = [psutil.Process(pid) for pid in pids]
    readings: list[float] = []

    def look() -> None:
        readings.append(sum(sum(one.cpu_times()[:2]) for one in watched))

    done = crew.perform(load, opened=look, over=look)
    into.control.append(readings[-1] - readings[0])
    into.client.append(sum(done.process_cpu_seconds))
    into.speeds.append(done.inside.operations / done.seconds)


def compare(rounds: int, seconds: float, say: Callable[[str], object] = print) -> float:
    """The share of control of the load machines less that of the local pool."""
    ours = os.getpid()
    pool_cost, machines_cost = Cost(), Cost()
    with (
        acknowledging() as uri,
        WorkerPool(2) as pool,
        open_cluster(parse_load_machines("local:2")) as cluster,
        MachinePool(cluster, 1, gives_way=True) as machines,
    ):
        load = Load(uri, "load_test", "query", READS, "s", CONNECTIONS, seconds=seconds)
        workers = list(cluster.client.run(os.getpid).values())
        for _ in range(rounds):
            measure(pool, load, [ours], pool_cost)
            measure(machines, load, [ours, *workers], machines_cost)
    for name, cost in (("local pool", pool_cost), ("two machines", machines_cost)):
        say(
            f"{name:>12}: {median(cost.speeds):>9,.0f}/s, control {cost.share:.2%} of the client's processor time"
        )
    return machines_cost.share - pool_cost.share


def main() -> int:
    """Print what it costs; fail where that is too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    asked = parser.parse_args()
    for _ in range(3):
        more = compare(asked.rounds, asked.seconds)
        print(f"{more:.2%} more than the local pool; at most {MOST:.0%}")
        if more <= MOST:
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
