"""A load machine: a Dask worker that owns worker processes until its work ends, and answers requests.

The event loop of the Dask worker receives requests, while a thread does the work. A request contains the connection
string of the target with its password. So requests are encrypted messages, not Dask tasks, which Dask would show on its
dashboard.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import psutil

from mongo_tables.runner import host
from mongo_tables.runner.driving import one_line
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.load import Edges, WorkerPool, until_answered
from mongo_tables.runner.worker import Assignment, Scheduling

OPERATION: Final = "mongo_tables_load"
"""The name of the operation under which a Dask worker handles the run's messages."""
GONE_SECONDS = 15.0
"""Seconds without a message from the runner after which the machine ends its work."""
LOOK_SECONDS = 0.5
POLL_SECONDS = 0.1
"""Seconds between two checks whether the window has opened or closed. At both edges, network counters are read."""


class Greeting(NamedTuple):
    """The version of the program on a machine, and the machine's description."""

    harness: str
    hardware: Mapping[str, Any]


class Failed(NamedTuple):
    """The answer to a request that failed."""

    reason: str


class LoadResults(NamedTuple):
    """The results of a machine. ``tallies`` has the results of each process, for both loads if two loads took turns.

    ``network`` has the bytes that the machine's interfaces had sent and received when the work began, when the window
    opened, and when it closed.
    """

    tallies: Sequence[Any]
    scheduling: Scheduling
    network: Sequence[tuple[int, int]]


class Beat(NamedTuple):
    """The state of a machine: its clock, its counters, and the moment when its window closes.

    ``first_answers`` are moments on the machine's clock; 0 means no answer yet.
    """

    clock: int
    counters: Sequence[int]
    first_answers: Sequence[int]
    closes: int


class Tended:
    """The worker processes of a machine. A request is the name of a public method with its arguments."""

    def __init__(self, processes: int | None, gives_way: bool, leave: Callable[[], object]) -> None:
        """Use ``processes`` processes, by default one per processor. At the end, call ``leave``."""
        self._pool = WorkerPool(processes or os.cpu_count() or 1, self._why_it_ends, gives_way)
        self._slots: Sequence[int] = ()
        self._dismissed = False
        self._heard = time.monotonic()
        self._turn = asyncio.Lock()
        self._leave = leave
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def answer(self, message: bytes) -> bytes:
        """Execute the request in a message, and return the result as a message.

        This method does not raise, because Dask would log the exception.
        """
        self._heard = time.monotonic()
        try:
            name, *given = pickle.loads(message)
            found = await getattr(self, name)(*given)
        except Exception as error:
            reason = error.message if isinstance(error, WorkFailed) else one_line(error)
            found = Failed(reason.removeprefix("the work was given up: "))
        return pickle.dumps(found)

    async def beat(self, edges: Sequence[int] | None) -> Beat:
        """Copy the edges of the window, moments on this machine's clock, to the board. Return the machine's state."""
        board, slots = self._pool.board, self._slots
        if edges is not None and slots:
            board.take_over(edges)
        counters, answers = (
            [shared[slot] for slot in slots] for shared in (board.counters, board.first_answers)
        )
        return Beat(time.monotonic_ns(), counters, answers, board.closes)

    async def prepare(self, work: Assignment) -> None:
        """Prepare the work."""
        async with self._turn:
            self._pool.board.clear(work.longest, work.first)
            self._slots = work.connections
            await self._apart(self._pool.prepare, work)

    async def perform(self, start: float, edges: Sequence[int]) -> LoadResults:
        """Do the prepared work from ``start`` on, a moment on this machine's clock, and return its results."""
        self._pool.board.edges[:] = edges
        async with self._turn:
            found: LoadResults = await self._apart(self._perform, start)
            return found

    async def dismiss(self) -> None:
        """End the current work."""
        self._dismissed = True
        async with self._turn:
            await asyncio.to_thread(self._pool.dismiss)
            self._slots, self._dismissed = (), False

    async def end(self) -> None:
        """End the current work and the processes."""
        self._watching.cancel()
        await self.dismiss()
        self._leave()

    async def _apart(self, do: Callable[..., Any], *given: Any) -> Any:
        """Call a function in a thread. If it fails, end the work of the processes."""
        try:
            return await asyncio.to_thread(do, *given)
        except BaseException:
            await asyncio.to_thread(self._pool.dismiss)
            raise

    def _perform(self, start: float) -> LoadResults:
        pool, network = self._pool, [_read_network()]

        def look_at_network() -> None:
            network.append(_read_network())

        pool.go(start)
        edges = Edges(pool.board, look_at_network, look_at_network)
        tallies = pool.collect(edges.look, POLL_SECONDS, until_answered(pool.board))
        edges.end()
        return LoadResults(tallies, pool.scheduling, network)

    async def _watch(self) -> None:
        """End the work and the processes when no more messages come from the runner."""
        while not self._is_alone():
            await asyncio.sleep(LOOK_SECONDS)
        await self.dismiss()
        self._leave()

    def _is_alone(self) -> bool:
        return time.monotonic() - self._heard > GONE_SECONDS

    def _why_it_ends(self) -> str:
        return "it is dismissed" if self._dismissed or self._is_alone() else ""


def _read_network() -> tuple[int, int]:
    """Return the bytes that this machine's interfaces, except loopback, have sent and received."""
    interfaces = psutil.net_io_counters(pernic=True, nowrap=False)
    counted = [one for name, one in interfaces.items() if name != "lo"]
    return sum(one.bytes_sent for one in counted), sum(one.bytes_recv for one in counted)


async def tend(processes: int | None, gives_way: bool, dask_worker: Any) -> Greeting | None:
    """Start the processes on the machine of a Dask worker, which answers requests from then on. Return a greeting.

    Return None if the machine works for another run. Dask calls this function on the machine.
    """
    handlers = dask_worker.handlers
    if OPERATION in handlers:
        return None

    def leave() -> None:
        if handlers.get(OPERATION) == tended.answer:
            del handlers[OPERATION]

    tended = Tended(processes, gives_way, leave)
    handlers[OPERATION] = tended.answer
    return Greeting(host.harness(), host.hardware(None))
