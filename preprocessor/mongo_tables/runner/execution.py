"""An experiment from its first variant to its last row."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mongo_tables.results.driverlog import keep_to_one_line
from mongo_tables.runner import (
    cache_size,
    clientlimits,
    host,
    littleslaw,
    ownership,
    result_rows,
    sharding,
    slice_windows,
    warmup,
    window_lengths,
)
from mongo_tables.runner import experiment as experiments
from mongo_tables.runner.connection_strings import driver_fault, selection_ms
from mongo_tables.runner.driving import Arrivals
from mongo_tables.runner.errors import KEPT, NOTHING_KEPT, TargetError, WorkFailed
from mongo_tables.runner.experiment import Experiment
from mongo_tables.runner.journal import Place, SlicesPlace
from mongo_tables.runner.load import Crew
from mongo_tables.runner.local_set import MEMBERS
from mongo_tables.runner.measurement import Measurement, measure, measure_change, settle
from mongo_tables.runner.measurement import conclude_change as conclude_change
from mongo_tables.runner.named_targets import (
    ALONE,
    TIER,
    NamedTarget,
    database_on,
    differing,
    drop_equal,
    variants_for,
)
from mongo_tables.runner.ownership import Heartbeat, close_beside
from mongo_tables.runner.progress import Progress
from mongo_tables.runner.request_options import Kind, OnError, conflict, request_options
from mongo_tables.runner.sampling import BusyProcessors
from mongo_tables.runner.servers import Servers, ask_servers, cache_bytes, topology
from mongo_tables.runner.slices import plan_slices
from mongo_tables.runner.store import Store
from mongo_tables.runner.target import LocalTarget, Machine, Target, wanted_cache_gb
from mongo_tables.runner.window_lengths import PROFILES, least_batches
from mongo_tables.runner.wire.connection import check_driver
from mongo_tables.runner.worker import SELECTION_MS, Load
from mongo_tables.runner.workloads import Config, workload

if TYPE_CHECKING:
    from pymongo import MongoClient

PRELOAD_CONNECTIONS = 4
MOST_FAILED = 0.05
"""The share of requests that may fail."""
RATE = "operationsPerSecond"
"""The parameter by which an experiment says what ``--rate`` says of all of its variants."""
ABANDON_SECONDS = 0.3
ELECTION_MS = 12_000
IMPATIENT_MS = 1_500


@dataclass(frozen=True, slots=True)
class Options:
    """How a run was asked for; ``repeats`` None means as often as the experiment says."""

    scale: float
    seconds: float | None
    repeats: int | None
    seed: int
    client: Kind
    rates: tuple[float, ...] = ()
    arrivals: Arrivals = "even"
    on_error: OnError = "stop"
    duration: float | None = None
    as_is: bool = False
    """Whether variants that ask for another machine are measured on the one that is there."""
    profile: str | None = None
    batch_seconds: float | None = None
    """What ``seconds`` is for windows of batches."""
    paced_seconds: float | None = None
    """The same for work that paces itself."""
    slices: float | None = None
    """Seconds of the slices in which targets side by side take turns too; None for none."""

    @property
    def lengthens(self) -> bool:
        """Whether a window with few requests is made longer."""
        return self.profile is None or PROFILES[self.profile].lengthens


@dataclass(slots=True)
class Run:
    """An experiment on a target: what its variants share, and what is loaded there at the moment."""

    experiment: Experiment
    scaled: Experiment
    options: Options
    target: Target
    crew: Crew
    progress: Progress
    numbers: Sequence[int]
    """Of the variants that are measured on this target."""
    named: NamedTarget = ALONE
    side: str = ""
    """The name of the target where the variants are measured on others too, side by side."""
    clients: dict[str, MongoClient[dict[str, Any]]] = field(default_factory=dict)
    loaded: dict[str, Config] = field(default_factory=dict)
    """What is in each collection, which serves every window that finds the same."""
    scanned: tuple[str, int] | None = None
    """The collection that was read as a whole before the last window, and that window's variant."""
    not_varied: set[str] = field(default_factory=set)
    """What variants asked of the machine and did not get."""
    servers: dict[tuple[str, str], Servers] = field(default_factory=dict)
    baselines: dict[Path, Mapping[str, Any] | None] = field(default_factory=dict)
    name: str = field(default_factory=lambda: uuid4().hex)
    """What no other run is called."""
    claimed: bool = False
    """Whether our database is there, on the deployment that runs now."""
    heartbeat: Heartbeat | None = None
    """For a deployment on which others could take our database."""

    @property
    def client(self) -> MongoClient[dict[str, Any]]:
        """A client of the deployment that runs now, which has our database."""
        uri = self.target.uri
        if uri not in self.clients:
            # Another deployment than before: what was loaded went with the old one.
            for old in self.clients.values():
                close_beside(old)
            self.clients.clear()
            self.loaded.clear()
            self.scanned = None
            keep_to_one_line()
            self._stop_heartbeat()
            self.claimed = False
            self.clients[uri] = _open_client(uri)
            ownership.claim(self.clients[uri], self.database, self.name)
            self.claimed = True
            if not self.target.ends_with_run:
                self.heartbeat = Heartbeat(self.clients[uri], self.database, self.name)
        return self.clients[uri]

    def leave(self) -> None:
        """Drop our database and close the client."""
        self._stop_heartbeat()
        for client in self.clients.values():
            ownership.drop(client, self.database, self.name)
            client.close()
        self.clients.clear()
        self.claimed = False

    def _stop_heartbeat(self) -> None:
        if self.heartbeat is not None:
            self.heartbeat.stop()
        self.heartbeat = None

    def abandon(self, patience_ms: int, reason: str = "") -> None:
        """Leave after a failure, if a primary is found in that time; a deployment that ends too is left as it is.

        What stays is said, and the reason before a primary is waited for.
        """
        self.crew.dismiss()
        self._stop_heartbeat()
        if self.target.ends_with_run:
            return
        try:
            # What the server was doing for a worker would make our database again after it was dropped.
            time.sleep(ABANDON_SECONDS)
            for uri, client in self.clients.items():
                patience = _patience_ms(client, uri, patience_ms)
                if reason and not client.topology_description.has_writable_server():
                    self.progress.note(
                        f"{reason}; now a primary is waited for, up to {patience / 1000:g} s, to drop the database "
                        f"{self.database!r}"
                    )
                if self._drop_late(uri, patience):
                    client.close()  # only when there is somebody to say goodbye to, else it waits
                    self.claimed = False
            self.clients.clear()
        finally:
            if self.claimed:  # also where somebody presses Ctrl-C again
                self.progress.note(
                    f"{_named(self)}the database {self.database!r} is left on {self.target.name}: the next run of "
                    f"{self.experiment.name} there drops it, or mongosh with "
                    f"db.getSiblingDB({json.dumps(self.database)}).dropDatabase()"
                )

    def _drop_late(self, uri: str, patience_ms: int) -> bool:
        """Drop our database if a primary is found in that time; whether it is gone."""
        from pymongo import MongoClient
        from pymongo.errors import PyMongoError

        try:
            with MongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=patience_ms) as last:
                ownership.drop(last, self.database, self.name)
        except PyMongoError:
            return False
        return True

    @property
    def database(self) -> str:
        """Name of the database that the run makes and drops."""
        return database_on(self.experiment, self.named)

    @property
    def repeats(self) -> int:
        """How often each variant is measured."""
        return self.options.repeats or self.experiment.repeats


