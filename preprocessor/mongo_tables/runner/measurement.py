"""One measured window: the state of the server before, the work, the state after, and the samples between."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from mongo_tables.runner import sharding
from mongo_tables.runner.connection_strings import is_refused
from mongo_tables.runner.errors import KEPT, WorkFailed
from mongo_tables.runner.load import Crew
from mongo_tables.runner.outcome import Outcome
from mongo_tables.runner.ownership import close_beside
from mongo_tables.runner.sampling import (
    PROCESSORS,
    SOURCE,
    Mark,
    Monitored,
    Sample,
    Sampler,
    cores,
    has_value,
    look_at_processors,
    merged,
    read_machine,
    series,
)
from mongo_tables.runner.servers import describe_change, is_one_of_several, process_of, status
from mongo_tables.runner.sharding import ShardLook
from mongo_tables.runner.target import LocalTarget, Machine
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import workload

if TYPE_CHECKING:
    from pymongo import MongoClient

    Member = MongoClient[dict[str, Any]]


_COUNTERS = {
    "pages_requested": ("cache", "pages requested from the cache"),
    "pages_read": ("cache", "pages read into cache"),
    "bytes_read_into_cache": ("cache", "bytes read into cache"),
    "bytes_read_from_files": ("block-manager", "bytes read"),
}


def disk_bytes(pid: int, pids: Sequence[int]) -> int | None:
    """What the process has had read from disk so far; None when it is none of ours, or nobody tells.

    ``read_bytes`` of https://man7.org/linux/man-pages/man5/proc_pid_io.5.html: what the page cache had is not in it.
    """
    import psutil

    if pid not in pids:
        return None
    try:
        return int(psutil.Process(pid).io_counters().read_bytes)
    except (AttributeError, psutil.Error):
        return None


def reads(
    before: Mapping[str, Any], after: Mapping[str, Any], from_disk: tuple[int | None, int | None]
) -> dict[str, Any]:
    """Counts of a window, from the states of the server around it and what the process had read from disk.

    A count is None where the states do not have it, as those of a server without WiredTiger. A rate is None when
    there was nothing to be found.
    Read-ahead may bring more from disk than was asked for; the page cache has then helped nobody, and its rate is 0.
    """
    from bson.int64 import Int64

    counts = {name: _grown(before, after, *place) for name, place in _COUNTERS.items()}
    started, ended = from_disk
    disk = None if started is None or ended is None else ended - started
    return {
        **{name: None if count is None else Int64(count) for name, count in counts.items()},
        "bytes_read_from_disk": None if disk is None else Int64(disk),
        "cache_hit_rate": _hit_rate(counts["pages_read"], counts["pages_requested"]),
        "page_cache_hit_rate": _hit_rate(disk, counts["bytes_read_from_files"]),
    }


def _grown(before: Mapping[str, Any], after: Mapping[str, Any], group: str, name: str) -> int | None:
    if not ("wiredTiger" in before and "wiredTiger" in after):
        return None
    return int(after["wiredTiger"][group].get(name, 0)) - int(before["wiredTiger"][group].get(name, 0))


def _hit_rate(missed: int | None, asked: int | None) -> float | None:
    if missed is None or asked is None:
        return None
    return max(0.0, 1 - missed / asked) if asked > 0 and missed >= 0 else None


HERE = "psutil"
"""What processors and disks are seen by that are on this machine."""
_HEAVY = ("metrics", "tcmalloc", "locks", "repl", "transactions", "electionMetrics", "network")


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one window gave; times are UTC in whole milliseconds, as BSON keeps them."""

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
    """By what the servers' machine was seen; None where it was not."""
    conclusion: Mapping[str, Any] = field(default_factory=dict)
    settled: bool = True
    """Whether what was loaded had been written to disk before."""
    sharding: Mapping[str, Any] = field(default_factory=dict)
    """Of a sharded cluster, what each shard had of the collection and did for it."""
    change: str | None = None
    """How the server that counts became another one in the window; then nothing is known of what it counted."""
    monitoring: Mapping[str, Any] = field(default_factory=dict)
    """How fine and how late the series are that others than this run made, where there are any."""

    @property
    def duration_ms(self) -> int:
        """Length of the window in milliseconds, at least 1, on a clock that nobody adjusts."""
        return max(1, round(self.outcome.seconds * 1000))

    def beside(self, found: Monitored) -> Measurement:
        """The same, with the series that others made of the window beside its own, one of each name."""
        series = merged(self.process_series, found.process_series, prefer_others=found.is_inside)
        processors = next((one for one in series if one["name"] == PROCESSORS and has_value(one)), None)
        return replace(
            self,
            process_series=series,
            disk_series=merged(self.disk_series, found.disk_series, prefer_others=found.is_inside),
            source=found.source if processors in found.process_series else self.source,
            monitoring=found.facts,
        )


