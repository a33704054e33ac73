"""An experiment on a target: whether it can run there, the state that its variants share, and the cleanup."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from mongo_tables.results.mongodb import keep_to_one_line
from mongo_tables.runner import cache_size, host, ownership, sharding
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.connection_strings import check_requests, driver_fault, selection_ms
from mongo_tables.runner.errors import KEPT, TargetError, WorkFailed
from mongo_tables.runner.experiment import Experiment
from mongo_tables.runner.load import Crew
from mongo_tables.runner.local_set import MEMBERS
from mongo_tables.runner.options import Options, has_rates
from mongo_tables.runner.ownership import close_beside
from mongo_tables.runner.servers import Servers
from mongo_tables.runner.store import Store
from mongo_tables.runner.target import (
    TIER,
    LocalTarget,
    Target,
    database_on,
    differing,
    drop_equal,
    variants_for,
)
from mongo_tables.runner.terminal import Progress
from mongo_tables.runner.wire.connection import check_driver
from mongo_tables.runner.worker import SELECTION_MS
from mongo_tables.runner.workloads import Config, workload

ABANDON_SECONDS = 0.3
ELECTION_MS = 12_000
IMPATIENT_MS = 1_500


@dataclass(slots=True)
class Run:
    """An experiment on a target, and the state that its variants share, such as the loaded data."""

    experiment: Experiment
    scaled: Experiment
    options: Options
    target: Target
    crew: Crew
    progress: Progress
    numbers: Sequence[int]
    """The numbers of the variants that are measured on this target."""
    side: str = ""
    """The name of the target if other targets measure the same variants side by side."""
    clients: dict[str, MongoClient[dict[str, Any]]] = field(default_factory=dict)
    loaded: dict[str, Config] = field(default_factory=dict)
    """The config with which each collection was loaded. Windows that need the same data use the collection again."""
    scanned: tuple[str, int] | None = None
    """The collection and the variant of the last window. If one of them changes, ``scanBefore`` reads the collection
    again."""
    not_varied: set[str] = field(default_factory=set)
    """Machine properties that variants required but did not get."""
    servers: dict[tuple[str, str], Servers] = field(default_factory=dict)
    baselines: dict[Path, Mapping[str, Any] | None] = field(default_factory=dict)
    name: str = field(default_factory=lambda: uuid4().hex)
    """The unique id of the run."""
    claimed: bool = False
    """Whether the run's database is on the current deployment."""

    def config(self, number: int) -> dict[str, Any]:
        """Return the parameters of a variant, after scaling, and the name of its workload."""
        return experiments.config_of(self.scaled, self.scaled.variants[number])

    @property
    def database(self) -> str:
        """The name of the database that the run creates and drops."""
        return database_on(self.experiment, self.target.named)

    @property
    def repeats(self) -> int:
        """The number of measurements of each variant."""
        return self.options.repeats or self.experiment.repeats

    @property
    def prefix(self) -> str:
        """The name of the target as a prefix of messages, or "" if there is only one target."""
        return f"{self.target.named.name}: " if self.target.named.name else ""

    @property
    def client(self) -> MongoClient[dict[str, Any]]:
        """Return a client of the current deployment, on which the run's database exists."""
        uri = self.target.uri
        if uri not in self.clients:
            # The deployment has changed: the loaded data is gone.
            for old in self.clients.values():
                close_beside(old)
            self.clients.clear()
            self.loaded.clear()
            self.scanned = None
            keep_to_one_line()
            self.claimed = False
            self.clients[uri] = _open_client(uri)
            ownership.claim(self.clients[uri], self.database, self.name)
            self.claimed = True
        return self.clients[uri]

    def abandon(self, patience_ms: int, reason: str = "") -> None:
        """Drop the run's database after a failure, if there is a primary within ``patience_ms`` milliseconds.

        A deployment that ends with the run stays as it is. If the database is left, a note says so. A note also gives
        the ``reason`` of the failure before the method waits for a primary.
        """
        self.crew.dismiss()
        if self.target.ends_with_run:
            return
        try:
            # A request that is still in progress could create the database again.
            time.sleep(ABANDON_SECONDS)
            for uri, client in self.clients.items():
                patience = _patience_ms(client, uri, patience_ms)
                if reason and not client.topology_description.has_writable_server():
                    self.progress.note(
                        f"{reason}; waiting up to {patience / 1000:g} s for a primary to drop the database "
                        f"{self.database!r}"
                    )
                with (
                    suppress(PyMongoError),
                    MongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=patience) as last,
                ):
                    ownership.drop(last, self.database, self.name)
                    client.close()  # without a reachable server, ``close`` would wait
                    self.claimed = False
            self.clients.clear()
        finally:
            if self.claimed:  # also if Ctrl-C interrupts the cleanup
                self.progress.note(
                    f"{self.prefix}the database {self.database!r} is left on {self.target.name}: the next run of "
                    f"{self.experiment.name} there drops it; so does mongosh with "
                    f"db.getSiblingDB({json.dumps(self.database)}).dropDatabase()"
                )


