"""Counters of machine and server are sampled as Atlas shows them, and processors are seen as busy.

Series have the names and the shape of Atlas.

Processors that neither servers nor client used are told apart, where a server runs on this machine.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mongo_tables.runner import sampling
from mongo_tables.runner.sampling import BusyProcessors, Sample, Sampler, Seen, cores, series
from mongo_tables.runner.servers import ServerProcess

START = datetime(2026, 1, 1, tzinfo=UTC)
CHANGING = [
    ServerProcess(*one)
    for one in [("a:1", 7, 1000), ("a:1", 7, 2000), ("b:1", 7, 9000), ("b:1", 7, 9900), ("b:1", 7, 9950)]
]
RESTARTED = [ServerProcess("a:1", 7, uptime) for uptime in (81_000, 82_000, 100, 1100, 2100)]


def sample(second, user=0.0, idle=0.0, written=0, writes=0, latency=0, server=0.0):
    return Sample(
        when=START + timedelta(seconds=second),
        cpu={"user": user, "system": 0.0, "iowait": 0.0, "steal": 0.0, "idle": idle},
        disk={"read_count": 0, "write_count": 4 * second, "read_bytes": 0, "write_bytes": written},
        server_cpu=server,
        writes={"latency": latency, "ops": writes},
        dirty=1000 * second,
    )


def values(measurements, name):
    (found,) = [one for one in measurements if one["name"] == name]
    return [point["value"] for point in found["dataPoints"]]


SAMPLES = [
    sample(0),
    sample(2, user=1.0, idle=3.0, written=2_000, writes=10, latency=50_000, server=0.5),
    sample(4, user=4.0, idle=4.0, written=2_000, writes=10, latency=50_000, server=1.0),
]


def test_the_first_point_of_every_series_is_null():
    process, disk = series(Seen(SAMPLES, SAMPLES))
    assert len(process) == 5
    assert len(disk) == 3
    for one in process + disk:
        assert one["dataPoints"][0] == {"timestamp": START, "value": None}


def test_processor_time_is_percent_of_all_processors():
    process, _ = series(Seen(SAMPLES, SAMPLES))
    assert values(process, "SYSTEM_NORMALIZED_CPU_USER") == [None, 25.0, 75.0]


def test_disk_rates_are_for_one_second():
    _, disk = series(Seen(SAMPLES, SAMPLES))
    assert values(disk, "DISK_PARTITION_THROUGHPUT_WRITE") == [None, 1000.0, 0.0]
    assert values(disk, "DISK_PARTITION_IOPS_TOTAL") == [None, 4.0, 4.0]


def test_mean_time_of_writes_is_milliseconds_and_null_when_there_were_none():
    process, _ = series(Seen(SAMPLES, SAMPLES))
    assert values(process, "OP_EXECUTION_TIME_WRITES") == [None, 5.0, None]


def test_busy_processors_are_counted_over_the_whole_time():
    assert cores(SAMPLES) == {"busy": 1.0, "server": 0.25}


def test_a_server_elsewhere_has_no_series_of_this_machine():
    away = [Sample(START + timedelta(seconds=n), {}, {}, 0.0, SAMPLES[0].writes) for n in range(2)]
    process, disk = series(Seen(away, []))
    assert [one["name"] for one in process] == ["OP_EXECUTION_TIME_WRITES"]
    assert disk == []
    assert cores([]) is None


def test_changed_data_in_the_cache_is_what_it_was_at_the_moment():
    process, _ = series(Seen(SAMPLES, SAMPLES))
    assert values(process, "CACHE_DIRTY_BYTES") == [None, 2000.0, 4000.0]


def test_of_the_servers_own_samples_those_count_that_it_took_between_two_marks():
    taken = iter([sample(second) for second in range(5)])
    sampler = Sampler(dict, None, (), lambda: next(taken))
    marks = [sampler.take() for _ in range(5)]
    assert sampler.between(marks[1], marks[3]).machine == [sample(2), sample(3)]
    assert sampler.between(marks[0], marks[4]).machine == [sample(second) for second in range(1, 5)]
    assert sampler.between(marks[0], marks[1]).machine == []


def test_of_another_server_nothing_is_taken_that_was_counted_before_it_was_asked():
    taken = [replace(sample(second), process=one) for second, one in enumerate(CHANGING)]
    answers = iter(taken)
    sampler = Sampler(dict, None, (), lambda: next(answers))
    marks = [sampler.take() for _ in range(5)]
    assert sampler.between(marks[0], marks[4]).machine == taken[3:]


@pytest.mark.parametrize("processes", [CHANGING, RESTARTED], ids=["another primary", "started anew"])
def test_between_two_processes_of_servers_no_rate_is_known(processes):
    counted = [100, 104, 2, 3, 5]
    samples = [
        replace(
            sample(second, idle=second),
            dirty=count,
            writes={"latency": count * count * 1000, "ops": count},
            process=one,
        )
        for second, (count, one) in enumerate(zip(counted, processes, strict=True))
    ]
    found, _ = series(Seen(samples, samples))
    assert values(found, "OP_EXECUTION_TIME_WRITES") == [None, 204.0, None, 5.0, 8.0]
    assert values(found, "CACHE_DIRTY_BYTES") == [None, 104.0, 2.0, 3.0, 5.0]
    assert None not in values(found, "SYSTEM_NORMALIZED_CPU_USER")[3:]  # of the machine, which is one


BEGIN = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.fixture
def asked(monkeypatch):
    """Two seconds lie between looks, in which 3 seconds of processors go by, 2.2 of them with what is asked for."""
    processes = []

    def look(pids):
        number = len(processes)
        processes.append(set(pids))
        cpu = {"user": 2.0 * number, "system": 1.0 * number, "idle": 1.0 * number}
        return Sample(BEGIN + timedelta(seconds=2 * number), cpu, {}, 2.2 * number, {})

    monkeypatch.setattr(sampling, "look_at_processors", look)
    return processes


def test_what_is_neither_the_servers_nor_the_clients_is_something_elses(asked):
    client = [[7], [8, 9]]  # processes that are started when there is work
    processors = BusyProcessors({1, 2}, lambda: client.pop(0))
    processors.look()
    processors.look()
    assert asked == [{1, 2, 7}, {1, 2, 8, 9}]
    assert processors.found() == {"busy": pytest.approx(1.5), "other": pytest.approx(0.4)}


def test_where_no_server_is_on_this_machine_nothing_is_known_of_theirs(asked):
    processors = BusyProcessors((), lambda: [7])
    processors.look()
    processors.look()
    assert (asked, processors.found()) == ([], None)
