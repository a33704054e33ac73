"""Reports on the events that a version of the schema stores, alone or while more events come in.

With ``eventsPerSecond`` the first half of the connections bring in events of the time after ``eventsFrom``, in bulk
writes of ``writeBatchSize``; the others, or all, ask for reports on random keys and days of a year.
``reportsPerSecond`` is reached in ten equal steps in the window, and without it reports follow each other without
pause.

Where a report needs five pipelines, a connection runs them one after the other; its time is that of all five.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

from preprocessor.runner.errors import ExperimentError
from preprocessor.runner.eventschemas import VERSIONS
from preprocessor.runner.eventschemas.events import population, stream
from preprocessor.runner.pacing import Pacing, pace_requests
from preprocessor.runner.workloads import Amounts, Config, Done, Share, Step, Traits
from preprocessor.runner.workloads.event_load import create, encoded, send

if TYPE_CHECKING:
    from pymongo.database import Database

    from preprocessor.runner.clients import Client

__all__ = ["TRAITS", "create", "open_steps", "plan", "preload", "report", "reset"]

TRAITS = Traits(
    needs=frozenset({"version", "initialEvents", "writeBatchSize", "testTimeSecs"}),
    keeps_data=True,
    goes_on=True,
    paces_itself=True,
)
STEPS = 10
"""In which the rate of reports rises."""
REPORTED_FROM = datetime(2020, 1, 1, tzinfo=UTC)
REPORTED_DAYS = 366


def plan(config: Config) -> None:
    """As many as ``testTimeSecs`` allows."""
    return


def preload(config: Config) -> Config:
    """The events of ten years, ``initialEvents`` in all."""
    if "eventsPerSecond" in config:
        # Mistakes are told before anything is loaded.
        _first_day(config)
        if config["numberOfThreads"] < 2:
            raise ExperimentError(
                "eventsPerSecond needs two connections: half of them write", "raise numberOfThreads"
            )
    kept = ("collection", "version", "writeBatchSize", "writeConcern")
    return {
        "workload": "event_load",
        "totalDocsToInsert": config["initialEvents"],
        **{name: config[name] for name in kept if name in config},
    }


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: a later window goes on with the events of the one before."""


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """Latencies by kind count what was done."""
    return {}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """A step brings in a batch of events, or gets a report."""
    writers = share.workers // 2 if "eventsPerSecond" in config else 0
    if share.worker < writers:
        return _writing(client, config, share, writers)
    return _reporting(client, config, share, share.workers - writers)


def _writing(client: Client, config: Config, share: Share, writers: int) -> Step:
    version, size = VERSIONS[config["version"]], config["writeBatchSize"]
    events = stream(population(config["initialEvents"]), share.seed, _first_day(config), share.worker)
    interval = writers * size / config["eventsPerSecond"]

    def prepare() -> list[bytes]:
        return [encoded(version, event) for event in islice(events, size)]

    def write(statements: list[bytes]) -> Done:
        done = send(client, statements, "bulkUpsert")
        return Done(1, done.documents, done.bytes, done.kind)

    pacing = Pacing(lambda over: interval, config["testTimeSecs"], random.Random(f"{share.seed}/pauses"))
    return pace_requests(prepare, write, pacing, sleep=lambda seconds: client.sleep(seconds))


def _first_day(config: Config) -> datetime:
    given = config.get("eventsFrom", "")
    try:
        return datetime.fromisoformat(given).replace(tzinfo=UTC)
    except ValueError:
        message = f"eventsFrom is no day: {given!r}" if given else "eventsPerSecond needs eventsFrom"
        raise ExperimentError(message, 'a day as "2020-01-31"') from None


def _reporting(client: Client, config: Config, share: Share, readers: int) -> Step:
    import bson

    version = VERSIONS[config["version"]]
    users = population(config["initialEvents"]).users
    draw = random.Random(share.seed)
    most: float = config.get("reportsPerSecond", inf)

    def prepare() -> list[bytes]:
        date = REPORTED_FROM + timedelta(draw.randrange(REPORTED_DAYS))
        pipelines = version.pipelines(draw.randint(1, users), date)
        return [
            bson.encode({str(number): stage for number, stage in enumerate(pipeline)})
            for pipeline in pipelines
        ]

    def ask(pipelines: list[bytes]) -> Done:
        rows = size = 0
        for pipeline in pipelines:
            found, length = client.aggregate(pipeline)
            rows, size = rows + found, size + length
        return Done(1, rows, size, "getReports")

    def interval(over: float) -> float:
        return readers * STEPS / (most * min(STEPS, 1 + int(STEPS * over)))

    return pace_requests(
        prepare, ask, Pacing(interval, config["testTimeSecs"], random.Random(f"{share.seed}/pauses"))
    )
