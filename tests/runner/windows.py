"""A window that is open, for one process."""

from __future__ import annotations

import multiprocessing

from mongo_tables.runner.driving import ConnectionStats, Recording
from mongo_tables.runner.series import IntervalSeries
from mongo_tables.runner.window import Board, MeasuredWindow


def opened(at: float = 0.0, seconds: float | None = None) -> MeasuredWindow:
    """One that opens at that moment of the monotonic clock, for two connections."""
    board = Board.of(multiprocessing)
    board.clear(seconds)
    board.open(round(at * 1e9))
    return MeasuredWindow(board, 2, by_amount=False)


def alone(tally: ConnectionStats, window: MeasuredWindow, slot: int) -> Recording:
    """That of a connection which has a thread of its own."""
    return Recording(tally.series, window, (slot,))


def nothing_done() -> ConnectionStats:
    """What a connection has done that has not begun."""
    return ConnectionStats(IntervalSeries(10**8), IntervalSeries(10**8))
