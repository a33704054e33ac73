"""One measured window: the server's state before it, the work, the state after it, and the samples in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import psutil
from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

from mongo_tables.runner import sharding
from mongo_tables.runner.connection_strings import is_refused
from mongo_tables.runner.errors import KEPT, WorkFailed
from mongo_tables.runner.load import Crew
from mongo_tables.runner.outcome import Outcome
from mongo_tables.runner.ownership import close_beside
from mongo_tables.runner.sampling import (
    SOURCE,
    BusyProcessors,
    Sample,
    Sampler,
    cores,
    read_machine,
    series,
)
from mongo_tables.runner.servers import counters, describe_change, process_of, status, value_at
from mongo_tables.runner.sharding import ShardLook
from mongo_tables.runner.target import LocalTarget, Machine
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import workload

Member = MongoClient[dict[str, Any]]

_COUNTERS = {
    "pages_requested": ("cache", "pages requested from the cache"),
    "pages_read": ("cache", "pages read into cache"),
    "bytes_read_into_cache": ("cache", "bytes read into cache"),
    "bytes_read_from_files": ("block-manager", "bytes read"),
}


def disk_bytes(pid: int, pids: Sequence[int]) -> int | None:
    """Return the bytes that the process ``pid`` has read from disk so far, without reads from the page cache.

    Return None if the system does not count them, or if ``pid`` is not one of ``pids``, the servers on this machine.
    See ``read_bytes`` in https://man7.org/linux/man-pages/man5/proc_pid_io.5.html.
    """
    if pid not in pids:
        return None
    try:
        return int(psutil.Process(pid).io_counters().read_bytes)
    except (AttributeError, psutil.Error):
        return None


def reads(
    before: Mapping[str, Any], after: Mapping[str, Any], from_disk: tuple[int | None, int | None]
) -> dict[str, Any]:
    """Return the reads in a window.

    ``before`` and ``after`` are the server's states before and after the window. ``from_disk`` has the bytes that the
    server's process had read from disk at these two moments.

    A count is None if it is unknown, for example for a server without WiredTiger. A hit rate is None if nothing was
    requested. If read-ahead reads more from disk than was requested, the hit rate of the page cache is 0.
    """
    counts = {name: _grown(before, after, *place) for name, place in _COUNTERS.items()}
    started, ended = from_disk
    disk = None if started is None or ended is None else ended - started
    return {
        **counts,
        "bytes_read_from_disk": disk,
        "cache_hit_rate": _hit_rate(counts["pages_read"], counts["pages_requested"]),
        "page_cache_hit_rate": _hit_rate(disk, counts["bytes_read_from_files"]),
    }


def _grown(before: Mapping[str, Any], after: Mapping[str, Any], group: str, name: str) -> int | None:
    if not ("wiredTiger" in before and "wiredTiger" in after):
        return None
    first, last = (value_at(status, ("wiredTiger", group, name)) or 0 for status in (before, after))
    return int(last) - int(first)


def _hit_rate(missed: int | None, asked: int | None) -> float | None:
    if missed is None or asked is None:
        return None
    return max(0.0, 1 - missed / asked) if asked > 0 and missed >= 0 else None


HERE = "psutil"
"""The source of processor and disk data for servers on this machine."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The results of one window. Times are UTC in whole milliseconds, as BSON stores them."""

    seed: str
    start_time: datetime
    end_time: datetime
    outcome: Outcome
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    process_series: list[dict[str, Any]]
    disk_series: list[dict[str, Any]]
    collection: Mapping[str, Any]
    cores: Mapping[str, float] | None
    reads: Mapping[str, Any]
    source: str | None = None
    """The source of the machine's data, or None if there is no such data."""
    conclusion: Mapping[str, Any] = field(default_factory=dict)
    settled: bool = True
    """Whether the loaded data was written to disk before the window."""
    sharding: Mapping[str, Any] = field(default_factory=dict)
    """For a sharded cluster: the data of the collection on each shard, and the work of each shard."""
    change: str | None = None
    """How the observed server changed during the window, or None. If it changed, its counters are meaningless."""

    @property
    def duration_ms(self) -> int:
        """Return the length of the window in milliseconds, at least 1, on the monotonic clock."""
        return max(1, round(self.outcome.seconds * 1000))


