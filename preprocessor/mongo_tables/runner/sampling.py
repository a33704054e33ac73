"""Counters of the system and of the server during work, with the names and in the format of Atlas.

Atlas returns a series as ``{name, units, dataPoints: [{timestamp, value}]}``, and the first point of a rate is null,
because a rate needs two samples (https://www.mongodb.com/docs/atlas/reference/api-resources-spec/v2/). The tables read
these names, so a run outside Atlas uses them, too. Percentages of processor time refer to all cores of the machine.

The counters of processors and disks of remote servers come from the servers' diagnostic data: a mongod reads ``/proc``
once a second, and ``getDiagnosticData`` returns its last sample
(https://www.mongodb.com/docs/manual/administration/full-time-diagnostic-data-capture/).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import psutil
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

from mongo_tables.runner.host import mount_of
from mongo_tables.runner.servers import ServerProcess, is_one_process, process_of, value_at

FIRST_INTERVAL_SECONDS = 0.5
SHORTEST_INTERVAL = timedelta(seconds=0.25)
MOST_SAMPLES = 240
"""The maximum number of samples.

When there are more, every second sample is dropped and the interval is doubled. Rates stay exact, since counters are
sums.
"""

_CPU = {
    "SYSTEM_NORMALIZED_CPU_USER": "user",
    "SYSTEM_NORMALIZED_CPU_KERNEL": "system",
    "SYSTEM_NORMALIZED_CPU_IOWAIT": "iowait",
}
_DISK = {
    "DISK_PARTITION_IOPS_TOTAL": ("SCALAR_PER_SECOND", ("read_count", "write_count")),
    "DISK_PARTITION_THROUGHPUT_READ": ("BYTES_PER_SECOND", ("read_bytes",)),
    "DISK_PARTITION_THROUGHPUT_WRITE": ("BYTES_PER_SECOND", ("write_bytes",)),
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of counters, which are sums since the start of the machine or server.

    ``cpu`` and ``disk`` are empty if unknown. ``server_cpu`` is the processor time in seconds of the members on the
    machine, or 0.0 if unknown. ``process`` is the server process that reported ``writes`` and ``dirty``, or None if the
    user may not read them.
    """

    when: datetime
    cpu: dict[str, float]
    disk: dict[str, int]
    server_cpu: float
    writes: Mapping[str, int] | None
    """The number of write operations and their latency in microseconds, or None if the server does not report them."""
    dirty: int | None = None
    """The bytes in the cache that are not written yet, or None if the server has no WiredTiger."""
    process: ServerProcess | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """The samples of a window: ``samples`` (two or more) of the server, and ``machine`` of the server's machine.

    For servers on this machine, both are the same. For other servers, ``machine`` is empty if it would have fewer than
    two samples.
    """

    samples: Sequence[Sample]
    machine: Sequence[Sample]


