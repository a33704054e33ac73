"""What a run on Atlas may cost: told by a plan, and allowed before anything is asked of Atlas."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mongo_tables.commands.run.planned import count_blocks, estimate_variants, read_options
from mongo_tables.commands.run.sharing import Opened
from mongo_tables.runner.atlas.address import is_atlas, parse_atlas
from mongo_tables.runner.blocks import LEAST_FOR_INTERVAL
from mongo_tables.runner.runs import choose_variants

if TYPE_CHECKING:
    from mongo_tables.runner.atlas.address import AtlasMachine
    from mongo_tables.runner.atlas.costs import Cost, Prices
    from mongo_tables.runner.experiment import Experiment

Tasks = Sequence[tuple["Experiment", Sequence[Opened]]]


def list_costs(arguments: Namespace, tasks: Tasks) -> Iterator[str]:
    """Every call to Atlas and the price of each experiment there, in lines; none where no target is on Atlas.

    Raises RunnerError where a price is not known.
    """
    for experiment, place in _on_atlas(tasks):
        yield from _list_of(arguments, experiment, place)


def check_costs(arguments: Namespace, tasks: Tasks) -> None:
    """Raise RunnerError where what the targets on Atlas cost is not known, or more than was allowed."""
    if places := list(_on_atlas(tasks)):
        from mongo_tables.runner.atlas.costs import check_cost, prices_named

        prices = prices_named(arguments.prices)
        costs = [
            cost
            for experiment, place in places
            for cost in _costs(
                arguments, experiment, _machines(arguments, experiment, place), prices
            ).values()
        ]
        check_cost(costs, arguments.max_cost, prices)


def _on_atlas(tasks: Tasks) -> Iterator[tuple[Experiment, Opened]]:
    """Each experiment with each of its targets that is on Atlas."""
    return ((experiment, place) for experiment, its in tasks for place in its if is_atlas(place.named.where))


def _list_of(arguments: Namespace, experiment: Experiment, place: Opened) -> Iterator[str]:
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


def _machines(arguments: Namespace, experiment: Experiment, place: Opened) -> dict[int, AtlasMachine]:
    """The cluster of each variant that is measured there."""
    from mongo_tables.runner.atlas.address import machine_of

    address = parse_atlas(place.named.where)
    return {
        number: machine_of({"reference": experiment.reference, **experiment.variants[number]}, address)
        for number in choose_variants(experiment, read_options(arguments), place.target, place.named)
    }


def _costs(
    arguments: Namespace, experiment: Experiment, machines: Mapping[int, AtlasMachine], prices: Prices
) -> dict[int, Cost]:
    """Of each variant that has a machine, in as many blocks as there may be."""
    from mongo_tables.runner.atlas.costs import cost

    _, blocks = count_blocks(arguments, experiment)
    estimates = estimate_variants(arguments, experiment, blocks, machines.keys())
    return {number: cost(machines[number], one, prices) for number, one in estimates.items()}
