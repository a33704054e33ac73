"""What belongs to others in a project, some of it with one of our two marks."""

from __future__ import annotations

import copy
from typing import Any

from tests.runner.atlas.project import Project

SPECS = [
    {
        "regionConfigs": [
            {"regionName": "EU_WEST_1", "electableSpecs": {"instanceSize": "M10", "nodeCount": 3}}
        ]
    }
]
RUN = "fedcba987654"
FOREIGN = {
    "production": False,
    "mongo-tables-fedcba-7": False,
    "mongo-tables-docs": True,
    "mongo-tables-000000-1": True,
    "tagged": True,
}
"""Clusters of others, and whether they have our tag, which with their names is that of no run."""


def add_foreign(project: Project) -> None:
    """Clusters without our name, without our tag, with the tag of another run; users and addresses likewise."""
    ours = [{"key": "mongo-tables-run", "value": RUN}]
    for name, is_tagged in FOREIGN.items():
        with project.lock:
            data, project.data = project.data, ""
            project.create(
                {"name": name, "replicationSpecs": copy.deepcopy(SPECS), "tags": ours if is_tagged else []}
            )
            project.data = data
    for name, description in (
        ("app", "the application"),
        ("mongo-tables-fedcba-7", "mine"),
        ("admin", f"mongo-tables run {RUN}"),
    ):
        project.users[name] = {
            "username": name,
            "databaseName": "admin",
            "description": description,
            "roles": [],
        }
    project.let_in([{"cidrBlock": "198.51.100.0/24", "comment": "the office"}])
    project.foreign_processes = 120


def foreign_of(project: Project) -> tuple[Any, ...]:
    """All that is there without what a run of a test made."""
    project.settle()
    mine = "mongo-tables-a1b2c3-"
    return (
        sorted(name for name in project.clusters if not name.startswith(mine)),
        sorted(name for name in project.users if not name.startswith(mine)),
        sorted(one for one in project.access if one != "203.0.113.7/32"),
    )