def _open_client(uri: str) -> MongoClient[dict[str, Any]]:
    """A client that has found a primary, raises what the driver does where there is none, and TargetError."""
    from pymongo import MongoClient

    client = MongoClient[dict[str, Any]](
        uri,
        appname="mongo-tables run",
        serverSelectionTimeoutMS=selection_ms(uri, SELECTION_MS),
        retryReads=False,
    )
    try:
        check_driver(client)  # here, where there is a hint beside the complaint
    except BaseException:
        client.close()
        raise
    return client


def _patience_ms(client: MongoClient[dict[str, Any]], uri: str, most: int) -> int:
    """How long a primary is worth waiting for: where no server answers at all, none will be elected."""
    if not client.topology_description.has_known_servers:
        most = min(most, IMPATIENT_MS)
    return min(most, selection_ms(uri, most))


def obstacle(
    experiment: Experiment, options: Options, target: Target, store: Store, named: NamedTarget = ALONE
) -> tuple[str, str] | None:
    """Why the experiment cannot be run so, and the remedy; None when nothing is in the way."""
    traits = workload(experiment.workload)
    if fixed := _fixed_machine(experiment, options, target, named):
        return fixed
    disturbs = traits.holds_members or (traits.changes_primary and target.ends_with_run)
    if disturbs and not isinstance(target, LocalTarget):
        return f"{experiment.name} holds up members of the deployment", "it runs on --target local only"
    if target.ends_with_run and sharding.wants_shards(experiments.configs(experiment)):
        return (
            f"{experiment.name} shards its collection, and a local target has no shards",
            "it runs on --target mongodb://… with the mongos of a sharded cluster only",
        )
    if traits.changes_primary and options.client != "wire":
        return (
            f"{experiment.name} opens connections again, which PyMongo does by itself",
            "it runs without --client",
        )
    if rates := _other_rates(experiment, options):
        return rates
    if other := _other_set(experiment, target):
        return other
    if store.keeps_in(database := database_on(experiment, named)):
        return (
            f"{experiment.name} drops the database {database!r} at its end, with all rows",
            "name another for the rows with --output",
        )
    conflicts = (
        conflict(config, options.client, options.on_error) for config in experiments.configs(experiment)
    )
    return next(filter(None, conflicts), None)


