"""What belongs to others in a project, each with one of our two marks at most."""

from __future__ import annotations

import copy
from typing import Any

from tests.runner.atlas.project import Project

HARDWARE = {"instanceSize": "M10", "nodeCount": 3}
SPECS = [{"regionConfigs": [{"regionName": "EU_WEST_1", "electableSpecs": HARDWARE}]}]
RUN = "a1b2c3d4e5f6"
"""Of a run of the tests: also that its marks stand alone makes nothing its own."""
FOREIGN = {
    "production": "",
    "mongo-tables-a1b2c3-77": "",
    "mongo-tables-docs": RUN,
    "mongo-tables-000000-1": RUN,
    "tagged": RUN,
    "mongo-tables-a1b2c3-78": "a1b2c3",
}
"""Clusters, and the run in their tag: names as ours without our tag, our tag with other names, and part of our tag."""
USERS = {
    "app": "the application",
    "mongo-tables-a1b2c3-77": "mine",
    "reports": f"mongo-tables run {RUN}",
    "mongo-tables-a1b2c3-78": f"mongo-tables run {RUN}, and more",
}
"""Users and their descriptions."""


def add_foreign(project: Project) -> None:
    """Put all of it into the project; nobody can use the clusters, and users are on no deployment."""
    for name, run in FOREIGN.items():
        tags = [{"key": "mongo-tables-run", "value": run}] if run else []
        with project.lock:
            data, project.data = project.data, ""
            project.create({"name": name, "replicationSpecs": copy.deepcopy(SPECS), "tags": tags})
            project.data = data
    for name, description in USERS.items():
        told = {"username": name, "databaseName": "admin", "description": description, "roles": []}
        project.users[name] = told


def foreign_of(project: Project) -> tuple[Any, ...]:
    """What of it is there, in whatever state."""
    project.settle()
    return (
        [
            (name, project.clusters[name].body, project.clusters[name].plan)
            for name in FOREIGN
            if name in project.clusters
        ],
        [project.users[name] for name in USERS if name in project.users],
    )


def check_foreign_alone(project: Project, before: tuple[Any, ...]) -> None:
    """It is there as it was ``before``, and nothing else is in the project."""
    assert foreign_of(project) == before
    there = project.clusters, project.users
    assert list(map(len, there)) == list(map(len, before))
