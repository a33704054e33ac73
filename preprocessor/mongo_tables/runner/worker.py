"""The work of one process: its connections, all in one thread or each in a thread of its own, and what they did."""

from __future__ import annotations

import gc
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Literal

from mongo_tables.results.mongodb_errors import keep_to_one_line
from mongo_tables.runner.clients import Client, PyMongoClient
from mongo_tables.runner.connection_strings import selection_ms
from mongo_tables.runner.driving import (
    Arrivals,
    ConnectionStats,
    Pace,
    Recording,
    Surroundings,
    add_up,
    drive,
    one_line,
)
from mongo_tables.runner.meter import Meter, in_all, in_window
from mongo_tables.runner.request_options import Kind, OnError, RequestOptions, request_options
from mongo_tables.runner.series import Series, interval_for
from mongo_tables.runner.window import Board, Handout, Window
from mongo_tables.runner.wire.client import WireClient, end_sessions, open_connections, wait_for_writes
from mongo_tables.runner.wire.loop import AVAILABLE, Hub
from mongo_tables.runner.workloads import Share, Step, workload

if TYPE_CHECKING:
    from pymongo import MongoClient


Scheduling = Literal["batch", "normal"]


def give_way() -> None:
    """Let an answer that comes not interrupt what runs: on a machine shared with the server, that is the server.

    Else the server loses its processor at every answer it gives, and we are woken for each alone; so we find several.
    """
    with suppress(AttributeError, OSError):  # other systems have no such thing, or do not permit it
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def scheduling_of(pids: Iterable[int]) -> Scheduling:
    """The class that the system has processes in: ``batch`` where all of them give way. They must be there."""
    if not hasattr(os, "SCHED_BATCH"):
        return "normal"
    return "batch" if all(os.sched_getscheduler(pid) == os.SCHED_BATCH for pid in pids) else "normal"


SELECTION_MS = 15_000
"""How long a primary is waited for: longer than an election takes, shorter than one waits for a dead server."""
QUEUE_MS = 30_000
"""How long one of the pool's connections is waited for while all of them are held: an error then, and no silence."""
Loop = Callable[[], None]
"""The work of one connection."""
UNCOLLECTED_SECONDS = 60
"""For so long the garbage collector may rest; work given by amount is done in such a time."""
RECONNECT_SECONDS = 0.1
"""Between two tries to open a connection again."""
GONE_SECONDS = 120.0
"""After so long without a connection the deployment is gone, where no end of the window bounds the tries."""
_CLIENTS: Mapping[str, type[WireClient] | type[PyMongoClient]] = {
    "wire": WireClient,
    "pymongo": PyMongoClient,
}


