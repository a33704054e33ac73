"""A worker process from its start to its end: it takes one order after the other."""

from __future__ import annotations

import multiprocessing
import os
import threading
from contextlib import suppress
from multiprocessing.connection import Connection

from preprocessor.runner.alternating import Alternation, alternate
from preprocessor.runner.window import Board
from preprocessor.runner.worker import work


def serve(pipe: Connection, board: Board, gives_way: bool) -> None:
    """Entry point of the process: do one Assignment or Alternation after the other, until the runner ends it.

    For each the answer is ``None`` when everything is prepared, and after the start what was done. A string in
    place of either says what went wrong.
    """
    threading.Thread(target=_end_with_runner, daemon=True).start()
    if gives_way:
        _give_way()
    with suppress(EOFError, BrokenPipeError):  # the runner is gone
        while True:
            order = pipe.recv()
            if isinstance(order, Alternation):
                alternate(order, pipe, board)
            else:
                work(order, pipe, board)


def _end_with_runner() -> None:
    """End this process when the runner has gone in a way that left it no time to end us."""
    runner = multiprocessing.parent_process()
    if runner is not None:
        runner.join()
        os._exit(1)


def _give_way() -> None:
    """Let an answer that comes not interrupt what runs: on a machine shared with the server, that is the server.

    Else the server loses its processor at every answer it gives, and we are woken for each alone; so we find several.
    """
    with suppress(AttributeError, OSError):  # other systems have no such thing, or do not permit it
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