def _other_rates(experiment: Experiment, options: Options) -> tuple[str, str] | None:
    """Why operations cannot start when the options say."""
    if options.rates and has_rates(experiment):
        return f"{experiment.name} has rates of its own", "it runs without --rate only"
    rates = (_rates(options, config) for config in experiments.configs(experiment))
    if options.arrivals != "even" and not any(rates):
        return (
            f"--arrivals {options.arrivals} spreads operations that have a rate, and {experiment.name} has none",
            "leave it out, or name a rate with --rate",
        )
    return window_lengths.steps_without_length(experiment, options.rates, options.duration)


def has_rates(experiment: Experiment) -> bool:
    """Whether the experiment says itself how many operations are to start in a second."""
    paces_itself = workload(experiment.workload).paces_itself
    return paces_itself or any(RATE in config for config in experiments.configs(experiment))


def _rates(options: Options, config: Config) -> tuple[float, ...]:
    """Operations a second of a variant, in steps; empty for as many as can be."""
    return (float(config[RATE]),) if RATE in config else options.rates


def _other_set(experiment: Experiment, target: Target) -> tuple[str, str] | None:
    """Why the target is no set as any variant asks for."""
    holds = workload(experiment.workload).holds_members
    members = {"members": MEMBERS} if holds else {}
    asked = {"reference": experiment.reference, **members}
    refused = (target.obstacle({**asked, **config}) for config in experiments.configs(experiment))
    found = next(filter(None, refused), None)
    return (f"{experiment.name} {found[0]}", found[1]) if found else None


def _fixed_machine(
    experiment: Experiment, options: Options, target: Target, named: NamedTarget
) -> tuple[str, str] | None:
    """Why variants that ask for different machines cannot be told apart on a deployment that was given."""
    names = differing(experiment, variants_for(experiment, named))
    if not names or target.ends_with_run or options.as_is:
        return None
    return (
        f"the variants of {experiment.name} differ in {', '.join(names)}, and {target.name} is one machine",
        f"name a target for each {TIER} (--target M30=… --target M40=…), or measure all on this one with "
        "--as-is: their rows then differ by noise",
    )


