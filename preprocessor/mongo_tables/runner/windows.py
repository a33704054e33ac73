"""Prepare a target for a window, measure the window, and compose its row."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

from mongo_tables.runner import (
    cache_size,
    host,
    ownership,
    result_rows,
    sharding,
    slices,
    warmup,
)
from mongo_tables.runner.blocks import WindowKey
from mongo_tables.runner.connection_strings import request_options
from mongo_tables.runner.errors import KEPT, WorkFailed
from mongo_tables.runner.measurement import Measurement, conclude_change, measure, measure_change, settle
from mongo_tables.runner.options import (
    LEAST_REQUESTS,
    longest_seconds,
    operations_of_requests,
    window_seconds,
    with_enough_work,
)
from mongo_tables.runner.outcome import busiest_share, check_window, list_limits, remark_on_law
from mongo_tables.runner.runs import Run, asked_of, explained_errors
from mongo_tables.runner.sampling import BusyProcessors
from mongo_tables.runner.servers import ask_servers, cache_bytes, topology
from mongo_tables.runner.target import LocalTarget, Machine
from mongo_tables.runner.warmup import WarmUp
from mongo_tables.runner.worker import Load
from mongo_tables.runner.workloads import Config, workload

PRELOAD_CONNECTIONS = 4
MOST_FAILED = 0.05
"""If a larger share of the requests fails, the window has no row."""


def measure_window(run: Run, place: WindowKey, order: Mapping[str, Any]) -> dict[str, Any]:
    """Measure a variant once. Return its row, which includes the ``order`` of the block. Raises CommandError."""
    with explained_errors(run):
        config, machine = _prepare_machine(run, place.turn.variant)
        baseline = _disk_baseline(run, machine) if config.get("diskBaseline") else None
        run.progress.begin(_label(run, place), 0)
        measurement = _measurement(run, place, machine)
        run.progress.end("; ".join((_said(measurement), *_doubts(run, measurement, config))))
        servers = _servers(run, machine, seen=measurement.source is not None, change=measurement.change)
        shrunk = {} if run.target.cache_shrunk is None else {"cache_shrunk": run.target.cache_shrunk}
        machine = replace(machine, topology={**topology(servers, machine.topology), **shrunk})
        row = result_rows.compose(run, place, measurement, machine, servers, baseline, order)
    share, allowed = row["checks"]["in_flight_share"], row["checks"]["in_flight_allowed"]
    if run.options.profile == "publish" and not run.options.as_is and share is not None and share > allowed:
        # The cache of a deployment that the run did not start is unknown before the first window.
        raise cache_size.CacheTooSmall(run.experiment.name, share, allowed)
    return row


def can_alternate(run: Run, number: int) -> bool:
    """Return whether the variant can take turns in slices: it has no rate, and a window may begin amid its work."""
    config = run.config(number)
    return not run.options.rates_of(config) and warmup.has_lead(config["workload"], config)


def measure_slices(runs: tuple[Run, Run], place: WindowKey, width: float, campaign: str) -> dict[str, Any]:
    """Let a variant run on two targets in turns, in slices of ``width`` seconds. Return the work on both.

    ``runs`` may be one run twice: then the target is compared with itself. Each campaign draws which target is prepared
    last, and which one is first in each pair of slices. So the effect of the order differs between campaigns. If the
    experiment has a warm-up, the first turns do not count.
    """
    one, other = runs
    seed = f"{one.options.seed}/{one.experiment.name}/{place}"
    order = f"{seed}/{campaign}"
    planned = slices.plan_slices(width, order, warm=one.experiment.warm)
    loads: dict[int, Load] = {}
    servers: set[int] = set()
    for number in random.Random(order).sample((0, 1), 2):
        run = runs[number]
        with explained_errors(run):
            _, machine = _prepare_machine(run, place.turn.variant)
            loads[number] = _prepare(run, place.turn.variant, f"{seed}/{number if one is other else ''}").load
            servers.update(machine.pids)
    both = f"{one.side} and {other.side}" if one.side else "with itself"
    again = ", measured again" if place.attempt else ""
    one.progress.begin(f"{one.experiment.name} {place.turn.variant + 1}: {both} in slices{again}", 0)
    with explained_errors(other):
        processors = BusyProcessors(servers, one.crew.pids)
        done = one.crew.alternate((loads[0], loads[1]), planned, opened=processors.look, over=processors.look)
        for run, side in zip(runs, done, strict=True):
            _check_target(run)
            _check_share(side.failures.counts(), side.requests, run.side)
    window = slices.compose(place, planned, done, processors.found())
    names = (one.side, other.side) if one.side else ("one side", "the other side")
    one.progress.end(slices.describe(window, names))
    return window


def _prepare_machine(run: Run, number: int) -> tuple[Config, Machine]:
    """Start the deployment that the variant needs. Return the variant's config and the machine."""
    asked = asked_of(run.experiment, run.scaled, run.options.scale, number)
    machine = run.target.prepare(*asked)
    run.not_varied.update(machine.not_varied)
    run.scaled = cache_size.sized(run.scaled, number, lambda: cache_bytes(run.client))
    return asked[0], machine


