"""Two load machines on this one: they measure what a local pool does, and nobody reads what they are told."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import ssl
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlsplit

import bson.json_util
import psutil
import pytest

from benchmarks.pretending import READS, pretending
from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.loadmachines import pool as pools
from mongo_tables.runner.loadmachines.address import parse_load_machines
from mongo_tables.runner.loadmachines.cluster import open_cluster
from mongo_tables.runner.loadmachines.machine import OPERATION, Greeting
from mongo_tables.runner.loadmachines.pool import ClockReading, MachinePool, check_greeting
from mongo_tables.runner.slices import Slices
from mongo_tables.runner.store import FileStore
from mongo_tables.runner.worker import Assignment, Load
from tests.runner.processes import finish, start, wait_until

READING = Load("mongodb://127.0.0.1:1", "load_test", "query", READS, "s", 8, seconds=0.5, least=8)
INSERTS = {"collection": "things", "docSizeKB": 1, "writeBatchSize": 5}


@pytest.fixture(autouse=True)
def _one_clock(monkeypatch):
    """They have the clock of this machine, and a ping that takes long says nothing else."""
    monkeypatch.setattr(pools, "best_reading", lambda readings, now: ClockReading(now, now, now))


@pytest.fixture(scope="module")
def two():
    with open_cluster(parse_load_machines("local:2")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def machines(two):
    with MachinePool(two, 1) as running:
        yield running


def test_work_given_by_amount_is_shared_out_and_done_once(machines, replica_set):
    config = {**INSERTS, "totalDocsToInsert": 4_000, "writeConcern": {"w": 1}}
    load = replace(READING, uri=replica_set.uri, workload="insert", config=config, seconds=None)
    done = machines.perform(load)
    assert (done.documents, done.all_errors) == (4_000, {})
    assert sum(one["operations_per_second"] for one in done.machines) * done.seconds <= 4_000.5
    assert [one["connections"] for one in done.machines] == [4, 4]


def test_work_that_is_too_little_for_a_window_is_told_of_each_machine_as_a_whole(machines):
    config = {**INSERTS, "totalDocsToInsert": 80}
    with pretending(milliseconds=20) as uri:
        done = machines.perform(replace(READING, uri=uri, workload="insert", config=config, seconds=None))
    assert not done.steady
    speeds = [one["operations_per_second"] for one in done.machines]
    assert speeds == pytest.approx([40 / done.seconds] * 2)
    assert sum(done.latencies.values()) == 16
    assert sum(one["cpu_seconds"] for one in done.machines) == pytest.approx(sum(done.process_cpu_seconds))
    assert all(one["cpu_seconds"] > 0 for one in done.machines)


def test_the_window_of_an_amount_closes_before_one_of_them_finds_nothing_left(machines):
    with pretending(milliseconds=5) as uri:
        config = {**INSERTS, "totalDocsToInsert": 40_000}
        done = machines.perform(replace(READING, uri=uri, workload="insert", config=config, seconds=None))
    assert done.steady
    assert done.documents == 40_000
    assert 0 < done.inside.documents < 40_000
    assert done.inside.documents / done.seconds < 8 * 5 / 0.005 * 1.05


def test_a_start_is_refused_where_a_clock_is_not_known_to_a_hundredth_of_the_window(machines, monkeypatch):
    monkeypatch.setattr(pools, "best_reading", lambda _, now: ClockReading(now - 12_000_000, now, now))
    with pretending() as uri, pytest.raises(WorkFailed, match=r"is uncertain by 6\.0 ms, more than 1%"):
        machines.perform(replace(READING, uri=uri))
    machines.dismiss()


def test_two_targets_take_turns_on_all_machines(machines):
    slices = Slices(80_000_000, 25, "s", lead=2)
    with pretending(milliseconds=10) as fast, pretending(milliseconds=20) as slow:
        sides = machines.alternate((replace(READING, uri=fast), replace(READING, uri=slow)), slices)
    # Eight connections in half of the slices that count, and at each turn one request that began before.
    for side, milliseconds in zip(sides, (10, 20), strict=True):
        assert 0 < side.operations <= 8 * (slices.counted / 2e6 / milliseconds + slices.pairs)
        assert side.failures.counts() == {}


def test_turns_are_refused_where_a_clock_is_not_known_to_a_hundredth_of_a_slice(machines, monkeypatch):
    monkeypatch.setattr(pools, "best_reading", lambda _, now: ClockReading(now - 1_000_000, now, now))
    told = pytest.raises(WorkFailed, match=r"uncertain by 0\.5 ms, more than 1% of a slice of 0\.04 s")
    with pretending() as uri, told as caught:
        machines.alternate((replace(READING, uri=uri),) * 2, Slices(40_000_000, 4, "s"))
    assert "use longer slices" in caught.value.hint
    machines.dismiss()


def test_what_goes_wrong_on_one_of_them_is_told_in_a_line(machines):
    with pytest.raises(
        WorkFailed, match=r"the work was given up on the load machine \d: .*Connection refused"
    ):
        machines.perform(replace(READING, uri="mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=300"))
    machines.dismiss()
    with pretending(milliseconds=1) as uri:
        assert machines.perform(replace(READING, uri=uri)).inside.operations > 0


def test_a_machine_with_another_version_is_refused():
    with pytest.raises(
        CommandError, match=r"machine 1 has mongo-tables 9, but this machine has mongo-tables 0"
    ):
        check_greeting("1", Greeting("mongo-tables 9", {}))


def test_machines_that_work_for_another_run_are_refused(two, machines, monkeypatch):
    monkeypatch.setattr(pools, "BUSY_SECONDS", -1.0)
    with pytest.raises(CommandError, match=r"load machine 0 works for another run") as caught:
        MachinePool(two, 1)
    assert caught.value.hint == "wait until that run has ended"
    with pretending(milliseconds=1) as uri:
        assert machines.perform(replace(READING, uri=uri)).inside.operations > 0


def test_machines_that_still_work_for_a_run_that_was_killed_are_waited_for(two, machines, monkeypatch):
    machines.close()
    run = two.client.run
    run(_occupy)
    answers = []

    def run_and_then_give_up(*given, **named):
        answers.append(run(*given, **named))
        run(_give_up)
        return answers[-1]

    with monkeypatch.context() as patched:
        patched.setattr(two.client, "run", run_and_then_give_up)
        machines.start()
    assert [{*map(type, one.values())} for one in answers] == [{type(None)}, {Greeting}]
    with pretending(milliseconds=1) as uri:
        assert machines.perform(replace(READING, uri=uri)).inside.operations > 0


def _occupy(dask_worker):
    dask_worker.handlers[OPERATION] = _occupy


def _give_up(dask_worker):
    if dask_worker.handlers[OPERATION] is _occupy:
        del dask_worker.handlers[OPERATION]


def test_a_machine_that_has_given_up_is_lost(two, machines):
    two.client.run(_leave_unheard)
    with (
        pretending() as uri,
        pytest.raises(WorkFailed, match=r"is lost: it has ended its work because it received no"),
    ):
        machines.perform(replace(READING, uri=uri))
    machines.close()
    machines.start()


def _leave_unheard(dask_worker):
    dask_worker.handlers[OPERATION].__self__._leave()


def test_nobody_reads_the_password_of_the_target(two, machines, replica_set):
    """Neither logs nor graphs nor what the scheduler would show have it, also where an order cannot be read."""
    secret = urlsplit(replica_set.uri).password
    assert secret
    config = {**INSERTS, "totalDocsToInsert": 100}
    machines.perform(replace(READING, uri=replica_set.uri, workload="insert", config=config, seconds=None))
    broken = pickle.dumps(("beat", None))[:-4] + secret.encode()
    for link in machines._links:
        two.client.sync(getattr(two.client.rpc(link.address), OPERATION), message=broken)
    seen = [
        two.client.get_scheduler_logs(),
        two.client.get_worker_logs(),
        two.client.get_events(),
        two.client.run_on_scheduler(_all_of_it),
        repr(Assignment((replace(READING, uri=replica_set.uri),), (0,))),
    ]
    assert "load_test" in str(seen)
    assert secret not in str(seen)
    machines.dismiss()


def _all_of_it(dask_scheduler):
    """Everything that the scheduler knows of tasks, as a dashboard could show it."""
    return [
        (key, repr(task.run_spec), pickle.dumps(task.run_spec)) for key, task in dask_scheduler.tasks.items()
    ]


def test_nobody_without_a_certificate_of_the_run_is_heard(two):
    place = urlsplit(two.client.scheduler.address)
    assert place.scheme == "tls"
    stranger = ssl.create_default_context()
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    for address in (place, *map(urlsplit, two.machines)):
        with (
            suppress(ssl.SSLError, ConnectionError),
            socket.create_connection((address.hostname, address.port)) as plain,
            stranger.wrap_socket(plain) as held,
        ):
            held.settimeout(10)
            assert held.recv(1) == b""


SLOW = """\
name = "tiny"
title = "Reads that take their time"
workload = "ycsb"
repeats = 1

