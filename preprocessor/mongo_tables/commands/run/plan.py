"""The plan of a run: its blocks, its time, its cost, and the databases that it creates."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing

from mongo_tables.commands.run.targets import (
    describe_machines,
    open_targets,
    read_machines,
    share_out,
)
from mongo_tables.runner.atlas.costs import (
    Cost,
    check_cost,
    cost,
    cost_table,
    read_prices,
)
from mongo_tables.runner.atlas.target import AtlasTarget
from mongo_tables.runner.blocks import LEAST_FOR_INTERVAL
from mongo_tables.runner.estimate import (
    SlicesEstimate,
    VariantEstimate,
    estimate,
    estimate_slices,
    local_seconds,
    say_duration,
    table,
)
from mongo_tables.runner.experiment import Experiment, configs, scale, scale_of
from mongo_tables.runner.local_address import is_local, parse_local
from mongo_tables.runner.local_set import MEMBERS
from mongo_tables.runner.options import (
    LEAST_BATCHES,
    LEAST_REQUESTS,
    MOST_TIMES_LONGER,
    Options,
    with_enough_work,
)
from mongo_tables.runner.runs import choose_variants
from mongo_tables.runner.store import open_store
from mongo_tables.runner.target import NamedTarget, Target, database_on, names_machines, variants_for
from mongo_tables.runner.workloads import workload


def print_estimates(arguments: Namespace, wanted: Sequence[Experiment]) -> None:
    """Print documents, bytes, time and cost of each experiment, and the total time on local replica sets."""
    local = sum(is_local(named.where) for named in arguments.target)
    machines = read_machines(arguments)
    with ExitStack() as held:
        opened = [held.enter_context(closing(one)) for one in open_targets(arguments, print)]
        _print_all(arguments, wanted, opened, local)
        if machines is not None:
            print(describe_machines(machines, arguments.processes))
        for line in (line for target in opened for line in _list_databases(target, wanted)):
            print(line)
        store = held.enter_context(closing(open_store(arguments.output)))
        tasks = share_out(wanted, arguments.options, opened, store, leave_out=arguments.all)
        for line in list_costs(arguments, tasks):
            print(line)
        if arguments.max_cost is not None:
            check_costs(arguments, tasks)


def _print_all(
    arguments: Namespace, wanted: Sequence[Experiment], opened: Sequence[Target], local: int
) -> None:
    """Print each experiment and, if all targets are local, the total time. ``local`` is the number of local targets."""
    estimates = [_print_estimate(arguments, experiment, opened) for experiment in wanted]
    if local == len(arguments.target):
        where = "a local replica set" if local == 1 else f"{local} local replica sets"
        shortest, longest = map(sum, zip(*estimates, strict=True))
        lasts = " to ".join(dict.fromkeys(map(say_duration, (shortest, longest))))
        print(f"total on {where} with two processors and no other load, including loading: about {lasts}")
        if any(count_blocks(arguments, one)[0] >= LEAST_FOR_INTERVAL for one in wanted):
            print("  plus up to two repeats of each block in which another process used the machine")


def _list_databases(target: Target, wanted: Sequence[Experiment]) -> Iterator[str]:
    """Yield a line with the databases that the run creates on an existing deployment."""
    if target.ends_with_run:
        return
    names = {database_on(one, target.named) for one in wanted if variants_for(one, target.named)}
    yield f"on {target.name}, the run creates, and drops at its end: {', '.join(sorted(names))}"


def _print_estimate(
    arguments: Namespace, experiment: Experiment, opened: Sequence[Target]
) -> tuple[float, float]:
    """Print the plan of an experiment. Return its minimum and maximum seconds on local replica sets."""
    options: Options = arguments.options
    chosen = (choose_variants(experiment, options, target) for target in opened)
    numbers = {number for some in chosen for number in some}
    repeats, most_repeats = count_blocks(arguments, experiment)
    factor = scale_of(experiment, options.scale)
    scaled = scale(experiment, factor)
    print(f"{experiment.name}: {experiment.title}")
    up_to = f", up to {most_repeats}" if most_repeats > repeats else ""
    blocks = "block" if most_repeats == 1 else "blocks"
    print(f"  {len(numbers)} variants, each in {repeats} {blocks}{up_to}, at scale {factor:g}")
    for line in (*list_raised(experiment, options), *_list_lengths(options)):
        print(f"  {line}")
    in_slices = _print_slices(arguments, scaled)
    for line in table(estimate_variants(arguments, experiment, repeats, numbers)):
        print(f"  {line}")
    print("  time: of all windows, estimated for a local replica set with two processors")
    targets = 1 if names_machines(experiment) else len(_targets_of(arguments, experiment))
    shortest, longest = (
        targets * local_seconds(estimate_variants(arguments, experiment, blocks, numbers).values())
        + (in_slices.local_seconds(blocks) if in_slices else 0.0)
        for blocks in (repeats, most_repeats)
    )
    return shortest, longest


def _targets_of(arguments: Namespace, experiment: Experiment) -> list[NamedTarget]:
    return [named for named in arguments.target if variants_for(experiment, named)]


def _print_slices(arguments: Namespace, scaled: Experiment) -> SlicesEstimate | None:
    """Print the number of windows in slices, or why there are none. Return their estimate."""
    if not arguments.options.slices:
        return None
    others = len(_targets_of(arguments, scaled)) - 1
    if not others or names_machines(scaled):
        print("  in slices: none, because no two targets have the same variants")
        return None
    found = estimate_slices(scaled, arguments.options.slices, others)
    if arguments.options.rates or not found.windows:
        print("  in slices: none, because the work of this experiment cannot take turns")
        return None
    print(f"  in slices: {found.windows} windows of {found.seconds:.1f} s in each block, including warm-up")
    return found


def _list_lengths(options: Options) -> Iterator[str]:
    """Yield lines about options that change the length of windows."""
    if options.profile:
        yield f"profile {options.profile}: each row stores its name, and pages show it"
    if options.duration:
        yield f"each window lasts {options.duration:g} s, instead of the experiment's setting"
    if not options.lengthens:
        yield "windows with few requests are not lengthened"
    elif not options.rates:
        yield (
            f"windows are lengthened, up to {MOST_TIMES_LONGER} times, until each connection has {LEAST_REQUESTS} "
            "requests"
        )


# -- options, blocks and time --


def count_blocks(arguments: Namespace, experiment: Experiment) -> tuple[int, int]:
    """Return the minimum and the maximum number of blocks."""
    repeats = arguments.options.repeats or experiment.repeats
    return repeats, max(repeats, arguments.options.most_repeats)


def estimate_variants(
    arguments: Namespace, experiment: Experiment, blocks: int, numbers: Collection[int]
) -> dict[int, VariantEstimate]:
    """Return the estimates of the variants ``numbers`` over ``blocks`` blocks."""
    local = (parse_local(one.where).members for one in arguments.target if is_local(one.where))
    members = max((one or MEMBERS for one in local), default=MEMBERS)
    found = enumerate(estimate(experiment, blocks, arguments.options, members))
    return {number: one for number, one in found if number in numbers}


def list_raised(experiment: Experiment, options: Options) -> Iterator[str]:
    """Yield lines about a scale above the requested one, and about amounts that are raised after scaling."""
    factor = scale_of(experiment, options.scale)
    if factor != options.scale:
        yield f"scale {factor:g} in place of {options.scale:g}, which is too small for this experiment"
    raised: dict[str, list[str]] = {}
    for number, old in enumerate(configs(scale(experiment, factor)), 1):
        amount = workload(old["workload"]).amount
        new = with_enough_work(old["workload"], old, None)
        if amount is not None and not options.duration and old[amount] != new[amount]:
            line = f"{new[amount]:,} in place of {old[amount]:,} in variant {number}"
            raised.setdefault(amount, []).append(line)
    for amount, lines in raised.items():
        yield f"{amount} is raised to {LEAST_BATCHES} requests for each connection: {', '.join(lines)}"


# -- what clusters on Atlas cost --

Tasks = Sequence[tuple[Experiment, Sequence[Target]]]


def list_costs(arguments: Namespace, tasks: Tasks) -> Iterator[str]:
    """Yield lines with the cost of each experiment that runs on Atlas.

    Raises CommandError if a price is unknown.
    """
    for experiment, costs in _find_costs(arguments, tasks):
        yield f"{experiment.name} on Atlas: a cluster for each machine"
        for line in cost_table(costs, read_prices(arguments.prices)):
            yield f"  {line}"
        if count_blocks(arguments, experiment)[1] >= LEAST_FOR_INTERVAL:
            yield "  plus repeated blocks; --max-cost also limits their cost"


def check_costs(arguments: Namespace, tasks: Tasks) -> None:
    """Raise CommandError if the cost of targets on Atlas is unknown, or higher than allowed."""
    costs = [cost for _, some in _find_costs(arguments, tasks) for cost in some.values()]
    if costs:
        check_cost(costs, arguments.max_cost, read_prices(arguments.prices))


def _find_costs(arguments: Namespace, tasks: Tasks) -> Iterator[tuple[Experiment, dict[int, Cost]]]:
    """Yield each experiment and the costs of its variants, by number, for the maximum number of blocks."""
    for experiment, its in tasks:
        _, blocks = count_blocks(arguments, experiment)
        for target in its:
            if not isinstance(target, AtlasTarget):
                continue
            prices = read_prices(arguments.prices)
            numbers = choose_variants(experiment, arguments.options, target)
            costs: dict[int, Cost] = {}
            for number, one in estimate_variants(arguments, experiment, blocks, numbers).items():
                asked = {"reference": experiment.reference, **experiment.variants[number]}
                costs[number] = cost(target.cluster_for(asked), one, prices)
            yield experiment, costs
