"""An experiment from its first variant to its last row."""

from __future__ import annotations

import time
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from preprocessor.results.driverlog import keep_to_one_line
from preprocessor.runner import (
    cachesize,
    diskbaseline,
    hostinfo,
    lengthening,
    littleslaw,
    ownership,
    primarychange,
    published,
    result,
    rounds,
    warmup,
    workingset,
)
from preprocessor.runner import experiment as experiments
from preprocessor.runner.addresses import driver_fault
from preprocessor.runner.clients import Kind
from preprocessor.runner.errors import KEPT, TargetError, WorkFailed
from preprocessor.runner.experiment import Experiment
from preprocessor.runner.honoured import check_options, conflict
from preprocessor.runner.journal import Journal
from preprocessor.runner.load import WorkerPool
from preprocessor.runner.machines import TIER, differing, variants_for
from preprocessor.runner.measure import Measurement, measure, settle
from preprocessor.runner.namedtargets import ALONE, NamedTarget
from preprocessor.runner.progress import Progress
from preprocessor.runner.requestoptions import request_options
from preprocessor.runner.resultcheck import check_result
from preprocessor.runner.schedule import Arrivals
from preprocessor.runner.servers import Servers, ask_servers, topology
from preprocessor.runner.serverstatus import cache_bytes
from preprocessor.runner.store import Store
from preprocessor.runner.target import LocalTarget, Machine, Target, wanted_cache_gb
from preprocessor.runner.worker import SELECTION_MS, Load, OnError
from preprocessor.runner.workloads import Concluding, Growing, workload

if TYPE_CHECKING:
    from pymongo import MongoClient

PRELOAD_CONNECTIONS = 4
MOST_FAILED = 0.05
"""The share of requests that may fail."""
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


@dataclass(slots=True)
class Run:
    """An experiment on a target: what its variants share, and what is loaded there at the moment."""

    experiment: Experiment
    scaled: Experiment
    options: Options
    target: Target
    crew: WorkerPool
    progress: Progress
    named: NamedTarget = ALONE
    clients: dict[str, MongoClient[dict[str, Any]]] = field(default_factory=dict)
    loaded: Mapping[str, Any] | None = None
    used: Mapping[str, Any] = field(default_factory=dict)
    """The config of the last window on what is loaded."""
    scanned: set[int] = field(default_factory=set)
    """Variants before which all that is loaded was read."""
    not_varied: set[str] = field(default_factory=set)
    """What variants asked of the machine and did not get."""
    servers: dict[tuple[str, str], Servers] = field(default_factory=dict)
    baselines: dict[Path, Mapping[str, Any] | None] = field(default_factory=dict)
    name: str = field(default_factory=lambda: uuid4().hex)
    """What no other run is called."""

    @property
    def client(self) -> MongoClient[dict[str, Any]]:
        """A client of the deployment that runs now, which has our database."""
        from pymongo import MongoClient

        uri = self.target.uri
        if uri not in self.clients:
            # Another deployment than before: what was loaded went with the old one.
            for old in self.clients.values():
                old.close()
            self.clients.clear()
            self.loaded = None
            keep_to_one_line()
            self.clients[uri] = MongoClient(
                uri, appname="mongo-tables run", serverSelectionTimeoutMS=SELECTION_MS, retryReads=False
            )
            check_options(self.clients[uri], self.options.client)
            ownership.claim(self.clients[uri], self.database, self.name)
        return self.clients[uri]

    def leave(self) -> None:
        """Drop our database and close the client."""
        for client in self.clients.values():
            ownership.drop(client, self.database, self.name)
            client.close()
        self.clients.clear()

    def abandon(self, patience_ms: int) -> None:
        """Leave after a failure, if a primary is found in that time; a deployment that ends too is left as it is."""
        from pymongo import MongoClient
        from pymongo.errors import PyMongoError

        self.crew.dismiss()
        if self.target.ends_with_run:
            return
        # What the server was doing for a worker would make our database again after it was dropped.
        time.sleep(ABANDON_SECONDS)
        for uri, client in self.clients.items():
            with suppress(PyMongoError):
                with MongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=patience_ms) as last:
                    ownership.drop(last, self.database, self.name)
                client.close()  # only when there is somebody to say goodbye to, else it waits
        self.clients.clear()

    @property
    def database(self) -> str:
        """Name of the database that the run makes and drops."""
        return str(self.experiment.parameters["database"])

    @property
    def numbers(self) -> list[int]:
        """Numbers of the variants that are measured on this target."""
        return variants_for(self.experiment, self.named)

    @property
    def repeats(self) -> int:
        """How often each variant is measured."""
        return self.options.repeats or self.experiment.repeats