[parameters]
database = "mongo_tables_tiny"
collection = "usertable"
numberOfThreads = 4
operationsPerSecond = 300
updateproportion = 0.0
requestdistribution = "uniform"
readproportion = 1.0
testTimeSecs = 1

[[variants]]
recordcount = 100

[[variants]]
recordcount = 200

[[variants]]
recordcount = 300
"""


def test_a_machine_that_is_lost_ends_the_run_and_resume_goes_on(replica_set, tmp_path):
    file = tmp_path / "tiny.toml"
    file.write_text(SLOW)
    asked = (
        file,
        "--target",
        replica_set.uri,
        "--output",
        tmp_path,
        "--load-machines",
        "local:2",
        "--processes",
        1,
    )
    process = start(*asked)
    wait_until(process, lambda: kept(tmp_path))
    victim = next(one for one in psutil.Process(process.pid).children() if is_machine(one))
    os.kill(victim.pid, signal.SIGKILL)
    code, _, err = finish(process)
    assert code == 2
    (told,) = [line for line in err.splitlines() if " is lost: " in line]
    # A machine that is busy with other things may hear of the end later than of the silence.
    assert "its worker has ended" in told or "it has not answered" in told
    before = kept(tmp_path)
    code, out, err = finish(start(*asked, "--resume"))
    assert (code, out) == (0, "tiny: 3 rows\n"), err
    rows = FileStore(tmp_path).rows("tiny")
    assert before <= {repeat["start_time"] for row in rows for repeat in row["repeats"]}
    for row in rows:
        assert [one["connections"] for one in row["client"]["machines"]] == [2, 2]


def kept(folder):
    """When the windows began that are kept of a run that has not ended."""
    files = (folder / ".runs" / "tiny").glob("*.jsonl")
    aware = bson.json_util.DEFAULT_JSON_OPTIONS.with_options(tz_aware=True)  # as those of the rows are
    windows = [bson.json_util.loads(path.read_text("utf-8"), json_options=aware) for path in files]
    return {repeat["start_time"] for window in windows for repeat in window["repeats"]}


def is_machine(process):
    """Whether a child of a run is a Dask worker: it has the processes of a load machine below it."""
    with suppress(psutil.NoSuchProcess):
        return any("spawn_main" in " ".join(one.cmdline()) for one in process.children())
    return False
