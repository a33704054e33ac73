"""One worker process whose connections belong to two loads that take turns (see ``slices``)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

from preprocessor.results.driverlog import keep_to_one_line
from preprocessor.runner.driving import one_line
from preprocessor.runner.slices import Slices, part_within, wait_for_turn
from preprocessor.runner.window import Board
from preprocessor.runner.wire.client import WireClient, end_sessions, wait_for_writes
from preprocessor.runner.worker import (
    Assignment,
    Load,
    can_share_thread,
    connect,
    do_in_one_thread,
    do_in_threads,
    open_client,
    open_steps,
    sleep_by,
    uncollected,
)
from preprocessor.runner.workloads import Step


@dataclass(frozen=True, slots=True)
class Alternation:
    """What one process is to do: which connections of each of the two loads are its own, and when each load sends."""

    loads: tuple[Load, Load]
    mine: tuple[int, ...]
    slices: Slices


def alternate(order: Alternation, pipe: Connection, board: Board) -> None:
    """Do what is ordered; answers as ``serving.serve`` says, with the operations of both loads in their slices."""
    keep_to_one_line()
    with ExitStack() as held:
        try:
            sides = [_Side(load, order.mine, board, held) for load in order.loads]
            with uncollected(order.loads[0]):
                pipe.send(None)
                counts = _take_turns(sides, order, pipe.recv())
            for side in sides:
                side.leave()
            pipe.send(counts)
        except Exception as error:
            pipe.send(one_line(error))


class _Side:
    """The connections of one of the loads."""

    def __init__(self, load: Load, mine: tuple[int, ...], board: Board, held: ExitStack) -> None:
        """Connect and prepare; the client is closed with ``held``."""
        self._client = held.enter_context(open_client(load, len(mine)))
        self.clients, self._options = connect(self._client, load, len(mine))
        self.steps = open_steps(self.clients, Assignment(load, mine), board)

    def leave(self) -> None:
        """Wait for what is under way, else the next window would meet it, and give the connections back."""
        if not self._options.acknowledges:
            wait_for_writes(self._client, self.clients)
        for one in self.clients:
            one.close()
        end_sessions(self._client, [one for one in self.clients if isinstance(one, WireClient)])


def _take_turns(sides: Sequence[_Side], order: Alternation, start: float) -> tuple[float, float]:
    """What the loads did in their slices, from the moment ``start`` on the monotonic clock on."""
    slices, firsts = order.slices, order.slices.firsts()
    counts = [0.0, 0.0]
    clients = [client for side in sides for client in side.clients]
    loops = [
        partial(_repeat, step, number, slices, firsts, counts, start, partial(sleep_by, client))
        for number, side in enumerate(sides)
        for step, client in zip(side.steps, side.clients, strict=True)
    ]
    if can_share_thread(clients, order.loads[0]):
        do_in_one_thread(clients, loops)
    else:
        do_in_threads(loops)
    return counts[0], counts[1]


def _repeat(
    step: Step,
    load: int,
    slices: Slices,
    firsts: bytes,
    counts: list[float],
    start: float,
    sleep: Callable[[float], None],
) -> None:
    """Repeat a step whenever it is its load's turn; an operation counts with the part that lies in its slices."""
    clock, begin = time.monotonic_ns, round(start * 1e9)
    done_here = 0.0
    sleep(max(0.0, start - time.monotonic()))
    while (wait := wait_for_turn(slices, firsts, load, sent := clock() - begin)) is not None:
        if wait:
            sleep(wait / 1e9)
            continue
        done = step()
        if done is None:
            break
        if slices.counts(sent):
            done_here += done.operations * part_within(slices, firsts, load, sent, clock() - begin)
    counts[load] += done_here