def measure(
    client: MongoClient[dict[str, Any]],
    crew: Crew,
    load: Load,
    machine: Machine,
    progress: Callable[[int], None],
) -> Measurement:
    """Do the work of ``load`` once, and observe the server and its machine."""
    watch = _WindowWatch(client, machine, load)
    try:
        outcome = crew.perform(
            load, before=watch.begin, opened=watch.opened, over=watch.end, progress=progress
        )
        return watch.measurement(load, outcome)
    except BaseException:
        watch.sampler.cease()
        raise


class _Look(NamedTuple):
    """The state at one moment: the server's counters, the disk reads of its process, a sample, and the shards."""

    status: Mapping[str, Any]
    from_disk: int | None
    mark: Sample
    shards: ShardLook | None


class _WindowWatch:
    """The observation of a window. ``begin`` is called before the window and ``end`` after it."""

    def __init__(self, client: MongoClient[dict[str, Any]], machine: Machine, load: Load) -> None:
        self._client = client
        self._namespace = load.database, load.config["collection"]
        self._pids = machine.pids
        self._here = machine.data_directory is not None
        self.sampler = Sampler(
            lambda: counters(client),
            machine.data_directory,
            machine.pids,
            None if self._here else lambda: read_machine(client),
        )
        self._begins: list[_Look] = []
        self._over: _Look | None = None
        self._processors = BusyProcessors(machine.pids if self._here else (), lambda: ())

    def begin(self) -> None:
        """Read the state before the window, the server's counters last, so that they are nearest to the window.

        There may be two calls. If the window is all of the work, the state of the first call counts, else of the last.
        """
        if not self._begins:
            self.sampler.start()
        mark = self.sampler.take()
        shards = self._look_at_shards()
        found = status(self._client)
        self._begins.append(_Look(found, self._read_from_disk(found), mark, shards))

    def opened(self) -> None:
        """Take the first sample of the processors. Called when the window opens."""
        self._processors.look()

    def end(self) -> None:
        """Read the state after the window."""
        self._processors.look()
        self._over = self._look_behind()

    def measurement(self, load: Load, outcome: Outcome) -> Measurement:
        first, last = self._begins[-1], self._over
        if last is None or not outcome.steady:
            # The window is all of the work, from its start to its last answer.
            first, last = self._begins[0], self._look_behind()
        self.sampler.stop()
        seen = self.sampler.between(first.mark, last.mark)
        process, disk = series(seen)
        change = describe_change(
            process_of(first.status), process_of(last.status), [sample.process for sample in seen.samples]
        )
        opened = _whole_milliseconds(outcome.opened_at)
        return Measurement(
            seed=load.seed,
            start_time=opened,
            end_time=_whole_milliseconds(opened + timedelta(seconds=outcome.seconds)),
            outcome=outcome,
            before=first.status,
            after=last.status,
            process_series=process,
            disk_series=disk,
            collection=_collection_stats(self._client, load),
            cores=cores(self._processors.samples if self._here and outcome.steady else seen.machine),
            reads=reads({}, {}, (None, None))
            if change
            else reads(first.status, last.status, (first.from_disk, last.from_disk)),
            source=(HERE if self._here else SOURCE) if seen.machine else None,
            sharding=sharding.describe(self._client, self._namespace, first.shards, last.shards)
            if first.shards and last.shards
            else {},
            change=change,
        )

    def _look_behind(self) -> _Look:
        """Read the state after the window, the server's counters first."""
        found = status(self._client)
        from_disk = self._read_from_disk(self._begins[-1].status)
        return _Look(found, from_disk, self.sampler.take(), self._look_at_shards())

    def _look_at_shards(self) -> ShardLook | None:
        return sharding.look(self._client, *self._namespace) if sharding.is_sharded(self._client) else None

    def _read_from_disk(self, before: Mapping[str, Any]) -> int | None:
        return disk_bytes(int(before.get("pid", 0)), self._pids)


def settle(client: MongoClient[dict[str, Any]]) -> bool:
    """Flush the loaded data to disk, so that every window starts from the same state. Return whether that succeeded.

    If the deployment does not permit the command, only the server's own checkpoints flush the data.
    """
    try:
        client.admin.command("fsync")
    except OperationFailure:
        return False
    return True


def _collection_stats(client: MongoClient[dict[str, Any]], load: Load) -> dict[str, Any]:
    try:
        found = client[load.database].command("collStats", load.config["collection"])
    except OperationFailure as error:
        if not is_refused(error):
            raise
        return {"count": client[load.database][load.config["collection"]].estimated_document_count()}
    names = ("count", "size", "avgObjSize", "storageSize", "nindexes", "totalIndexSize", "indexSizes")
    return {name: found[name] for name in names if name in found}


