"""How each experiment is run, as the command line asks: in how many blocks, what that takes, what is raised for it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterator, Sequence

from mongo_tables.commands.run.targets import OpenedTarget
from mongo_tables.runner.estimate import Estimate, estimate
from mongo_tables.runner.experiment import Experiment, configs, scale, scale_of
from mongo_tables.runner.options import Asked, Options, has_rates, with_enough_work
from mongo_tables.runner.runs import choose_variants
from mongo_tables.runner.workloads import workload


def read_options(arguments: Namespace) -> Options:
    """How a run was asked for on the command line."""
    return Options(
        arguments.scale,
        arguments.seconds,
        arguments.repeats,
        arguments.seed,
        arguments.client,
        arguments.rate,
        arguments.arrivals,
        arguments.on_error,
        arguments.duration,
        arguments.as_is,
        arguments.profile,
        arguments.batch_seconds,
        arguments.paced_seconds,
        arguments.slices and arguments.slices / 1000,
    )


def count_blocks(arguments: Namespace, experiment: Experiment) -> tuple[int, int]:
    """How many blocks are measured at least, and at most."""
    repeats = arguments.repeats or experiment.repeats
    return repeats, max(repeats, arguments.most_repeats)


def measured_on_any(arguments: Namespace, experiment: Experiment, opened: Sequence[OpenedTarget]) -> set[int]:
    """Numbers of the variants that are measured on at least one target."""
    options = read_options(arguments)
    chosen = (choose_variants(experiment, options, place.target, place.named) for place in opened)
    return {number for numbers in chosen for number in numbers}


def estimate_variants(
    arguments: Namespace, experiment: Experiment, blocks: int, numbers: Collection[int]
) -> dict[int, Estimate]:
    """Of the variants with these numbers, over so many blocks."""
    lengthens = read_options(arguments).lengthens and not arguments.rate
    compares = not (arguments.rate or has_rates(experiment))
    asked = Asked(
        arguments.seconds,
        arguments.batch_seconds,
        arguments.paced_seconds,
        arguments.duration,
        lengthens,
        compares,
    )
    factor = scale_of(experiment, arguments.scale)
    found = enumerate(estimate(scale(experiment, factor), factor, blocks, asked))
    return {number: one for number, one in found if number in numbers}


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
