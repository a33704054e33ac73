"""Load: a crew of worker processes, connections shared out among them, one common start, and what they did.

Everything that can be prepared is prepared by the workers before they report that they are ready; the clock
starts for all of them at one moment and stops when the last is done. The processes are started once and serve
every window of a run, because to start one takes longer than a short window.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any, Self

from preprocessor.runner.driving import ConnectionStats
from preprocessor.runner.errors import KEPT, WorkFailed
from preprocessor.runner.worker import Assignment, Load, serve

START_DELAY_SECONDS = 0.05
"""Between the word to start and the start, so that it has reached every worker."""
POLL_SECONDS = 0.1
LOOK_SECONDS = 1.0
"""Between two looks at the deployment while work is under way: seldom enough to cost a window nothing."""
MOST_CONNECTIONS = 4096


@dataclass(frozen=True, slots=True)
class Outcome:
    """What all workers did: sums, the length of the window in seconds, CPU seconds of each worker process.

    ``latencies`` counts requests by their whole microseconds, and ``latencies_by_kind`` those of each kind;
    ``errors`` counts failed ones by their name.
    """

    seconds: float
    operations: int
    documents: int
    bytes: int
    errors: dict[str, int]
    latencies: dict[int, int]
    latencies_by_kind: dict[str, dict[int, int]]
    process_cpu_seconds: tuple[float, ...]


class WorkerPool:
    """Worker processes, as a context manager: at its end they have ended, whatever they were doing."""

    def __init__(self, processes: int, fault: Callable[[], str] = lambda: "") -> None:
        """Start the processes; they cost nothing until they have work.

        ``fault`` says why a member of the deployment has ended, empty when none has. It is asked while work is under
        way: a write that needs every member is never answered when one of them is gone.
        """
        self._fault = fault
        context = multiprocessing.get_context("spawn")
        self._counters = context.RawArray("Q", MOST_CONNECTIONS)
        self._pipes: list[Connection] = []
        self._processes: list[SpawnProcess] = []
        for _ in range(processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs, self._counters), daemon=True)
            with _interrupts_ignored():
                process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def __enter__(self) -> Self:
        """Give the crew itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes."""
        self.dismiss()

    def dismiss(self) -> None:
        """End the processes; a crew that is dismissed does no more work."""
        for process in self._processes:
            process.terminate()
            process.join()
        for pipe in self._pipes:
            pipe.close()

    def perform(
        self,
        load: Load,
        *,
        ready: Callable[[], None] = lambda: None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Outcome:
        """Prepare, call ``ready``, start the clock, and wait; ``progress`` hears of operations done so far.

        Raises WorkFailed when a worker could not prepare or gave up, or a member of the deployment has ended; the
        crew is of no use after that.
        """
        self._counters[:] = [0] * MOST_CONNECTIONS
        count = min(len(self._pipes), load.connections)
        pipes = self._pipes[:count]
        for number, pipe in enumerate(pipes):
            _tell(pipe, Assignment(load, tuple(range(number, load.connections, count))))
        for pipe in pipes:
            _expect(pipe)
        ready()
        start = time.monotonic() + START_DELAY_SECONDS
        for pipe in pipes:
            _tell(pipe, start)
        tallies = self._collect(pipes, lambda: progress(sum(self._counters[: load.connections])))
        return _outcome(tallies, start)

    def _collect(self, pipes: Sequence[Connection], progress: Callable[[], None]) -> list[ConnectionStats]:
        waiting = list(pipes)
        tallies: list[ConnectionStats] = []
        next_look = time.monotonic() + LOOK_SECONDS
        while waiting:
            for pipe in [pipe for pipe in waiting if pipe.poll(POLL_SECONDS / len(waiting))]:
                tallies.append(_expect(pipe))
                waiting.remove(pipe)
            progress()
            if waiting and time.monotonic() >= next_look:
                if reason := self._fault():
                    raise WorkFailed(f"the work was given up: {reason}", KEPT)
                next_look = time.monotonic() + LOOK_SECONDS
        return tallies


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


def _tell(pipe: Connection, what: Any) -> None:
    with _somebody_there():
        pipe.send(what)


def _expect(pipe: Connection) -> Any:
    with _somebody_there():
        answer = pipe.recv()
    if isinstance(answer, str):
        raise WorkFailed(f"the work was given up: {answer}", KEPT)
    return answer


@contextmanager
def _somebody_there() -> Iterator[None]:
    """Raises WorkFailed when the process at the other end of the pipe has gone, however that shows."""
    try:
        yield
    except (EOFError, OSError):
        raise WorkFailed("a worker process ended without a word", "is there enough memory?") from None


def _outcome(tallies: Sequence[ConnectionStats], start: float) -> Outcome:
    errors: Counter[str] = Counter()
    latencies: Counter[int] = Counter()
    by_kind: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for tally in tallies:
        errors.update(tally.errors)
        for kind, counts in tally.latencies.items():
            latencies.update(counts)
            by_kind[kind].update(counts)
    return Outcome(
        seconds=max(tally.finished for tally in tallies) - start,
        operations=sum(tally.operations for tally in tallies),
        documents=sum(tally.documents for tally in tallies),
        bytes=sum(tally.bytes for tally in tallies),
        errors=dict(sorted(errors.items())),
        latencies=dict(latencies),
        latencies_by_kind={kind: dict(by_kind[kind]) for kind in sorted(by_kind)},
        process_cpu_seconds=tuple(tally.cpu_seconds for tally in tallies),
    )