def measure(
    client: MongoClient[dict[str, Any]],
    crew: Crew,
    load: Load,
    machine: Machine,
    progress: Callable[[int], None],
) -> Measurement:
    """Do the work of ``load`` once, with everything that is looked at around it."""
    watch = _Watch(client, machine, load)
    try:
        outcome = crew.perform(
            load, before=watch.begin, opened=watch.opened, over=watch.end, progress=progress
        )
        return watch.measurement(load, outcome)
    except BaseException:
        watch.cease()
        raise


class _Look(NamedTuple):
    """What the server had counted at a moment, and what its process had read from disk."""

    status: Mapping[str, Any]
    from_disk: int | None
    mark: Mark
    shards: ShardLook | None


class _Watch:
    """What is looked at around a window: ``begin`` before it, ``end`` behind it, ``cease`` if it failed."""

    def __init__(self, client: MongoClient[dict[str, Any]], machine: Machine, load: Load) -> None:
        self._client = client
        self._namespace = load.database, load.config["collection"]
        self._pids = machine.pids
        self._here = machine.data_directory is not None
        self._sampler = Sampler(
            lambda: _counters(client),
            machine.data_directory,
            machine.pids,
            None if self._here else lambda: read_machine(client),
        )
        self._begins: list[_Look] = []
        self._over: _Look | None = None
        self._at_ends: list[Sample] = []

    def begin(self) -> None:
        """Look before the window, at the counters of the row last; where this is done again, that is the begin."""
        if not self._begins:
            self._sampler.start()
        mark = self._sampler.mark()
        shards = self._look_at_shards()
        found = status(self._client)
        self._begins.append(_Look(found, self._read_from_disk(found), mark, shards))

    def opened(self) -> None:
        """The window is open: from here on processors are counted, as those of the client are."""
        if self._here:
            self._at_ends = [look_at_processors(self._pids)]

    def end(self) -> None:
        """Look at what the window left."""
        if self._at_ends:
            self._at_ends.append(look_at_processors(self._pids))
        self._over = self._look_behind()

    def cease(self) -> None:
        self._sampler.cease()

    def measurement(self, load: Load, outcome: Outcome) -> Measurement:
        first, last = self._begins[-1], self._over
        if (
            last is None or not outcome.steady
        ):  # all of the work is the window, from its start to its last answer
            first, last = self._begins[0], self._look_behind()
        self._sampler.stop()
        seen = self._sampler.between(first.mark, last.mark)
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
            cores=cores(self._at_ends if self._at_ends and outcome.steady else seen.machine),
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
        """Look at the counters of the row first."""
        found = status(self._client)
        from_disk = self._read_from_disk(self._begins[-1].status)
        return _Look(found, from_disk, self._sampler.mark(), self._look_at_shards())

    def _look_at_shards(self) -> ShardLook | None:
        return sharding.look(self._client, *self._namespace) if sharding.is_sharded(self._client) else None

    def _read_from_disk(self, before: Mapping[str, Any]) -> int | None:
        return disk_bytes(int(before.get("pid", 0)), self._pids)


def settle(client: MongoClient[dict[str, Any]]) -> bool:
    """Have what was loaded written to disk, so that every window starts from the same state; give whether it was.

    A deployment may not allow the command; then its own checkpoints have to do.
    """
    from pymongo.errors import OperationFailure

    try:
        client.admin.command("fsync")
    except OperationFailure:
        return False
    return True


def _counters(client: MongoClient[dict[str, Any]]) -> dict[str, Any]:
    from pymongo.errors import OperationFailure

    try:
        found = client.admin.command({"serverStatus": 1, **dict.fromkeys(_HEAVY, 0)})
    except OperationFailure as error:
        if not is_refused(error):
            raise
        return {}
    return {} if is_one_of_several(client, found) else found