@dataclass(frozen=True, slots=True)
class Load:
    """What to do, on what, by how many connections, with which client.

    ``config`` is what workloads call a config; ``seconds`` is the length of the timed window, or the most of it where
    the work is given by amount; it opens after ``lead`` seconds of the same work, or
    after up to ``longest_lead`` when its speed is steady (see ``warmup``). With ``rates``, in operations a
    second of all connections together in equal steps of the window, each operation has a time at which it is to start.
    ``on_error`` says what happens when a connection breaks. A window in which fewer operations than ``least`` are done
    is lengthened.
    """

    uri: str
    database: str
    workload: str
    config: Mapping[str, Any]
    seed: str
    connections: int
    client: Kind
    seconds: float | None = None
    rates: tuple[float, ...] = ()
    arrivals: Arrivals = "even"
    on_error: OnError = "stop"
    lead: float = 0.0
    longest_lead: float = 0.0
    least: int = 0

    @property
    def amount(self) -> int | None:
        """The operations that are the work; None where time ends it."""
        plan = workload(self.workload).plan(self.config)
        return None if plan is None else plan.operations

    @property
    def lengthens(self) -> bool:
        """Whether the window has no end before enough is done in it."""
        return self.least > 0 and self.seconds is not None

    @property
    def interval(self) -> int:
        """Nanoseconds of the intervals in which it is counted; an amount may be done long before its time is over."""
        interval = interval_for(self.seconds)
        return min(interval, interval_for(None)) if self.has_steady_part else interval

    @property
    def is_whole(self) -> bool:
        """Whether all of the work is measured, whenever it ends."""
        return workload(self.workload).whole

    @property
    def has_steady_part(self) -> bool:
        """Whether what is measured is the steady part of work given by amount."""
        return self.amount is not None and not self.is_whole


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one process is to do: which of the load's connections are its own.

    ``upto`` is the end of the numbers that are the work, where others than those of this machine have the rest.
    """

    load: Load
    mine: tuple[int, ...]
    upto: int | None = None

    @property
    def loads(self) -> tuple[Load, ...]:
        """All loads that are worked for."""
        return (self.load,)

    @property
    def longest(self) -> float | None:
        """How many seconds the window is to be, at most."""
        return self.load.seconds


def work(assignment: Assignment, pipe: Connection, board: Board) -> None:
    """Do what is assigned: the answer is ``None`` when connected and when prepared, after the start what was done.

    A string in place of any of them says what went wrong.
    """
    load, total = assignment.load, ConnectionStats(Series(1), Series(1))
    keep_to_one_line()
    with open_client(load, len(assignment.mine)) as client:
        try:
            clients, options = connect(client, load, assignment.mine)
            pipe.send(None)
            steps = open_steps(clients, assignment, board)
            with uncollected(load):
                pipe.send(None)
                total = _timed(clients, steps, assignment, pipe.recv(), board, once(pipe.send))
            total.options = options
            if not total.gave_up and not options.acknowledges:
                wait_for_writes(client, clients)  # else the next window would meet them
            done: ConnectionStats | str = total.gave_up or total
        except Exception as error:
            done = one_line(error)
        # Before clients are closed, which takes time, and waits for a server that is gone.
        if done != total.gave_up:
            pipe.send(done)
        if isinstance(done, ConnectionStats):
            for held in clients:
                held.close()
            end_sessions(client, [held for held in clients if isinstance(held, WireClient)])


def open_client(load: Load, connections: int) -> MongoClient[dict[str, Any]]:
    """The driver's client for so many connections of a load."""
    from pymongo import MongoClient

    return MongoClient(
        load.uri,
        # Where the member that is read from is the primary, a connection of the load holds two to it.
        maxPoolSize=2 * connections + 1,
        minPoolSize=0,  # a larger one than the most would be refused
        waitQueueTimeoutMS=QUEUE_MS,
        serverSelectionTimeoutMS=selection_ms(load.uri, SELECTION_MS),
        retryReads=False,  # a retry would wait as long again
        appname="mongo-tables run",
        **{"retryWrites": load.config["retryableWrites"]} if "retryableWrites" in load.config else {},
    )


def connect(
    client: MongoClient[dict[str, Any]], load: Load, mine: Sequence[int]
) -> tuple[list[Client], RequestOptions]:
    """Open the connections of a load with these numbers, each for its work, and say how they send."""
    open_connections(client, mine)
    options = request_options(client, load.config)
    return [_connect(client, load, options, number) for number in mine], options


def open_steps(clients: Sequence[Client], assignment: Assignment, board: Board) -> list[Step]:
    """What each of the clients repeats, with everything prepared."""
    load, kind = assignment.load, workload(assignment.load.workload)
    upto = load.amount or 0 if assignment.upto is None else assignment.upto
    take, prepared = Handout(board, upto).take, dict[str, Any]()
    return [
        kind.open_steps(
            held, load.config, Share(worker, load.connections, f"{load.seed}/{worker}", take, prepared)
        )
        for held, worker in zip(clients, assignment.mine, strict=True)
    ]


def _connect(client: MongoClient[dict[str, Any]], load: Load, options: RequestOptions, number: int) -> Client:
    client.admin.command("ping")
    return _CLIENTS[load.client](client, (load.database, load.config["collection"]), options, number)


def _timed(
    clients: list[Client],
    steps: list[Step],
    assignment: Assignment,
    start: float,
    board: Board,
    tell: Callable[[str], None],
) -> ConnectionStats:
    load = assignment.load
    series = Series(load.interval)
    window = Window(board, load.connections, load.has_steady_part)
    in_one_thread = can_share_thread(clients, load)
    apart = Series(series.width)
    tallies = [ConnectionStats(series, apart) for _ in steps]
    recordings = _recordings(series, window, assignment.mine, clients, in_one_thread)
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
            zip(clients, steps, tallies, assignment.mine, strict=True)
        )
    ]
    meters = [recording.meter for recording in recordings]
    _perform(clients, loops, meters, in_one_thread)
    total = add_up(tallies)
    total.in_one_thread = in_one_thread
    total.usage, total.whole_usage = in_window(meters), in_all(meters)
    return total


