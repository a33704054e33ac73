"""A run on Atlas: what it may cost, which is allowed before anything is asked there; what killed runs have left."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mongo_tables.commands.run.estimates import count_blocks, estimate_variants, read_options
from mongo_tables.commands.run.targets import OpenedTarget
from mongo_tables.runner.atlas.address import is_atlas, machine_of, parse_atlas, parse_project
from mongo_tables.runner.blocks import LEAST_FOR_INTERVAL
from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.runs import choose_variants

if TYPE_CHECKING:
    from mongo_tables.runner.atlas.address import AtlasMachine
    from mongo_tables.runner.atlas.costs import Cost, Prices
    from mongo_tables.runner.experiment import Experiment
    from mongo_tables.runner.named_targets import NamedTarget
    from mongo_tables.runner.progress import Progress

Tasks = Sequence[tuple["Experiment", Sequence[OpenedTarget]]]


def list_costs(arguments: Namespace, tasks: Tasks) -> Iterator[str]:
    """Yield every call to Atlas and the price of each experiment there; nothing where no target is on Atlas.

    Raises RunnerError where a price is not known.
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
    """Raise RunnerError where what the targets on Atlas cost is not known, or more than was allowed."""
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
    """Return the cost of each variant that has a machine, in as many blocks as there may be."""
    from mongo_tables.runner.atlas.costs import cost

    _, blocks = count_blocks(arguments, experiment)
    estimates = estimate_variants(arguments, experiment, blocks, machines.keys())
    return {number: cost(machines[number], one, prices) for number, one in estimates.items()}


def sweep_projects(targets: Sequence[NamedTarget], progress: Progress) -> None:
    """Sweep the projects of these targets.

    Raises RunnerError where something is left, and where no target is on Atlas.
    """
    from mongo_tables.runner.atlas.api import open_api
    from mongo_tables.runner.atlas.clusters import sweep

    projects = dict.fromkeys(parse_project(one.where) for one in targets if is_atlas(one.where))
    if not projects:
        raise RunnerError("--sweep looks at projects of Atlas", "name one: --target atlas:PROJECT")
    failures: list[RunnerError] = []
    for project in projects:
        try:
            removed = sweep(open_api(project), progress.note)
        except RunnerError as error:
            failures.append(error)
        else:
            print(f"{project}: {removed} removed" if removed else f"{project}: nothing was left")
    if failures:
        raise RunnerError("; ".join(one.message for one in failures), failures[0].hint)
