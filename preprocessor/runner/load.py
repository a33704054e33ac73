"""Load: worker processes with connections in each, one common start, and what they did all told.

Everything that can be prepared is prepared by the workers before they report that they are ready; the clock
starts for all of them at one moment and stops when the last is done. The loop is closed: a connection sends
its next operation when the one before is answered.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from preprocessor.runner.errors import WorkFailed
from preprocessor.runner.worker import Assignment, Tally, work

START_DELAY_SECONDS = 0.05
"""Between the word to start and the start, so that it has reached every worker."""
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Load:
    """What to do, on what, by how many.

    ``config`` is what workloads call a config; ``seconds`` ends the timed window early; ``processes`` and
    ``connections`` are totals, connections shared out among the processes.
    """

    uri: str
    database: str
    workload: str
    config: Mapping[str, Any]
    seed: str
    processes: int
    connections: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What all workers did: sums, the length of the window in seconds, CPU seconds of each worker process.

    ``latencies`` counts operations by their whole microseconds; ``errors`` counts failed ones by their name.
    """

    seconds: float
    operations: int
    documents: int
    bytes: int
    errors: Mapping[str, int]
    latencies: Mapping[int, int]
    process_cpu_seconds: tuple[float, ...]


def perform(
    load: Load,
    *,
    ready: Callable[[], None] = lambda: None,
    progress: Callable[[int], None] = lambda done: None,
) -> Outcome:
    """Prepare, call ``ready``, start the clock, and wait; ``progress`` hears of operations done so far.

    Raises WorkFailed when a worker could not prepare or gave up.
    """
    context = multiprocessing.get_context("spawn")
    counters = context.RawArray("Q", load.connections)
    pipes: list[Connection] = []
    processes: list[SpawnProcess] = []
    try:
        for assignment in _assignments(load):
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(assignment, theirs, counters), daemon=True)
            with _interrupts_ignored():
                process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        for pipe in pipes:
            _expect(pipe)
        ready()
        start = time.monotonic() + START_DELAY_SECONDS
        for pipe in pipes:
            pipe.send(start)
        tallies = _collect(pipes, lambda: progress(sum(counters)))
        return _outcome(tallies, start)
    finally:
        for process in processes:
            process.terminate()
            process.join()
        for pipe in pipes:
            pipe.close()


def _assignments(load: Load) -> Iterator[Assignment]:
    processes = min(load.processes, load.connections)
    for number in range(processes):
        yield Assignment(
            uri=load.uri,
            database=load.database,
            workload=load.workload,
            config=load.config,
            seed=load.seed,
            seconds=load.seconds,
            workers=load.connections,
            mine=tuple(range(number, load.connections, processes)),
        )


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let a child begin with Ctrl-C ignored: a terminal sends it to all, the runner alone answers it."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not in the main thread, where no signal arrives
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _collect(pipes: Sequence[Connection], progress: Callable[[], None]) -> list[Tally]:
    waiting = list(pipes)
    tallies: list[Tally] = []
    while waiting:
        for pipe in [pipe for pipe in waiting if pipe.poll(POLL_SECONDS / len(waiting))]:
            tallies.append(_expect(pipe))
            waiting.remove(pipe)
        progress()
    return tallies


def _expect(pipe: Connection) -> Any:
    try:
        answer = pipe.recv()
    except EOFError:
        raise WorkFailed("a worker process ended without a word", "is there enough memory?") from None
    if isinstance(answer, str):
        raise WorkFailed(answer)
    return answer


def _outcome(tallies: Sequence[Tally], start: float) -> Outcome:
    errors: Counter[str] = Counter()
    latencies: Counter[int] = Counter()
    for tally in tallies:
        errors.update(tally.errors)
        latencies.update(tally.latencies)
    return Outcome(
        seconds=max(tally.finished for tally in tallies) - start,
        operations=sum(tally.operations for tally in tallies),
        documents=sum(tally.documents for tally in tallies),
        bytes=sum(tally.bytes for tally in tallies),
        errors=dict(sorted(errors.items())),
        latencies=latencies,
        process_cpu_seconds=tuple(tally.cpu_seconds for tally in tallies),
    )