def open_run(
    experiment: Experiment,
    options: Options,
    target: Target,
    crew: Crew,
    progress: Progress,
    named: NamedTarget = ALONE,
    side: str = "",
) -> Run:
    """Give a run that has not begun; ``side`` is what tells its rows from those of other targets."""
    options = replace(options, scale=experiments.scale_of(experiment, options.scale))
    if workload(experiment.workload).changes_primary:
        options = replace(options, on_error="reconnect", seconds=None, duration=None)
    scaled = experiments.scale(experiment, options.scale)
    numbers = choose_variants(experiment, options, target, named)
    return Run(experiment, scaled, options, target, crew, progress, numbers, named, side)


def choose_variants(
    experiment: Experiment, options: Options, target: Target, named: NamedTarget = ALONE
) -> list[int]:
    """Numbers of the variants that are measured on a target: without ``as_is`` only once what would be the same."""
    numbers = variants_for(experiment, named)
    if options.as_is:
        return numbers
    scale = experiments.scale_of(experiment, options.scale)
    scaled = experiments.scale(experiment, scale)

    def machine_for(number: int) -> Mapping[str, Any]:
        return target.machine_for(*_asked(experiment, scaled, scale, number), _room_gb(scaled))

    return drop_equal(experiment, numbers, machine_for)


def request(experiment: Experiment, options: Options, targets: Sequence[str]) -> dict[str, Any]:
    """What makes two runs the same one: what is done, the words that rows have for it, the program, the options."""
    return {
        "experiment": experiment.digest,
        "wording": experiment.wording,
        "baseline": experiment.baseline,
        "program": host.harness(),
        "target": "; ".join(targets),
        **asdict(options),
        "rates": list(options.rates),
    }


def _asked(
    experiment: Experiment, scaled: Experiment, scale: float, number: int
) -> tuple[dict[str, Any], float]:
    """What a target is asked for: the config of a variant, the published machine in it, and a cache in GB.

    That keeps its ratio to the data.
    """
    config = {"reference": experiment.reference, **scaled.parameters, **scaled.variants[number]}
    return config, wanted_cache_gb(experiment.reference, experiment.variants[number], scale)


def measure_window(run: Run, place: Place, in_turn: int, and_back: bool, hint: str) -> dict[str, Any]:
    """Measure a variant once, in a block of ``in_turn`` variants that may go back; give its row.

    Raises RunnerError, with the hint where it is the deployment that does not answer.
    """
    with _complaints_told(run, hint):
        return _window(run, place, in_turn, and_back)


@contextmanager
def _complaints_told(run: Run, hint: str) -> Iterator[None]:
    """Raises RunnerError for what the deployment or the driver complains of, with what the target knows of it."""
    from pymongo.errors import PyMongoError

    try:
        yield
    except PyMongoError as error:
        reason = run.target.fault() or driver_fault(error, run.target.uri)
        hint = hint or (NOTHING_KEPT if run.claimed else "")
        raise TargetError(f"{_named(run)}{run.target.name}: {reason}", hint) from None
    except TargetError as error:
        raise TargetError(f"{_named(run)}{error.message}", error.hint) from None
    except WorkFailed:
        if reason := run.target.fault():
            raise WorkFailed(f"{_named(run)}the work was given up: {reason}", KEPT) from None
        raise


def leave(run: Run) -> None:
    """Leave nothing on the target of a run for which everything is measured.

    Raises TargetError when the deployment does not answer any more.
    """
    with _complaints_told(
        run, f"everything is measured; with --resume the database {run.database!r} is dropped"
    ):
        if not run.clients and not run.target.ends_with_run:
            # Nothing was left to measure: a run that was killed behind its last window may have left its database.
            ownership.drop(run.client, run.database, run.name)
        run.leave()


def _named(run: Run) -> str:
    """Of several targets, the one that a complaint is about."""
    return f"{run.named.name}: " if run.named.name else ""