def _open_client(uri: str) -> MongoClient[dict[str, Any]]:
    """Return a client that has found a primary. Raises PyMongoError or TargetError as ``check_driver`` does."""
    patience = selection_ms(uri, SELECTION_MS)
    client = MongoClient[dict[str, Any]](
        uri, appname="mongo-tables run", serverSelectionTimeoutMS=patience, retryReads=False
    )
    try:
        check_driver(client)  # workers could not report the error with its hint
    except BaseException:
        client.close()
        raise
    return client


def _patience_ms(client: MongoClient[dict[str, Any]], uri: str, most: int) -> int:
    """Return how long to wait for a primary: up to ``most``, or less if no server answers, because all may be gone."""
    if not client.topology_description.has_known_servers:
        most = min(most, IMPATIENT_MS)
    return min(most, selection_ms(uri, most))


def check_possible(experiment: Experiment, options: Options, target: Target, store: Store) -> None:
    """Raise TargetError if the experiment cannot run with these options."""
    name, kind = experiment.name, workload(experiment.workload)
    configs = list(experiments.configs(experiment))
    differ = differing(experiment, variants_for(experiment, target.named))
    if differ and not target.ends_with_run and not options.as_is:
        raise TargetError(
            f"the variants of {name} differ in {', '.join(differ)}, and {target.name} is one machine",
            f"name a target for each {TIER} (--target M30=… --target M40=…), or measure all of them on this one with "
            "--as-is: then their rows differ only by noise",
        )
    if kind.holds_members and not isinstance(target, LocalTarget):
        raise TargetError(
            f"{name} locks or stops members of the deployment",
            "use --target local, the only target that permits this",
        )
    if target.ends_with_run and any(sharding.SHARD_KEY in config for config in configs):
        raise TargetError(
            f"{name} shards its collection, and a local target has no shards",
            "name a mongos of a sharded cluster: --target mongodb://…",
        )
    _check_rates(experiment, options)
    asked = {"reference": experiment.reference, **({"members": MEMBERS} if kind.holds_members else {})}
    for config in configs:
        try:
            target.check_config({**asked, **config})
        except TargetError as error:
            raise TargetError(f"{name} {error.message}", error.hint) from None
        check_requests(config)
    _check_cache(experiment, options, target)
    if store.keeps_in(database := database_on(experiment, target.named)):
        raise TargetError(
            f"{name} drops the database {database!r} at its end, with all rows",
            "name another database for the rows with --output",
        )


def _check_cache(experiment: Experiment, options: Options, target: Target) -> None:
    """Raise TargetError if the target cannot have the cache of the experiment. An unknown cache is accepted."""
    scale = experiments.scale_of(experiment, options.scale)
    scaled = experiments.scale(experiment, scale)
    caches = [
        target.machine_for(*asked_of(experiment, scaled, scale, number)).get("cache_gb")
        for number in range(len(experiment.variants))
    ]
    known = [cache for cache in caches if cache]
    if experiment.control_of and not (known and min(known) >= cache_size.room_gb(experiment, scaled)):
        raise TargetError(
            f"{experiment.name} needs a cache for all of its data, which {target.name} cannot have",
            "use --target local without cacheGB, on a machine with enough memory",
        )
    if options.profile == "publish" and not options.as_is and known:
        cache_size.check_in_flight(experiment, scaled, min(known))


