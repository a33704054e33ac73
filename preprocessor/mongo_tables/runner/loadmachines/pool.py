"""Several load machines as one crew: connections shared out among them, one start, one window, one outcome.

With each machine messages are exchanged at short intervals, from start to end. They say in both directions what there
is to say, tell how far the machine's clock is ahead, and are its sign of life: a machine that has lost its network
closes no connection.
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
    Clock,
    Dismiss,
    Done,
    End,
    Failed,
    Go,
    Greeting,
    Reading,
    Ready,
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
"""Between two messages."""
LOST_SECONDS = 1.2
"""After so long without an answer to one a machine at work is lost."""
IDLE_LOST_SECONDS = 10.0
"""The same of a machine that has no window to spoil: it may be busy with its start."""


class Link:
    """One machine. ``talk`` runs in the event loop of Dask's client; the rest is asked from elsewhere."""

    def __init__(self, client: Any, address: str, name: str) -> None:
        """``client`` is Dask's; the machine has a task that answers, or will have."""
        self.name = name
        self.address = address
        self.clock = Clock()
        self.greeting: Greeting | None = None
        self.lost = ""
        """Why nothing is to be expected of it any more."""
        self.slots: tuple[int, ...] = ()
        self.last: Told | None = None
        self.exchanges = 0
        self.at_work = False
        self.ahead = 0
        """By how many nanoseconds the clock of the machine is taken to be ahead, in this window."""
        self.bound = 0
        """How wrong that may be."""
        self._client = client
        self._orders: deque[Work | Go | Dismiss | End] = deque()
        self._said: deque[Ready | Failed | Done] = deque()
        self._edges: Sequence[int] | None = None
        self._woken = asyncio.Event()
        self._pings = 0
        self._ended = False

    def tell(self, order: Work | Go | Dismiss | End, edges: Sequence[int] | None = None) -> None:
        """Send an order at once, and the edges of the window with it."""
        self._edges = edges
        self._orders.append(order)
        self._wake()

    def show(self, edges: Sequence[int]) -> None:
        """Send the edges of the window, which have changed."""
        self._edges = edges
        self._wake()

    def ping(self, times: int) -> None:
        """Exchange so many messages one behind the other."""
        self._pings = times
        self._wake()

    @property
    def has_pinged(self) -> bool:
        """Whether all of them are exchanged."""
        return not self._pings

    def heard(self) -> Ready | Failed | Done | None:
        """What the machine said next."""
        return self._said.popleft() if self._said else None

    def forget(self) -> None:
        """What was said of other work is of no interest any more."""
        self._said.clear()
        self.last = None

    def end(self) -> None:
        """Have the task end."""
        self._ended = True
        self.tell(End())

    def _wake(self) -> None:
        self._client.loop.add_callback(self._woken.set)

    async def talk(self) -> None:
        """Exchange messages until the end, or the machine does not answer."""
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
        self.clock.add(Reading(sent, answered, told.clock))
        for one in told.said:
            if isinstance(one, Greeting):
                self.greeting = one
            else:
                self._said.append(one)
        self.last = told
        self.exchanges += 1

    @property
    def hardware(self) -> Mapping[str, Any]:
        """What the machine is."""
        return self.greeting.hardware if self.greeting else {}


PINGS = 8
"""Just before each start; as many again where the clock is not known well enough."""
MOST_PINGS = 64
WELL_KNOWN = 0.001
MOST_UNKNOWN = 0.01
"""The part of a window by which the start of a machine may be wrong."""
GREETING_SECONDS = 60.0
END_SECONDS = 5.0
CLOSE_AHEAD_SECONDS = 1.0
"""Work given by amount closes its window so long before a machine is expected to find nothing left."""