def _window(run: Run, place: Place, in_turn: int, and_back: bool) -> dict[str, Any]:
    number = place.turn.variant
    config, machine = _prepare_machine(run, number)
    baseline = _disk_baseline(run, machine) if config.get("diskBaseline") else None
    run.progress.begin(_label(run, place), 0)
    measurement = _measurement(run, place, machine)
    run.progress.end("; ".join((_said(measurement), *_doubts(run, measurement, config))))
    servers = _servers(run, machine, seen=measurement.source is not None, change=measurement.change)
    shrunk = {} if run.target.cache_shrunk is None else {"cache_shrunk": run.target.cache_shrunk}
    options = run.options
    limit = window_lengths.longest_seconds(run.scaled.workload, config, options)
    context = result_rows.Context(
        machine=replace(machine, topology={**topology(servers, machine.topology), **shrunk}),
        servers=servers,
        target=run.target.name,
        target_name=run.named.name,
        side=run.side,
        versions=host.versions(run.client.server_info()),
        hardware=host.hardware(machine.data_directory),
        scale=run.options.scale,
        seconds=min(filter(None, (run.options.duration, limit)), default=None),
        seed=run.options.seed,
        client=run.options.client,
        scheduling=run.crew.scheduling,
        lengthens=bool(run.options.duration),
        rates=_rates(run.options, config),
        arrivals=run.options.arrivals,
        on_error=run.options.on_error,
        profile=run.options.profile,
        disk_baseline=baseline,
        in_turn=in_turn,
        and_back=and_back,
        block=place.block,
        again=place.turn.again,
        back=place.turn.back,
    )
    return result_rows.compose(run.experiment, run.scaled, number, measurement, context)


def _prepare_machine(run: Run, number: int) -> tuple[Config, Machine]:
    """Have the deployment run that the variant asks for; give what it asks and what runs."""
    config, cache_gb = _asked(run.experiment, run.scaled, run.options.scale, number)
    machine = run.target.prepare(config, cache_gb, _room_gb(run.scaled))
    run.not_varied.update(machine.not_varied)
    run.scaled = cache_size.sized(run.scaled, number, lambda: cache_bytes(run.client))
    return config, machine


def _room_gb(scaled: Experiment) -> float:
    """The least cache that has room for what any variant has under way: all of them get the same."""
    return max(cache_size.room_gb(scaled.workload, config) for config in experiments.configs(scaled))


def _servers(run: Run, machine: Machine, *, seen: bool = True, change: str | None = None) -> dict[str, Any]:
    """What the servers say of themselves, asked once for each deployment and each cache that it is given.

    ``seen`` is whether their machine was seen in the window, ``change`` how the one that counts became another in it.
    """
    client = run.client
    known = (run.target.uri, repr(machine.topology))
    if known not in run.servers:
        run.servers[known] = ask_servers(run.target.uri)
        _say_what_is_not_known(run, run.servers[known])
    # A server of an older version does not tell its processor; where it runs here, this machine does.
    here = host.hardware(None)["cpu"] if machine.data_directory else ""
    return run.servers[known].describe(client.primary, here, seen=seen, change=change)


def _say_what_is_not_known(run: Run, servers: Servers) -> None:
    """Say on the terminal which roles would permit what rows of this run will not have."""
    roles: dict[str, list[str]] = {}
    for one in servers.not_known:
        if "role" in one:
            roles.setdefault(one["role"], []).append(one["what"])
    for role, commands in roles.items():
        run.progress.begin(f"not permitted without the role {role}:", 0)
        run.progress.end(", ".join(commands))


