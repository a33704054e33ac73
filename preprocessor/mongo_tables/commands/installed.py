"""What some commands need beside the package, and what to install where it is not there."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

from mongo_tables.runner.errors import RunnerError


def require_extra(extra: str, what: str, modules: Iterable[str]) -> None:
    """Raise RunnerError where one of these modules of an extra is missing; ``what`` says what they do."""
    if missing := [name for name in modules if importlib.util.find_spec(name) is None]:
        hint = f"pip install 'mongo-tables[{extra}]'"
        raise RunnerError(f"{what} is not installed: {', '.join(missing)}", hint)


def require_intervals() -> None:
    """Raise RunnerError where intervals cannot be computed."""
    require_extra("runner", "what computes intervals", ("scipy",))