class Sampler:
    """Takes samples at intervals, in its own thread, and at each call of ``take``."""

    def __init__(
        self,
        status: Callable[[], Mapping[str, Any]],
        data_directory: Path | None,
        pids: Sequence[int],
        machine: Callable[[], Sample | None] | None = None,
    ) -> None:
        """``status`` returns ``serverStatus``. ``data_directory`` is None for servers on other machines.

        ``machine`` returns the latest sample that the server took of its own machine.
        """
        self._status = status
        self._machine = machine
        self._latest: Sample | None = None
        """The server's latest sample of its machine."""
        self._theirs: list[tuple[datetime, Sample]] = []
        """The samples that the server took of its machine, except the first one, each with the time of its arrival."""
        self._device = _device(data_directory) if data_directory else None
        self._here = data_directory is not None
        self._pids = pids
        self._samples: list[Sample] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Start taking samples."""
        self._thread.start()

    def stop(self) -> None:
        """Stop taking samples, and wait for a sample in progress."""
        self.cease()
        self._thread.join()

    def between(self, first: Sample, last: Sample) -> Seen:
        """Return the samples from ``first`` to ``last``, which ``take`` returned. Call it after ``stop``."""
        # A rate over a tiny interval is noise, so samples just after ``first`` or just before ``last`` are dropped.
        begins, ends = first.when + SHORTEST_INTERVAL, last.when - SHORTEST_INTERVAL
        inside = [sample for sample in self._samples if begins <= sample.when <= ends]
        samples = [first, *inside, last]
        if self._here:
            return Seen(samples, samples)
        machine = [sample for arrived, sample in self._theirs if first.when < arrived <= last.when]
        return Seen(samples, machine if len(machine) > 1 else [])

    def cease(self) -> None:
        """Stop taking samples after a failure, without waiting for a sample in progress."""
        self._ended.set()

    def _watch(self) -> None:
        interval = FIRST_INTERVAL_SECONDS
        while not self._ended.wait(interval):
            # If the server does not answer, there is no sample. The work reports such failures.
            with suppress(PyMongoError):
                self._samples.append(self.take())
            if len(self._samples) > MOST_SAMPLES:
                self._samples, self._theirs = self._samples[::2], self._theirs[::2]
                interval *= 2

    def take(self) -> Sample:
        """Take a sample now."""
        self._look_at_machine()
        status = self._status()
        return Sample(
            when=datetime.now(UTC),
            cpu=psutil.cpu_times()._asdict() if self._here else {},
            disk=psutil.disk_io_counters(perdisk=True)[self._device]._asdict() if self._device else {},
            server_cpu=sum(_cpu_seconds(pid) for pid in self._pids),
            writes=value_at(status, ("opLatencies", "writes")),
            dirty=value_at(status, ("wiredTiger", "cache", "tracked dirty bytes in the cache")),
            process=process_of(status),
        )

    def _look_at_machine(self) -> None:
        """Store the server's latest sample of its machine if it is new, but not the first one, which may be old.

        Discard the samples of a previous server.
        """
        if self._machine is None:
            return
        try:
            sample = self._machine()
        except OperationFailure:  # the command is not permitted
            self._machine = None
            return
        if sample is None:
            return
        if self._latest is None or not is_one_process(self._latest.process, sample.process):
            self._theirs = []
        elif sample.when > self._latest.when:
            self._theirs.append((datetime.now(UTC), sample))
        self._latest = sample


def look_at_processors(pids: Sequence[int]) -> Sample:
    """Return a sample of this machine's processors only, which takes little time."""
    cpu = psutil.cpu_times()._asdict()
    return Sample(datetime.now(UTC), cpu, {}, sum(_cpu_seconds(pid) for pid in pids), None)


def cores(samples: Sequence[Sample]) -> dict[str, float] | None:
    """Return the mean number of busy processors of the machine between the first and the last sample.

    ``server`` is the number that the members on this machine use. Return None if the machine is not observed.
    """
    if not samples:
        return None
    first, last = samples[0], samples[-1]
    seconds = (last.when - first.when).total_seconds()
    if not first.cpu or seconds <= 0:
        return None
    idle = ("idle", "iowait", "guest", "guest_nice")
    busy = sum(last.cpu[kind] - first.cpu[kind] for kind in last.cpu if kind not in idle)
    return {"busy": busy / seconds, "server": (last.server_cpu - first.server_cpu) / seconds}