def _disk_baseline(run: Run, machine: Machine) -> Mapping[str, Any] | None:
    """Measured once for each deployment; None when its disk is elsewhere."""
    place = machine.data_directory
    if place is None:
        return None
    if place not in run.baselines:
        run.baselines[place] = host.measure_disk(place)
    return run.baselines[place]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A window for which everything is there: what is loaded and warm, and whether it had been written to disk."""

    load: Load
    config: Config
    settled: bool
    passed: float | None
    """Seconds of the pass before, where there was one."""


def _prepare(run: Run, number: int, seed: str) -> _Prepared:
    """Bring the target into the state in which a window of this variant begins."""
    kind = workload(run.scaled.workload)
    database = run.client[run.database]  # with another deployment than before, nothing is loaded
    config = _with_own_collection(run, {**run.scaled.parameters, **run.scaled.variants[number]})
    load = _load(run, config, f"{seed}/measured")
    _fill(run, load, config)
    kind.reset(database, config)
    # What was just loaded is dirty, and would stay in the cache in place of what is read.
    settled = settle(run.client)
    run.target.give_cache()
    _scan(run, number, config)
    passed = None
    if run.experiment.warm and not load.lead:
        # Other random numbers than in the measured window: else its keys would be warm, whatever the size.
        passed = run.crew.perform(replace(load, seed=f"{seed}/warm")).seconds
        kind.reset(database, config)
        settled = settle(run.client)
    if run.heartbeat is not None:
        run.heartbeat.beat()
    if not request_options(run.client, config).reads_primary:
        ownership.wait_for_members(run.client, run.database)
    return _Prepared(load, config, settled, passed)


def _measurement(run: Run, place: Place, machine: Machine) -> Measurement:
    kind = workload(run.scaled.workload)
    prepared = _prepare(run, place.turn.variant, _seed(run, place))
    load = prepared.load
    if kind.changes_primary:
        _servers(run, machine)  # while all of them answer: a member that was killed would be waited for
    plan = None if run.options.duration else kind.plan(load.config)
    run.progress.begin(_label(run, place), plan.operations if plan else 0)
    measurement = replace(_measured(run, load, machine), settled=prepared.settled)
    if prepared.passed is not None:
        measurement = measurement.after_pass(prepared.passed)
    _check_target(run)
    if (found := run.target.monitored(measurement.start_time, measurement.end_time)) is not None:
        measurement = measurement.beside(found)
    if kind.changes_primary:
        return conclude_change(run.client, load, measurement)
    _check_errors(measurement)
    return replace(measurement, conclusion=kind.conclude(run.client[run.database], prepared.config))


def _seed(run: Run, place: Place) -> str:
    """The seed of a window; it has no target in it, so that all targets are asked the same."""
    again = "/again" if place.turn.again else ""
    back = "/back" if place.turn.back else ""
    return f"{run.options.seed}/{run.experiment.name}/{place.turn.variant}/{place.block}{again}{back}"


def _check_target(run: Run) -> None:
    """Raises RunnerError where a window cannot count: a member has ended, or the database is another run's."""
    if reason := run.target.fault(patience=0):
        # A majority may have gone on without it, and that is another deployment than the row would tell of.
        raise WorkFailed(f"the work was given up: {reason}", KEPT)
    ownership.check(run.client, run.database, run.name)


def can_alternate(run: Run, number: int) -> bool:
    """Whether the variant can take turns in slices: its windows begin in the middle of the work, and add nothing."""
    config = {**run.scaled.parameters, **run.scaled.variants[number]}
    return not _rates(run.options, config) and warmup.has_lead(run.scaled.workload, config)


def measure_slices(
    runs: tuple[Run, Run], place: SlicesPlace, width: float, campaign: str, hint: str
) -> dict[str, Any]:
    """Have a variant take turns on two targets, which may be one, in slices of so many seconds; give what both did.

    Which target is prepared last is drawn, and who is first in each pair of slices, in each campaign anew: else what
    the one leaves to the other would be the same in all of them. A variant that is warmed before its windows takes
    turns before it counts.
    """
    one, other = runs
    seed = f"{one.options.seed}/{one.experiment.name}/{place}"
    order = f"{seed}/{campaign}"
    slices = plan_slices(width, order, warm=one.experiment.warm)
    loads: dict[int, Load] = {}
    servers: set[int] = set()
    for number in random.Random(order).sample((0, 1), 2):
        with _complaints_told(runs[number], hint):
            _, machine = _prepare_machine(runs[number], place.variant)
            loads[number] = _prepare(
                runs[number], place.variant, f"{seed}/{number if one is other else ''}"
            ).load
            servers.update(machine.pids)
    one.progress.begin(_label_of_slices(runs, place), 0)
    with _complaints_told(other, hint):
        processors = BusyProcessors(servers, one.crew.pids)
        done = one.crew.alternate((loads[0], loads[1]), slices, opened=processors.look, over=processors.look)
        for run, side in zip(runs, done, strict=True):
            _check_target(run)
            _check_share(side.failures.counts(), side.requests, run.side)
    window = slice_windows.compose(place, slices, done, processors.found())
    names = (one.side, other.side) if one.side else ("one side", "the other side")
    one.progress.end(slice_windows.describe(window, names))
    return window