def execute(run: Run, store: Store, journal: Journal) -> int:
    """Measure every variant of the target that the journal has not, and write its row at once; give their number.

    Where windows go on from each other, variants that the journal has are measured again for those it has not.

    Rows of variants that the experiment no longer has go to the history at the end; the figures that others
    published are written beside. Raises RunnerError; what was measured until then stays.
    """
    numbers = range(len(run.experiment.variants))
    missing: Collection[int] = [number for number in run.numbers if not journal.has(number)]
    with _abandoned_on_failure(run, journal):
        deployment = partial(_deployment, run)
        missing = rounds.to_measure(run.scaled, deployment, missing)
        for group in rounds.groups(run.scaled, deployment):
            _measure(run, [number for number in group if number in missing], len(group), store, journal)
        if not run.clients and not run.target.ends_with_run:
            # Nothing was left to measure: a run that was killed behind its last window may have left its database.
            ownership.drop(run.client, run.database, run.name)
        run.leave()
    store.retire(run.experiment.name, [result.row_id(run.experiment, number) for number in numbers])
    published.write(run.experiment, store)
    return len(missing)


@contextmanager
def _abandoned_on_failure(run: Run, journal: Journal) -> Iterator[None]:
    """Leave nothing behind whatever happens; raises RunnerError for what the deployment or the driver complains of."""
    from pymongo.errors import PyMongoError

    try:
        yield
    except PyMongoError as error:
        reason = run.target.fault() or driver_fault(error, run.target.uri)
        run.abandon(IMPATIENT_MS)  # a primary was waited for already
        raise TargetError(f"{run.target.name}: {reason}", KEPT if journal.kept else "") from None
    except WorkFailed as error:
        reason = run.target.fault()
        run.abandon(ELECTION_MS)
        raise WorkFailed(f"the work was given up: {reason}", KEPT) if reason else error from None
    except Exception:
        run.abandon(ELECTION_MS)
        raise
    except BaseException:
        run.abandon(IMPATIENT_MS)  # whoever presses Ctrl-C does not wait for an election
        raise


def _measure(run: Run, numbers: Sequence[int], in_turn: int, store: Store, journal: Journal) -> None:
    """Measure these variants in rounds; the row of each is written when it has all its repeats.

    They are those of ``in_turn`` variants whose rows are missing: the others were measured in turn with them before
    the run was cut off.
    """
    windows: dict[int, list[dict[str, Any]]] = {number: [] for number in numbers}
    for repeat in range(run.repeats):
        for number in numbers:
            window = None if workload(run.scaled.workload).TRAITS.goes_on else journal.window(number, repeat)
            if window is None:
                window = _window(run, number, repeat, in_turn)
                journal.keep_window(number, repeat, window)
            windows[number].append(window)
            if repeat + 1 == run.repeats:
                row = result.gather(windows.pop(number))
                check_result(row)
                store.put(row)
                journal.note(number, row)


def obstacle(
    experiment: Experiment, options: Options, target: Target, store: Store, named: NamedTarget = ALONE
) -> tuple[str, str] | None:
    """Why the experiment cannot be run so, and the remedy; None when nothing is in the way."""
    traits = workload(experiment.workload).TRAITS
    if fixed := _fixed_machine(experiment, options, target, named):
        return fixed
    if traits.holds_members and not target.ends_with_run:
        return f"{experiment.name} holds up members of the deployment", "it runs on --target local only"
    if traits.changes_primary and options.client != "wire":
        return (
            f"{experiment.name} opens connections again, which PyMongo does by itself",
            "it runs without --client",
        )
    if (traits.paces_itself or traits.changes_primary) and options.rates:
        return f"{experiment.name} has rates of its own", "it runs without --rate only"
    if store.keeps_in(database := experiment.parameters["database"]):
        return f"{experiment.name} drops the database {database!r} at its end, with all rows", "name another"
    conflicts = (conflict(config, options.client) for config in experiments.configs(experiment))
    return next(filter(None, conflicts), None)


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
    crew: WorkerPool,
    progress: Progress,
    named: NamedTarget = ALONE,
) -> Run:
    """Give a run that has not begun."""
    options = replace(options, scale=experiments.scale_of(experiment, options.scale))
    if workload(experiment.workload).TRAITS.changes_primary:
        rate = float(experiment.parameters["operationsPerSecond"])
        options = replace(options, on_error="reconnect", rates=(rate,), seconds=None, duration=None)
    scaled = experiments.scale(experiment, options.scale)
    return Run(experiment, scaled, options, target, crew, progress, named)


