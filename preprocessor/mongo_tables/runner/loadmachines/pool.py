"""Several load machines as one crew: shared connections, one start, one window, one outcome.

The runner exchanges messages with each machine at short intervals, from start to end. They carry orders and reports,
measure the offset of the machine's clock, and are its sign of life: a machine that has lost its network closes no
connection.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from mongo_tables.runner import host
from mongo_tables.runner.alternation import Alternation
from mongo_tables.runner.driving import ConnectionStats
from mongo_tables.runner.errors import KEPT, RunnerError, WorkFailed
from mongo_tables.runner.load import LOOK_SECONDS, PREPARE_SECONDS, Crew, Patience, connect_seconds
from mongo_tables.runner.loadmachines.clusters import Cluster
from mongo_tables.runner.loadmachines.messages import (
    OPERATION,
    ClockReading,
    Dismiss,
    End,
    Failed,
    Go,
    Greeting,
    LoadResults,
    Ready,
    RemoteClock,
    Sent,
    Told,
    Work,
    pack,
    unpack,
)
from mongo_tables.runner.loadmachines.tending import tend
from mongo_tables.runner.meter import Lag, Usage
from mongo_tables.runner.outcome import MachineStats, MachineWork, Network
from mongo_tables.runner.window import NEVER, Board
from mongo_tables.runner.worker import Assignment, Load, Scheduling

PAUSE_SECONDS = 0.2
"""Seconds between two messages."""
LOST_SECONDS = 5.0
"""Seconds without an answer after which a working machine is lost."""
IDLE_LOST_SECONDS = 10.0
"""The same for an idle machine: it may be busy with its start."""


class MachineLink:
    """The connection to one machine. ``talk`` runs in the event loop of Dask's client, the rest outside it."""

    def __init__(self, client: Any, address: str, name: str) -> None:
        """``client`` is Dask's; the machine has a task that answers, or will have."""
        self.name = name
        self.address = address
        self.clock = RemoteClock()
        self.greeting: Greeting | None = None
        self.lost = ""
        """Why the link is dead, or ""."""
        self.slots: tuple[int, ...] = ()
        self.last: Told | None = None
        self.exchanges = 0
        self.at_work = False
        self.ahead = 0
        """The nanoseconds by which the machine's clock is assumed to be ahead in this window."""
        self.bound = 0
        """The error bound of that offset."""
        self._client = client
        self._orders: deque[Work | Go | Dismiss | End] = deque()
        self._said: deque[Ready | Failed | LoadResults] = deque()
        self._edges: Sequence[int] | None = None
        self._woken = asyncio.Event()
        self._pings = 0
        self._ended = False

    def tell(self, order: Work | Go | Dismiss | End, edges: Sequence[int] | None = None) -> None:
        """Send an order at once, with the edges of the window."""
        self._edges = edges
        self._orders.append(order)
        self._wake()

    def show(self, edges: Sequence[int]) -> None:
        """Send the changed edges of the window."""
        self._edges = edges
        self._wake()

    def ping(self, times: int) -> None:
        """Exchange this many messages one after another."""
        self._pings = times
        self._wake()

    @property
    def has_pinged(self) -> bool:
        """Return whether all of them are exchanged."""
        return not self._pings

    def heard(self) -> Ready | Failed | LoadResults | None:
        """Return the next report of the machine."""
        return self._said.popleft() if self._said else None

    def forget(self) -> None:
        """Discard reports of earlier work."""
        self._said.clear()
        self.last = None

    def end(self) -> None:
        """End the task."""
        self._ended = True
        self.tell(End())

    def _wake(self) -> None:
        self._client.loop.add_callback(self._woken.set)

    async def talk(self) -> None:
        """Exchange messages until the end, or until the machine does not answer."""
        while not self.lost and not (self._ended and not self._orders):
            self._woken.clear()
            try:
                patience = LOST_SECONDS if self.at_work else IDLE_LOST_SECONDS
                await asyncio.wait_for(self._exchange(), patience)
            except TimeoutError:
                self.lost = f"it has not answered for {patience:g} s"
            except Exception as error:
                self.lost = type(error).__name__
            if self._pings:
                self._pings -= 1
            elif not self._orders:
                await self._pause()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._woken.wait(), PAUSE_SECONDS)
        except TimeoutError:
            return

    async def _exchange(self) -> None:
        orders = [self._orders.popleft() for _ in range(len(self._orders))]
        edges, self._edges = self._edges, None
        packed = pack(Sent(orders, edges))
        sent = time.monotonic_ns()
        answer = await getattr(self._client.rpc(self.address), OPERATION)(message=packed)
        answered = time.monotonic_ns()
        told: Told = unpack(answer)
        self.clock.add(ClockReading(sent, answered, told.clock))
        for one in told.said:
            if isinstance(one, Greeting):
                self.greeting = one
            else:
                self._said.append(one)
        self.last = told
        self.exchanges += 1

    @property
    def hardware(self) -> Mapping[str, Any]:
        """Return the machine's description."""
        return self.greeting.hardware if self.greeting else {}


