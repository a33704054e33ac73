"""``mongo-tables run --sweep``: what killed runs have left on Atlas is removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mongo_tables.runner.atlas.address import is_atlas, parse_project
from mongo_tables.runner.atlas.api import open_api
from mongo_tables.runner.atlas.clusters import projects, sweep
from mongo_tables.runner.errors import RunnerError

if TYPE_CHECKING:
    from mongo_tables.runner.named_targets import NamedTarget
    from mongo_tables.runner.progress import Progress


def sweep_projects(targets: Sequence[NamedTarget], progress: Progress) -> None:
    """Sweep the projects of these targets, and without any those that journals of killed runs name.

    Raises RunnerError where something is left.
    """
    named = [parse_project(one.where) for one in targets if is_atlas(one.where)]
    found = named or projects()
    failures: list[RunnerError] = []
    for project in dict.fromkeys(found):
        try:
            removed = sweep(open_api(project), progress.note)
        except RunnerError as error:
            failures.append(error)
        else:
            print(f"{project}: {removed} removed" if removed else f"{project}: nothing was left")
    if not found:
        print("no killed run of yours is known; --target atlas:PROJECT names a project to look at")
    if failures:
        raise RunnerError("; ".join(one.message for one in failures), failures[0].hint)
