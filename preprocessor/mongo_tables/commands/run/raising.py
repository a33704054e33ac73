"""What of an experiment is raised, because it would be too little to be measured."""

from __future__ import annotations

from collections.abc import Iterator

from mongo_tables.runner.experiment import Experiment, configs, scale, scale_of
from mongo_tables.runner.options import with_enough_work
from mongo_tables.runner.workloads import workload


def list_raised(experiment: Experiment, asked: float, duration: float | None, least: int) -> Iterator[str]:
    """Say where the scale is another than ``asked``, and where an amount of the scaled experiment is raised."""
    factor = scale_of(experiment, asked)
    if factor != asked:
        yield f"scale {factor:g} in place of {asked:g}, which is too small for it"
    amount = workload(experiment.workload).amount
    if amount is None or duration:
        return
    planned = list(configs(scale(experiment, factor)))
    done = [with_enough_work(experiment.workload, config, None, least) for config in planned]
    raised = [
        f"{new[amount]:,} in place of {old[amount]:,} in variant {number}"
        for number, (old, new) in enumerate(zip(planned, done, strict=True), 1)
        if old[amount] != new[amount]
    ]
    if raised:
        yield f"{amount} is raised to {least} requests for each connection: {', '.join(raised)}"
