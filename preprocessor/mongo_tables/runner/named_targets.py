"""The targets of a run, and the variants that each of them measures.

A variant names its machine in ``instance``. A deployment given by its address has the machine that it has: if all
variants were measured on it, their rows would differ by noise alone. A local target can provide some of the
properties that variants ask for; variants that would be the same work there are measured once.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from mongo_tables.runner.connection_strings import shown
from mongo_tables.runner.errors import RunnerError, TargetError
from mongo_tables.runner.experiment import LABELS, Experiment

_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)", re.DOTALL)
"""A connection string has a colon before its first ``=``."""


@dataclass(frozen=True, slots=True)
class NamedTarget:
    """A deployment that a run may measure; the name is empty for a single target without one."""

    name: str
    where: str = field(repr=False)
    """The argument of ``open_target``; it may contain a password."""


ALONE = NamedTarget("", "")
"""The name of a run's only target, which has none."""


def parse_targets(given: Sequence[str]) -> tuple[NamedTarget, ...]:
    """Parse the targets ``NAME=WHERE``, in their order, or a single ``WHERE`` without a name.

    Raises RunnerError if one of several has no name, or two are the same or would use the same database.

    Example:
        >>> [target.name for target in parse_targets(["a=local", "b=mongodb://host"])]
        ['a', 'b']
    """
    targets = tuple(_parse(one) for one in given)
    if len(targets) > 1:
        if unnamed := [one for one in targets if not one.name]:
            raise RunnerError(
                f"which of {len(targets)} targets is {shown(unnamed[0].where)!r}?",
                "with several, each has a name: --target M30=mongodb://… --target M40=mongodb://…",
            )
        if twice := [name for name, count in Counter(one.name for one in targets).items() if count > 1]:
            raise RunnerError(f"two targets are called {twice[0]}", "each has a name of its own")
        _check_databases(targets)
    return targets


def _check_databases(targets: Sequence[NamedTarget]) -> None:
    """Raise RunnerError if two targets, which may be one deployment, would use the same database."""
    names: dict[str, str] = {}
    for one in targets:
        # A server permits no two databases whose names differ only in case.
        other = names.setdefault(_database_ending(one).lower(), one.name)
        if other != one.name:
            raise RunnerError(
                f"the targets {other} and {one.name} would have the same database",
                "give them names that differ in more than capitals, dots and dashes",
            )


def database_on(experiment: Experiment, target: NamedTarget) -> str:
    """Return the database name for the experiment; it distinguishes named targets, which may be one deployment.

    It contains the name of the target, without the dots and dashes that a database name may not have.
    """
    return f"{experiment.parameters['database']}{_database_ending(target)}"


def _database_ending(target: NamedTarget) -> str:
    return "".join(f"_{part}" for part in re.findall("[A-Za-z0-9]+", target.name))


def split_targets(text: str) -> list[str]:
    """Return the targets in the environment variable's value, which are separated by blanks."""
    return text.split()


def _parse(text: str) -> NamedTarget:
    found = _NAMED.fullmatch(text)
    return NamedTarget(found[1], found[2]) if found else NamedTarget("", text)


TIER = "atlasInstanceType"
"""The machine property whose value is the name of a target."""
_ENDS = "teardown"
"""The property that says what happens to the machine afterwards."""


def differing(experiment: Experiment, numbers: Collection[int]) -> list[str]:
    """Return the names of the machine properties in which these variants differ, sorted."""
    machines = [experiment.variants[number].get("instance", {}) for number in numbers]
    names = {name for machine in machines for name in machine} - LABELS - {_ENDS}
    return sorted(name for name in names if any(one.get(name) != machines[0].get(name) for one in machines))


def names_machines(experiment: Experiment) -> bool:
    """Return whether variants name their machine."""
    return any(TIER in variant.get("instance", {}) for variant in experiment.variants)


def variants_for(experiment: Experiment, target: NamedTarget) -> list[int]:
    """Return the numbers of the variants whose machine has the name of the target.

    Return all variants for a target without a name, and if variants name no machine.
    """
    tiers = [variant.get("instance", {}).get(TIER) for variant in experiment.variants]
    all_of_them = not target.name or not any(tiers)
    return [number for number, tier in enumerate(tiers) if all_of_them or tier == target.name]


def drop_equal(
    experiment: Experiment, numbers: Sequence[int], machine_for: Callable[[int], Any]
) -> list[int]:
    """Return one of each set of variants that would be the same work: the reference, else the first of the file.

    ``machine_for`` returns the machine that a variant gets. If variants ask for no machine, or all for the same one,
    all of them stay.
    """
    if not differing(experiment, numbers):
        return [*numbers]
    kept: dict[str, int] = {}
    for number in sorted(numbers, key=lambda number: (number != experiment.baseline, number)):
        work = {
            name: value
            for name, value in experiment.variants[number].items()
            if name not in LABELS and name != "instance"
        }
        kept.setdefault(json.dumps([work, machine_for(number)], sort_keys=True, default=str), number)
    return sorted(kept.values())


def machines_without_target(experiment: Experiment, targets: Sequence[NamedTarget]) -> list[str]:
    """Return the machines of variants for which there is no target, in their order.

    Raises TargetError if no variant has a target.
    """
    served = {number for target in targets for number in variants_for(experiment, target)}
    if not served:
        known = ", ".join(dict.fromkeys(_tiers(experiment)))
        raise TargetError(
            f"{experiment.name} has no variant for the targets that are named", f"its machines: {known}"
        )
    return list(dict.fromkeys(tier for number, tier in enumerate(_tiers(experiment)) if number not in served))


def _tiers(experiment: Experiment) -> list[str]:
    return [
        str(variant.get("instance", {}).get(TIER, "those without a machine"))
        for variant in experiment.variants
    ]
