"""Reports on the events that a version of the schema stores, on random keys and days of a year, one after the other.

Where a report needs five pipelines, a connection runs them one after the other; its time is that of all five.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.eventschemas import VERSIONS
from mongo_tables.runner.eventschemas.events import population
from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits
from mongo_tables.runner.workloads.event_load import create

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

__all__ = [
    "TRAITS",
    "ask_for_report",
    "create",
    "draw_reports",
    "open_steps",
    "plan",
    "preload",
    "report",
    "reset",
]

TRAITS = Traits(
    needs=frozenset({"version", "initialEvents", "writeBatchSize", "testTimeSecs"}),
    keeps_data=True,
    writes=False,
)
REPORTED_FROM = datetime(2020, 1, 1, tzinfo=UTC)
REPORTED_DAYS = 366


def plan(config: Config) -> None:
    """As many as ``testTimeSecs`` allows."""
    return


def preload(config: Config) -> Config:
    """The events of ten years, ``initialEvents`` in all."""
    kept = ("collection", "version", "writeBatchSize", "writeConcern")
    return {
        "workload": "event_load",
        "totalDocsToInsert": config["initialEvents"],
        **{name: config[name] for name in kept if name in config},
    }


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: reports change nothing."""


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """Latencies by kind count what was done."""
    return {}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """A step gets a report; its time is that of the request alone."""
    draw = draw_reports(config, share.seed)

    def step() -> Done:
        pipelines = draw()
        sent = time.monotonic_ns()
        done = ask_for_report(client, pipelines)
        return done._replace(microseconds=(time.monotonic_ns() - sent) // 1000)

    return step


def draw_reports(config: Config, seed: str) -> Callable[[], list[bytes]]:
    """What gives the pipelines of one random report after the other, in BSON."""
    import bson

    version = VERSIONS[config["version"]]
    users = population(config["initialEvents"]).users
    draw = random.Random(seed)

    def prepare() -> list[bytes]:
        date = REPORTED_FROM + timedelta(draw.randrange(REPORTED_DAYS))
        pipelines = version.pipelines(draw.randint(1, users), date)
        return [
            bson.encode({str(number): stage for number, stage in enumerate(pipeline)})
            for pipeline in pipelines
        ]

    return prepare


def ask_for_report(client: Client, pipelines: list[bytes]) -> Done:
    """Run the pipelines of a report."""
    rows = size = 0
    for pipeline in pipelines:
        found, length = client.aggregate(pipeline)
        rows, size = rows + found, size + length
    return Done(1, rows, size, "getReports")
