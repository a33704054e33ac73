"""Worker process: receives orders, and lets the connections of two loads take turns (see ``slices``)."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

from mongo_tables.results.mongodb_errors import keep_to_one_line
from mongo_tables.runner.driving import Failures, Surroundings, count_failure, one_line
from mongo_tables.runner.series import add_counts
from mongo_tables.runner.slices import Sides, SideStats, Slices, Turns
from mongo_tables.runner.window import Board, MeasuredWindow
from mongo_tables.runner.wire.client import WireClient, end_sessions, wait_for_writes
from mongo_tables.runner.worker import (
    Assignment,
    Load,
    can_share_thread,
    connect,
    do_in_one_thread,
    do_in_threads,
    give_way,
    once,
    open_client,
    open_steps,
    surround,
    uncollected,
    work,
)
from mongo_tables.runner.workloads import Step


@dataclass(frozen=True, slots=True)
class Alternation:
    """The order for one process: its connections of each of the two loads, and when each load sends."""

    loads: tuple[Load, Load]
    mine: tuple[int, ...]
    slices: Slices

    @property
    def longest(self) -> float:
        """Return the length in seconds of the slices that count."""
        return self.slices.counted / 1e9


def alternate(order: Alternation, pipe: Connection, board: Board) -> None:
    """Execute the order, and answer as ``serve`` describes, with what both loads did in their slices."""
    keep_to_one_line()
    tell = once(pipe.send)
    with ExitStack() as held:
        try:
            sides = [_Side(load, order.mine, board, held, tell) for load in order.loads]
            pipe.send(None)
            for side in sides:
                side.prepare(order.mine, board)
            with uncollected(order.loads[0]):
                pipe.send(None)
                done = _take_turns(sides, order, pipe.recv())
            if any(side.gave_up for side in done):
                return  # already reported; do not wait for a lost server
            for side in sides:
                side.leave()
            pipe.send(done)
        except Exception as error:
            tell(one_line(error))


class _Side:
    """The connections of one of the loads."""

    def __init__(
        self, load: Load, mine: tuple[int, ...], board: Board, held: ExitStack, tell: Callable[[str], None]
    ) -> None:
        """Connect. ``held`` closes the client; ``tell`` receives the reason when a connection ends early."""
        self._client = held.enter_context(open_client(load, len(mine)))
        self.clients, self._options = connect(self._client, load, mine)
        self._load = load
        self.steps: list[Step] = []
        window = MeasuredWindow(board, load.connections, by_amount=False)
        self.around = [surround(client, load, window, tell) for client in self.clients]

    def prepare(self, mine: tuple[int, ...], board: Board) -> None:
        """Prepare the requests."""
        self.steps = open_steps(self.clients, Assignment(self._load, mine), board)

    def leave(self) -> None:
        """Wait for requests in flight, which would reach into the next window, and return the connections."""
        if not self._options.acknowledges:
            wait_for_writes(self._client, self.clients)
        for one in self.clients:
            one.close()
        end_sessions(self._client, [one for one in self.clients if isinstance(one, WireClient)])


def _take_turns(sides: Sequence[_Side], order: Alternation, start: float) -> Sides:
    """Return what the loads did in their slices, starting at ``start`` on the monotonic clock."""
    done = SideStats(), SideStats()
    turns = [Turns(order.slices, load, round(start * 1e9)) for load in range(2)]
    clients = [client for side in sides for client in side.clients]
    loops = [
        partial(_repeat, step, turns[load], around, done[load])
        for load, side in enumerate(sides)
        for step, around in zip(side.steps, side.around, strict=True)
    ]
    if can_share_thread(clients, order.loads[0]):
        do_in_one_thread(clients, loops)
    else:
        do_in_threads(loops)
    return done


_ADDING = threading.Lock()


def _repeat(step: Step, turns: Turns, around: Surroundings, total: SideStats) -> None:
    """Repeat a step whenever it is its load's turn, and add what it did to the ``total``."""
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
    """Run the worker process: execute each Assignment or Alternation until the runner ends the process.

    For each it sends ``None`` when its connections are open, ``None`` when everything is prepared, and after the
    start the statistics. A string in place of any of them is an error message.
    """
    threading.Thread(target=_end_with_runner, daemon=True).start()
    if gives_way:
        give_way()
    with suppress(EOFError, BrokenPipeError):  # the runner has ended
        while True:
            order = pipe.recv()
            if isinstance(order, Alternation):
                alternate(order, pipe, board)
            else:
                work(order, pipe, board)


def _end_with_runner() -> None:
    """End this process when the runner died without the time to end it."""
    runner = multiprocessing.parent_process()
    if runner is not None:
        runner.join()
        os._exit(1)