PINGS = 8
"""Pings before each start; as many again if the clock offset is too uncertain."""
MOST_PINGS = 64
WELL_KNOWN = 0.001
MOST_UNKNOWN = 0.01
"""The largest error of a machine's start, as a share of the window."""
GREETING_SECONDS = 60.0
END_SECONDS = 5.0
CLOSE_AHEAD_SECONDS = 1.0
"""Seconds before a machine runs out of work at which the window of work by amount closes."""


class _Span(NamedTuple):
    """What begins and ends on all machines together, and its length; None if the work ends it."""

    name: str
    seconds: float | None


class MachinePool(Crew):
    """The load machines of a cluster."""

    ahead = 2 * PAUSE_SECONDS

    def __init__(
        self,
        cluster: Cluster,
        processes: int | None,
        fault: Callable[[], str] = lambda: "",
        gives_way: bool = False,
    ) -> None:
        """Use this many processes on each machine, or as many as it has processors.

        Raises RunnerError if a machine cannot work, or has another version of the program.
        """
        self._fault = fault
        self._cluster = cluster
        self.processes = processes
        """Processes of each machine; None means as many as processors."""
        self._gives_way = gives_way
        self.board = Board.of_one()
        self._links: list[MachineLink] = []
        self._tasks: list[Any] = []
        self._talks: list[Future[None]] = []
        self._at_work: list[MachineLink] = []
        self._done: list[tuple[MachineLink, LoadResults]] = []
        self._load: Load | None = None
        self._edges: tuple[int, ...] = ()
        self._seen = 0
        self.start()

    @property
    def count(self) -> int:
        """Return the number of machines."""
        return len(self._links)

    def start(self) -> None:
        """Start a task on each machine, and greet all."""
        try:
            for address, name in self._cluster.machines.items():
                self._links.append(MachineLink(self._cluster.client, address, name))
                self._tasks.append(self._cluster.pin(tend, address, self.processes, self._gives_way))
                # At once: a machine without messages gives up.
                self._talks.append(self._cluster.begin(self._links[-1].talk()))
            ends = time.monotonic() + GREETING_SECONDS
            while not all(link.greeting for link in self._links):
                self._check(self._links)
                if time.monotonic() > ends:
                    raise RunnerError("not all load machines answer", "is each of them up?")
                time.sleep(0.01)
            self._check_versions()
        except BaseException:
            self.close()
            raise

    def _check_versions(self) -> None:
        ours = host.harness()
        for link in self._links:
            if link.greeting is not None and link.greeting.harness != ours:
                raise RunnerError(
                    f"the load machine {link.name} has {link.greeting.harness}, and this one {ours}",
                    "install the same on all of them",
                )

    def prepare(self, loads: Sequence[Load], order: Callable[[tuple[int, ...]], Any]) -> None:
        """Send each machine its connections, and wait until it is ready."""
        load = self._load = loads[0]
        count = min(len(self._links), load.connections)
        self._at_work = self._links[:count]
        self._done.clear()
        first, amount = 0, load.amount or 0
        for number, link in enumerate(self._at_work):
            link.forget()
            link.slots = tuple(range(number, load.connections, count))
            end = first + round((amount - first) / (count - number))
            link.tell(Work(_up_to(order(link.slots), end), first))
            first = end
        longest = connect_seconds(loads, load.connections / count) + PREPARE_SECONDS
        ends = time.monotonic() + longest
        patience = Patience(
            lambda: ends, f"were not ready after {longest:,.0f} s", "is each of them able to?"
        )
        self._await(lambda: None, 0.005, patience)
        self._know_clocks(_span(order(())))

    def _know_clocks(self, span: _Span) -> None:
        """Measure all clock offsets precisely enough for a common start and end; raise WorkFailed if impossible."""
        links, pinged = self._at_work, 0
        length = span.seconds or 1.0
        while pinged < MOST_PINGS:
            for link in links:
                link.ping(PINGS)
            pinged += PINGS
            while not all(link.has_pinged for link in links):
                self._check(links)
                time.sleep(0.001)
            now = time.monotonic_ns()
            for link in links:
                best = link.clock.best(now)
                link.ahead, link.bound = best.ahead, best.bound(now)
            if all(link.bound < WELL_KNOWN * length * 1e9 for link in links):
                return
        for link in links:
            if link.bound > MOST_UNKNOWN * length * 1e9:
                raise WorkFailed(
                    f"the clock of the load machine {link.name} is known to {link.bound / 1e6:.1f} ms, which is more "
                    f"than {MOST_UNKNOWN:.0%} of a {span.name} of {length:g} s",
                    f"use longer {span.name}s, or machines closer to this one; {KEPT}",
                )

    def go(self, at: float) -> None:
        """Make all machines begin at that moment of our clock."""
        self._edges = tuple(self.board.edges)
        for link in self._at_work:
            link.at_work = True
            link.tell(Go(at + link.ahead / 1e9), self.board.edges_by(link.ahead))

    def collect(self, look: Callable[[], None], poll: float, patience: Patience) -> list[Any]:
        """Return the results of each process of each machine, all on our clock."""

        def look_at_all() -> None:
            self._gather()
            look()
            self._show()

        try:
            self._done = self._await(look_at_all, poll, patience)
        finally:
            for link in self._links:
                link.at_work = False
        self._gather()
        tallies: list[Any] = []
        for link, done in self._done:
            for tally in done.tallies:
                if isinstance(tally, ConnectionStats):
                    tally.finished -= link.ahead / 1e9
                tallies.append(tally)
        return tallies

    def _gather(self) -> None:
        """Copy the machines' counters to our board, and the end of a window that closed there."""
        board = self.board
        for link in self._at_work:
            told = link.last
            if told is None or not told.counters:
                continue
            for slot, done, answered in zip(link.slots, told.counters, told.first_answers, strict=False):
                board.counters[slot] = done
                board.first_answers[slot] = answered
            if told.closes is not None and told.closes - link.ahead < board.closes:
                # The machine ran out of work before all could know: no window contains later work of the others.
                board.close(board.opens if board.opens != NEVER else told.closes - link.ahead)
        self._close_in_time()

    def _close_in_time(self) -> None:
        """Close the window of work by amount shortly before one of the machines runs out of work."""
        board, load = self.board, self._load
        if load is None or not load.has_steady_part or board.opens == NEVER or board.closes != NEVER:
            return
        since = (time.monotonic_ns() - board.counted_from) / 1e9
        for link in self._at_work:
            done = sum(board.counters[slot] for slot in link.slots)
            share = (load.amount or 0) / len(self._at_work)
            if done and (share - done) / (done / since) < CLOSE_AHEAD_SECONDS:
                board.close(time.monotonic_ns() + round(self.ahead * 1e9))

    def _show(self) -> None:
        """Send all machines the edges that have changed."""
        edges = tuple(self.board.edges)
        if edges != self._edges:
            self._edges = edges
            for link in self._at_work:
                link.show(self.board.edges_by(link.ahead))

    def _await(self, look: Callable[[], None], poll: float, patience: Patience) -> list[Any]:
        """Return the next report of each working machine, with the machine; raise WorkFailed as ``collect`` does."""
        waiting, said = list(self._at_work), []
        next_look = time.monotonic() + LOOK_SECONDS
        while waiting:
            for link in list(waiting):
                if (word := link.heard()) is None:
                    continue
                if isinstance(word, Failed):
                    raise WorkFailed(
                        f"the work was given up on the load machine {link.name}: {word.reason}", KEPT
                    )
                said.append((link, word))
                waiting.remove(link)
            self._check(self._at_work)
            look()
            if waiting and time.monotonic() >= next_look:
                if reason := self._fault():
                    raise WorkFailed(f"the work was given up: {reason}", KEPT)
                if time.monotonic() >= patience.ends():
                    raise WorkFailed(
                        f"{len(waiting)} of {len(self._at_work)} load machines {patience.complaint}",
                        f"does the deployment answer, and {patience.question} {KEPT}",
                    )
                next_look = time.monotonic() + LOOK_SECONDS
            if waiting:
                time.sleep(self._until_look(poll))
        return said

    def _until_look(self, poll: float) -> float:
        left = (self.board.closes - time.monotonic_ns()) / 1e9
        return min(poll, left) if left > 0 else poll

    def _check(self, links: Sequence[MachineLink]) -> None:
        """Raise WorkFailed if one of the machines is lost."""
        for link, task in zip(self._links, self._tasks, strict=True):
            if link not in links:
                continue
            lost = link.lost or (self._cluster.why_it_ended(task) if task.done() else "")
            if lost:
                raise WorkFailed(f"the load machine {link.name} is lost: {lost}", KEPT)

    def has_news(self) -> bool:
        """Return whether every machine has reported since the last call."""
        exchanged = min((link.exchanges for link in self._at_work), default=0)
        seen, self._seen = self._seen, exchanged
        return exchanged > seen

    def dismiss(self) -> None:
        """End the work on all machines."""
        for link in self._links:
            link.at_work = False
            if not link.lost:
                link.tell(Dismiss())

    def close(self) -> None:
        """End the tasks, and the processes started for them."""
        for link in self._links:
            link.end()
        self._cluster.wait(
            [task for link, task in zip(self._links, self._tasks, strict=False) if not link.lost]
        )
        for talk in self._talks:
            with suppress(TimeoutError):
                talk.result(END_SECONDS)
        self._links.clear()
        self._tasks.clear()
        self._talks.clear()

    @property
    def scheduling(self) -> Scheduling:
        """Return how the systems of all machines schedule the processes."""
        return "batch" if all(done.scheduling == "batch" for _, done in self._done) else "normal"

    def pids(self) -> list[int]:
        """Return nothing: the processes are on other machines."""
        return []

    def machines(self) -> tuple[MachineWork, ...]:
        """Return the last work of each machine."""
        done = sorted(self._done, key=lambda one: one[0].slots[0])
        return tuple(MachineWork(_inside(*one), _whole(*one)) for one in done)