def _collection_stats(client: MongoClient[dict[str, Any]], load: Load) -> dict[str, Any]:
    from pymongo.errors import OperationFailure

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
"""For so long the old primary does not stand for election."""
LONGEST_SECONDS = 60.0
_LOOK_SECONDS = 0.005


class _Change(threading.Thread):
    """Has the primary step down or killed at its time, and sees when another member takes writes."""

    def __init__(self, target: LocalTarget, members: Sequence[Member], config: Mapping[str, Any]) -> None:
        super().__init__(daemon=True)
        self._target = target
        self._members = members
        self._config = config
        self.primary = _primary(members)
        self._opens = 0.0
        self.seconds: float | None = None
        """From the event to the new primary."""
        self.failure = ""

    def begin(self, opens: int) -> None:
        """Start the clock of the event: the window opened at that moment, in nanoseconds."""
        self._opens = opens / 1e9
        self.start()

    def run(self) -> None:
        time.sleep(max(0.0, self._opens + self._config["eventAfterSecs"] - time.monotonic()))
        began = time.monotonic()
        try:
            self._act()
        except Exception as error:  # a thread by itself would keep it
            self.failure = f"{type(error).__name__}: {error}"
            return
        others = [one for number, one in enumerate(self._members) if number != self.primary]
        while time.monotonic() - began < LONGEST_SECONDS:
            if any(map(_takes_writes, others)):
                self.seconds = time.monotonic() - began
                return
            time.sleep(_LOOK_SECONDS)

    def _act(self) -> None:
        if self._config["event"] == "kill":
            self._target.kill_member(self.primary)
        else:
            self._members[self.primary].admin.command("replSetStepDown", STEP_DOWN_SECONDS)


def measure_change(
    target: LocalTarget, crew: Crew, load: Load, machine: Machine, progress: Callable[[int], None]
) -> Measurement:
    """Do the work of ``load`` while the primary changes.

    Counters of the server are those of a member that is no primary before, so that one that ends is not missed, and no
    difference is taken between two servers. Raises WorkFailed when no member became primary.
    """
    with ExitStack() as held:
        members = target.members()
        for member in members:
            held.callback(close_beside, member)  # one of them may be killed
        change = _Change(target, members, load.config)
        watched = members[(change.primary + 1) % len(members)]

        def look(done: int) -> None:
            if not change.is_alive() and not change.ident:
                change.begin(crew.window[0])
            progress(done)

        measurement = measure(watched, crew, load, machine, look)
        change.join()
    if change.seconds is None:
        raise WorkFailed(f"no other member became primary {change.failure}".rstrip(), KEPT)
    return replace(measurement, conclusion={"secondsToNewPrimary": change.seconds})


def conclude_change(client: Member, load: Load, measurement: Measurement) -> Measurement:
    """The measurement with what the documents tell, which the new primary has."""
    told = workload(load.workload).conclude(client[load.database], load.config)
    counted = measurement.outcome.latencies_by_kind
    acknowledged = sum(sum(counts.values()) for kind, counts in counted.items() if kind.startswith("write"))
    lost = count_lost(told, acknowledged, failed=sum(measurement.outcome.errors.values()))
    del told["failuresTold"]
    return replace(
        measurement,
        conclusion={**measurement.conclusion, **told, "acknowledged": acknowledged, "lostAcknowledged": lost},
    )


def count_lost(told: Mapping[str, Any], acknowledged: int, failed: int) -> int | None:
    """The acknowledged writes that are not there, at least; None where one could be missing that nothing shows.

    ``told`` is what documents tell, ``acknowledged`` and ``failed`` are what clients counted: writes, and requests.
    """
    # What is missing behind the last document of a connection is seen by the number alone.
    lost = max(int(told["lostAcknowledged"]), acknowledged - told["found"] + told["failedButApplied"])
    # A write that failed there may have been done, and makes up in the number for one that was lost.
    return None if not lost and failed > told["failuresTold"] else lost


def _primary(members: Sequence[Member]) -> int:
    """The number of the member that takes writes, as soon as one does; raises WorkFailed when none does."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline:
        for number, member in enumerate(members):
            if _takes_writes(member):
                return number
        time.sleep(_LOOK_SECONDS)
    raise WorkFailed("no member takes writes", KEPT)


def _takes_writes(member: Member) -> bool:
    from pymongo.errors import PyMongoError

    with suppress(PyMongoError):
        return bool(member.admin.command("hello")["isWritablePrimary"])
    return False
