"""The targets that the command line names, opened for a run or for a plan of one."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from preprocessor.runner.atlas.address import is_atlas
from preprocessor.runner.localaddress import is_local
from preprocessor.runner.namedtargets import NamedTarget
from preprocessor.runner.target import open_target

if TYPE_CHECKING:
    from preprocessor.runner.target import Target


def open_named(arguments: Namespace, named: NamedTarget, note: Callable[[str], None]) -> Target:
    """Open a target for a run; ``note`` tells people what is waited for. Raises RunnerError."""
    if is_atlas(named.where):
        from preprocessor.runner.atlas.opening import open_atlas, prices_named

        most = inf if arguments.max_cost is None else arguments.max_cost
        return open_atlas(named.where, arguments.run_name, prices_named(arguments.prices), most, note)
    return _open_other(arguments, named)


def open_planned(arguments: Namespace, named: NamedTarget) -> Target:
    """Open a target for a plan, which makes nothing there. Raises RunnerError."""
    if is_atlas(named.where):
        from preprocessor.runner.atlas.opening import plan_atlas

        return plan_atlas(named.where)
    return _open_other(arguments, named)


def _open_other(arguments: Namespace, named: NamedTarget) -> Target:
    local = sum(is_local(one.where) for one in arguments.target)
    return open_target(named.where, max(1, local))
