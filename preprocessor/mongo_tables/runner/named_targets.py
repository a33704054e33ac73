"""The targets of a run, and the variants that each of them is measured for.

A variant says in ``instance`` which machine it is about. A deployment that was given by its address has the machine
that it has: were all variants measured on it, their rows would differ by noise alone. A local target can give some of
what variants ask for; those that would be the same work there are measured once.
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
    """A deployment that a run may measure; the name is empty for one that stands alone without one."""

    name: str
    where: str = field(repr=False)
    """What ``open_target`` opens; it may hold a password."""


ALONE = NamedTarget("", "")
"""The name of the only target of a run, which has none."""


def parse_targets(given: Sequence[str]) -> tuple[NamedTarget, ...]:
    """Give the targets of all ``NAME=WHERE``, in their order, or the one ``WHERE`` without a name.

    Raises RunnerError where a name is missing among several, or where two are the same or make the same database.
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
    """Raise RunnerError where two targets, which may be one deployment, would have the same database."""
    names: dict[str, str] = {}
    for one in targets:
        # A server permits no two databases whose names differ in capitals only.
        other = names.setdefault(_database_ending(one).lower(), one.name)
        if other != one.name:
            raise RunnerError(
                f"the targets {other} and {one.name} would have the same database",
                "give them names that differ in more than capitals, dots and dashes",
            )


def database_on(experiment: Experiment, target: NamedTarget) -> str:
    """Name of the database that a run makes for the experiment: two targets with names may be one deployment.

    It has the name of the target, without the dots and dashes that a database has not.
    """
    return f"{experiment.parameters['database']}{_database_ending(target)}"


def _database_ending(target: NamedTarget) -> str:
    return "".join(f"_{part}" for part in re.findall("[A-Za-z0-9]+", target.name))


def split_targets(text: str) -> list[str]:
    """The targets that a variable of the environment names, with blanks between them."""
    return text.split()


def _parse(text: str) -> NamedTarget:
    found = _NAMED.fullmatch(text)
    return NamedTarget(found[1], found[2]) if found else NamedTarget("", text)


TIER = "atlasInstanceType"
"""The property of a machine whose value is the name of a target."""
_ENDS = "teardown"
"""What is done with the machine afterwards."""


def differing(experiment: Experiment, numbers: Collection[int]) -> list[str]:
    """Names of the properties of the machine in which these variants differ, sorted."""
    machines = [experiment.variants[number].get("instance", {}) for number in numbers]
    names = {name for machine in machines for name in machine} - LABELS - {_ENDS}
    return sorted(name for name in names if any(one.get(name) != machines[0].get(name) for one in machines))


def names_machines(experiment: Experiment) -> bool:
    """Whether variants say by name which machine they are about."""
    return any(TIER in variant.get("instance", {}) for variant in experiment.variants)


def variants_for(experiment: Experiment, target: NamedTarget) -> list[int]:
    """Numbers of the variants whose machine has the name of the target.

    All of them for a target without a name, and where variants name no machine.
    """
    tiers = [variant.get("instance", {}).get(TIER) for variant in experiment.variants]
    all_of_them = not target.name or not any(tiers)
    return [number for number, tier in enumerate(tiers) if all_of_them or tier == target.name]


def drop_equal(
    experiment: Experiment, numbers: Sequence[int], machine_for: Callable[[int], Any]
) -> list[int]:
    """Of variants that would be the same work on the same machine one: the reference, else the first of the file.

    ``machine_for`` gives what a variant gets of the machine that it asks for. Where variants ask for no machine, or for
    one and the same, all of them stay.
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
    """The machines of variants that no target is named for, in their order.

    Raises TargetError where no variant has a target.
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
