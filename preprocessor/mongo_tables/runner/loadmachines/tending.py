"""A load machine's side: one Dask task that owns worker processes until its work ends.

Orders reach it as messages to the Dask worker that runs it, not as task arguments. That worker's event loop answers
them at once, while the task does the work in a thread.
"""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mongo_tables.runner import host
from mongo_tables.runner.driving import one_line
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import Edges, WorkerPool, until_answered
from mongo_tables.runner.loadmachines.messages import (
    OPERATION,
    Dismiss,
    End,
    Failed,
    Go,
    Greeting,
    LoadResults,
    Ready,
    Sent,
    Told,
    Work,
    pack,
    unpack,
)
from mongo_tables.runner.outcome import Network, read_network
from mongo_tables.runner.window import NEVER

GONE_SECONDS = 15.0
"""Seconds without a message after which the runner counts as gone and the work ends."""
LOOK_SECONDS = 0.5
POLL_SECONDS = 0.1
"""Seconds between two looks at the edges of the window, at which the network counters are read."""


class Tended:
    """The worker processes of a machine, the orders received and the reports to send."""

    def __init__(self, processes: int | None, gives_way: bool) -> None:
        """Use this many processes, by default one per processor; they start with the first work."""
        count = processes or os.cpu_count() or 1
        self._pool = WorkerPool(count, self._why_it_ends, gives_way)
        self._orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[Greeting | Ready | Failed | LoadResults] = queue.SimpleQueue()
        self._said.put(Greeting(host.harness(), host.hardware(None)))
        self._slots: Sequence[int] = ()
        self._dismissed = False
        self._heard = time.monotonic()

    def answer(self, packed: bytes) -> bytes:
        """Handle a message, and return the pending report; never raise, since Dask would log it."""
        try:
            self._take(unpack(packed))
        except Exception as error:
            self._said.put(Failed(f"a message was not understood: {type(error).__name__}"))
        said = []
        while not self._said.empty():
            said.append(self._said.get())
        board, slots = self._pool.board, self._slots
        return pack(
            Told(
                time.monotonic_ns(),
                said,
                [board.counters[slot] for slot in slots],
                [board.first_answers[slot] for slot in slots],
                None if board.closes == NEVER else board.closes,
            )
        )

    def _take(self, sent: Sent) -> None:
        self._heard = time.monotonic()
        if sent.edges is not None and self._slots:
            self._pool.board.take_over(sent.edges)
        for order in sent.orders:
            self._dismissed |= isinstance(order, Dismiss | End)
            self._orders.put(order)

    def tend(self) -> None:
        """Execute one order after another until the last, or until the runner is gone."""
        with self._pool:
            while not isinstance(order := self._next(), End):
                self._dismissed = False
                if isinstance(order, Work):
                    self._work(order)
                elif isinstance(order, Dismiss):
                    self._pool.dismiss()

    def _next(self) -> Any:
        while True:
            try:
                return self._orders.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                if self._is_alone():
                    return End()

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
        self._said.put(Ready())
        start = self._next()
        if not isinstance(start, Go):  # dismissed, or without a runner
            return pool.dismiss()
        pool.go(start.at)
        begun, readings = read_network(), list[Network]()
        note = partial(_note, readings)
        edges = Edges(pool.board, note, note)
        tallies = pool.collect(edges.look, POLL_SECONDS, until_answered(pool.board))
        edges.end()
        inside, whole = (readings[-1].since(first) for first in (readings[0], begun))
        return self._said.put(LoadResults(tallies, pool.scheduling, inside, whole))

    def _why_it_ends(self) -> str:
        """Return why the work must end, or ""; called during work."""
        return "it is dismissed" if self._dismissed or self._is_alone() else ""


def _note(readings: list[Network]) -> None:
    readings.append(read_network())


def tend(begun: Any, processes: int | None, gives_way: bool) -> None:
    """Run the task: own the processes of this machine and execute orders until the end.

    ``begun`` is a Dask event, set when the machine handles messages.
    """
    from distributed import get_worker

    tended = Tended(processes, gives_way)
    handlers = get_worker().handlers

    def answer(message: bytes) -> bytes:
        return tended.answer(message)

    handlers[OPERATION] = answer
    begun.set()
    try:
        tended.tend()
    finally:
        handlers.pop(OPERATION, None)
