"""What some commands need beside the package, and what to install where it is not there."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

from mongo_tables.runner.errors import RunnerError


def require_extra(command: str, extra: str, modules: Iterable[str]) -> None:
    """Raise RunnerError where a module of an extra is missing that a command needs."""
    if any(importlib.util.find_spec(name) is None for name in modules):
        raise RunnerError(
            f"command {command} needs the extra {extra}", f"pip install 'mongo-tables[{extra}]'"
        )


def require_intervals(command: str) -> None:
    """Raise RunnerError where intervals cannot be computed."""
    require_extra(command, "runner", ("scipy",))
