"""The worker process. It does the work of a load, or lets two loads take turns (see ``slices``).

All its connections share one thread, or each has its own thread.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Literal

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from mongo_tables.results.mongodb import keep_to_one_line
from mongo_tables.runner.connection_strings import OnError, request_options, selection_ms
from mongo_tables.runner.driving import (
    Arrivals,
    ConnectionStats,
    Failures,
    Pace,
    Recording,
    Surroundings,
    add_up,
    count_failure,
    drive,
    one_line,
)
from mongo_tables.runner.series import IntervalSeries, add_counts, interval_for
from mongo_tables.runner.slices import Sides, SideStats, Slices, Turns
from mongo_tables.runner.window import NEVER, Board, MeasuredWindow, Meter, hand_out, in_all, in_window
from mongo_tables.runner.wire.client import WireClient, end_sessions, open_connections
from mongo_tables.runner.wire.loop import AVAILABLE, Hub
from mongo_tables.runner.workloads import Share, Step, workload

Scheduling = Literal["batch", "normal"]


def give_way() -> None:
    """Let this process wait for a processor when an answer arrives, instead of preempting a running process.

    Otherwise a server on the same machine would lose its processor with each answer that it sends. With this scheduling
    the client finds several answers at once.
    """
    with suppress(AttributeError, OSError):  # unsupported or not permitted on other systems
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def scheduling_of(pids: Iterable[int]) -> Scheduling:
    """Return the scheduling class of running processes: ``batch`` if all of them have called ``give_way``."""
    if not hasattr(os, "SCHED_BATCH"):
        return "normal"
    return "batch" if all(os.sched_getscheduler(pid) == os.SCHED_BATCH for pid in pids) else "normal"


SELECTION_MS = 15_000
"""Milliseconds to wait for a primary: longer than an election, but not too long for a server that has ended."""
QUEUE_MS = 30_000
"""Milliseconds to wait for a pooled connection while all are in use. Then the driver raises an error."""
Loop = Callable[[], None]
"""The work of one connection."""
UNCOLLECTED_SECONDS = 60
"""The longest window in seconds without garbage collection. A window without a time limit is assumed to be shorter."""
RECONNECT_SECONDS = 0.1
"""Seconds between two attempts to reopen a connection."""
GONE_SECONDS = 120.0
"""Seconds without a connection after which the deployment counts as lost, if no time limit ends the window."""


@dataclass(frozen=True, slots=True)
class Load:
    """The work of a window: the workload, its target, and the number of connections.

    ``config`` has the parameters of the workload. ``seconds`` is the length of the window or, if the work ends after an
    amount, the maximum length. The window opens after ``lead`` seconds of the same work or, if the speed is not steady,
    after up to ``longest_lead`` seconds (see ``warmup``). ``rates`` are operations per second of all connections, in
    equal steps of the window; with rates, each operation is due at a set time. ``on_error`` says what happens when a
    connection breaks. A window with fewer operations than ``least`` is lengthened.
    """

    uri: str = field(repr=False)
    database: str
    workload: str
    config: Mapping[str, Any]
    seed: str
    connections: int
    seconds: float | None = None
    rates: tuple[float, ...] = ()
    arrivals: Arrivals = "even"
    on_error: OnError = "stop"
    lead: float = 0.0
    longest_lead: float = 0.0
    least: int = 0

    @property
    def amount(self) -> int | None:
        """Return the number of operations after which the work ends, or None if it ends by time."""
        plan = workload(self.workload).plan(self.config)
        return None if plan is None else plan.operations

    @property
    def lengthens(self) -> bool:
        """Return whether the window stays open until enough operations are done."""
        return self.least > 0 and self.seconds is not None

    @property
    def interval(self) -> int:
        """Return the length of the intervals in which operations are counted, in nanoseconds.

        The intervals are short if the work ends after an amount, because it may end long before its time limit.
        """
        interval = interval_for(self.seconds)
        return min(interval, interval_for(None)) if self.has_steady_part else interval

    @property
    def is_whole(self) -> bool:
        """Return whether the window is all of the work, from its start to its end."""
        return workload(self.workload).whole

    @property
    def has_steady_part(self) -> bool:
        """Return whether the work ends after an amount, and the window is only its steady part."""
        return self.amount is not None and not self.is_whole


@dataclass(frozen=True, slots=True)
class Assignment:
    """The work of one process or machine: its part of a load, or of two loads that take turns in ``slices``.

    ``connections`` are the numbers of its connections. If several machines share an amount of work, this part consists
    of the units from ``first`` to below ``upto``.
    """

    loads: tuple[Load, ...]
    connections: Sequence[int]
    slices: Slices | None = None
    first: int = 0
    upto: int | None = None

    @property
    def longest(self) -> float | None:
        """Return the maximum length of the window in seconds or, with slices, the total length of counted slices."""
        return self.slices.counted / 1e9 if self.slices else self.loads[0].seconds


def open_client(load: Load, connections: int) -> MongoClient[dict[str, Any]]:
    """Return the driver's client for ``connections`` connections of a load."""
    return MongoClient(
        load.uri,
        # A connection of the load may have two connections to a server, one for reads.
        maxPoolSize=2 * connections + 1,
        minPoolSize=0,  # a value above the maximum is an error
        waitQueueTimeoutMS=QUEUE_MS,
        serverSelectionTimeoutMS=selection_ms(load.uri, SELECTION_MS),
        retryReads=False,  # a retry would wait as long again
        appname="mongo-tables run",
        **{"retryWrites": load.config["retryableWrites"]} if "retryableWrites" in load.config else {},
    )


