"""Result documents: the row of one window, the row of all windows of a variant, and published figures.

Amounts count parts of requests, so they are not whole numbers. Rows round an amount only if the error is negligible:
tables divide amounts by the duration, so 6 queries in place of 6.497 would make a speed 8 % too low.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from mongo_tables.results.conclusions import (
    Pairs,
    block_speeds,
    conclude,
    conclude_contrasts,
    conclude_pairs,
    conclude_targets,
    name_of,
)
from mongo_tables.results.conditions import describe_machine
from mongo_tables.results.intervals import speed_interval
from mongo_tables.results.pooling import FINGERPRINT, has_few_requests
from mongo_tables.results.provenance import LOCAL
from mongo_tables.results.verdicts import ITSELF, NEGLIGIBLE
from mongo_tables.runner import host
from mongo_tables.runner.blocks import Block, Plan, Turn, WindowKey
from mongo_tables.runner.cache_size import allowed_share, measured_share, parameter_documents
from mongo_tables.runner.experiment import Experiment
from mongo_tables.runner.fingerprint import take_fingerprint
from mongo_tables.runner.limits import find_published_limit, find_resources
from mongo_tables.runner.measurement import HERE, Measurement
from mongo_tables.runner.options import Options, longest_seconds
from mongo_tables.runner.outcome import (
    Outcome,
    busiest_share,
    check_window,
    describe_lateness,
    in_run_queue,
    list_limits,
)
from mongo_tables.runner.runs import Run
from mongo_tables.runner.series import summarise, summarise_series
from mongo_tables.runner.slices import Counted, doubts
from mongo_tables.runner.store import PARAMETERS, Store, check_document
from mongo_tables.runner.target import Machine
from mongo_tables.runner.window import Inside
from mongo_tables.runner.workloads import workload

MOST_OFF: Final = 0.001
"""The largest relative error of a rounded amount."""
DIGITS: Final = 5
"""The number of digits of an amount that is not rounded to a whole number."""


def round_amount(done: float) -> float:
    """Round to a whole number, or to five significant digits if the whole number is off by more than a thousandth.

    Example:
        >>> round_amount(6.497), round_amount(12345.4)
        (6.497, 12345)
    """
    whole = round(done)
    return whole if abs(whole - done) <= MOST_OFF * done else float(f"{done:.{DIGITS}g}")


def row_id(experiment: Experiment, number: int, target: str = "") -> dict[str, Any]:
    """Return the ``_id`` of the row of variant ``number``: its parameters and the experiment's name, sorted by key.

    The parameters have their values at full size, so that a run at another scale replaces the row. If a variant is
    measured on several targets side by side, the ``_id`` includes the name of the target.
    """
    named = {"target": target} if target else {}
    return dict(
        sorted({**_storable(experiment.variants[number]), "testname": experiment.name, **named}.items())
    )


def gather(windows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the row of a variant from the rows of its windows, which ``compose`` returned.

    The figures come from a single window, the shown window. ``checks`` and ``client_bound`` cover all windows, because
    conclusions are drawn from all windows.
    """
    chosen = middle(windows)
    shown = windows[chosen]
    blocks = {window["repeats"][0]["block"] for window in windows}
    shrunk = [
        window["topology"]["cache_shrunk"] for window in windows if "cache_shrunk" in window["topology"]
    ]
    return {
        **shown,
        "checks": {
            **shown["checks"],
            "few_requests": has_few_requests(
                [window["latency"]["count"] for window in windows], shown["client"]["connections"]
            ),
            "steady_part": all(window["checks"]["steady_part"] for window in windows),
            "settled": all(window["checks"]["settled"] for window in windows),
        },
        "client": {
            **shown["client"],
            "client_bound": any(window["client"]["client_bound"] for window in windows),
        },
        "topology": {**shown["topology"], **({"cache_shrunk": all(shrunk)} if shrunk else {})},
        "experiment": {**shown["experiment"], "repeats": len(blocks), "shown_repeat": chosen},
        "repeats": [repeat for window in windows for repeat in window["repeats"]],
    }


