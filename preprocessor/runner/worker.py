"""One worker process: its connections, each driven by a thread, and the count of what they did."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from preprocessor.runner.workloads import Share, Step, workload

ERRORS_IN_A_ROW = 10
"""After so many failures without a success between them a connection gives up, and the run with it."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one process is to do: as ``load.Load``, and which of the ``workers`` connections are its own."""

    uri: str
    database: str
    workload: str
    config: Mapping[str, Any]
    seed: str
    seconds: float | None
    workers: int
    mine: tuple[int, ...]


@dataclass(slots=True)
class Tally:
    """What was done; ``finished`` is on the monotonic clock, ``latencies`` counts whole microseconds."""

    operations: int = 0
    documents: int = 0
    bytes: int = 0
    finished: float = 0.0
    cpu_seconds: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    latencies: dict[int, int] = field(default_factory=dict)
    gave_up: str = ""


def work(assignment: Assignment, pipe: Connection, counters: Any) -> None:
    """Entry point of the process: prepare, say ``None``, wait for the start, work, answer with a Tally.

    A string in place of either answer says what went wrong.
    """
    try:
        steps = _prepare(assignment)
    except Exception as error:
        pipe.send(_one_line(error))
        return
    pipe.send(None)
    start = pipe.recv()
    threading.Thread(target=_end_with_runner, args=(pipe,), daemon=True).start()
    # What is prepared stays until the end: the collector need not look at it while the clock runs.
    gc.collect()
    gc.freeze()
    gc.disable()
    cpu = time.process_time()
    tallies = _drive_all(steps, assignment, start, counters)
    total = _sum(tallies)
    total.cpu_seconds = time.process_time() - cpu
    pipe.send(total.gave_up or total)


def _prepare(assignment: Assignment) -> list[Step]:
    from pymongo import MongoClient, WriteConcern

    client: MongoClient[dict[str, Any]] = MongoClient(
        assignment.uri,
        maxPoolSize=len(assignment.mine) + 1,
        minPoolSize=len(assignment.mine),
        retryWrites=False,  # a write that is sent twice would be counted once
        appname="mongo-tables run",
    )
    concern = WriteConcern(**assignment.config.get("writeConcern", {"w": "majority"}))
    database = client.get_database(assignment.database, write_concern=concern)
    kind = workload(assignment.workload)
    steps = []
    for worker in assignment.mine:
        share = Share(worker, assignment.workers, f"{assignment.seed}/{worker}")
        steps.append(kind.open_steps(database, assignment.config, share))
    client.admin.command("ping")
    return steps


def _drive_all(steps: list[Step], assignment: Assignment, start: float, counters: Any) -> list[Tally]:
    tallies = [Tally() for _ in steps]
    threads = [
        threading.Thread(target=_drive, args=(step, tally, start, assignment.seconds, counters, slot))
        for step, tally, slot in zip(steps, tallies, assignment.mine, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tallies


def _drive(step: Step, tally: Tally, start: float, seconds: float | None, counters: Any, slot: int) -> None:
    """Repeat the step from ``start`` until it is finished or the time is over."""
    clock = time.monotonic_ns
    latencies = tally.latencies
    deadline = round((start + seconds) * 1e9) if seconds else 1 << 62
    failures = 0
    time.sleep(max(0.0, start - time.monotonic()))
    while (begun := clock()) < deadline:
        try:
            done = step()
        except Exception as error:  # whatever a driver raises is counted under its name
            failures += 1
            tally.errors[_name(error)] += 1
            if failures == ERRORS_IN_A_ROW:
                tally.gave_up = _one_line(error)
                break
            continue
        if done is None:
            break
        failures = 0
        took = (clock() - begun) // 1000
        latencies[took] = latencies.get(took, 0) + 1
        tally.operations += done.operations
        tally.documents += done.documents
        tally.bytes += done.bytes
        counters[slot] = tally.operations
    tally.finished = time.monotonic()


def _sum(tallies: list[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        total.operations += tally.operations
        total.documents += tally.documents
        total.bytes += tally.bytes
        total.finished = max(total.finished, tally.finished)
        total.errors.update(tally.errors)
        total.gave_up = total.gave_up or tally.gave_up
        for took, count in tally.latencies.items():
            total.latencies[took] = total.latencies.get(took, 0) + count
    return total


def _end_with_runner(pipe: Connection) -> None:
    """End this process when the runner has gone in a way that left it no time to end us."""
    try:
        pipe.recv()
    except (EOFError, OSError):
        os._exit(1)


def _name(error: Exception) -> str:
    code = getattr(error, "code", None)
    return f"{type(error).__name__} {code}" if code else type(error).__name__


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:500]