def request(experiment: Experiment, options: Options, targets: Sequence[str]) -> dict[str, Any]:
    """What makes two runs the same one: what is done, the words that rows have for it, the options, the targets."""
    return {
        "experiment": experiment.digest,
        "wording": experiment.wording,
        "target": "; ".join(targets),
        **asdict(options),
        "rates": list(options.rates),
    }


def _asked(run: Run, number: int) -> tuple[dict[str, Any], float]:
    """What a target is asked for: the config of a variant, and the cache in GB that keeps its ratio to the data."""
    config = {**run.scaled.parameters, **run.scaled.variants[number]}
    variant = run.experiment.variants[number]
    return config, wanted_cache_gb(run.experiment.reference, variant, run.options.scale)


def _deployment(run: Run, number: int) -> Hashable:
    """What a variant runs on: variants of other targets are no neighbours of those of this one."""
    return number in run.numbers, run.target.deployment(*_asked(run, number))


def _window(run: Run, number: int, repeat: int, in_turn: int) -> dict[str, Any]:
    """Measure one repeat of a variant, ``in_turn`` of which are measured in turn; give its row."""
    config, cache_gb = _asked(run, number)
    machine = run.target.prepare(config, cache_gb, cachesize.room_gb(run.scaled.workload, config))
    run.not_varied.update(machine.not_varied)
    run.scaled = workingset.sized(run.scaled, number, lambda: cache_bytes(run.client))
    baseline = _disk_baseline(run, machine) if config.get("diskBaseline") else None
    run.progress.begin(_label(run, number, repeat), 0)
    measurement = _repeat(run, number, repeat, machine)
    run.progress.end("; ".join((_said(measurement), *_doubts(run, measurement, config))))
    servers = _servers(run, machine)
    shrunk = {} if run.target.cache_shrunk is None else {"cache_shrunk": run.target.cache_shrunk}
    context = result.Context(
        machine=replace(machine, topology={**topology(servers, machine.topology), **shrunk}),
        servers=servers,
        target=run.target.name,
        target_name=run.named.name,
        versions=hostinfo.versions(run.client.server_info()),
        hardware=hostinfo.hardware(machine.data_directory),
        scale=run.options.scale,
        seconds=min(filter(None, (run.options.duration, run.options.seconds)), default=None),
        seed=run.options.seed,
        client=run.options.client,
        lengthens=bool(run.options.duration),
        rates=run.options.rates,
        arrivals=run.options.arrivals,
        on_error=run.options.on_error,
        profile=run.options.profile,
        disk_baseline=baseline,
        in_turn=in_turn,
    )
    return result.compose(run.experiment, run.scaled, number, measurement, context)


def _servers(run: Run, machine: Machine) -> dict[str, Any]:
    """What the servers say of themselves, asked once for each deployment and each cache that it is given."""
    client = run.client
    known = (run.target.uri, repr(machine.topology))
    if known not in run.servers:
        run.servers[known] = ask_servers(run.target.uri)
        _say_what_is_not_known(run, run.servers[known])
    # A server of an older version does not tell its processor; where it runs here, this machine does.
    here = hostinfo.hardware(None)["cpu"] if machine.data_directory else ""
    return run.servers[known].describe(client.primary, here)


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
        run.baselines[place] = diskbaseline.measure(place)
    return run.baselines[place]


def _repeat(run: Run, number: int, repeat: int, machine: Machine) -> Measurement:
    config = {**run.scaled.parameters, **run.scaled.variants[number]}
    kind = workload(run.scaled.workload)
    seed = f"{run.options.seed}/{run.experiment.name}/{number}/{repeat}"
    load = _load(run, config, f"{seed}/measured")
    _fill(run, load, config)
    run.used = config
    kind.reset(run.client[run.database], config)
    settle(run.client)  # what was just loaded is dirty, and would stay in the cache in place of what is read
    run.target.give_cache()
    if number not in run.scanned and config.get("scanBefore"):
        run.scanned.add(number)
        workingset.scan(run.client[run.database][config["collection"]])
    passed = None
    if run.experiment.warm and not load.lead:
        # Other random numbers than in the measured window: else its keys would be warm, whatever the size.
        passed = run.crew.perform(replace(load, seed=f"{seed}/warm")).seconds
        kind.reset(run.client[run.database], config)
    settled = settle(run.client)
    if not request_options(run.client, config).reads_primary:
        ownership.wait_for_members(run.client, run.database)
    plan = None if run.options.duration else kind.plan(load.config)
    run.progress.begin(_label(run, number, repeat), plan.operations if plan else 0)
    measurement = replace(_measured(run, load, machine), settled=settled)
    if passed is not None:
        measurement = measurement.after_pass(passed)
    if reason := run.target.fault(patience=0):
        # A majority may have gone on without it, and that is another deployment than the row would tell of.
        raise WorkFailed(f"the work was given up: {reason}", KEPT)
    ownership.check(run.client, run.database, run.name)
    if kind.TRAITS.changes_primary:
        return primarychange.conclude(run.client, load, measurement)
    _check_errors(measurement)
    if isinstance(kind, Concluding):
        return replace(measurement, conclusion=kind.conclude(run.client[run.database], config))
    return measurement