def middle(windows: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of the shown window: its speed is nearest to the speed of the median block.

    If two blocks are in the middle, the slower one is the median. The speed of a block with several windows is their
    geometric mean.
    """
    speeds = [float(window["work"]["operations_per_second"]) for window in windows]
    by_block = sorted(block_speeds({"repeats": [one["repeats"][0] for one in windows]}).values())
    wanted = by_block[(len(by_block) - 1) // 2]
    return min(range(len(speeds)), key=lambda number: (abs(speeds[number] - wanted), speeds[number]))


def compose(
    run: Run,
    place: WindowKey,
    measurement: Measurement,
    machine: Machine,
    servers: Mapping[str, Any],
    disk_baseline: Mapping[str, Any] | None,
    order: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the row of one window of a variant on a machine. ``order`` has the row's fields about the block."""
    number, outcome, published, options = place.turn.variant, measurement.outcome, run.experiment, run.options
    config, scaled = run.config(number), run.scaled
    kind = workload(config["workload"])
    amounts = _amounts(outcome.inside)
    real, test_results = kind.report(amounts["operations"], amounts["documents"])
    # The longest window, or with --duration the length of every window.
    limits = (options.duration, longest_seconds(config["workload"], config, options))
    seconds = min(filter(None, limits), default=None)
    if seconds is not None and "testTimeSecs" in config:
        asked = seconds if options.duration else min(seconds, config["testTimeSecs"])
        real = {**real, "testTimeSecs": asked}
    # The scaled parameters, with the work that was done in place of the planned work.
    variant, shared = (
        {name: real.get(name, value) for name, value in given.items()}
        for given in (scaled.variants[number], scaled.parameters)
    )
    connections, warmup = config["numberOfThreads"], outcome.warmup
    row = {
        "_id": row_id(published, number, run.side),
        "start_time": measurement.start_time,
        "end_time": measurement.end_time,
        "duration": measurement.duration_ms,
        "variant": _storable(variant),
        "test_config": {**shared, "filename": published.name, "variant": _storable(variant)},
        **_states(measurement),
        "metrics": _metrics(measurement, machine),
        "testResults": {**test_results, **measurement.conclusion},
        "bench_config": dict(machine.bench_config),
        "experiment": _experiment(run, number, machine, seconds, order),
        "work": _work(outcome),
        **_latencies(outcome, summarise),
        "series": summarise_series(outcome.series),
        "warmup": {
            "rule": warmup.rule,
            "cut_seconds": warmup.seconds,
            "most_seconds": warmup.most_seconds,
            "transient_seconds": warmup.transient_seconds,
        },
        "checks": {
            "littles_law": check_window(outcome, config["workload"], options.rates_of(config), connections),
            "steady_part": outcome.steady,
            "steady": outcome.keeps_speed,
            "settled": measurement.settled,
            "in_flight_share": measured_share(
                connections, outcome.inside, machine.topology.get("cache_gb"), writes=kind.writes
            ),
            "in_flight_allowed": allowed_share(published, number),
        },
        "client": _client(run, outcome, config),
        "write_concern": dict(outcome.options.write_concern),
        "read_concern": {"level": "local", **outcome.options.read_concern},
        "read_preference": dict(outcome.options.read_preference),
        "versions": host.versions(run.client.server_info()),
        "hardware": host.hardware(machine.data_directory),
        "servers": dict(servers),
        "topology": dict(machine.topology),
        "processors": _processors(measurement),
        "reads": dict(measurement.reads),
        "disk_baseline": disk_baseline,
        "collection_stats": dict(measurement.collection),
        **({"sharding": dict(measurement.sharding)} if measurement.sharding else {}),
        "repeats": [_repeat(measurement, place)],
    }
    return {**row, FINGERPRINT: take_fingerprint(row, published, number)} if published.fingerprint else row


def _amounts(inside: Inside) -> dict[str, float]:
    return {name: round_amount(getattr(inside, name)) for name in ("operations", "documents", "bytes")}


def _states(measurement: Measurement) -> dict[str, Any]:
    """Return the server's states before and after the window, if both are known and belong to one server."""
    if measurement.change or not (measurement.before and measurement.after):
        return {}
    return {"before_status": measurement.before, "after_status": measurement.after}


def _metrics(measurement: Measurement, machine: Machine) -> dict[str, Any]:
    if measurement.before.get("process") == "mongos":
        scope = "the mongos only"
    elif machine.data_directory is not None:
        scope = "the whole machine, client and all members"
    else:
        scope = "the server only" if measurement.source is None else "the machine of the primary"
    return {
        "start": measurement.start_time,
        "end": measurement.end_time,
        "scope": scope,
        "source": measurement.source,
        "measurements": measurement.process_series,
        "diskMetrics": measurement.disk_series,
    }


def _experiment(
    run: Run, number: int, machine: Machine, seconds: float | None, order: Mapping[str, Any]
) -> dict[str, Any]:
    published, options = run.experiment, run.options
    return {
        "name": published.name,
        "title": published.title,
        "digest": published.digest,
        "parameters": dict(published.parameters),
        "variant": _storable(published.variants[number]),
        **({"control_of": published.control_of} if published.control_of else {}),
        "scale": options.scale,
        "seconds": seconds,
        **({"profile": options.profile} if options.profile else {}),
        "seed": options.seed,
        "warm": published.warm,
        "repeats": 1,
        "shown_repeat": 0,
        **order,
        "target": run.target.name,
        **({"target_name": run.target.named.name} if run.target.named.name else {}),
        "varied": dict(machine.varied),
        "not_varied": list(machine.not_varied),
    }


def _work(outcome: Outcome) -> dict[str, Any]:
    return {
        **_amounts(outcome.inside),
        "operations_per_second": outcome.inside.operations / outcome.seconds,
        "requests": outcome.inside.requests,
        "unfinished": outcome.unfinished,
        "all_documents": outcome.documents,
        "errors": outcome.errors,
        "failed": {
            name: {key: value for key, value in summarise(counts).items() if key != "histogram"}
            for name, counts in outcome.failures.times.items()
        },
        "connections_lost": outcome.failures.lost,
        "seconds_without_service": outcome.failures.without_service / 1e9,
    }


def _client(run: Run, outcome: Outcome, config: Mapping[str, Any]) -> dict[str, Any]:
    cpu, busiest, done = sum(outcome.process_cpu_seconds), busiest_share(outcome), outcome.inside.operations
    return {
        "kind": "wire",
        "scheduling": run.crew.scheduling,
        **_pacing(outcome, run.options, config),
        "on_error": run.options.on_error,
        "loop": "one thread" if outcome.in_one_thread else "threads",
        "sessions": outcome.options.sessions,
        "retryable_writes": outcome.options.retryable_writes,
        **describe_lateness(outcome.process_first_late),
        "processes": len(outcome.process_cpu_seconds),
        "connections": config["numberOfThreads"],
        "cpu_seconds": cpu,
        "cpu_ms_per_1000_operations": cpu * 1e6 / done if done else None,
        "busiest_process_share": busiest,
        "run_queue_microseconds": in_run_queue(outcome),
        "receive_lag_microseconds": outcome.usage.lag.of_an_answer(),
        **({"machines": list(outcome.machines)} if outcome.machines else {}),
        "client_bound": bool(list_limits(outcome, busiest)),
    }


def _pacing(outcome: Outcome, options: Options, config: Mapping[str, Any]) -> dict[str, Any]:
    rates = options.rates_of(config)
    if not rates:
        return {"rate": None}
    return {
        "rate": sum(rates) / len(rates),
        "rate_steps": list(rates),
        "arrivals": options.arrivals,
        "meant": outcome.sendings.operations + outcome.unsent,
        "sent": outcome.sendings.operations,
        "unsent": outcome.unsent,
        "oldest_unsent_seconds": outcome.oldest_unsent / 1e9,
    }


def _processors(measurement: Measurement) -> dict[str, float] | None:
    """Return the mean number of processors that server, client and other processes of the server's machine used."""
    if measurement.cores is None:
        return None
    client = sum(measurement.outcome.process_cpu_seconds) / measurement.outcome.seconds
    busy, server = measurement.cores["busy"], measurement.cores["server"]
    here = client if measurement.source == HERE else 0.0  # otherwise the client runs on another machine
    return {"busy": busy, "server": server, "client": client, "other": max(0.0, busy - server - here)}


_OF_REPEAT: Final = ("operations", "bytes", "operations_per_second", "errors", "seconds_without_service")
_LATENCY_OF_REPEAT: Final = ("count", "mean", "p50", "p95", "p99", "max", "within_50_ms")


def _repeat(measurement: Measurement, place: WindowKey) -> dict[str, Any]:
    """Return the figures that a row has for each of its windows, because conclusions use them."""
    outcome, turn, work = measurement.outcome, place.turn, _work(measurement.outcome)
    return {
        "block": place.block,
        "again": turn.again,
        **({"back": True} if turn.back else {}),
        "seed": measurement.seed,
        "start_time": measurement.start_time,
        "duration": measurement.duration_ms,
        **{name: work[name] for name in _OF_REPEAT},
        **_latencies(outcome, _latency_of_repeat),
        "processors": _processors(measurement),
        "client_bound": bool(list_limits(outcome, busiest_share(outcome))),
    }


def _latency_of_repeat(latencies: Mapping[int, int]) -> dict[str, Any]:
    found = summarise(latencies)
    return {name: found[name] for name in _LATENCY_OF_REPEAT}


def _latencies(outcome: Outcome, summary: Callable[[Mapping[int, int]], dict[str, Any]]) -> dict[str, Any]:
    """Return ``latency`` of all requests, and ``latencies`` by kind if there are several kinds.

    With a rate, ``latency`` counts from the moment when a request was due, and ``service`` from when it was sent.
    """
    found: dict[str, Any] = {"latency": summary(outcome.latencies)}
    if outcome.service:
        found["service"] = summary(outcome.service)
    if len(outcome.latencies_by_kind) > 1:
        found["latencies"] = {kind: summary(counts) for kind, counts in outcome.latencies_by_kind.items()}
    return found


def _storable(value: Any) -> Any:
    """Return the value with ``_`` before each field name that starts with ``$``: rows must not have such names."""
    if isinstance(value, Mapping):
        return {(f"_{key}" if key.startswith("$") else key): _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list) else value


ABOUT_THE_ROW = frozenset({"variant", "source", "note"})
"""Names in a published row that are not figures."""


def published_documents(experiment: Experiment) -> list[dict[str, Any]]:
    """Return the published documents of an experiment in the order of its rows. Rows without figures are omitted."""
    return [
        _document(experiment, number, variant, row)
        for number, (variant, row) in enumerate(experiment.published_rows(), 1)
        if row.keys() - ABOUT_THE_ROW
    ]


def write_published(experiment: Experiment, store: Store) -> int:
    """Write the published documents of an experiment, and return their number. Raises CommandError.

    The documents about the parameters of the experiment are written, too.
    """
    found = published_documents(experiment)
    for document in found:
        check_document("published", document)
    store.publish(experiment.name, found)
    sizes = [] if experiment.control_of else parameter_documents(experiment)
    store.publish(experiment.name, sizes, PARAMETERS)
    return len(found)


def _document(experiment: Experiment, number: int, variant: int, row: Mapping[str, Any]) -> dict[str, Any]:
    about = {**experiment.published, **row}
    ordered = experiment.variants[variant - 1].get("instance", {}) if variant else {}
    limit = find_published_limit(row, {**experiment.reference, **ordered})
    return {
        "_id": {"testname": experiment.name, "row": number},
        "testname": experiment.name,
        "row": number,
        "variant": variant,
        **({"result_id": row_id(experiment, variant - 1)} if variant else {}),
        "figures": {name: value for name, value in row.items() if name not in ABOUT_THE_ROW},
        **({"limit": limit} if limit else {}),
        "published": {
            **{
                name: experiment.published[name]
                for name in ("date", "measured")
                if name in experiment.published
            },
            **({"version": experiment.reference["version"]} if "version" in experiment.reference else {}),
        },
        **{name: about[name] for name in ("source", "note") if name in about},
    }


Row = dict[str, Any]


def gather_rows(plan: Plan, blocks: Sequence[Block], *, side_by_side: bool) -> list[Row]:
    """Return a row for each variant on each target, in the order of the targets. ``plan`` describes the ``blocks``.

    If targets are measured ``side_by_side``, each has its own reference. Otherwise, all targets share one reference.
    Speeds are not compared if the plan says that the work has its own rate.
    """
    if not side_by_side:
        every = [(target, number) for target, mine in enumerate(plan.variants) for number in mine]
        return _compared(plan, blocks, every)
    by_target = [
        _compared(plan, blocks, [(target, number) for number in mine])
        for target, mine in enumerate(plan.variants)
    ]
    for rows in by_target[1:] if plan.compares else ():
        for row, found in zip(rows, conclude_targets(by_target[0], rows), strict=True):
            row.update({} if found is None else {"targets": found})
    return [row for rows in by_target for row in rows]


def conclude_slices(
    rows: Sequence[Row], plan: Plan, found: Mapping[Turn, Sequence[Counted]], first: str
) -> None:
    """Add ``slices`` to the rows: the conclusions from the windows in slices, and doubts about these windows.

    ``found`` has a window for each block. The windows of a target compare it with the first target, whose name is
    ``first``. The windows of the first target compare it with itself. The rows of a target are judged together.
    """
    which = [Turn(target, number) for target, mine in enumerate(plan.variants) for number in mine]
    for target in range(len(plan.variants)):
        windows = {key: some for key, some in found.items() if key.target == target}
        pairs = [pair_slices(some) for some in windows.values()]
        judged = conclude_pairs(pairs, first if target else ITSELF, negligible=NEGLIGIBLE)
        for (key, some), comparison in zip(windows.items(), judged, strict=True):
            rows[which.index(key)]["slices"] = {**comparison, **doubts(some)}


def pair_slices(windows: Sequence[Counted]) -> Pairs:
    """Return, for each block, the work of the second and of the first target in the same time."""
    firsts, others = zip(*(one.window["operations"] for one in windows), strict=True)
    return Pairs(tuple(one.block for one in windows), others, firsts)


def _compared(plan: Plan, blocks: Sequence[Block], which: Sequence[tuple[int, int]]) -> list[Row]:
    """Return the rows of the (target, variant) pairs ``which``, compared with the reference among them."""
    rows = [
        gather(
            [
                window
                for block in blocks
                for turn, window in block.items()
                if (turn.target, turn.variant) == one
            ]
        )
        for one in which
    ]
    for row in rows:
        row.update(describe_row(row))
    if not plan.compares:
        return rows
    reference = next(place for place, (_, number) in enumerate(which) if number == plan.reference)
    for row, comparison in zip(rows, conclude(rows, reference), strict=True):
        row["comparison"] = comparison
    places = {number: place for place, (_, number) in enumerate(which)}
    planned = {
        places[one]: places[other]
        for one, other in plan.contrasts.items()
        if one in places and other in places
    }
    for place, contrast in conclude_contrasts(rows, planned).items():
        rows[place]["contrast"] = contrast
    return rows


def describe_row(row: Row) -> Row:
    """Return the parts of a row that are computed from its other parts, so that tables can show them directly."""
    ends = (one["start_time"] + timedelta(milliseconds=one["duration"]) for one in row["repeats"])
    machine = describe_machine(row)
    return {
        "experiment": {**row["experiment"], "variant_name": name_of(row)},
        "servers": {**row["servers"], **({"machine": machine} if machine else {})},
        "span": {"start": min(one["start_time"] for one in row["repeats"]), "end": max(ends)},
        "speed": _row_speed(row),
        "resources": find_resources(row),
    }


def describe_command(row: Mapping[str, Any], targets: Sequence[str]) -> str:
    """Return the command that measures the experiment of a row again, on ``targets`` if these were measured together.

    ``…`` in the command stands for an address.
    """
    experiment = row["experiment"]
    given = {name: experiment.get(name) for name in ("profile", "scale", "seconds", "repeats", "seed")}
    options = [
        f"--{name} {value:.15g}" if isinstance(value, float) else f"--{name} {value}"
        for name, value in given.items()
        if value is not None
    ]
    members = row["topology"].get("settings", {}).get("members")
    places = [f"{target}=…" for target in targets]
    if not targets and experiment["target"] != LOCAL:
        places = ["…"]
    elif not targets and members is not None:
        places = [f"'local?members={members}'"]
    return " ".join(
        ("mongo-tables run", experiment["name"], *options, *(f"--target {place}" for place in places))
    )


def _row_speed(row: Mapping[str, Any]) -> dict[str, Any]:
    speeds = list(block_speeds(row).values())
    if min(speeds) <= 0:
        return {"median": 0.0, "low": 0.0, "high": max(speeds), "blocks": len(speeds)}
    found = speed_interval(speeds)
    return {"median": found.speed, "low": found.low, "high": found.high, "blocks": len(speeds)}
