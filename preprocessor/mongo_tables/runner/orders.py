"""Worker process: receives orders, and does the work of one load, or lets two loads take turns (see ``slices``)."""

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
from mongo_tables.runner.driving import ConnectionStats, Failures, Surroundings, count_failure, one_line
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
    do_timed,
    give_way,
    once,
    open_client,
    open_steps,
    surround,
    uncollected,
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


def execute(order: Assignment | Alternation, pipe: Connection, board: Board) -> None:
    """Execute an order. Send ``None`` when connected and when prepared, and the statistics after the work.

    A string in place of any of them is an error message.
    """
    keep_to_one_line()
    tell = once(pipe.send)
    with ExitStack() as held:
        try:
            sides = [_Side(load, order.mine, held) for load in order.loads]
            pipe.send(None)
            for side in sides:
                each = Assignment(side.load, order.mine) if isinstance(order, Alternation) else order
                side.steps = open_steps(side.clients, each, board)
            with uncollected(order.loads[0]):
                pipe.send(None)
                start = pipe.recv()
                if isinstance(order, Alternation):
                    done: Sequence[SideStats | ConnectionStats] = _take_turns(
                        sides, order, start, board, tell
                    )
                else:
                    timed = do_timed(sides[0].clients, sides[0].steps, order, start, board, tell)
                    timed.options = sides[0].options
                    done = [timed]
            if any(one.gave_up for one in done):
                return  # already reported; do not wait for a lost server
            for side in sides:
                if not side.options.acknowledges:  # otherwise writes would reach into the next window
                    wait_for_writes(side.client, side.clients)
            # Before closing the clients, which is slow and waits for lost servers.
            pipe.send(done if isinstance(order, Alternation) else done[0])
            for side in sides:
                side.leave()
        except Exception as error:
            tell(one_line(error))


class _Side:
    """The connections of one load."""

    def __init__(self, load: Load, mine: tuple[int, ...], held: ExitStack) -> None:
        """Connect. ``held`` closes the client."""
        self.load = load
        self.client = held.enter_context(open_client(load, len(mine)))
        self.clients, self.options = connect(self.client, load, mine)
        self.steps: list[Step] = []

    def leave(self) -> None:
        """Return the connections."""
        for one in self.clients:
            one.close()
        end_sessions(self.client, [one for one in self.clients if isinstance(one, WireClient)])


def _take_turns(
    sides: Sequence[_Side], order: Alternation, start: float, board: Board, tell: Callable[[str], None]
) -> Sides:
    """Return what the loads did in their slices, starting at ``start`` on the monotonic clock."""
    done = SideStats(), SideStats()
    turns = [Turns(order.slices, load, round(start * 1e9)) for load in range(2)]
    clients = [client for side in sides for client in side.clients]
    window = MeasuredWindow(board, sides[0].load.connections, by_amount=False)
    loops = [
        partial(_repeat, step, turns[number], surround(client, side.load, window, tell), done[number])
        for number, side in enumerate(sides)
        for client, step in zip(side.clients, side.steps, strict=True)
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
    """Run the worker process: execute each order until the runner ends the process."""
    threading.Thread(target=_end_with_runner, daemon=True).start()
    if gives_way:
        give_way()
    with suppress(EOFError, BrokenPipeError):  # the runner has ended
        while True:
            execute(pipe.recv(), pipe, board)


def _end_with_runner() -> None:
    """End this process when the runner died without the time to end it."""
    runner = multiprocessing.parent_process()
    if runner is not None:
        runner.join()
        os._exit(1)
