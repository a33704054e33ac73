"""The targets that the command line names, opened for a run or for a plan of one."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING

from mongo_tables.runner.atlas.address import is_atlas
from mongo_tables.runner.local_address import is_local
from mongo_tables.runner.named_targets import NamedTarget
from mongo_tables.runner.target import open_target

if TYPE_CHECKING:
    from mongo_tables.runner.atlas.target import AtlasRun
    from mongo_tables.runner.target import Target


def open_targets(arguments: Namespace, note: Callable[[str], None]) -> Iterator[tuple[NamedTarget, Target]]:
    """Open each target for a run when it is asked for; ``note`` tells people what is waited for. Raises RunnerError."""
    run = _begin_on_atlas(arguments) if any(is_atlas(one.where) for one in arguments.target) else None
    for named in arguments.target:
        if run and is_atlas(named.where):
            from mongo_tables.runner.atlas.target import open_atlas

            yield named, open_atlas(named.where, run, note)
        else:
            yield named, _open_other(arguments, named)


def _begin_on_atlas(arguments: Namespace) -> AtlasRun:
    from mongo_tables.runner.atlas.costs import prices_named
    from mongo_tables.runner.atlas.target import begin_run

    most = inf if arguments.max_cost is None else arguments.max_cost
    return begin_run(prices_named(arguments.prices), most)


def open_planned(arguments: Namespace, named: NamedTarget) -> Target:
    """Open a target for a plan, which makes nothing there. Raises RunnerError."""
    if is_atlas(named.where):
        from mongo_tables.runner.atlas.target import plan_atlas

        return plan_atlas(named.where)
    return _open_other(arguments, named)


def _open_other(arguments: Namespace, named: NamedTarget) -> Target:
    local = sum(is_local(one.where) for one in arguments.target)
    return open_target(named.where, max(1, local))