def _label_of_slices(runs: tuple[Run, Run], place: SlicesPlace) -> str:
    one, other = runs
    both = f"{one.side} and {other.side}" if one.side else "with itself"
    again = ", measured again" if place.attempt else ""
    return f"{one.experiment.name} {place.variant + 1}: {both} in slices{again}"


def _measured(run: Run, load: Load, machine: Machine) -> Measurement:
    if workload(load.workload).changes_primary and isinstance(run.target, LocalTarget):
        return measure_change(run.target, run.crew, load, machine, run.progress.update)
    return measure(run.client, run.crew, load, machine, run.progress.update)


def _check_errors(measurement: Measurement) -> None:
    """Raise WorkFailed where so many requests failed that the speed is that of failing."""
    outcome = measurement.outcome
    # Not of ``latencies``: with a rate, those have what was never sent.
    answered = sum(sum(counts.values()) for counts in outcome.latencies_by_kind.values())
    _check_share(outcome.errors, answered)


def _check_share(errors: Mapping[str, int], answered: int, side: str = "") -> None:
    """Raise WorkFailed where too many requests failed of those that were sent to a target."""
    failed = sum(errors.values())
    if failed > MOST_FAILED * (failed + answered):
        of_side = f"{side}: " if side else ""
        raise WorkFailed(f"{of_side}{failed} of {failed + answered} requests failed: {_listed(errors)}", KEPT)


def _with_own_collection(run: Run, config: Config) -> dict[str, Any]:
    """The config, with a collection of its own for what its window finds there, where that can serve others too.

    Whatever variants find is loaded once that way, in whichever order they are measured. A pipeline may name its
    collection, so it has the one of the experiment.
    """
    kind = workload(run.scaled.workload)
    if not kind.keeps_data or kind.goes_on or "pipeline" in config:
        return dict(config)
    first = config["collection"]
    for name in chain([first], (f"{first}_{number}" for number in count(2))):
        own = {**config, "collection": name}
        if run.loaded.get(name) in (None, kind.preload(own)):
            break
    return own


def _scan(run: Run, number: int, config: Config) -> None:
    """Read all that is loaded, where a window asks for it, unless the last window had done so."""
    now = (config["collection"], number)
    if config.get("scanBefore") and run.scanned != now:
        cache_size.scan(run.client[run.database][config["collection"]])
    run.scanned = now


def _fill(run: Run, load: Load, config: Config) -> None:
    """Make the collection and load what has to be there, unless an earlier window left just that."""
    kind, name = workload(run.scaled.workload), config["collection"]
    first = kind.preload(config)
    if kind.keeps_data and first is not None and first == run.loaded.get(name):
        return
    run.loaded.pop(name, None)
    run.scanned = None
    kind.create(run.client[run.database], config)
    sharding.shard(run.client, run.client[run.database], config)
    if first is not None:
        run.target.give_room()
        _bring_in(run, load, first)
        run.loaded[name] = first


