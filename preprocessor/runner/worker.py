"""One worker process: its connections, each driven by a thread, and the count of what they did."""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from preprocessor.runner.clients import Client, Kind, PyMongoClient
from preprocessor.runner.wire import WireClient
from preprocessor.runner.workloads import Share, Step, workload

if TYPE_CHECKING:
    from pymongo import MongoClient

SELECTION_MS = 15_000
"""How long a primary is waited for: longer than an election takes, shorter than one waits for a dead server."""
ERRORS_IN_A_ROW = 10
"""After so many failures without a success between them, or a broken connection, the run is given up."""
_CLIENTS: Mapping[str, type[WireClient] | type[PyMongoClient]] = {
    "wire": WireClient,
    "pymongo": PyMongoClient,
}


@dataclass(frozen=True, slots=True)
class Load:
    """What to do, on what, by how many connections, with which client.

    ``config`` is what workloads call a config; ``seconds`` ends the timed window early. With ``rate``, in
    operations a second of all connections together, each operation has a time at which it is to start.
    """

    uri: str
    database: str
    workload: str
    config: Mapping[str, Any]
    seed: str
    connections: int
    client: Kind
    seconds: float | None = None
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one process is to do: which of the load's connections are its own."""

    load: Load
    mine: tuple[int, ...]


@dataclass(slots=True)
class Tally:
    """What was done; ``finished`` is on the monotonic clock.

    ``latencies`` counts, for each kind of operation, whole microseconds.
    """

    operations: int = 0
    documents: int = 0
    bytes: int = 0
    finished: float = 0.0
    cpu_seconds: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    latencies: defaultdict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    gave_up: str = ""


def serve(pipe: Connection, counters: Any) -> None:
    """Entry point of the process: take one Assignment after the other, until the runner ends it.

    For each the answer is ``None`` when everything is prepared, and after the start a Tally. A string in
    place of either says what went wrong.
    """
    threading.Thread(target=_end_with_runner, daemon=True).start()
    with suppress(EOFError):  # the runner is gone
        while True:
            _work(pipe.recv(), pipe, counters)


def _work(assignment: Assignment, pipe: Connection, counters: Any) -> None:
    from pymongo import MongoClient

    load = assignment.load
    with MongoClient[dict[str, Any]](
        load.uri,
        maxPoolSize=len(assignment.mine) + 1,
        serverSelectionTimeoutMS=SELECTION_MS,
        retryReads=False,  # a retry would wait as long again
        retryWrites=False,  # a write that is sent twice would be counted once
        appname="mongo-tables run",
    ) as client:
        try:
            clients = [_connect(client, load) for _ in assignment.mine]
            kind = workload(load.workload)
            steps = [
                kind.open_steps(held, load.config, Share(worker, load.connections, f"{load.seed}/{worker}"))
                for held, worker in zip(clients, assignment.mine, strict=True)
            ]
        except Exception as error:
            pipe.send(_one_line(error))
            return
        pipe.send(None)
        total = _timed(steps, assignment, pipe.recv(), counters)
        pipe.send(
            total.gave_up or total
        )  # now: to close a client takes time, and waits for a server that is gone
        if total.gave_up:
            return
        for held in clients:
            held.close()


def _connect(client: MongoClient[dict[str, Any]], load: Load) -> Client:
    concern = load.config.get("writeConcern", {"w": "majority"})
    client.admin.command("ping")
    return _CLIENTS[load.client](client, (load.database, load.config["collection"]), concern)


def _timed(steps: list[Step], assignment: Assignment, start: float, counters: Any) -> Tally:
    # What is prepared stays until the end: the collector need not look at it while the clock runs.
    gc.collect()
    gc.freeze()
    gc.disable()
    cpu = time.process_time()
    try:
        total = _sum(_drive_all(steps, assignment, start, counters))
    finally:
        gc.enable()
        gc.unfreeze()
    total.cpu_seconds = time.process_time() - cpu
    return total


def _drive_all(steps: list[Step], assignment: Assignment, start: float, counters: Any) -> list[Tally]:
    load = assignment.load
    tallies = [Tally() for _ in steps]
    interval = load.connections / load.rate if load.rate else 0.0
    threads = []
    for step, tally, slot in zip(steps, tallies, assignment.mine, strict=True):
        # With a rate, connections begin one after the other, so that their operations are spread evenly.
        first = start + interval * slot / load.connections
        pace = Pace(first, interval, start + load.seconds if load.seconds else None)
        threads.append(threading.Thread(target=drive, args=(step, tally, pace, counters, slot)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tallies


@dataclass(frozen=True, slots=True)
class Pace:
    """When a connection starts its operations, in seconds on the monotonic clock.

    ``interval`` 0 is a closed loop: the next operation when the one before is answered. Else the operation n
    is meant to start at ``first + n * interval``, and its latency counts from there even when the connection
    was still busy: what a user who does not wait for others would see.
    """

    first: float
    interval: float
    end: float | None


def drive(step: Step, tally: Tally, pace: Pace, counters: Any, slot: int) -> None:
    """Repeat the step at its pace until it is finished or the time is over."""
    clock = time.monotonic_ns
    latencies = tally.latencies
    end = round(pace.end * 1e9) if pace.end else 1 << 62
    meant, interval = round(pace.first * 1e9), round(pace.interval * 1e9)
    failures = 0
    _sleep_until(meant)
    while (begun := clock()) < end:
        if interval:
            if meant >= end:
                break
            if meant > begun:
                _sleep_until(meant)
            begun, meant = meant, meant + interval
        try:
            done = step()
        except Exception as error:  # whatever a driver raises is counted under its name
            failures += 1
            tally.errors[_name(error)] += 1
            if failures == ERRORS_IN_A_ROW or _is_cut_off(error):
                tally.gave_up = _one_line(error)
                break
            continue
        if done is None:
            break
        failures = 0
        took = (clock() - begun) // 1000 if done.microseconds is None else done.microseconds
        counts = latencies[done.kind]
        counts[took] = counts.get(took, 0) + 1
        tally.operations += done.operations
        tally.documents += done.documents
        tally.bytes += done.bytes
        counters[slot] = tally.operations
    tally.finished = time.monotonic()


def _sleep_until(nanoseconds: int) -> None:
    time.sleep(max(0, nanoseconds - time.monotonic_ns()) / 1e9)


def _sum(tallies: list[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        total.operations += tally.operations
        total.documents += tally.documents
        total.bytes += tally.bytes
        total.finished = max(total.finished, tally.finished)
        total.errors.update(tally.errors)
        total.gave_up = total.gave_up or tally.gave_up
        for kind, latencies in tally.latencies.items():
            merged = total.latencies[kind]
            for took, count in latencies.items():
                merged[took] = merged.get(took, 0) + count
    return total


def _end_with_runner() -> None:
    """End this process when the runner has gone in a way that left it no time to end us."""
    runner = multiprocessing.parent_process()
    if runner is not None:
        runner.join()
        os._exit(1)


def _is_cut_off(error: Exception) -> bool:
    from pymongo.errors import ConnectionFailure

    return isinstance(error, OSError | ConnectionFailure)


def _name(error: Exception) -> str:
    code = getattr(error, "code", None)
    return f"{type(error).__name__} {code}" if code else type(error).__name__


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:500]