def _measured(run: Run, load: Load, machine: Machine) -> Measurement:
    if workload(load.workload).TRAITS.changes_primary and isinstance(run.target, LocalTarget):
        return primarychange.measure_change(run.target, run.crew, load, machine, run.progress.update)
    return measure(run.client, run.crew, load, machine, run.progress.update)


def _check_errors(measurement: Measurement) -> None:
    """Raise WorkFailed where so many requests failed that the speed is that of failing."""
    outcome = measurement.outcome
    # Not of ``latencies``: with a rate, those have what was never sent.
    answered = sum(sum(counts.values()) for counts in outcome.latencies_by_kind.values())
    failed = sum(outcome.errors.values())
    if failed > MOST_FAILED * (failed + answered):
        raise WorkFailed(f"{failed} of {failed + answered} requests failed: {_listed(outcome.errors)}", KEPT)


def _fill(run: Run, load: Load, config: Mapping[str, Any]) -> None:
    """Make the collection and load what has to be there, unless the last window left just that."""
    kind = workload(run.scaled.workload)
    database = run.client[run.database]  # asked for first: with another deployment, nothing is loaded
    first = kind.preload(config)
    if kind.TRAITS.keeps_data and first is not None and first == run.loaded:
        return
    missing = _growth(run, first)
    if missing is None:
        missing = first
        kind.create(database, config)
    else:
        kind.reset(database, run.used)  # what the last window added would be in the way
    run.loaded = None
    run.scanned.clear()
    if missing is not None:
        run.target.give_room()
        _bring_in(run, load, missing)
        run.loaded = first


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
        raise WorkFailed(f"data was not loaded as a whole: {_listed(done.all_errors)}", KEPT)


def _acknowledged(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The config with a write concern under which it is known what of the data is there, whatever the URI says."""
    concern = config.get("writeConcern", {"w": 0})
    return {**config, "writeConcern": concern if concern.get("w") != 0 else {"w": "majority"}}


def _listed(errors: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count} times)" for name, count in errors.items())


def _growth(run: Run, first: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What has to be loaded beside what is there; None when nothing there can be used."""
    kind = workload(run.scaled.workload)
    if first is None or run.loaded is None or not kind.TRAITS.keeps_data or not isinstance(kind, Growing):
        return None
    return kind.growth(run.loaded, first)


def _load(run: Run, config: Mapping[str, Any], seed: str) -> Load:
    name, duration = run.scaled.workload, run.options.duration
    traits = workload(name).TRAITS
    config = lengthening.with_enough_work(name, config, duration)
    seconds = lengthening.window_seconds(config, run.options.seconds, duration)
    leads = run.experiment.warm and not run.options.rates and warmup.has_lead(name, config)
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
        rates=run.options.rates,
        arrivals=run.options.arrivals,
        on_error=run.options.on_error,
        least=0
        if run.options.profile == "quick" or run.options.rates or traits.paces_itself or traits.whole
        else lengthening.operations_of_requests(name, config, lengthening.LEAST_REQUESTS),
    )


def _label(run: Run, number: int, repeat: int) -> str:
    variants = len(run.experiment.variants)
    return f"{run.experiment.name} {number + 1}/{variants}, repeat {repeat + 1}/{run.repeats}"


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
    if not run.options.rates and "testTimeSecs" in config:
        outcome = measurement.outcome
        remark = littleslaw.remark(
            littleslaw.check(outcome.window.busy / 1e9, outcome.seconds, config["numberOfThreads"])
        )
        if remark:
            yield remark
    if run.target.cache_shrunk is False:
        yield "a member held more than its cache when the window came"
    if measurement.outcome.keeps_speed == "no":
        yield "the speed was not steady"
