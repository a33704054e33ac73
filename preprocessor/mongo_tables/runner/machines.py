"""Which variants of an experiment a deployment can be measured for: those that ask for another machine need one.

A variant says in ``instance`` which machine it is about. A deployment that was given by its address has the machine
that it has: were all variants measured on it, their rows would differ by noise alone. A local target can give some of
what variants ask for; those that would be the same work there are measured once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.experiment import LABELS, Experiment
from mongo_tables.runner.namedtargets import NamedTarget

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