class LoadConnections:
    """The connections of one load in this process."""

    def __init__(self, load: Load, mine: Sequence[int], held: ExitStack) -> None:
        """Open the connections with the numbers ``mine``. ``held`` closes the client."""
        self.load = load
        self.mine = mine
        self.client = held.enter_context(open_client(load, len(mine)))
        open_connections(self.client, mine)
        self.options = request_options(self.client, load.config)
        self.clients: list[WireClient] = []
        for number in mine:
            self.client.admin.command("ping")
            namespace = load.database, load.config["collection"]
            self.clients.append(WireClient(self.client, namespace, self.options, number))
        self.steps: list[Step] = []
        """The step that each client repeats."""

    def prepare(self, upto: int | None, board: Board) -> None:
        """Prepare all requests. An amount of work ends before unit ``upto``; None means the whole amount."""
        load, kind = self.load, workload(self.load.workload)
        total = load.amount or 0 if upto is None else upto
        take, prepared = partial(hand_out, board.handed_out, total), dict[str, Any]()
        for client, number in zip(self.clients, self.mine, strict=True):
            share = Share(number, load.connections, f"{load.seed}/{number}", take, prepared)
            self.steps.append(kind.open_steps(client, load.config, share))

    def leave(self) -> None:
        """Return the connections to the pool."""
        for one in self.clients:
            one.close()
        end_sessions(self.client, self.clients)


def do_timed(
    side: LoadConnections, start: float, board: Board, tell: Callable[[str], None]
) -> ConnectionStats:
    """Do the work of a load's connections from ``start`` (monotonic clock) on. Return its statistics."""
    load, clients = side.load, side.clients
    series = IntervalSeries(load.interval)
    window = MeasuredWindow(board, load.connections, load.has_steady_part)
    in_one_thread = can_share_thread(clients, load)
    apart = IntervalSeries(series.width)
    tallies = [ConnectionStats(series, apart) for _ in clients]
    if in_one_thread:
        recordings = [Recording(series, window, side.mine, clients)]
    else:
        recordings = [
            Recording(series, window, (slot,), [client])
            for slot, client in zip(side.mine, clients, strict=True)
        ]
    loops = [
        partial(
            drive,
            step,
            tally,
            _pace(load, start, slot),
            window,
            slot,
            surround(client, load, window, tell),
            recordings[number % len(recordings)],
        )
        for number, (client, step, tally, slot) in enumerate(
            zip(clients, side.steps, tallies, side.mine, strict=True)
        )
    ]
    meters = [recording.meter for recording in recordings]

    def metered(meter: Meter, loop: Loop) -> None:
        with meter:
            loop()

    if in_one_thread:
        metered(meters[0], partial(do_in_one_thread, clients, loops))
    else:
        do_in_threads([partial(metered, *each) for each in zip(meters, loops, strict=True)])
    total = add_up(tallies)
    total.in_one_thread, total.options = in_one_thread, side.options
    total.usage, total.whole_usage = in_window(meters), in_all(meters)
    return total


def surround(
    client: WireClient, load: Load, window: MeasuredWindow, tell: Callable[[str], None]
) -> Surroundings:
    """Return the functions that a connection of the load needs. ``tell`` receives the reason if it ends early."""
    reconnect = None if load.on_error == "stop" else partial(_reconnect, client, window)
    return Surroundings(client.sleep, reconnect, tell)


def _reconnect(client: WireClient, window: MeasuredWindow) -> bool:
    """Try to open a connection until the last request may be sent. Return whether that succeeded.

    If no time limit ends the window, the attempts end after ``GONE_SECONDS``.
    """
    gone = time.monotonic() + GONE_SECONDS
    while time.monotonic_ns() < window.stops and (window.stops != NEVER or time.monotonic() < gone):
        with suppress(PyMongoError, OSError):
            client.reconnect()
            return True
        client.sleep(RECONNECT_SECONDS)
    return False