def _recordings(
    series: Series, window: Window, slots: Sequence[int], clients: Sequence[Client], in_one_thread: bool
) -> list[Recording]:
    """One for each thread."""
    held = [[client] if isinstance(client, WireClient) else [] for client in clients]
    if in_one_thread:
        return [Recording(series, window, slots, [one for each in held for one in each])]
    return [Recording(series, window, (slot,), each) for slot, each in zip(slots, held, strict=True)]


def _perform(
    clients: Sequence[Client], loops: Sequence[Loop], meters: Sequence[Meter], in_one_thread: bool
) -> None:
    """Do all loops, with a meter around the work of each thread."""
    if in_one_thread:
        with meters[0]:
            do_in_one_thread(clients, loops)
    else:
        do_in_threads([partial(_metered, meter, loop) for meter, loop in zip(meters, loops, strict=True)])


def _metered(meter: Meter, loop: Loop) -> None:
    with meter:
        loop()


def surround(client: Client, load: Load, window: Window, tell: Callable[[str], None]) -> Surroundings:
    """What a connection of the load needs beside its work; ``tell`` is told why it ends."""
    # Which way a connection sleeps is known when all begin.
    sleep = partial(sleep_by, client)
    if load.on_error == "stop" or not isinstance(client, WireClient):
        return Surroundings(sleep, None, tell)
    return Surroundings(sleep, partial(_reconnect, client, window), tell)


def _reconnect(client: WireClient, window: Window) -> bool:
    """Try until there is a connection, or no further request is to be sent; whether there is one.

    Work by amount has no end without a connection, so it is given up after ``GONE_SECONDS``.
    """
    from pymongo.errors import PyMongoError

    gone = time.monotonic() + GONE_SECONDS
    while not window.is_over() and (window.has_end or time.monotonic() < gone):
        with suppress(PyMongoError, OSError):
            client.reconnect()
            return True
        client.sleep(RECONNECT_SECONDS)
    return False


def once(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Passes on the first message alone."""
    told = threading.Lock()

    def tell_once(message: str) -> None:
        if told.acquire(blocking=False):
            tell(message)

    return tell_once


@contextmanager
def uncollected(load: Load) -> Iterator[None]:
    """Keep the garbage collector from what is prepared, which stays until the end, while the clock runs.

    It looks a last time before the word to start is awaited: behind that it would take from the window. In a window
    that may be long, and with PyMongo, which makes objects that refer to themselves, it looks after what is new: else
    memory would grow.
    """
    gc.collect()
    gc.freeze()
    if load.client == "wire" and (load.seconds or 0.0) <= UNCOLLECTED_SECONDS:
        gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def _pace(load: Load, start: float, slot: int) -> Pace:
    """When the operations of a connection start; with a rate they are spread evenly over the connections."""
    if not load.rates:
        return Pace(start)
    intervals = tuple(load.connections / rate for rate in load.rates)
    each = int(load.config["writeBatchSize"]) if workload(load.workload).batched else 1
    first = start + intervals[0] * each * slot / load.connections
    draw = random.Random(f"{load.seed}/{slot}/arrivals") if load.arrivals == "poisson" else None
    return Pace(first, intervals, load.seconds or 0.0, draw, each)


def can_share_thread(clients: Sequence[Client], load: Load) -> bool:
    """Whether one thread is to do the work of all connections of this process."""
    waiting = [isinstance(client, WireClient) and client.can_share_thread for client in clients]
    paced = load.rates or workload(load.workload).paces_itself
    return AVAILABLE and all(waiting) and (bool(paced) or len(waiting) > 1)


def do_in_one_thread(clients: Sequence[Client], loops: Sequence[Loop]) -> None:
    """Do all loops in this thread."""
    hub = Hub()
    held = [client for client in clients if isinstance(client, WireClient)]
    for client in held:
        client.share_thread(hub)
    hub.run({client.files: loop for client, loop in zip(held, loops, strict=True)})


def sleep_by(client: Client, seconds: float) -> None:
    """Sleep as the connection does: which way that is, is known when all begin."""
    client.sleep(seconds)


def do_in_threads(loops: Sequence[Loop]) -> None:
    """Run each in a thread of its own; raises what one of them raised."""
    raised: list[Exception] = []

    def perform(loop: Loop) -> None:
        try:
            loop()
        except Exception as error:
            raised.append(error)  # a thread by itself would keep it

    threads = [threading.Thread(target=perform, args=(loop,)) for loop in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