def _up_to(work: Assignment | Alternation, end: int) -> Assignment | Alternation:
    """Return the work of a machine with its last number; work in slices has no numbers."""
    return work if isinstance(work, Alternation) else replace(work, upto=end)


def _span(work: Assignment | Alternation) -> _Span:
    """Return what all machines begin and end together."""
    if isinstance(work, Alternation):
        return _Span("slice", work.slices.width / 1e9)
    return _Span("window", work.load.seconds)


def _inside(link: MachineLink, done: LoadResults) -> MachineStats:
    """Return what the machine did in the window."""
    inside = [tally.inside for tally in done.tallies]
    counted = sum(one.operations for one in inside), sum(one.requests for one in inside)
    return _stats(link, done, counted, [tally.usage for tally in done.tallies], done.network)


def _whole(link: MachineLink, done: LoadResults) -> MachineStats:
    """Return what the machine did in all its work."""
    every = [one.latencies() for tally in done.tallies for one in (tally.series, tally.apart)]
    requests = sum(sum(times.values()) for one in every for times in one.values())
    counted = sum(tally.operations for tally in done.tallies), requests
    return _stats(link, done, counted, [tally.whole_usage for tally in done.tallies], done.whole_network)


def _stats(
    link: MachineLink,
    done: LoadResults,
    counted: tuple[float, float],
    usage: Sequence[Usage],
    network: Network,
) -> MachineStats:
    """Return the machine's statistics; ``counted`` are operations and requests."""
    lag = Lag()
    for one in usage:
        lag.add(one.lag)
    operations, requests = counted
    return MachineStats(
        connections=len(link.slots),
        processes=len(done.tallies),
        operations=operations,
        requests=requests,
        cpu_seconds=sum(one.cpu_seconds for one in usage),
        clock_bound=link.bound / 1e9,
        first_late=tuple(tuple(late / 1e9 for late in tally.first_late) for tally in done.tallies),
        in_run_queue=lag.in_run_queue,
        network=network,
        hardware=link.hardware,
    )
