"""Series have the names and the shape of Atlas."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from preprocessor.runner.sampling import Sample, Sampler, Seen, cores, series

START = datetime(2026, 1, 1, tzinfo=UTC)


def sample(second, user=0.0, idle=0.0, written=0, writes=0, latency=0, server=0.0):
    nothing = {"latency": 0, "ops": 0}
    return Sample(
        when=START + timedelta(seconds=second),
        cpu={"user": user, "system": 0.0, "iowait": 0.0, "steal": 0.0, "idle": idle},
        disk={"read_count": 0, "write_count": 4 * second, "read_bytes": 0, "write_bytes": written},
        server_cpu=server,
        operations={"reads": nothing, "writes": {"latency": latency, "ops": writes}, "commands": nothing},
        engine={"CACHE_USED_BYTES": 1000 * second, "CHECKPOINTS": second // 4},
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
    assert len(process) == 9
    assert len(disk) == 5
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
    away = [Sample(START + timedelta(seconds=n), {}, {}, 0.0, SAMPLES[0].operations) for n in range(2)]
    process, disk = series(Seen(away, []))
    assert {one["name"] for one in process} == {
        "OP_EXECUTION_TIME_READS", "OP_EXECUTION_TIME_WRITES", "OP_EXECUTION_TIME_COMMANDS"
    }  # fmt: skip
    assert disk == []
    assert cores([]) is None


def test_counters_of_the_storage_engine_are_values_or_rates():
    process, _ = series(Seen(SAMPLES, SAMPLES))
    assert values(process, "CACHE_USED_BYTES") == [None, 2000.0, 4000.0]
    assert values(process, "CHECKPOINTS") == [None, 0.0, 0.5]


def test_of_the_servers_own_samples_those_count_that_it_took_between_two_marks():
    taken = iter([(sample(second), "one server") for second in range(5)])
    sampler = Sampler(dict, None, (), lambda: next(taken))
    marks = [sampler.mark() for _ in range(5)]
    assert sampler.between(marks[1], marks[3]).machine == [sample(2), sample(3)]
    assert sampler.between(marks[0], marks[4]).machine == [sample(second) for second in range(1, 5)]
    assert sampler.between(marks[0], marks[1]).machine == []


def test_of_another_server_nothing_is_taken_that_was_counted_before_it_was_asked():
    servers = ["first", "first", "second", "second", "second"]
    taken = iter([(sample(second), server) for second, server in enumerate(servers)])
    sampler = Sampler(dict, None, (), lambda: next(taken))
    marks = [sampler.mark() for _ in range(5)]
    assert sampler.between(marks[0], marks[4]).machine == [sample(3), sample(4)]
