"""Load machines that are network namespaces of one host, each with the same small bandwidth."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.runner.loadmachines.certificates import write_certificates
from tests.runner.loadmachines.namespaces import MIDDLE_ADDRESS, namespaces, needs_namespaces

ROOT = Path(__file__).parents[2]
COUNTS = (1, 2, 4)
BITS_PER_SECOND = 4_000_000
SCHEDULER = f"tls://{MIDDLE_ADDRESS}:8786"


@contextmanager
def running(command, **more):
    """A process that ends with the test."""
    process = subprocess.Popen(command, cwd=ROOT, text=True, stderr=subprocess.PIPE, **more)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def dask_in(network, folder):
    """A scheduler in the middle of the network, and a worker on each of its machines; give their environment."""
    environment = {**os.environ, **write_certificates(folder), "DASK_LOGGING__DISTRIBUTED": "info"}
    cli = [sys.executable, "-m", "distributed.cli"]
    worker = ["--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--no-dashboard", "--name"]
    with ExitStack() as held:
        command = [*cli[:2], "distributed.cli.dask_scheduler", "--host", MIDDLE_ADDRESS, "--protocol", "tls"]
        for machine, words in (
            (network.middle, [*command, "--port", "8786", "--no-dashboard"]),
            *(
                (one, [*cli[:2], "distributed.cli.dask_worker", SCHEDULER, *worker, f"machine {number}"])
                for number, one in enumerate(network.machines, 1)
            ),
        ):
            process = held.enter_context(running(machine.command(*words), env=environment))
            wait_for(process, "Scheduler at" if machine is network.middle else "Registered to")
        yield environment


def wait_for(process, words):
    """Read what a process says until it says that; the rest is read by nobody, so little may follow."""
    said = []
    for line in process.stderr:
        said.append(line)
        if words in line:
            return
    raise AssertionError("".join(said))


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What ``at_work`` saw of 1, 2 and 4 machines, and of 4 of which one loses its network."""
    with (
        namespaces(max(COUNTS), BITS_PER_SECOND) as network,
        dask_in(network, tmp_path_factory.mktemp("certificates")) as environment,
    ):
        program = [
            sys.executable,
            "-m",
            "tests.runner.loadmachines.at_work",
            SCHEDULER,
            ",".join(map(str, COUNTS)),
        ]
        done = subprocess.run(
            network.middle.command(*program, network.machines[-1].link),
            cwd=ROOT, env=environment, text=True, capture_output=True, timeout=120,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@needs_namespaces
def test_so_many_machines_with_the_same_bandwidth_give_so_many_times_the_throughput(seen):
    speeds = {one["count"]: one["speed"] for one in seen[:-1]}
    assert speeds[1] == pytest.approx(BITS_PER_SECOND / 8 / 8192, rel=0.15)
    assert {count: speed / speeds[1] for count, speed in speeds.items()} == pytest.approx(
        {count: count for count in COUNTS}, rel=0.1
    )


@needs_namespaces
def test_a_row_has_skew_clock_bound_and_network_of_each_machine(seen):
    for one in seen[:-1]:
        assert len(one["machines"]) == one["count"]
        for machine in one["machines"]:
            assert 0 < machine["clock_bound_seconds"] < 0.03
            assert 0 < machine["latest_process_seconds"] <= machine["latest_connection_seconds"] < 0.5
            assert machine["bytes_sent"] == pytest.approx(3 * BITS_PER_SECOND / 8, rel=0.2)
            assert 0 < machine["bytes_received"] < machine["bytes_sent"]
            assert machine["run_queue_microseconds"] >= 0


@needs_namespaces
def test_a_machine_that_loses_its_network_ends_the_window_within_two_seconds(seen):
    lost = seen[-1]
    assert lost["said"].startswith("the load machine machine 4 is lost: it has not answered for")
    assert lost["after"] < 2.0