def _servers(run: Run, machine: Machine, *, seen: bool = True, change: str | None = None) -> dict[str, Any]:
    """Return the descriptions of the servers, which are queried once for each deployment and cache size.

    ``seen`` says whether the servers' machine was observed in the window. ``change`` says how the observed server
    changed in the window.
    """
    client = run.client
    known = (run.target.uri, repr(machine.topology))
    if known not in run.servers:
        run.servers[known] = ask_servers(run.target.uri)
        roles: dict[str, list[str]] = {}
        for one in run.servers[known].not_known:
            if "role" in one:
                roles.setdefault(one["role"], []).append(one["what"])
        for role, commands in roles.items():
            run.progress.begin(f"not permitted without the role {role}:", 0)
            run.progress.end(", ".join(commands))
    # Older servers do not report their processor; for local servers, this machine does.
    here = host.hardware(None)["cpu"] if machine.data_directory else ""
    return run.servers[known].describe(client.primary, here, seen=seen, change=change)


def _disk_baseline(run: Run, machine: Machine) -> Mapping[str, Any] | None:
    """Measure the disk once for each deployment. Return None if the disk is on another machine."""
    place = machine.data_directory
    if place is not None and place not in run.baselines:
        run.baselines[place] = host.measure_disk(place)
    return run.baselines[place] if place else None


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A window that is ready to start: its load, and whether the data is flushed to disk."""

    load: Load
    config: Config
    settled: bool
    passed: float | None
    """The seconds of a warm-up that does all of the work once before the window, or None if there is none."""


def _prepare(run: Run, number: int, seed: str) -> _Prepared:
    """Bring the target into the state in which a window of this variant begins."""
    # A new deployment has no data.
    database, config = run.client[run.database], _with_own_collection(run, run.config(number))
    kind = workload(config["workload"])
    load = _load(run, config, f"{seed}/measured")
    _fill(run, load, config)
    kind.reset(database, config)
    # Loaded data is dirty: it must be flushed before WiredTiger can evict it to make room for the data that is read.
    settled = settle(run.client)
    run.target.set_cache()
    now = (config["collection"], number)
    if config.get("scanBefore") and run.scanned != now:
        cache_size.scan(database[config["collection"]])
    run.scanned = now
    passed = None
    if run.experiment.warm and kind.keeps_data and not load.lead:
        # The seed differs from the window's. With the same seed, all keys of the window would be in the cache.
        passed = run.crew.perform(replace(load, seed=f"{seed}/warm")).seconds
        kind.reset(database, config)
        settled = settle(run.client)
    if not request_options(run.client, config).reads_primary:
        ownership.wait_for_members(run.client, run.database)
    return _Prepared(load, config, settled, passed)


def _measurement(run: Run, place: WindowKey, machine: Machine) -> Measurement:
    turn = place.turn
    kind = workload(run.config(turn.variant)["workload"])
    # The seed does not contain the target, so that all targets get the same requests.
    again, back = "/again" if turn.again else "", "/back" if turn.back else ""
    seed = f"{run.options.seed}/{run.experiment.name}/{turn.variant}/{place.block}{again}{back}"
    prepared = _prepare(run, turn.variant, seed)
    load = prepared.load
    if kind.changes_primary:
        _servers(run, machine)  # before a member is killed, because the query would wait for it
    plan = None if run.options.duration else kind.plan(load.config)
    run.progress.begin(_label(run, place), plan.operations if plan else 0)
    progress = run.progress.update
    if kind.changes_primary and isinstance(run.target, LocalTarget):
        measurement = measure_change(run.target, run.crew, load, machine, progress)
    else:
        measurement = measure(run.client, run.crew, load, machine, progress)
    measurement = replace(measurement, settled=prepared.settled)
    if prepared.passed is not None:
        before = WarmUp("a pass before", prepared.passed, prepared.passed)
        measurement = replace(measurement, outcome=replace(measurement.outcome, warmup=before))
    _check_target(run)
    if kind.changes_primary:
        return conclude_change(run.client, load, measurement)
    _check_errors(measurement)
    return replace(measurement, conclusion=kind.conclude(run.client[run.database], prepared.config))


def _check_target(run: Run) -> None:
    """Raise CommandError if a member of the target has ended, or if another run has taken over the database."""
    if reason := run.target.fault(patience=0):
        # A majority may continue without the member, but that is not the deployment that the row describes.
        raise WorkFailed(f"the work was given up: {reason}", KEPT)
    run.target.check()
    ownership.check(run.client, run.database, run.name)


def _check_errors(measurement: Measurement) -> None:
    outcome = measurement.outcome
    # Not from ``latencies``, which with a rate includes unsent requests.
    answered = sum(sum(counts.values()) for counts in outcome.latencies_by_kind.values())
    _check_share(outcome.errors, answered)


def _check_share(errors: Mapping[str, int], answered: int, side: str = "") -> None:
    failed = sum(errors.values())
    if failed > MOST_FAILED * (failed + answered):
        of_side = f"{side}: " if side else ""
        raise WorkFailed(f"{of_side}{failed} of {failed + answered} requests failed: {_listed(errors)}", KEPT)


def _with_own_collection(run: Run, config: Config) -> dict[str, Any]:
    """Return the config with a collection for its data: variants with the same data share a collection.

    So data that several variants need is loaded once, in any order of the variants. A variant with a pipeline uses the
    experiment's collection, because the pipeline may name it.
    """
    kind = workload(config["workload"])
    if not kind.keeps_data or kind.goes_on or "pipeline" in config:
        return dict(config)
    first = config["collection"]
    for name in chain([first], (f"{first}_{number}" for number in count(2))):
        own = {**config, "collection": name}
        if run.loaded.get(name) in (None, kind.preload(own)):
            break
    return own


def _fill(run: Run, load: Load, config: Config) -> None:
    """Create the collection and load its data, unless an earlier window left exactly this data.

    All repeats have the same data; only the random numbers of the work differ.
    """
    kind, name = workload(config["workload"]), config["collection"]
    first = kind.preload(config)
    if kind.keeps_data and first is not None and first == run.loaded.get(name):
        return
    run.loaded.pop(name, None)
    run.scanned = None
    kind.create(run.client[run.database], config)
    sharding.shard(run.client, run.client[run.database], config)
    if first is None:
        return
    run.target.set_cache(loading=True)
    # The data must be complete, so the writes are acknowledged even if the connection string says otherwise.
    concern = first.get("writeConcern", {"w": 0})
    bringing = replace(
        load,
        workload=first.get("workload", "insert"),
        config={**first, "writeConcern": concern if concern.get("w") != 0 else {"w": "majority"}},
        seed=f"{run.options.seed}/{run.experiment.name}/preload",
        connections=min(PRELOAD_CONNECTIONS, first["totalDocsToInsert"]),
        seconds=None,
        lead=0.0,
        rates=(),
    )
    done = run.crew.perform(bringing, progress=run.progress.update)
    if done.all_errors:
        raise WorkFailed(f"some documents could not be loaded: {_listed(done.all_errors)}", KEPT)
    run.loaded[name] = first


def _listed(errors: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count} times)" for name, count in errors.items())


def _load(run: Run, config: Config, seed: str) -> Load:
    name, options = config["workload"], run.options
    kind = workload(name)
    config = with_enough_work(name, config, options.duration)
    seconds = window_seconds(config, longest_seconds(name, config, options), options.duration)
    rates = options.rates_of(config)
    leads = run.experiment.warm and not rates and warmup.has_lead(name, config)
    lead, longest_lead = warmup.lead_seconds(seconds) if leads and seconds else (0.0, 0.0)
    if "testTimeSecs" in config:
        config = {**config, "testTimeSecs": seconds}  # some workloads divide the window into phases
    lengthens = options.lengthens and not rates and not kind.paces_itself and not kind.whole
    return Load(
        uri=run.target.uri,
        database=run.database,
        workload=name,
        config=config,
        seed=seed,
        connections=config["numberOfThreads"],
        seconds=seconds,
        lead=lead,
        longest_lead=longest_lead,
        rates=rates,
        arrivals=options.arrivals,
        on_error=options.on_error,
        least=operations_of_requests(name, config, LEAST_REQUESTS) if lengthens else 0,
    )


def _label(run: Run, place: WindowKey) -> str:
    target = f" of {run.target.named.name}" if run.target.named.name else ""
    block = place.block + 1
    of_all = (
        f"/{run.repeats}" if block <= run.repeats else ""
    )  # the run may add blocks, up to an unknown number
    second = ", second measurement of the reference" if place.turn.again else ""
    second += ", in reverse order" if place.turn.back else ""
    again = ", measured again" if place.attempt else ""
    where = f"{place.turn.variant + 1}/{len(run.experiment.variants)}{target}, block {block}{of_all}"
    return f"{run.experiment.name} {where}{second}{again}"


def _said(measurement: Measurement) -> str:
    outcome = measurement.outcome
    speed = outcome.inside.operations / outcome.seconds
    failed = f", {sum(outcome.errors.values())} errors" if outcome.errors else ""
    if lost := outcome.failures.lost:
        without = outcome.failures.without_service / 1e9
        failed += f", {lost} connections lost, {without:.1f} s without service"
    if outcome.unsent:
        failed += f", rate not reached: {outcome.unsent:,} operations unsent"
    return f"{outcome.inside.operations:,.0f} operations in {outcome.seconds:.1f} s: {speed:,.0f}/s{failed}"


def _doubts(run: Run, measurement: Measurement, config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a short text for each doubt about the figures of a window."""
    outcome, rates = measurement.outcome, run.options.rates_of(config)
    law = check_window(outcome, config["workload"], rates, config["numberOfThreads"])
    if law and (remark := remark_on_law(law)):
        yield remark if outcome.steady else f"{remark}: the window is all of the work"
    if limits := list_limits(outcome, busiest_share(outcome)):
        yield f"the client was the limit: {', '.join(limits)}"
    if run.target.cache_shrunk is False:
        yield "the cache of a member was overfull when the window opened"
    if outcome.keeps_speed == "no":
        yield "the speed was not steady"
    if moved := sharding.remark(measurement.sharding):
        yield moved
    if measurement.change:
        yield measurement.change