def _check_rates(experiment: Experiment, options: Options) -> None:
    """Raise TargetError if the experiment does not permit the requested rate or arrivals."""
    configs = list(experiments.configs(experiment))
    if options.rates and has_rates(experiment):
        raise TargetError(f"{experiment.name} has its own rates", "leave out --rate")
    if options.arrivals != "even" and not any(map(options.rates_of, configs)):
        raise TargetError(
            f"--arrivals {options.arrivals} needs a rate of operations, and {experiment.name} has none",
            "leave it out, or give a rate with --rate",
        )
    by_amount = any(workload(config["workload"]).plan(config) for config in configs)
    if len(options.rates) > 1 and not options.duration and by_amount:
        raise TargetError(
            f"{experiment.name} ends when its work is done, so the steps of the rate cannot be planned",
            "give the length of each window with --duration, or only one rate",
        )


def open_run(
    experiment: Experiment,
    options: Options,
    target: Target,
    crew: Crew,
    progress: Progress,
    side: str = "",
) -> Run:
    """Return a run that has not begun. ``side`` is the target's name if other targets measure the same variants."""
    options = replace(options, scale=experiments.scale_of(experiment, options.scale))
    if workload(experiment.workload).changes_primary:
        options = replace(options, on_error="reconnect", seconds=None, duration=None)
    scaled = experiments.scale(experiment, options.scale)
    numbers = choose_variants(experiment, options, target)
    return Run(experiment, scaled, options, target, crew, progress, numbers, side)


def choose_variants(experiment: Experiment, options: Options, target: Target) -> list[int]:
    """Return the numbers of the variants to measure on a target. Without ``as_is``, equal work is measured once."""
    numbers = variants_for(experiment, target.named)
    if options.as_is:
        return numbers
    scale = experiments.scale_of(experiment, options.scale)
    scaled = experiments.scale(experiment, scale)
    return drop_equal(
        experiment, numbers, lambda number: target.machine_for(*asked_of(experiment, scaled, scale, number))
    )


def asked_of(
    experiment: Experiment, scaled: Experiment, scale: float, number: int
) -> tuple[dict[str, Any], float, float]:
    """Return the requirements of a variant: its config, the wanted cache in GB, and the smallest cache in GB.

    The wanted cache has the same ratio to the data as the cache of the published run. The smallest cache has room for
    the concurrent work of every variant, so it is the same for all variants.
    """
    config = {"reference": experiment.reference, **experiments.config_of(scaled, scaled.variants[number])}
    wanted = cache_size.wanted_cache_gb(experiment.reference, experiment.variants[number], scale)
    return config, wanted, cache_size.room_gb(experiment, scaled)


def request(experiment: Experiment, options: Options, targets: Iterable[str]) -> dict[str, Any]:
    """Return the data that must be equal to resume a run.

    These are its work, the texts of its rows, the program, the targets and the options.
    """
    return {
        "experiment": experiment.digest,
        "wording": experiment.wording,
        "baseline": experiment.baseline,
        "program": host.harness(),
        "target": "; ".join(targets),
        **asdict(options),
        "rates": list(options.rates),
    }


@contextmanager
def explained_errors(run: Run, hint: str = "") -> Iterator[None]:
    """Raise errors of the driver, the target and the work as CommandError, with the target's reason if it knows one."""
    try:
        yield
    except PyMongoError as error:
        reason = run.target.fault() or driver_fault(error, run.target.uri)
        hint = hint or (KEPT if run.claimed else "")
        raise TargetError(f"{run.prefix}{run.target.name}: {reason}", hint) from None
    except TargetError as error:
        raise TargetError(f"{run.prefix}{error.message}", error.hint) from None
    except WorkFailed:
        if reason := run.target.fault():
            raise WorkFailed(f"{run.prefix}the work was given up: {reason}", KEPT) from None
        raise


def leave(run: Run) -> None:
    """Drop the database of a run that has measured everything, and close its clients.

    Raises TargetError if the deployment does not answer any more.
    """
    hint = f"everything is measured; --resume drops the database {run.database!r}"
    with explained_errors(run, hint):
        # A run without a client had nothing left to measure, but its killed predecessor may have left the database.
        opened = [*run.clients.values()] or ([] if run.target.ends_with_run else [run.client])
        for client in opened:
            ownership.drop(client, run.database, run.name)
            client.close()
        run.clients.clear()
        run.claimed = False