def once(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that passes on only the first message."""
    told = threading.Lock()

    def tell_once(message: str) -> None:
        if told.acquire(blocking=False):
            tell(message)

    return tell_once


@contextmanager
def uncollected(load: Load) -> Iterator[None]:
    """Keep the garbage collector from slowing down the window.

    The collector runs once before the window, and then ignores all existing objects. In a window of more than
    ``UNCOLLECTED_SECONDS``, it still collects new objects, because otherwise memory would grow.
    """
    gc.collect()
    gc.freeze()
    if (load.seconds or 0.0) <= UNCOLLECTED_SECONDS:
        gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def _pace(load: Load, start: float, slot: int) -> Pace:
    """Return the pace of a connection. With a rate, each connection has the same share of the operations."""
    if not load.rates:
        return Pace(start)
    intervals = tuple(load.connections / rate for rate in load.rates)
    each = int(load.config["writeBatchSize"]) if workload(load.workload).batched else 1
    first = start + intervals[0] * each * slot / load.connections
    draw = random.Random(f"{load.seed}/{slot}/arrivals") if load.arrivals == "poisson" else None
    return Pace(first, intervals, load.seconds or 0.0, draw, each)


def can_share_thread(clients: Sequence[WireClient], load: Load) -> bool:
    """Return whether one thread can do the work of all connections of this process."""
    waiting = all(client.can_share_thread for client in clients)
    paced = load.rates or workload(load.workload).paces_itself
    return AVAILABLE and waiting and (bool(paced) or len(clients) > 1)


def do_in_one_thread(clients: Sequence[WireClient], loops: Sequence[Loop]) -> None:
    """Run all loops in this thread."""
    hub = Hub()
    for client in clients:
        client.share_thread(hub)
    hub.run({client.files: loop for client, loop in zip(clients, loops, strict=True)})


def do_in_threads(loops: Sequence[Loop]) -> None:
    """Run each loop in its own thread. Raises the first exception of a loop."""
    raised: list[Exception] = []

    def perform(loop: Loop) -> None:
        try:
            loop()
        except Exception as error:
            raised.append(error)  # otherwise the exception would be lost in its thread

    threads = [threading.Thread(target=perform, args=(loop,)) for loop in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def execute(order: Assignment, pipe: Connection, board: Board) -> None:
    """Execute an order.

    Send ``None`` when connected, ``None`` when prepared, and the statistics after the work. In case of an error, send
    its message, a string, in place of the next of these messages.
    """
    keep_to_one_line()
    tell = once(pipe.send)
    with ExitStack() as held:
        try:
            sides = [LoadConnections(load, order.connections, held) for load in order.loads]
            pipe.send(None)
            for side in sides:
                side.prepare(order.upto, board)
            with uncollected(order.loads[0]):
                pipe.send(None)
                start = pipe.recv()
                done: Sequence[SideStats | ConnectionStats] = (
                    _take_turns(sides, order.slices, start, board, tell)
                    if order.slices
                    else [do_timed(sides[0], start, board, tell)]
                )
            if any(one.gave_up for one in done):
                return  # the error is reported already, and the server may be lost
            for side in sides:
                if not side.options.acknowledges:  # writes still in progress would disturb the next window
                    for one in side.clients:
                        one.wait_for_writes()
            # The clients are closed after the report, because closing is slow and waits for lost servers.
            pipe.send(done if order.slices else done[0])
            for side in sides:
                side.leave()
        except Exception as error:
            tell(one_line(error))


def _take_turns(
    sides: Sequence[LoadConnections], slices: Slices, start: float, board: Board, tell: Callable[[str], None]
) -> Sides:
    done = SideStats(), SideStats()
    turns = [Turns(slices, load, round(start * 1e9)) for load in range(2)]
    clients = [client for side in sides for client in side.clients]
    window = MeasuredWindow(board, sides[0].load.connections, by_amount=False)
    loops = [
        partial(_repeat, step, turns[number], surround(client, side.load, window, tell), done[number])
        for number, side in enumerate(sides)
        for client, step in zip(side.clients, side.steps, strict=True)
    ]
    if can_share_thread(clients, sides[0].load):
        do_in_one_thread(clients, loops)
    else:
        do_in_threads(loops)
    return done


_ADDING = threading.Lock()


def _repeat(step: Step, turns: Turns, around: Surroundings, total: SideStats) -> None:
    clock, done_here, failures = time.monotonic_ns, SideStats(), 0
    around.sleep(max(0.0, turns.begin / 1e9 - time.monotonic()))
    while (wait := turns.wait(sent := clock())) is not None:
        if wait:
            around.sleep(wait / 1e9)
            continue
        try:
            done = step()
        except Exception as error:  # a driver may raise anything; count it under its name
            failures += 1
            noted = done_here.failures if turns.counts(sent) else Failures()
            done_here.gave_up = count_failure(error, failures, noted, clock() - sent, around)
            if done_here.gave_up:
                break
            continue
        if done is None:
            break
        failures, answered = 0, clock()
        if turns.counts(sent):
            done_here.operations += done.operations * turns.part(sent, answered)
            done_here.requests += 1
            done_here.busy += answered - sent
    with _ADDING:
        add_counts(total, done_here)


def serve(pipe: Connection, board: Board, gives_way: bool) -> None:
    """Run the worker process: execute each order until the runner ends the process."""
    threading.Thread(target=_end_with_runner, daemon=True).start()
    if gives_way:
        give_way()
    with suppress(EOFError, BrokenPipeError):  # the runner has ended
        while True:
            execute(pipe.recv(), pipe, board)


def _end_with_runner() -> None:
    """End this process when the runner ends, for example because it was killed."""
    runner = multiprocessing.parent_process()
    if runner is not None:
        runner.join()
        os._exit(1)
