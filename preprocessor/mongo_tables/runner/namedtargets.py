"""What ``--target`` names: one deployment, or several, each by a name of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from mongo_tables.runner.addresses import shown
from mongo_tables.runner.errors import RunnerError
from mongo_tables.runner.experiment import Experiment

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
