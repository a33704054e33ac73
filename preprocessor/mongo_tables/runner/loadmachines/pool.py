"""Several load machines as one crew. They share the connections, and have one start, one window and one outcome.

A machine answers a request when its work is done. At short intervals, the runner also exchanges messages with each
machine. These messages carry the edges of the window and the machine's counters, and measure the offset of its clock. A
machine that does not answer them counts as lost. Its connections would not show the loss, because a machine without
network cannot close them.

The offset of another machine's clock comes from the shortest of several pings: the machine read its clock at some
moment between question and answer (F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989),
so the error is at most half of the time between them. The clocks are not adjusted, so this bound grows with each second
after the ping.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner import host
from mongo_tables.runner.driving import ConnectionStats, add_up
from mongo_tables.runner.errors import KEPT, WorkFailed
from mongo_tables.runner.load import PREPARE_SECONDS, Crew, Patience, connect_seconds
from mongo_tables.runner.loadmachines.machine import (
    GONE_SECONDS,
    OPERATION,
    Beat,
    Failed,
    Greeting,
    LoadResults,
    tend,
)
from mongo_tables.runner.outcome import Outcome, describe_lateness
from mongo_tables.runner.window import NEVER, Board
from mongo_tables.runner.worker import Assignment, Load, Scheduling

if TYPE_CHECKING:
    from mongo_tables.runner.loadmachines.cluster import Cluster

PAUSE_SECONDS = 0.2
"""Seconds between two messages."""
LOST_SECONDS = 5.0
"""Seconds without an answer after which a working machine counts as lost."""
IDLE_LOST_SECONDS = 10.0
"""Seconds without an answer after which an idle machine counts as lost: more, because it may still be starting."""
DRIFT = 1e-4
"""The largest relative difference in speed between two quartz clocks."""
PINGS = 8
"""The number of pings before each start. More pings follow, up to ``MOST_PINGS``, if an offset is too uncertain."""
MOST_PINGS = 64
WELL_KNOWN = 0.001
"""The error of a clock offset, as a share of the window, below which no more pings follow."""
MOST_UNKNOWN = 0.01
"""The maximum error of a clock offset, as a share of the window."""
BUSY_SECONDS = GONE_SECONDS + 5.0
"""Seconds to wait for a machine that works for another run, because that run may have been killed."""
END_SECONDS = 5.0
CLOSE_AHEAD_SECONDS = 1.0
"""If the work ends after an amount, the window closes when a machine has work for less than this many seconds."""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """One ping, in nanoseconds: when it was sent and answered on this machine's clock, and the other clock's time."""

    sent: int
    answered: int
    there: int

    @property
    def ahead(self) -> int:
        """Return the nanoseconds by which the other clock is ahead."""
        return self.there - (self.sent + self.answered) // 2

    def bound(self, now: int) -> int:
        """Return the maximum error of the offset at the time ``now``."""
        return (self.answered - self.sent) // 2 + round(DRIFT * (now - self.answered))


def best_reading(readings: Sequence[ClockReading], now: int) -> ClockReading:
    """Return the reading with the smallest error bound. ``readings`` is not empty."""
    return min(readings, key=lambda one: one.bound(now))


def check_greeting(name: str, greeting: Any) -> None:
    """Raise CommandError if a machine works for another run, reports an error, or has another program version."""
    if greeting is None:
        raise CommandError(f"the load machine {name} works for another run", "wait until that run has ended")
    if not isinstance(greeting, Greeting):
        reason = f"{greeting}".partition("\n")[0]
        raise CommandError(
            f"the load machine {name} cannot work: {reason}",
            "check that it runs, and that mongo-tables with the extras runner and cluster is installed there",
        )
    if greeting.harness != host.harness():
        raise CommandError(
            f"the load machine {name} has {greeting.harness}, but this machine has {host.harness()}",
            "install the same version on all machines",
        )


class MachineLink:
    """The connection to one machine.

    The coroutines run in the event loop of Dask's client, all other methods in the thread of the run.
    """

    def __init__(
        self, client: Any, address: str, name: str, hardware: Mapping[str, Any], board: Board
    ) -> None:
        """``client`` is Dask's client. While the machine works, messages carry the edges of the ``board`` to it."""
        self.name = name
        self.address = address
        self.hardware = hardware
        self.readings: deque[ClockReading] = deque(maxlen=32)
        self.lost = ""
        """The reason why the machine is lost, or ""."""
        self.slots: Sequence[int] = ()
        self.job: Future[Any]
        """The request on which the machine works."""
        self.last: Beat | None = None
        self.beats = 0
        self.at_work = False
        self.ahead = 0
        """The nanoseconds by which the machine's clock is ahead, as measured for this window."""
        self.bound = 0
        """The maximum error of ``ahead`` in nanoseconds."""
        self._client = client
        self._board = board
        self.run(self._stay())

    def run(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Run a coroutine of this link in the event loop of Dask's client."""
        return asyncio.run_coroutine_threadsafe(work, self._client.loop.asyncio_loop)

    def ask(self, *request: Any) -> Future[Any]:
        """Send a request. Return the future of the machine's answer."""
        return self.run(self._exchange(request))

    async def ping(self, times: int) -> None:
        """Read the machine's clock ``times`` times."""
        for _ in range(times):
            await self._beat()

    async def _stay(self) -> None:
        """Exchange messages until the machine is lost."""
        while not self.lost:
            try:
                patience = LOST_SECONDS if self.at_work else IDLE_LOST_SECONDS
                await asyncio.wait_for(self._beat(), patience)
            except TimeoutError:
                self.lost = f"it has not answered for {patience:g} s"
            except OSError:
                self.lost = "its worker has ended"
            except Exception as error:
                self.lost = self.lost or type(error).__name__
            await asyncio.sleep(PAUSE_SECONDS)

    async def _beat(self) -> None:
        edges = self._board.edges_by(self.ahead) if self.at_work else None
        sent = time.monotonic_ns()
        found: Beat = await self._exchange(("beat", edges))
        self.readings.append(ClockReading(sent, time.monotonic_ns(), found.clock))
        self.last = found
        self.beats += 1

    async def _exchange(self, request: Sequence[Any]) -> Any:
        answer = await getattr(self._client.rpc(self.address), OPERATION)(message=pickle.dumps(request))
        if answer is None:  # the machine has removed its handler of such messages
            self.lost = "it has ended its work because it received no messages"
            raise LookupError(self.lost)
        return pickle.loads(answer)


class MachinePool(Crew):
    """The load machines of a cluster."""

    ahead = 2 * PAUSE_SECONDS
    workers = "load machines"

    def __init__(
        self,
        cluster: Cluster,
        processes: int | None,
        fault: Callable[[], str] = lambda: "",
        gives_way: bool = False,
    ) -> None:
        """Use ``processes`` processes on each machine, by default one per processor.

        Raises CommandError if a machine cannot work, or has a different version of the program.
        """
        self._fault = fault
        self._cluster = cluster
        self._processes = processes
        self._gives_way = gives_way
        self.board = Board.of(multiprocessing.get_context("spawn"))
        self._links: list[MachineLink] = []
        self._at_work: list[MachineLink] = []
        self._done: list[tuple[MachineLink, LoadResults]] = []
        self._load: Load | None = None
        self._seen = 0
        self.start()

    @property
    def count(self) -> int:
        """Return the number of machines."""
        return len(self._links)

    def start(self) -> None:
        """Start the processes of each machine. Wait for machines that still work for a run that was killed."""
        client, machines = self._cluster.client, self._cluster.machines
        asked, ends = [*machines], time.monotonic() + BUSY_SECONDS
        try:
            while asked:
                found = client.run(tend, self._processes, self._gives_way, workers=asked, on_error="return")
                for address in asked:
                    if isinstance(greeting := found[address], Greeting):
                        self._links.append(
                            MachineLink(client, address, machines[address], greeting.hardware, self.board)
                        )
                over = time.monotonic() > ends
                for address in asked:
                    if found[address] is not None or over:
                        check_greeting(machines[address], found[address])
                asked = [address for address in asked if found[address] is None]
                if asked:
                    time.sleep(PAUSE_SECONDS)
        except BaseException:
            self.close()
            raise

    def prepare(self, work: Assignment, look: Callable[[], None] = lambda: None) -> None:
        """Send each machine its connections, and wait until all machines are ready."""
        loads, load = work.loads, work.loads[0]
        self._load = load
        count = min(len(self._links), load.connections)
        self._at_work = self._links[:count]
        self._done.clear()
        first, amount = 0, load.amount or 0
        for number, link in enumerate(self._at_work):
            link.last = None
            link.slots = work.connections[number::count]
            end = first + round((amount - first) / (count - number))
            link.job = link.ask("prepare", replace(work, connections=link.slots, first=first, upto=end))
            first = end
        longest = connect_seconds(loads, load.connections / count) + PREPARE_SECONDS
        ends = time.monotonic() + longest
        patience = Patience(
            lambda: ends,
            f"were not ready after {longest:,.0f} s",
            "can each machine connect to it?",
        )
        self._hear(look, 0.005, patience)
        if work.slices:
            self._know_clocks("slice", work.slices.width / 1e9)
        else:
            self._know_clocks("window", load.seconds or 1.0)

    def _know_clocks(self, name: str, length: float) -> None:
        """Measure the clock offsets of all machines, so that they can start and end together.

        ``name`` is the word for their common period (window or slice), ``length`` its length in seconds. Raises
        WorkFailed if the offsets cannot be measured precisely enough for that length.
        """
        links = self._at_work
        for _ in range(0, MOST_PINGS, PINGS):
            for pinging in [link.run(link.ping(PINGS)) for link in links]:
                with suppress(Exception):  # the link is lost, or will be
                    pinging.result(LOST_SECONDS)
            self._check(links)
            now = time.monotonic_ns()
            for link in links:
                best = best_reading(link.readings, now)
                link.ahead, link.bound = best.ahead, best.bound(now)
            if all(link.bound < WELL_KNOWN * length * 1e9 for link in links):
                return
        for link in links:
            if link.bound > MOST_UNKNOWN * length * 1e9:
                raise WorkFailed(
                    f"the offset of the clock of the load machine {link.name} is uncertain by "
                    f"{link.bound / 1e6:.1f} ms, more than {MOST_UNKNOWN:.0%} of a {name} of {length:g} s",
                    f"use longer {name}s, or machines closer to this one; {KEPT}",
                )

    def go(self, at: float) -> None:
        """Make all machines begin at the moment ``at`` on this machine's clock."""
        for link in self._at_work:
            link.at_work = True
            link.job = link.ask("perform", at + link.ahead / 1e9, self.board.edges_by(link.ahead))

    def collect(self, look: Callable[[], None], poll: float, patience: Patience) -> list[Any]:
        """Return the results of each process of each machine, with moments on this machine's clock."""

        def look_at_all() -> None:
            self._gather()
            look()

        try:
            self._done = self._hear(look_at_all, poll, patience)
        finally:
            for link in self._links:
                link.at_work = False
        self._gather()
        for link, done in self._done:
            for tally in done.tallies:
                if isinstance(tally, ConnectionStats):
                    tally.finished -= link.ahead / 1e9
        return [tally for _, done in self._done for tally in done.tallies]

    def _gather(self) -> None:
        """Copy the machines' counters to the board. If the window of a machine has closed, close the board's window."""
        board = self.board
        for link in self._at_work:
            told = link.last
            if told is None:
                continue
            for slot, done, answered in zip(link.slots, told.counters, told.first_answers, strict=False):
                board.counters[slot] = done
                board.first_answers[slot] = answered
            if told.closes != NEVER and told.closes - link.ahead < board.closes:
                # This machine ran out of work before the others could know, so there is no steady part. All of the
                # work is measured, because the window is empty or does not open.
                board.close(board.opens if board.opens != NEVER else told.closes - link.ahead)
        self._close_in_time()

    def _close_in_time(self) -> None:
        """If the work ends after an amount, close the window shortly before one of the machines runs out of work."""
        board, load = self.board, self._load
        if load is None or not load.has_steady_part or board.opens == NEVER or board.closes != NEVER:
            return
        since = (time.monotonic_ns() - board.counted_from) / 1e9
        for link in self._at_work:
            done = sum(board.counters[slot] for slot in link.slots)
            share = (load.amount or 0) / len(self._at_work)
            if done and (share - done) / (done / since) < CLOSE_AHEAD_SECONDS:
                board.close(time.monotonic_ns() + round(self.ahead * 1e9))

    def _hear(self, look: Callable[[], None], poll: float, patience: Patience) -> list[Any]:
        """Return each working machine with its answer to the current request. Raises WorkFailed as ``collect`` does."""

        def heard(link: MachineLink, wait: float) -> list[Any]:
            if not link.job.done():
                time.sleep(wait)
                return []
            if link.job.exception():
                lost = link.lost or "its worker has ended"
                raise WorkFailed(f"the load machine {link.name} is lost: {lost}", KEPT)
            if isinstance(found := link.job.result(), Failed):
                raise WorkFailed(
                    f"the work was given up on the load machine {link.name}: {found.reason}", KEPT
                )
            return [(link, found)]

        def check_and_look() -> None:
            self._check(self._at_work)
            look()

        return self.wait_for_all(self._at_work, heard, check_and_look, poll, patience)

    def _check(self, links: Sequence[MachineLink]) -> None:
        for link in links:
            if link.lost:
                raise WorkFailed(f"the load machine {link.name} is lost: {link.lost}", KEPT)

    def has_news(self) -> bool:
        """Return whether every machine has reported since the last call."""
        exchanged = min((link.beats for link in self._at_work), default=0)
        seen, self._seen = self._seen, exchanged
        return exchanged > seen

    def dismiss(self) -> None:
        """End the work on all machines."""
        self._end("dismiss")

    def close(self) -> None:
        """End the processes of all machines."""
        self._end("end")
        for link in self._links:
            link.lost = link.lost or "it has ended"
        self._links.clear()

    def _end(self, how: str) -> None:
        for ending in [link.ask(how) for link in self._links if not link.lost]:
            with suppress(Exception):  # a lost machine does not answer
                ending.result(END_SECONDS)

    @property
    def scheduling(self) -> Scheduling:
        """Return how the systems of all machines schedule the processes."""
        return "batch" if all(done.scheduling == "batch" for _, done in self._done) else "normal"

    def pids(self) -> list[int]:
        """Return [], because the processes run on other machines."""
        return []

    def describe_machines(self, outcome: Outcome) -> tuple[Mapping[str, Any], ...]:
        """Return the part of a row about each machine, in the order of their connections."""
        done = sorted(self._done, key=lambda one: one[0].slots[0])
        return tuple(_describe(link, results, outcome) for link, results in done)


def _describe(link: MachineLink, done: LoadResults, outcome: Outcome) -> dict[str, Any]:
    tallies: Sequence[ConnectionStats] = done.tallies
    total = add_up(tallies)
    if outcome.steady:
        usage, operations, requests = total.usage, total.inside.operations, total.inside.requests
    else:
        usage, operations = total.whole_usage, total.operations
        counts = [one.latencies for tally in tallies for one in (tally.series, tally.apart)]
        requests = sum(sum(times.values()) for one in counts for times in one.values())
    first, last = done.network[1 if outcome.steady else 0], done.network[-1]
    return {
        "connections": len(link.slots),
        "processes": len(tallies),
        "operations_per_second": operations / outcome.seconds,
        "cpu_seconds": usage.cpu_seconds,
        "clock_bound_seconds": link.bound / 1e9,
        **describe_lateness([[late / 1e9 for late in tally.first_late] for tally in tallies]),
        "run_queue_microseconds": usage.lag.in_run_queue / 1000 / max(1.0, requests),
        "bytes_sent": last[0] - first[0],
        "bytes_received": last[1] - first[1],
        "hardware": dict(link.hardware),
    }
