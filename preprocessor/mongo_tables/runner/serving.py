"""A worker process from its start to its end: it takes one order after the other."""

from __future__ import annotations

import multiprocessing
import os
import threading
from contextlib import suppress
from multiprocessing.connection import Connection

from mongo_tables.runner.alternating import Alternation, alternate
from mongo_tables.runner.scheduling import give_way
from mongo_tables.runner.window import Board
from mongo_tables.runner.worker import work


def serve(pipe: Connection, board: Board, gives_way: bool) -> None:
    """Entry point of the process: do one Assignment or Alternation after the other, until the runner ends it.

    For each the answer is ``None`` when its connections are open, ``None`` when everything is prepared, and after the
    start what was done. A string in place of any of them says what went wrong.
    """
    threading.Thread(target=_end_with_runner, daemon=True).start()
    if gives_way:
        give_way()
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