def series(seen: Seen) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the series of the server and its processors, and the series of the disk, in the format of Atlas."""
    samples, machine = seen.samples, seen.machine
    first = machine[0] if machine else samples[0]
    process = [
        _series(name, "PERCENT", machine, partial(_percent, kind))
        for name, kind in _CPU.items()
        if machine and kind in first.cpu
    ]
    if all(sample.writes is not None for sample in samples):
        process.append(_series("OP_EXECUTION_TIME_WRITES", "MILLISECONDS", samples, _mean_time_of_writes))
    if all(sample.dirty is not None for sample in samples):
        process.append(_series("CACHE_DIRTY_BYTES", "BYTES", samples, _dirty_bytes))
    disk = [
        _series(name, unit, machine, partial(_disk_rate, kinds))
        for name, (unit, kinds) in _DISK.items()
        if machine and first.disk
    ]
    return process, disk


def _series(
    name: str, units: str, samples: Sequence[Sample], measure: Callable[[Sample, Sample], float | None]
) -> dict[str, Any]:
    points: list[dict[str, Any]] = [{"timestamp": samples[0].when, "value": None}]
    for before, after in pairwise(samples):
        points.append({"timestamp": after.when, "value": measure(before, after)})
    return {"name": name, "units": units, "dataPoints": points}


def _percent(kind: str, before: Sample, after: Sample) -> float | None:
    # Linux includes a guest's time in `user`.
    kinds = [one for one in after.cpu if one not in ("guest", "guest_nice")]
    total = sum(after.cpu[one] - before.cpu[one] for one in kinds)
    return 100 * (after.cpu[kind] - before.cpu[kind]) / total if total > 0 else None


def _disk_rate(kinds: tuple[str, ...], before: Sample, after: Sample) -> float | None:
    seconds = (after.when - before.when).total_seconds()
    change = sum(after.disk[kind] - before.disk[kind] for kind in kinds)
    return change / seconds if seconds > 0 else None


def _dirty_bytes(before: Sample, after: Sample) -> float | None:
    return None if after.dirty is None else float(after.dirty)


def _mean_time_of_writes(before: Sample, after: Sample) -> float | None:
    if before.writes is None or after.writes is None or not is_one_process(before.process, after.process):
        return None
    count = after.writes["ops"] - before.writes["ops"]
    return (after.writes["latency"] - before.writes["latency"]) / count / 1000 if count else None


def _cpu_seconds(pid: int) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:  # the member has ended, which the work reports
        return 0.0
    return float(times.user + times.system)


def _device(directory: Path) -> str | None:
    """Return the name of the device that holds ``directory``, or None if the system has no counters of it."""
    mount = mount_of(directory, physical=True)
    device = Path(mount.device).name if mount else ""
    return device if device in (psutil.disk_io_counters(perdisk=True) or {}) else None


SOURCE: Final = "getDiagnosticData"
_TIMES: Final = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
_SECTOR: Final = 512
"""The bytes of a sector in Linux's counters, for any disk (https://docs.kernel.org/admin-guide/iostats.html)."""


def read_machine(client: MongoClient[dict[str, Any]]) -> Sample | None:
    """Return the latest sample that the primary took of its machine, or None if it has no sample.

    The samples of a mongos are ignored, because its machine does not hold the data. The time of a sample is on the
    server's clock. Raises PyMongoError.
    """
    # An answer has 80 kB, of which only the needed counters are decoded.
    options: Any = CodecOptions(document_class=RawBSONDocument, tz_aware=True)
    data = client.admin.command("getDiagnosticData", codec_options=options).get("data", {})
    system, status = data.get("systemMetrics", {}), data.get("serverStatus", {})
    used = status.get("extra_info", {})
    if not system.get("cpu") or "start" not in data or status.get("process") == "mongos":
        return None
    return Sample(
        when=data["start"],
        cpu={
            kind: float(system["cpu"][f"{kind}_ms"]) / 1000
            for kind in _TIMES
            if f"{kind}_ms" in system["cpu"]
        },
        disk=_disks(system.get("disks", {})),
        server_cpu=(float(used.get("user_time_us", 0)) + float(used.get("system_time_us", 0))) / 1e6,
        writes=None,
        process=process_of(status),
    )


def _disks(disks: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return the sums over all disks, because the server does not report which disk holds the data."""
    if not disks:
        return {}
    every = list(disks.values())
    return {
        "read_count": sum(int(one["reads"]) for one in every),
        "write_count": sum(int(one["writes"]) for one in every),
        "read_bytes": sum(int(one["read_sectors"]) for one in every) * _SECTOR,
        "write_bytes": sum(int(one["write_sectors"]) for one in every) * _SECTOR,
    }


@dataclass(frozen=True, slots=True)
class BusyProcessors:
    """The use of this machine's processors between two calls of ``look``, if ``servers`` run on it.

    ``servers`` are the ids of the server processes on this machine. ``client`` returns the ids of the client's
    processes.
    """

    servers: Collection[int]
    client: Callable[[], Sequence[int]]
    samples: list[Sample] = field(default_factory=list)

    def look(self) -> None:
        """Take a sample. Call it at the start and at the end."""
        if self.servers:
            self.samples.append(look_at_processors([*self.servers, *self.client()]))

    def found(self) -> dict[str, float] | None:
        """Return the mean number of busy processors, and how many of them other processes used.

        Return None if no servers run on this machine.
        """
        known = cores(self.samples)
        if known is None:
            return None
        return {"busy": known["busy"], "other": max(0.0, known["busy"] - known["server"])}