class _Span(NamedTuple):
    """What begins and ends on all machines at one moment, and how long it is; None where work ends it."""

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
        """So many processes on each machine, or as many as it has processors.

        Raises RunnerError where one of them cannot work, or has another version of the program.
        """
        self._fault = fault
        self._cluster = cluster
        self.processes = processes
        """Of each machine; None where each has as many as processors."""
        self._gives_way = gives_way
        self.board = Board.of_one()
        self._links: list[Link] = []
        self._tasks: list[Any] = []
        self._talks: list[Future[None]] = []
        self._at_work: list[Link] = []
        self._done: list[tuple[Link, Done]] = []
        self._load: Load | None = None
        self._edges: tuple[int, ...] = ()
        self._seen = 0
        self.start()

    @property
    def count(self) -> int:
        """How many machines there are."""
        return len(self._links)

    def start(self) -> None:
        """Have a task on each machine, and greet all."""
        try:
            for address, name in self._cluster.machines.items():
                self._links.append(Link(self._cluster.client, address, name))
                self._tasks.append(self._cluster.pin(tend, address, self.processes, self._gives_way))
                # At once: one that hears nothing takes us for gone.
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
        """Tell each machine which connections are its own, and wait until it is ready."""
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
        """Have all clocks known well enough for what they begin and end together; raises WorkFailed."""
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
                    f"take longer {span.name}s, or machines nearer to this one; {KEPT}",
                )

    def go(self, at: float) -> None:
        """Have all machines begin at that moment of our clock."""
        self._edges = tuple(self.board.edges)
        for link in self._at_work:
            link.at_work = True
            link.tell(Go(at + link.ahead / 1e9), self.board.edges_by(link.ahead))

    def collect(self, look: Callable[[], None], poll: float, patience: Patience) -> list[Any]:
        """What each process of each machine did, all on our clock."""

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
        """Write on our board what the machines have done by now, and when a window closed there."""
        board = self.board
        for link in self._at_work:
            told = link.last
            if told is None or not told.counters:
                continue
            for slot, done, answered in zip(link.slots, told.counters, told.first_answers, strict=False):
                board.counters[slot] = done
                board.first_answers[slot] = answered
            if told.closes is not None and told.closes - link.ahead < board.closes:
                # It found nothing left before all could know: what others did behind that is in no window.
                board.close(board.opens if board.opens != NEVER else told.closes - link.ahead)
        self._close_in_time()

    def _close_in_time(self) -> None:
        """Close the window of work given by amount shortly before one of the machines finds nothing left."""
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
        """Tell all machines of edges that have changed."""
        edges = tuple(self.board.edges)
        if edges != self._edges:
            self._edges = edges
            for link in self._at_work:
                link.show(self.board.edges_by(link.ahead))

    def _await(self, look: Callable[[], None], poll: float, patience: Patience) -> list[Any]:
        """The next word of each machine at work, with the machine; raises WorkFailed as ``collect`` does."""
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

    def _check(self, links: Sequence[Link]) -> None:
        """Raise WorkFailed when one of the machines is lost."""
        for link, task in zip(self._links, self._tasks, strict=True):
            if link not in links:
                continue
            lost = link.lost or (self._cluster.why_it_ended(task) if task.done() else "")
            if lost:
                raise WorkFailed(f"the load machine {link.name} is lost: {lost}", KEPT)

    def has_news(self) -> bool:
        """Whether each machine has told what it did since this was asked last."""
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
        """End the tasks, and what was started for them."""
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
        """How the systems of all machines schedule the processes."""
        return "batch" if all(done.scheduling == "batch" for _, done in self._done) else "normal"

    def pids(self) -> list[int]:
        """None: the processes are those of the machines."""
        return []

    def machines(self) -> tuple[MachineWork, ...]:
        """What each machine did last."""
        done = sorted(self._done, key=lambda one: one[0].slots[0])
        return tuple(MachineWork(_inside(*one), _whole(*one)) for one in done)


def _up_to(work: Assignment | Alternation, end: int) -> Assignment | Alternation:
    """The work of a machine whose numbers end there; what takes turns has no numbers."""
    return work if isinstance(work, Alternation) else replace(work, upto=end)


def _span(work: Assignment | Alternation) -> _Span:
    """What all machines are to begin and end together."""
    if isinstance(work, Alternation):
        return _Span("slice", work.slices.width / 1e9)
    return _Span("window", work.load.seconds)


def _inside(link: Link, done: Done) -> MachineStats:
    """What it did in the window."""
    inside = [tally.inside for tally in done.tallies]
    counted = sum(one.operations for one in inside), sum(one.requests for one in inside)
    return _stats(link, done, counted, [tally.usage for tally in done.tallies], done.network)


def _whole(link: Link, done: Done) -> MachineStats:
    """What it did in all its work."""
    every = [one.latencies() for tally in done.tallies for one in (tally.series, tally.apart)]
    requests = sum(sum(times.values()) for one in every for times in one.values())
    counted = sum(tally.operations for tally in done.tallies), requests
    return _stats(link, done, counted, [tally.whole_usage for tally in done.tallies], done.whole_network)


def _stats(
    link: Link, done: Done, counted: tuple[float, float], usage: Sequence[Usage], network: Network
) -> MachineStats:
    """What it did; ``counted`` are operations and requests."""
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
