"""One measured window: the state of the server before, the work, the state after, and the samples between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from mongo_tables.runner import sharding
from mongo_tables.runner.diagnosticdata import SOURCE, read_machine
from mongo_tables.runner.iostats import disk_bytes, reads
from mongo_tables.runner.load import Crew, Outcome
from mongo_tables.runner.monitored import Monitored, has_value, merged
from mongo_tables.runner.rights import is_refused
from mongo_tables.runner.sampling import PROCESSORS, Mark, Sample, Sampler, cores, look_at_processors, series
from mongo_tables.runner.serverprocess import describe_change, process_of
from mongo_tables.runner.serverstatus import is_one_of_several, status
from mongo_tables.runner.sharding import ShardLook
from mongo_tables.runner.target import Machine
from mongo_tables.runner.warmup import WarmUp
from mongo_tables.runner.worker import Load

if TYPE_CHECKING:
    from pymongo import MongoClient

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

    def after_pass(self, seconds: float) -> Measurement:
        """The same, of a window before which all of its work was done once, in so many seconds."""
        return replace(self, outcome=replace(self.outcome, warmup=WarmUp("a pass before", seconds, seconds)))

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
