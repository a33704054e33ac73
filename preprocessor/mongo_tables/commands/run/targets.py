"""The targets of a run, the processes that load them, and the targets of each experiment."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from math import inf
from typing import Any, NamedTuple

from mongo_tables.files.process import OUTPUT_VARIABLE, TARGET_VARIABLE, read_variable
from mongo_tables.findings.usage import CommandError, print_error
from mongo_tables.results.source_text import holds_secret
from mongo_tables.runner.atlas.address import is_atlas
from mongo_tables.runner.atlas.api import read_credentials
from mongo_tables.runner.atlas.costs import read_prices
from mongo_tables.runner.atlas.target import AtlasTarget, begin_run
from mongo_tables.runner.cache_size import follows_cache
from mongo_tables.runner.connection_strings import check_options
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.experiment import Experiment
from mongo_tables.runner.load import Crew, WorkerPool
from mongo_tables.runner.loadmachines.address import LoadMachines, parse_load_machines
from mongo_tables.runner.loadmachines.pool import MachinePool
from mongo_tables.runner.local_address import is_local, parse_local
from mongo_tables.runner.options import Options
from mongo_tables.runner.runs import check_possible, choose_variants
from mongo_tables.runner.store import Store
from mongo_tables.runner.target import (
    NamedTarget,
    Target,
    differing,
    machines_without_target,
    names_machines,
    open_target,
    parse_targets,
    variants_for,
)
from mongo_tables.runner.terminal import Progress


class Places(NamedTuple):
    """The targets of a run, each with the crew that loads it.

    ``request`` has properties that must be the same when the run is resumed.
    """

    crews: Mapping[Target, Crew]
    request: Mapping[str, Any]


# -- opening --


def open_targets(arguments: Namespace, note: Callable[[str], None]) -> Iterator[Target]:
    """Yield the targets. Each is opened when the caller asks for it.

    ``note`` receives progress messages. Raises CommandError if a target cannot be opened.
    """
    if _is_on_atlas(arguments):
        most = inf if arguments.max_cost is None else arguments.max_cost
        run = begin_run(read_prices(arguments.prices), most)
    local = sum(is_local(one.where) for one in arguments.target)
    for named in arguments.target:
        target: Target
        if is_atlas(named.where):
            target = AtlasTarget(named.where, run, note)
        else:
            target = open_target(named.where, max(1, local))
        target.named = named
        yield target


def _is_on_atlas(arguments: Namespace) -> bool:
    return any(is_atlas(one.where) for one in arguments.target)


# -- load --


def read_machines(arguments: Namespace) -> LoadMachines | None:
    """Return the requested load machines, or None if this machine loads the targets.

    Raises CommandError for an invalid address, and for load machines with a local target.
    """
    if not arguments.load_machines:
        return None
    wanted = parse_load_machines(arguments.load_machines)
    if wanted.scheduler and any(is_local(named.where) for named in arguments.target):
        raise CommandError(
            "a local target accepts connections only from this machine, not from load machines",
            "name a deployment that all load machines can reach: --target mongodb://…",
        )
    return wanted


def describe_machines(wanted: LoadMachines, processes: int | None) -> str:
    """Return a line about the load machines of a plan. No machine is contacted."""
    which = f"the workers of {wanted.scheduler}" if wanted.scheduler else f"{wanted.count} on this machine"
    each = "" if processes is None else f", each with {processes} process{'es' * (processes > 1)}"
    return f"load machines: {which}{each}; they share the connections, and are not contacted for a plan"


def open_places(arguments: Namespace, held: ExitStack, progress: Progress) -> Places:
    """Open the targets and their crews: load machines for all targets together, or worker processes for each target.

    ``held`` closes all of them. Raises CommandError.
    """
    crews: dict[Target, Crew] = {}
    wanted = read_machines(arguments)
    processes, gives_way = choose_client(arguments.target, arguments.processes, os.cpu_count() or 1)
    request: dict[str, Any] = {"processes": processes}
    machines: MachinePool | None = None
    if wanted is not None:
        from mongo_tables.runner.loadmachines.cluster import open_cluster

        cluster = held.enter_context(open_cluster(wanted))
        here = not wanted.scheduler
        each = arguments.processes or (max(1, processes // wanted.count) if here else None)

        def find_fault() -> str:
            return next(filter(None, (target.fault(patience=0) for target in crews)), "")

        machines = held.enter_context(MachinePool(cluster, each, find_fault, here and gives_way))
        request = {"processes": each, "load_machines": machines.count}
    if _is_on_atlas(arguments):
        read_credentials()
    for target in open_targets(arguments, progress.note):
        held.enter_context(closing(target))
        fault = partial(target.fault, patience=0)
        crews[target] = machines or held.enter_context(WorkerPool(processes, fault, gives_way))
    return Places(crews, request)


def choose_client(targets: Sequence[NamedTarget], asked: int | None, processors: int) -> tuple[int, bool]:
    """Return the number of worker processes for each target, and whether they give way to servers on this machine.

    Without ``asked``, the number leaves processors for servers on this machine. It is the same for all targets, because
    different clients would distort the comparison.
    """
    servers_here = any(is_local(one.where) for one in targets)
    return asked or (max(1, processors // 2) if servers_here else processors), servers_here


# -- distribution --


def share_out(
    wanted: Sequence[Experiment],
    options: Options,
    targets: Sequence[Target],
    store: Store,
    *,
    leave_out: bool,
) -> list[tuple[Experiment, list[Target]]]:
    """Return the experiments, each with its targets.

    An experiment that cannot run is skipped with a message if ``leave_out`` is true, or if it is a control and not the
    only experiment. Raises TargetError for any other experiment that cannot run, and for an unsupported option in a
    connection string.
    """
    for target in targets:
        check_options(target.given)
    tasks: list[tuple[Experiment, list[Target]]] = []
    for experiment in wanted:
        may_lack = leave_out or bool(experiment.control_of and len(wanted) > 1)
        try:
            lacking = machines_without_target(experiment, [target.named for target in targets])
            its = list(_allowed(experiment, options, targets, store, leave_out=may_lack))
            _check_same_data(experiment, [target.named for target in its])
        except TargetError as error:
            if not may_lack:
                raise
            print(f"{experiment.name}: left out, {error}", flush=True)
            continue
        if its:
            tasks.append((experiment, its))
        for target in its:
            _say_equal(experiment, options, target)
        if lacking:
            print(
                f"{experiment.name}: left out {', '.join(lacking)}, for which there is no target", flush=True
            )
    return tasks


def _say_equal(experiment: Experiment, options: Options, target: Target) -> None:
    """Print which variants are left out because another variant is equal work on the target's machine."""
    numbers = variants_for(experiment, target.named)
    measured = choose_variants(experiment, options, target)
    if equal := [str(number + 1) for number in numbers if number not in measured]:
        print(
            f"{experiment.name}: left out variants {', '.join(equal)}, which require another "
            f"{' or '.join(differing(experiment, numbers))}: on {target.name} they are equal work "
            "(--as-is measures them)",
            flush=True,
        )