def _bring_in(run: Run, load: Load, missing: Mapping[str, Any]) -> None:
    """Load data, the same for every repeat: it is the work whose random numbers differ."""
    done = run.crew.perform(
        replace(
            load,
            workload=missing.get("workload", "insert"),
            config=_acknowledged(missing),
            seed=f"{run.options.seed}/{run.experiment.name}/preload",
            connections=min(PRELOAD_CONNECTIONS, missing["totalDocsToInsert"]),
            seconds=None,
            lead=0.0,
            rates=(),
        ),
        progress=run.progress.update,
    )
    if done.all_errors:
        raise WorkFailed(f"some documents could not be loaded: {_listed(done.all_errors)}", KEPT)


def _acknowledged(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The config with a write concern under which it is known what of the data is there, whatever the URI says."""
    concern = config.get("writeConcern", {"w": 0})
    return {**config, "writeConcern": concern if concern.get("w") != 0 else {"w": "majority"}}


def _listed(errors: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count} times)" for name, count in errors.items())


def _load(run: Run, config: Mapping[str, Any], seed: str) -> Load:
    name, duration = run.scaled.workload, run.options.duration
    traits = workload(name)
    config = window_lengths.with_enough_work(name, config, duration, least_batches(run.options.profile))
    limit = window_lengths.longest_seconds(name, config, run.options)
    seconds = window_lengths.window_seconds(config, limit, duration)
    rates = _rates(run.options, config)
    leads = run.experiment.warm and not rates and warmup.has_lead(name, config)
    lead, longest_lead = warmup.lead_seconds(seconds) if leads and seconds else (0.0, 0.0)
    if "testTimeSecs" in config:
        config = {**config, "testTimeSecs": seconds}  # some work has a course over its window
    return Load(
        uri=run.target.uri,
        database=run.database,
        workload=name,
        config=config,
        seed=seed,
        connections=config["numberOfThreads"],
        client=run.options.client,
        seconds=seconds,
        lead=lead,
        longest_lead=longest_lead,
        rates=rates,
        arrivals=run.options.arrivals,
        on_error=run.options.on_error,
        least=0
        if not run.options.lengthens or rates or traits.paces_itself or traits.whole
        else window_lengths.operations_of_requests(name, config, window_lengths.LEAST_REQUESTS),
    )


def _label(run: Run, place: Place) -> str:
    variants = len(run.experiment.variants)
    target = f" of {run.named.name}" if run.named.name else ""
    block = place.block + 1
    of_all = f"/{run.repeats}" if block <= run.repeats else ""  # how many there will be beyond is not known
    second = ", second of the reference" if place.turn.again else ""
    second += " on the way back" if place.turn.back else ""
    again = ", measured again" if place.attempt else ""
    where = f"{place.turn.variant + 1}/{variants}{target}, block {block}{of_all}"
    return f"{run.experiment.name} {where}{second}{again}"


def _said(measurement: Measurement) -> str:
    outcome = measurement.outcome
    speed = outcome.window.operations / outcome.seconds
    failed = f", {sum(outcome.errors.values())} errors" if outcome.errors else ""
    if outcome.lost:
        failed += f", {outcome.lost} connections lost, {outcome.without_service:.1f} s without service"
    if outcome.paced.unsent:
        failed += f", rate not reached: {outcome.paced.unsent:,} operations unsent"
    return f"{outcome.window.operations:,.0f} operations in {outcome.seconds:.1f} s: {speed:,.0f}/s{failed}"


def _doubts(run: Run, measurement: Measurement, config: Mapping[str, Any]) -> Iterator[str]:
    """What the figures of a window contradict, in a few words."""
    law = littleslaw.check_window(
        measurement.outcome, run.scaled.workload, _rates(run.options, config), config["numberOfThreads"]
    )
    if law and (remark := littleslaw.remark(law)):
        yield remark if measurement.outcome.steady else f"{remark}: the window is all of the work"
    if limited := clientlimits.remark(measurement.outcome):
        yield limited
    if run.target.cache_shrunk is False:
        yield "a member held more than its cache when the window came"
    if measurement.outcome.keeps_speed == "no":
        yield "the speed was not steady"
    if moved := sharding.remark(measurement.sharding):
        yield moved
    if measurement.change:
        yield measurement.change
