"""Reports on the events that a version of the schema stores, while more events come in.

With ``eventsPerSecond`` the first half of the connections bring in events of the time after ``eventsFrom``, in bulk
writes of ``writeBatchSize``; the others, or all, ask for ``reports``. ``reportsPerSecond`` is reached in ten equal
steps in the window, and without it reports follow each other without pause.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.errors import ExperimentError
from mongo_tables.runner.eventschemas import VERSIONS
from mongo_tables.runner.eventschemas.events import population, stream
from mongo_tables.runner.pacing import Pacing, Prepared, pace_requests
from mongo_tables.runner.workloads import Config, Done, Share, Step, Traits, reports
from mongo_tables.runner.workloads.event_load import create, encoded, send
from mongo_tables.runner.workloads.reports import plan, report

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

__all__ = ["TRAITS", "create", "open_steps", "plan", "preload", "report", "reset"]

TRAITS = Traits(
    needs=frozenset({"version", "initialEvents", "writeBatchSize", "testTimeSecs"}),
    keeps_data=True,
    goes_on=True,
    paces_itself=True,
)
STEPS = 10
"""In which the rate of reports rises."""


def preload(config: Config) -> Config:
    """The events of ten years, ``initialEvents`` in all."""
    if "eventsPerSecond" in config:
        # Mistakes are told before anything is loaded.
        _first_day(config)
        if config["numberOfThreads"] < 2:
            raise ExperimentError(
                "eventsPerSecond needs two connections: half of them write", "raise numberOfThreads"
            )
    return reports.preload(config)


def reset(database: Database[Any], config: Config) -> None:
    """Nothing: a later window goes on with the events of the one before."""


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

    return _pace(prepare, write, lambda over: interval, client, config, share)


def _first_day(config: Config) -> datetime:
    given = config.get("eventsFrom", "")
    try:
        return datetime.fromisoformat(given).replace(tzinfo=UTC)
    except ValueError:
        message = f"eventsFrom is no day: {given!r}" if given else "eventsPerSecond needs eventsFrom"
        raise ExperimentError(message, 'a day as "2020-01-31"') from None


def _reporting(client: Client, config: Config, share: Share, readers: int) -> Step:
    most: float = config.get("reportsPerSecond", inf)

    def interval(over: float) -> float:
        return readers * STEPS / (most * min(STEPS, 1 + int(STEPS * over)))

    return _pace(
        reports.draw_reports(config, share.seed),
        lambda pipelines: reports.ask_for_report(client, pipelines),
        interval,
        client,
        config,
        share,
    )


def _pace(
    prepare: Callable[[], Prepared],
    send: Callable[[Prepared], Done],
    interval: Callable[[float], float],
    client: Client,
    config: Config,
    share: Share,
) -> Step:
    """Requests at this interval; while a connection pauses, the others of its thread go on."""
    pacing = Pacing(interval, config["testTimeSecs"], random.Random(f"{share.seed}/pauses"))
    # The client gets its hub, and with it another way to sleep, when the window begins.
    return pace_requests(prepare, send, pacing, lambda seconds: client.sleep(seconds))