def _allowed(
    experiment: Experiment, options: Options, targets: Sequence[Target], store: Store, *, leave_out: bool
) -> Iterator[Target]:
    """Yield the targets that can run variants of the experiment.

    If a target cannot run them, ``leave_out`` decides whether to print a message or to raise TargetError.
    """
    for target in targets:
        if not variants_for(experiment, target.named):
            continue
        try:
            check_possible(experiment, options, target, store)
        except TargetError as error:
            if not leave_out:
                raise
            print(f"{error.message}: left out, {error.hint}", flush=True)
        else:
            yield target


def _check_same_data(experiment: Experiment, targets: Sequence[NamedTarget]) -> None:
    """Raise TargetError if local targets with different caches would have different amounts of data."""
    caches = {parse_local(one.where).cache_gb for one in targets if is_local(one.where)}
    if len(caches) > 1 and follows_cache(experiment) and not names_machines(experiment):
        raise TargetError(
            f"the amount of data of {experiment.name} depends on the cache, so targets with different cacheGB would "
            "have different data",
            "give all of them the same cacheGB, or none",
        )


def fill_in(arguments: Namespace) -> None:
    """Fill in missing options from environment variables. Print a warning if an option has a password."""
    given = arguments.target or []
    _warn_of_secrets("target", TARGET_VARIABLE, given)
    arguments.target = parse_targets(given or read_variable(TARGET_VARIABLE).split() or ["local"])
    _warn_of_secrets("output", OUTPUT_VARIABLE, [arguments.output] if arguments.output else [])
    arguments.output = arguments.output or read_variable(OUTPUT_VARIABLE) or "fixtures"


def _warn_of_secrets(name: str, variable: str, given: Sequence[str]) -> None:
    if any(map(holds_secret, given)):
        print_error(
            f"warning: every user of this machine can read the password in --{name} in the list of processes",
            f"put the connection string into the variable {variable} instead of --{name}",
        )
