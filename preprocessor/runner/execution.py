"""An experiment from its first variant to its last row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from preprocessor.runner import experiment as experiments
from preprocessor.runner import ownership, provenance, result
from preprocessor.runner.errors import TargetError
from preprocessor.runner.experiment import Experiment
from preprocessor.runner.load import Load, perform
from preprocessor.runner.measure import Measurement, measure, settle
from preprocessor.runner.progress import Progress
from preprocessor.runner.store import Store
from preprocessor.runner.target import Machine, Target
from preprocessor.runner.workloads import workload

if TYPE_CHECKING:
    from pymongo import MongoClient

PRELOAD_CONNECTIONS = 4


@dataclass(frozen=True, slots=True)
class Options:
    """How a run was asked for; ``repeats`` None means as often as the experiment says."""

    scale: float
    seconds: float | None
    repeats: int | None
    seed: int
    processes: int


@dataclass(frozen=True, slots=True)
class Run:
    """An experiment on a target: everything that its variants share."""

    experiment: Experiment
    scaled: Experiment
    options: Options
    target: Target
    client: MongoClient[dict[str, Any]]
    progress: Progress

    @property
    def database(self) -> str:
        """Name of the database that the run makes and drops."""
        return str(self.experiment.parameters["database"])

    @property
    def repeats(self) -> int:
        """How often each variant is measured."""
        return self.options.repeats or self.experiment.repeats


def execute(
    experiment: Experiment, options: Options, target: Target, store: Store, progress: Progress
) -> int:
    """Measure every variant and write its row as soon as it is there; give the number of rows.

    Rows of variants that the experiment no longer has go to the history at the end. Raises RunnerError; the
    rows written until then stay.
    """
    from pymongo import MongoClient
    from pymongo.errors import PyMongoError

    scaled = experiments.scale(experiment, options.scale)
    with MongoClient[dict[str, Any]](target.uri, appname="mongo-tables run") as client:
        run = Run(experiment, scaled, options, target, client, progress)
        try:
            ownership.claim(client, run.database)
            try:
                for number in range(len(experiment.variants)):
                    store.put(_variant(run, number))
            finally:
                ownership.drop(client, run.database)
        except PyMongoError as error:
            raise TargetError(
                f"{target.name}: {type(error).__name__}: {str(error).splitlines()[0]}"
            ) from None
    store.retire(experiment.name, [result.row_id(experiment, n) for n in range(len(experiment.variants))])
    return len(experiment.variants)


def _variant(run: Run, number: int) -> dict[str, Any]:
    machine = run.target.prepare(run.experiment.variants[number])
    measurements = []
    for repeat in range(run.repeats):
        run.progress.begin(_label(run, number, repeat), 0)
        measurements.append(_repeat(run, number, repeat, machine))
        run.progress.end(_said(measurements[-1]))
    context = result.Context(
        machine=machine,
        target=run.target.name,
        versions=provenance.versions(run.client.server_info()),
        hardware=provenance.hardware(),
        scale=run.options.scale,
        seconds=run.options.seconds,
        seed=run.options.seed,
        processes=run.options.processes,
    )
    return result.compose(run.experiment, run.scaled, number, measurements, context)


def _repeat(run: Run, number: int, repeat: int, machine: Machine) -> Measurement:
    config = {**run.scaled.parameters, **run.scaled.variants[number]}
    kind = workload(run.scaled.workload)
    seed = f"{run.options.seed}/{run.experiment.name}/{number}/{repeat}"
    load = _load(run, config, f"{seed}/measured")
    kind.reset(run.client[run.database], config)
    first = kind.preload(config)
    if first is not None:
        preload = replace(load, workload="insert", config=first, seed=f"{seed}/preload", seconds=None)
        perform(replace(preload, connections=PRELOAD_CONNECTIONS))
    if run.experiment.warm:
        # Other random numbers than in the measured window: else that would find its keys warm, whatever the
        # size.
        perform(replace(load, seed=f"{seed}/warm"))
    settle(run.client)
    run.progress.begin(_label(run, number, repeat), kind.plan(config).operations)
    return measure(run.client, load, machine, run.progress.update)


def _load(run: Run, config: Mapping[str, Any], seed: str) -> Load:
    return Load(
        uri=run.target.uri,
        database=run.database,
        workload=run.scaled.workload,
        config=config,
        seed=seed,
        processes=run.options.processes,
        connections=config["numberOfThreads"],
        seconds=run.options.seconds,
    )


def _label(run: Run, number: int, repeat: int) -> str:
    variants = len(run.experiment.variants)
    return f"{run.experiment.name} {number + 1}/{variants}, repeat {repeat + 1}/{run.repeats}"


def _said(measurement: Measurement) -> str:
    outcome = measurement.outcome
    speed = outcome.operations / outcome.seconds
    failed = f", {sum(outcome.errors.values())} errors" if outcome.errors else ""
    return f"{outcome.operations:,} operations in {outcome.seconds:.1f} s: {speed:,.0f}/s{failed}"
