"""From how a target on Atlas is written to what asks Atlas for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from preprocessor.runner.atlas import clock as clocks
from preprocessor.runner.atlas.address import parse_atlas
from preprocessor.runner.atlas.api import Api
from preprocessor.runner.atlas.asking import open_api
from preprocessor.runner.atlas.budget import Budget
from preprocessor.runner.atlas.clusters import LEFT_HINT
from preprocessor.runner.atlas.credentials import Credentials
from preprocessor.runner.atlas.journal import Journal
from preprocessor.runner.atlas.prices import OWN, Prices, read_prices
from preprocessor.runner.atlas.sweep import projects
from preprocessor.runner.atlas.target import AtlasTarget


def open_atlas(where: str, run: str, prices: Prices, most: float, note: Callable[[str], None]) -> AtlasTarget:
    """A target that makes no call before its first variant, for the ``run`` of that name. Raises RunnerError."""
    address = parse_atlas(where)
    api = open_api(address.project)
    for project in projects():
        note(f"Atlas: a killed run may have left something in the project {project}; {LEFT_HINT}")
    journal = Journal(address.project, api.clock, run)
    return AtlasTarget(address, api, journal, Budget(prices, most, api.clock), note)


def plan_atlas(where: str) -> AtlasTarget:
    """A target that says what it would make, and can ask nobody for it. Raises RunnerError."""
    address = parse_atlas(where)
    nobody = Api(address.project, Credentials("", "", digest=False), clocks.Clock())
    journal = Journal(address.project, nobody.clock)
    return AtlasTarget(address, nobody, journal, Budget(read_prices(), 0.0, nobody.clock), lambda text: None)


def prices_named(path: str | None) -> Prices:
    """Those of the file, or the program's own. Raises RunnerError."""
    return read_prices(Path(path) if path else OWN)
