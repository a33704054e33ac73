"""A load machine's side: one Dask task that owns worker processes until its work ends, and what it is told and says.

Orders reach it as messages to the Dask worker that runs it. That worker's event loop answers them at once, while the
task does the work in a thread. An order contains the connection string of the target with its password: as a message
it is encrypted, in no task graph and on no dashboard.
"""

from __future__ import annotations

import os
import pickle
import queue
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.runner import host
from mongo_tables.runner.driving import one_line
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import Edges, WorkerPool, until_answered
from mongo_tables.runner.outcome import Network, read_network
from mongo_tables.runner.worker import Alternation, Assignment, Scheduling

OPERATION: Final = "mongo_tables_load"
"""The name under which a Dask worker handles our messages."""
GONE_SECONDS = 15.0
"""Seconds without a message after which the runner counts as gone and the work ends."""
LOOK_SECONDS = 0.5
POLL_SECONDS = 0.1
"""Seconds between two looks at the edges of the window, at which the network counters are read."""
DISMISS: Final = "dismiss"
"""The order to end the current work."""
END: Final = "end"
"""The order to end the current work and the task."""
READY: Final = "ready"
"""The report that everything is prepared."""


@dataclass(frozen=True, slots=True, repr=False)
class Work:
    """The connections of a machine in a window, and its part of work by amount: numbers from ``first`` on."""

    assignment: Assignment | Alternation
    first: int


Order = Work | float | Literal["dismiss", "end"]
"""A number says when to begin, on the machine's clock."""


class Greeting(NamedTuple):
    """The first report of a machine: the version of the program, and the machine's description."""

    harness: str
    hardware: Mapping[str, Any]


class Failed(NamedTuple):
    """The report that the work was given up."""

    reason: str


class LoadResults(NamedTuple):
    """The results of each process, for two loads that took turns of each, and the machine's network traffic.

    ``network`` is that of the window, ``whole_network`` that of all work.
    """

    tallies: Sequence[Any]
    scheduling: Scheduling
    network: Network
    whole_network: Network


Report = Greeting | Failed | LoadResults | Literal["ready"]


class Sent(NamedTuple):
    """A message to a machine: orders, and the edges of the window on its clock."""

    orders: Sequence[Order] = ()
    edges: Sequence[int] | None = None


class Told(NamedTuple):
    """A message from a machine: its clock, reports, its counters, and when its window closed.

    ``first_answers`` are on its clock; 0 means none yet.
    """

    clock: int
    said: Sequence[Report]
    counters: Sequence[int]
    first_answers: Sequence[int]
    closes: int


class Tended:
    """The worker processes of a machine, the orders received and the reports to send."""

    def __init__(self, processes: int | None, gives_way: bool) -> None:
        """Use this many processes, by default one per processor. They start with the first work."""
        self._pool = WorkerPool(processes or os.cpu_count() or 1, self._why_it_ends, gives_way)
        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._said.put(Greeting(host.harness(), host.hardware(None)))
        self._slots: Sequence[int] = ()
        self._dismissed = False
        self._heard = time.monotonic()

    def answer(self, message: bytes) -> bytes:
        """Handle a message, and return the pending reports. Never raise, since Dask would log it."""
        try:
            self._take(pickle.loads(message))
        except Exception as error:
            self._said.put(Failed(f"a message was not understood: {type(error).__name__}"))
        said = [self._said.get() for _ in range(self._said.qsize())]
        board, slots = self._pool.board, self._slots
        counters, answers = (
            [shared[slot] for slot in slots] for shared in (board.counters, board.first_answers)
        )
        return pickle.dumps(Told(time.monotonic_ns(), said, counters, answers, board.closes))

    def _take(self, sent: Sent) -> None:
        self._heard = time.monotonic()
        if sent.edges is not None and self._slots:
            self._pool.board.take_over(sent.edges)
        for order in sent.orders:
            self._dismissed |= order in (DISMISS, END)
            self._orders.put(order)

    def tend(self) -> None:
        """Execute one order after another until the last, or until the runner is gone."""
        with self._pool:
            while (order := self._next()) != END:
                self._dismissed = False
                if isinstance(order, Work):
                    self._work(order)
                elif order == DISMISS:
                    self._pool.dismiss()

    def _next(self) -> Order:
        while True:
            try:
                return self._orders.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                if self._is_alone():
                    return END

    def _is_alone(self) -> bool:
        return time.monotonic() - self._heard > GONE_SECONDS

    def _work(self, work: Work) -> None:
        """Do the work and report each step, or why it failed."""
        try:
            self._perform(work)
        except Exception as error:
            if not self._dismissed:
                reason = error.message if isinstance(error, WorkFailed) else one_line(error)
                self._said.put(Failed(reason.removeprefix("the work was given up: ")))
            self._pool.dismiss()
        finally:
            self._slots = ()

    def _perform(self, work: Work) -> None:
        pool, assignment = self._pool, work.assignment
        pool.board.clear(assignment.longest, work.first)
        self._slots = assignment.mine
        pool.prepare(assignment.loads, lambda part: replace(assignment, mine=part), assignment.mine)
        self._said.put(READY)
        start = self._next()
        if not isinstance(start, float):  # dismissed, or without a runner
            return pool.dismiss()
        pool.go(start)
        readings = [read_network()]

        def note() -> None:
            readings.append(read_network())

        edges = Edges(pool.board, note, note)
        tallies = pool.collect(edges.look, POLL_SECONDS, until_answered(pool.board))
        edges.end()
        begun, first, last = readings[0], readings[1], readings[-1]
        return self._said.put(LoadResults(tallies, pool.scheduling, last.since(first), last.since(begun)))

    def _why_it_ends(self) -> str:
        """Return why the work must end, or "". Called during work."""
        return "it is dismissed" if self._dismissed or self._is_alone() else ""


def tend(begun: Any, processes: int | None, gives_way: bool) -> None:
    """Run the task: own the processes of this machine and execute orders until the end.

    ``begun`` is a Dask event, set when the machine handles messages.
    """
    from distributed import get_worker

    tended = Tended(processes, gives_way)
    handlers = get_worker().handlers
    handlers[OPERATION] = tended.answer
    begun.set()
    try:
        tended.tend()
    finally:
        handlers.pop(OPERATION, None)
