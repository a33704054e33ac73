"""Storing events and requesting reports on them, with each of the ``event_schemas``."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, TypeVar

import bson

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.errors import UnexpectedReply
from mongo_tables.runner.event_schemas import (
    CLOCKS,
    FIRST_DAY,
    VERSIONS,
    Event,
    Version,
    loading,
    population,
    stream,
)
from mongo_tables.runner.workloads import REQUESTS, Config, Done, Share, Step, Workload, make_collection

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.wire.client import WireClient

REPORTED_FROM = datetime(2020, 1, 1, tzinfo=UTC)
REPORTED_DAYS = 366
STEPS = 10
"""The number of steps in which the rate of reports rises."""
Prepared = TypeVar("Prepared")


class EventLoad(Workload, name="event_load"):
    """Load events into a version of the schema, in bulk writes of upserts.

    ``totalDocsToInsert`` is the number of events; ``version`` says how they are stored. The events
    come from twenty simulated workers, the clocks of ``event_schemas``. The connections share these, so the data does
    not depend on the number of connections.
    """

    needs = frozenset({"version", "totalDocsToInsert", "writeBatchSize"})
    counted = "totalDocsToInsert"

    def plan(self, config: Config) -> Done:
        """Return an upsert for each event. Their total size is computed from the size of a single upsert."""
        events = int(config["totalDocsToInsert"])
        one = Event(1, FIRST_DAY, {"approved": 1})
        return Done(events, events, events * len(_encoded(VERSIONS[config["version"]], one)))

    def create(self, database: Database[Any], config: Config) -> None:
        """Create an empty collection with the version's index and options."""
        version = VERSIONS[config["version"]]
        make_collection(database, config, **version.options)
        if version.unique:
            # The name of the index becomes a field of results, and the default name may contain dots.
            fields = [(field, 1) for field in version.unique]
            database[config["collection"]].create_index(fields, unique=True, name="key_and_date")

    def server_counts(self, config: Config) -> Mapping[str, float]:
        """Return the counter of updates, which include upserts."""
        return {"opcounters.update": 1}

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Return a step that creates a batch of events and writes it."""
        version = VERSIONS[config["version"]]
        clocks = range(share.worker, CLOCKS, share.workers)
        batches = loading(config["totalDocsToInsert"], share.common_seed, config["writeBatchSize"], clocks)

        def step() -> Done | None:
            events = next(batches, None)
            return None if events is None else _send(client, [_encoded(version, event) for event in events])

        return step


def _send(client: WireClient, statements: list[bytes], kind: str = "") -> Done:
    """Send the statements in one request. Raises UnexpectedReply if a statement neither matched nor upserted."""
    written = client.update_each(statements)
    if written != len(statements):
        raise UnexpectedReply(f"{written} of {len(statements)} events were written")
    return Done(written, written, sum(map(len, statements)), kind)


def _encoded(version: Version, event: Event) -> bytes:
    statement = version.statement(event)
    return bson.encode({"q": statement.selector, "u": statement.update, "upsert": True})


class Reports(Workload, name="reports"):
    """Reports on the events in a version of the schema, for random keys and days of a year.

    A connection requests one report after the other. The pipelines of a report run one after the other, and the time of
    a report is the total time of its pipelines.
    """

    needs = frozenset({"version", "initialEvents", "writeBatchSize", "testTimeSecs"})
    keeps_data = True
    writes = False

    def create(self, database: Database[Any], config: Config) -> None:
        """Create an empty collection with the version's index and options."""
        EventLoad().create(database, config)

    def preload(self, config: Config) -> Config:
        """Return the load of ten years of events, ``initialEvents`` in total."""
        kept = ("collection", "version", "writeBatchSize", "writeConcern")
        return {
            "workload": "event_load",
            "totalDocsToInsert": config["initialEvents"],
            **{name: config[name] for name in kept if name in config},
        }

    def server_counts(self, config: Config) -> Mapping[str, float]:
        """Return the counters of requests.

        A report is one operation with a read for each pipeline, so a read counts as a part of an operation.
        """
        pipelines = len(VERSIONS[config["version"]].pipelines(1, REPORTED_FROM))
        return {name: factor if "writes" in name else factor / pipelines for name, factor in REQUESTS.items()}

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Return a step that requests a report. Its time excludes the preparation of the pipelines."""
        draw = _draw_reports(config, share.seed)

        def step() -> Done:
            pipelines = draw()
            sent = time.monotonic_ns()
            done = _ask_for_report(client, pipelines)
            return done._replace(microseconds=(time.monotonic_ns() - sent) // 1000)

        return step


def _draw_reports(config: Config, seed: str) -> Callable[[], list[bytes]]:
    """Return a function that draws a random report and returns the BSON of its pipelines."""
    version = VERSIONS[config["version"]]
    users = population(config["initialEvents"]).users
    draw = random.Random(seed)

    def prepare() -> list[bytes]:
        date = REPORTED_FROM + timedelta(draw.randrange(REPORTED_DAYS))
        pipelines = version.pipelines(draw.randint(1, users), date)
        return [bson.encode({str(number): stage for number, stage in enumerate(one)}) for one in pipelines]

    return prepare


def _ask_for_report(client: WireClient, pipelines: list[bytes]) -> Done:
    rows = size = 0
    for pipeline in pipelines:
        found, length = client.aggregate(pipeline)
        rows, size = rows + found, size + length
    return Done(1, rows, size, "getReports")


class EventReports(Reports, name="event_reports"):
    """Requests for reports while new events are stored. The requests and the events each have a rate.

    With ``eventsPerSecond``, the first half of the connections store events from ``eventsFrom`` on, in bulk writes of
    ``writeBatchSize``, and the other half request reports. Otherwise all connections request reports. In the window,
    the rate of reports rises to ``reportsPerSecond`` in ten equal steps; without that parameter, reports follow each
    other without a pause. Each window continues with the data that the previous window left.
    """

    goes_on = True
    paces_itself = True
    writes = True

    def preload(self, config: Config) -> Config:
        """Return the load of ten years of events, ``initialEvents`` in total."""
        if "eventsPerSecond" in config:
            # Check the rates before anything is loaded.
            _first_day(config)
            if config["numberOfThreads"] < 2:
                raise CommandError(
                    "eventsPerSecond needs two connections, because half of them write",
                    "raise numberOfThreads",
                )
        return super().preload(config)

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Return a step that stores a batch of events, or requests a report."""
        writers = share.workers // 2 if "eventsPerSecond" in config else 0
        pauses = random.Random(f"{share.seed}/pauses")
        if share.worker >= writers:
            readers, most = share.workers - writers, config.get("reportsPerSecond", inf)

            def interval(over: float) -> float:
                return float(readers * STEPS / (most * min(STEPS, 1 + int(STEPS * over))))

            pacing = Pacing(interval, config["testTimeSecs"], pauses)
            reports = _draw_reports(config, share.seed)
            return pace_requests(
                reports, lambda pipelines: _ask_for_report(client, pipelines), pacing, client.sleep
            )
        version, size = VERSIONS[config["version"]], config["writeBatchSize"]
        events = stream(population(config["initialEvents"]), share.seed, _first_day(config), share.worker)
        each = writers * size / config["eventsPerSecond"]

        def write(statements: list[bytes]) -> Done:
            return _send(client, statements, "bulkUpsert")._replace(operations=1)

        return pace_requests(
            lambda: [_encoded(version, event) for event in islice(events, size)],
            write,
            Pacing(lambda over: each, config["testTimeSecs"], pauses),
            client.sleep,
        )


