"""From how a target on Atlas is written to what asks Atlas for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple
from uuid import uuid4

from mongo_tables.runner.atlas import clock as clocks
from mongo_tables.runner.atlas.address import parse_atlas
from mongo_tables.runner.atlas.api import Api
from mongo_tables.runner.atlas.asking import open_api
from mongo_tables.runner.atlas.budget import Budget
from mongo_tables.runner.atlas.clusters import LEFT_HINT
from mongo_tables.runner.atlas.credentials import Credentials
from mongo_tables.runner.atlas.journal import Journal
from mongo_tables.runner.atlas.names import cluster_names
from mongo_tables.runner.atlas.prices import Prices, read_prices
from mongo_tables.runner.atlas.sweep import projects
from mongo_tables.runner.atlas.target import AtlasTarget


class AtlasRun(NamedTuple):
    """What all targets on Atlas of one run share: its name, the names of its clusters, and what these may cost."""

    name: str
    clusters: Iterator[str]
    budget: Budget


def begin_run(prices: Prices, most: float, name: str | None = None) -> AtlasRun:
    """A run that may cost ``most``; its ``name`` is drawn where none is given."""
    name = name or uuid4().hex[:12]
    return AtlasRun(name, cluster_names(name), Budget(prices, most, clocks.Clock()))


def open_atlas(where: str, run: AtlasRun, note: Callable[[str], None]) -> AtlasTarget:
    """A target of the run that makes no call before its first variant. Raises RunnerError."""
    address = parse_atlas(where)
    api = open_api(address.project)
    for project in projects():
        note(f"Atlas: a killed run may have left something in the project {project}; {LEFT_HINT}")
    journal = Journal(address.project, api.clock, run.name)
    return AtlasTarget(address, api, journal, run.clusters, run.budget, note)


def plan_atlas(where: str) -> AtlasTarget:
    """A target that says what it would make, and can ask nobody for it. Raises RunnerError."""
    address = parse_atlas(where)
    nobody = Api(address.project, Credentials("", "", digest=False), clocks.Clock())
    run = begin_run(read_prices(), 0.0)
    journal = Journal(address.project, nobody.clock, run.name)
    return AtlasTarget(address, nobody, journal, run.clusters, run.budget, lambda text: None)
