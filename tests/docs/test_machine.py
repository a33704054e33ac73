"""The machine that pages name is that of the servers: nobody reads the client's in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mongo_tables.aggregation import aggregate
from mongo_tables.directives.pipelines import SharedPipelines
from mongo_tables.results.conditions import describe_machine

PIPELINES = Path(__file__).parents[2] / "docs" / "pipelines"
CLIENT = {"cpu": "Client CPU", "cores": 2, "memory_gib": 23.5}
SERVER = {"role": "primary", "cpu": "Server CPU", "cores": 8, "memory_gib": 32}
OURS = "Client CPU, 2 processors, 23.5 GiB"
THEIRS = "Server CPU, 8 processors, 32 GiB"


def pipeline(name: str) -> list[Any]:
    return list(SharedPipelines(PIPELINES)(name).stages)


@pytest.mark.parametrize(
    ("document", "machine"),
    [
        ({"experiment": {"target": "local"}}, OURS),
        ({"experiment": {"target": "local"}, "servers": {"members": [SERVER]}}, OURS),
        ({"experiment": {"scale": 1}}, OURS),
        ({"experiment": {"target": "db:1"}}, None),
        ({"experiment": {"target": "db:1"}, "servers": {"members": [{"role": "primary"}]}}, None),
        ({"experiment": {"target": "db:1"}, "servers": {"members": [SERVER, {}]}}, THEIRS),
        ({"experiment": {"scale": 1}, "servers": {"members": [SERVER, {}]}}, THEIRS),
        ({"experiment": {"target": "db:1"}, "servers": {"members": [{**SERVER, "role": "mongos"}]}}, None),
        (
            {
                "experiment": {"target": "db:1"},
                "servers": {"members": [{**SERVER, "cpu": None, "cpu_architecture": "arm64"}]},
            },
            "arm64, 8 processors, 32 GiB",
        ),
    ],
)
def test_the_machine_of_a_page_is_that_of_the_servers(document: dict[str, Any], machine: str | None) -> None:
    assert describe_machine(document | {"hardware": CLIENT}) == (machine or "")


@pytest.mark.parametrize(
    ("topology", "told"),
    [
        ({"kind": "replica set", "members": 3, "place": "here"}, "replica set, 3 members; here"),
        ({"kind": "sharded cluster", "shards": 2, "place": "there"}, "sharded cluster, 2 shards; there"),
        ({"kind": "sharded cluster", "place": "there"}, "sharded cluster, there"),
    ],
)
def test_a_deployment_is_told_by_its_members_or_its_shards(topology: dict[str, Any], told: str) -> None:
    projected = next(stage["$project"] for stage in pipeline("settings") if "$project" in stage)
    settings = projected["settings"]["$concatArrays"][0]
    (deployment,) = (one["value"] for one in settings if one["setting"] == "Deployment")
    (found,) = aggregate([{"_id": 1, "topology": topology}], [{"$project": {"told": deployment}}])
    assert found["told"] == told