def _whole_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


STEP_DOWN_SECONDS = 10
"""Seconds for which the old primary cannot become primary again."""
LONGEST_SECONDS = 60.0
_LOOK_SECONDS = 0.005


class _Change(threading.Thread):
    """The thread that makes the primary step down, or kills it, and waits until another member accepts writes."""

    def __init__(self, target: LocalTarget, members: Sequence[Member], config: Mapping[str, Any]) -> None:
        super().__init__(daemon=True)
        self._target = target
        self._members = members
        self._config = config
        primary = _primary(members)
        if primary is None:
            raise WorkFailed("no member accepts writes", KEPT)
        self.primary = primary
        self._opens = 0.0
        self.seconds: float | None = None
        """The seconds from the event to the new primary."""
        self.failure = ""

    def begin(self, opens: int) -> None:
        """Start the thread. The event follows ``eventAfterSecs`` after ``opens``, the window's start in nanoseconds."""
        self._opens = opens / 1e9
        self.start()

    def run(self) -> None:
        time.sleep(max(0.0, self._opens + self._config["eventAfterSecs"] - time.monotonic()))
        began = time.monotonic()
        try:
            if self._config["event"] == "kill":
                self._target.running.kill_member(self.primary)
            else:
                self._members[self.primary].admin.command("replSetStepDown", STEP_DOWN_SECONDS)
        except Exception as error:  # an exception would otherwise be lost in the thread
            self.failure = f"{type(error).__name__}: {error}"
            return
        if _primary(self._members, apart_from=self.primary) is not None:
            self.seconds = time.monotonic() - began


def measure_change(
    target: LocalTarget, crew: Crew, load: Load, machine: Machine, progress: Callable[[int], None]
) -> Measurement:
    """Do the work of ``load`` while the primary changes.

    The counters come from a member that is a secondary before the event, because a killed primary has none afterwards.
    Raises WorkFailed if no member becomes primary.
    """
    with ExitStack() as held:
        members = target.running.members()
        for member in members:
            held.callback(close_beside, member)  # the member may be killed
        change = _Change(target, members, load.config)
        watched = members[(change.primary + 1) % len(members)]

        def look(done: int) -> None:
            if not change.is_alive() and not change.ident:
                change.begin(crew.window[0])
            progress(done)

        measurement = measure(watched, crew, load, machine, look)
        change.join()
    if change.seconds is None:
        raise WorkFailed(": ".join(filter(None, ("no other member became primary", change.failure))), KEPT)
    return replace(measurement, conclusion={"secondsToNewPrimary": change.seconds})


def conclude_change(client: Member, load: Load, measurement: Measurement) -> Measurement:
    """Return the measurement with conclusions from the documents on the new primary, such as lost writes."""
    told = workload(load.workload).conclude(client[load.database], load.config)
    counted = measurement.outcome.latencies_by_kind
    acknowledged = sum(sum(counts.values()) for kind, counts in counted.items() if kind.startswith("write"))
    lost = count_lost(told, acknowledged, failed=sum(measurement.outcome.errors.values()))
    del told["failuresTold"]
    return replace(
        measurement,
        conclusion={**measurement.conclusion, **told, "acknowledged": acknowledged, "lostAcknowledged": lost},
    )


def count_lost(stored: Mapping[str, Any], acknowledged: int, failed: int) -> int | None:
    """Return the least possible number of lost acknowledged writes, or None if a loss may be hidden.

    ``stored`` has the counts from the documents. ``acknowledged`` is the number of acknowledged writes, and ``failed``
    the number of failed requests, as the clients counted them.
    """
    # If the last documents of a connection are lost, only the total number of documents shows that.
    lost = max(int(stored["lostAcknowledged"]), acknowledged - stored["found"] + stored["failedButApplied"])
    # A failed write may have been applied. Then its document hides a lost document in the total number.
    return None if not lost and failed > stored["failuresTold"] else lost


def _primary(members: Sequence[Member], apart_from: int | None = None) -> int | None:
    """Wait up to a minute until a member accepts writes. Return the member's number, or None if no member does."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline:
        for number, member in enumerate(members):
            with suppress(PyMongoError):
                if number != apart_from and member.admin.command("hello")["isWritablePrimary"]:
                    return number
        time.sleep(_LOOK_SECONDS)
    return None