def _first_day(config: Config) -> datetime:
    given = config.get("eventsFrom", "")
    try:
        return datetime.fromisoformat(given).replace(tzinfo=UTC)
    except ValueError:
        message = f"eventsFrom is not a day: {given!r}" if given else "eventsPerSecond needs eventsFrom"
        raise CommandError(message, 'give a day such as "2020-01-31"') from None


@dataclass(frozen=True, slots=True)
class Pacing:
    """The random pauses of one connection.

    ``interval`` returns the mean seconds from one request to the next, for an elapsed part of the window from 0 to 1.
    ``length`` is the length of the window in seconds.
    """

    interval: Callable[[float], float]
    length: float
    draw: random.Random

    def pause(self, over: float, took: float) -> float:
        """Return the seconds from the end of a request, which took ``took`` seconds, to the next request.

        ``over`` is the number of seconds since the start of the window. The first request (``took`` 0) waits for the
        rest of a pause that began before the window. So even a short window has the rate of a long one.
        """
        part = self.draw.random() if took else 1 - sqrt(self.draw.random())
        return 2 * part * self.interval(over / self.length) - took


def pace_requests(
    prepare: Callable[[], Prepared],
    send: Callable[[Prepared], Done],
    pacing: Pacing,
    sleep: Callable[[float], None],
    clock: Callable[[], int] = time.monotonic_ns,
) -> Step:
    """Return a step that prepares a request, sleeps until the request is due, and sends it.

    The step returns None if the window ends before that. Its time is only the time of the request. ``sleep`` must be
    the client's method, because ``time.sleep`` would delay all connections of the thread.
    """
    begun = took = 0

    def step() -> Done | None:
        nonlocal begun, took
        now = clock()
        begun = begun or now
        pause = pacing.pause((now - begun) / 1e9, took / 1e9)
        request = prepare()
        rest = pacing.length - (clock() - begun) / 1e9
        if (pause := max(0.0, pause - (clock() - now) / 1e9)) >= rest:
            sleep(max(0.0, rest))
            return None
        sleep(pause)
        sent = clock()
        done = send(request)
        took = clock() - sent
        return Done(done.operations, done.documents, done.bytes, done.kind, took // 1000)

    return step
