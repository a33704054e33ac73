"""The plan of each experiment under the command line's options: its blocks, its time, and its cost."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mongo_tables.commands.run.targets import OpenedTarget
from mongo_tables.runner.atlas.address import is_atlas, machine_of, parse_atlas
from mongo_tables.runner.blocks import LEAST_FOR_INTERVAL
from mongo_tables.runner.estimate import VariantEstimate, estimate
from mongo_tables.runner.experiment import Experiment, configs, scale, scale_of
from mongo_tables.runner.options import Options, with_enough_work
from mongo_tables.runner.runs import choose_variants
from mongo_tables.runner.workloads import workload

if TYPE_CHECKING:
    from mongo_tables.runner.atlas.address import AtlasMachine
    from mongo_tables.runner.atlas.costs import Cost, Prices
    from mongo_tables.runner.experiment import Experiment


def read_options(arguments: Namespace) -> Options:
    """Return the options of the run from the command line."""
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
    """Return the least and the greatest number of blocks."""
    repeats = arguments.repeats or experiment.repeats
    return repeats, max(repeats, arguments.most_repeats)


def measured_on_any(arguments: Namespace, experiment: Experiment, opened: Sequence[OpenedTarget]) -> set[int]:
    """Return the numbers of the variants that are measured on at least one target."""
    options = read_options(arguments)
    chosen = (choose_variants(experiment, options, place.target, place.named) for place in opened)
    return {number for numbers in chosen for number in numbers}


def estimate_variants(
    arguments: Namespace, experiment: Experiment, blocks: int, numbers: Collection[int]
) -> dict[int, VariantEstimate]:
    """Return the estimates of the variants with these numbers, over this many blocks."""
    found = enumerate(estimate(experiment, blocks, read_options(arguments)))
    return {number: one for number, one in found if number in numbers}


def list_raised(experiment: Experiment, asked: float, duration: float | None, least: int) -> Iterator[str]:
    """Yield where the scale differs from ``asked``, and where an amount of the scaled experiment is raised."""
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


# -- what clusters on Atlas cost --

Tasks = Sequence[tuple["Experiment", Sequence[OpenedTarget]]]


def list_costs(arguments: Namespace, tasks: Tasks) -> Iterator[str]:
    """Yield every call to Atlas and the price of each experiment there; nothing without a target on Atlas.

    Raises CommandError if a price is unknown.
    """
    for experiment, place in _on_atlas(tasks):
        from mongo_tables.runner.atlas.costs import cost_table, list_calls, prices_named

        machines = _machines(arguments, experiment, place)
        yield f"{experiment.name} on Atlas: a cluster for each disk, another tier on the same one"
        for line in list_calls(parse_atlas(place.named.where), list(machines.values())):
            yield f"  {line}"
        prices = prices_named(arguments.prices)
        if lacking := prices.lacking(machines.values()):
            yield "  lines that a table of prices lacks, each without the price of an hour:"
            yield from (f"    {one}" for one in lacking)
        for line in cost_table(_costs(arguments, experiment, machines, prices), prices):
            yield f"  {line}"
        if count_blocks(arguments, experiment)[1] >= LEAST_FOR_INTERVAL:
            yield "  on top: blocks that are measured again; --max-cost ends the run all the same"


def check_costs(arguments: Namespace, tasks: Tasks) -> None:
    """Raise CommandError if the cost of targets on Atlas is unknown, or more than allowed."""
    if places := list(_on_atlas(tasks)):
        from mongo_tables.runner.atlas.costs import check_cost, prices_named

        prices = prices_named(arguments.prices)
        costs: list[Cost] = []
        for experiment, place in places:
            machines = _machines(arguments, experiment, place)
            costs += _costs(arguments, experiment, machines, prices).values()
        check_cost(costs, arguments.max_cost, prices)


def _on_atlas(tasks: Tasks) -> Iterator[tuple[Experiment, OpenedTarget]]:
    """Yield each experiment with each of its targets that is on Atlas."""
    return ((experiment, place) for experiment, its in tasks for place in its if is_atlas(place.named.where))


def _machines(arguments: Namespace, experiment: Experiment, place: OpenedTarget) -> dict[int, AtlasMachine]:
    """Return the cluster of each variant that is measured there."""
    address = parse_atlas(place.named.where)
    return {
        number: machine_of({"reference": experiment.reference, **experiment.variants[number]}, address)
        for number in choose_variants(experiment, read_options(arguments), place.target, place.named)
    }


def _costs(
    arguments: Namespace, experiment: Experiment, machines: Mapping[int, AtlasMachine], prices: Prices
) -> dict[int, Cost]:
    """Return the cost of each variant that has a machine, for the greatest number of blocks."""
    from mongo_tables.runner.atlas.costs import cost

    _, blocks = count_blocks(arguments, experiment)
    estimates = estimate_variants(arguments, experiment, blocks, machines.keys())
    return {number: cost(machines[number], one, prices) for number, one in estimates.items()}
