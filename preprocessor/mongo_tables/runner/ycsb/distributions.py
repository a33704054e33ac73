"""Which record an operation is for: the request distributions of YCSB's core workloads.

The zipfian one follows Jim Gray et al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994, with
the constant 0.99. Every generator takes its uniform numbers, from 0 to below 1, from ``draw``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import pow

from mongo_tables.runner.errors import ExperimentError
from mongo_tables.runner.ycsb.records import fnv_hash

THETA = 0.99
FEWEST_FOR_LATEST = 4
SCRAMBLED_ITEMS = 10**10
SCRAMBLED_ZETA = 26.46902820178302
"""The sum of 1/i^0.99 for i up to 10^10, as YCSB has it as a constant."""

Draw = Callable[[], float]
Chooser = Callable[[], int]
"""Gives the place of the record that the next operation is for; its number is that of its ``Sequence``."""


class Sequence:
    """The records that one connection may choose from: the loaded ones, then those that it has inserted.

    YCSB's threads share one counter. Connections of ours are in several processes, so each is what a YCSB instance
    with an ``insertstart`` of its own is: it inserts a slice of the numbers, every ``workers``-th from ``first`` on,
    and knows only of its own. ``last`` is the place of the last record that is there; places of inserted records
    follow those of loaded ones without a gap.
    """

    def __init__(self, first: int, worker: int, workers: int) -> None:
        """``first`` is the lowest number that no loaded record has."""
        self.last = first - 1
        self._first, self._worker, self._workers = first, worker, workers

    def number(self, place: int) -> int:
        """The sequence number of the record at a place."""
        inserted = place - self._first
        return place if inserted < 0 else self._first + self._worker + inserted * self._workers

    def following(self) -> int:
        """The sequence number of the record to insert."""
        return self.number(self.last + 1)

    def acknowledge(self) -> None:
        """Count that record among those that are there."""
        self.last += 1


class Zipfian:
    """Numbers from 0, of which 0 is the most frequent; their count may grow."""

    def __init__(self, items: int, draw: Draw, zeta: float | None = None) -> None:
        """``zeta`` is the sum of 1/i^0.99 for i from 1 to ``items``, if it is known."""
        self._draw = draw
        self._items = self._count = items
        self._zeta = _zeta(items) if zeta is None else zeta
        self._eta = self._new_eta()

    def next(self, count: int) -> int:
        """A number below ``count``, which must not become smaller from call to call."""
        if count > self._count:
            self._zeta = _added(self._zeta, self._count, count)
            self._count = count
            self._eta = self._new_eta()
        uniform = self._draw()
        share = uniform * self._zeta
        if share < 1.0:
            return 0
        if share < _SECOND:
            return 1
        return int(count * pow(self._eta * uniform - self._eta + 1, 1 / (1 - THETA)))

    def _new_eta(self) -> float:
        # With the first count of items even when there are more by now: as YCSB does.
        return (1 - pow(2.0 / self._items, 1 - THETA)) / (1 - _zeta(2) / self._zeta)


def chooser(
    distribution: str, sequence: Sequence, start: int, count: int, expected: int, draw: Draw
) -> Chooser:
    """The generator of a ``requestdistribution`` over ``count`` records from ``start`` on.

    ``expected`` is how many records are expected to be inserted beside: zipfian leaves room for them, so that it
    does not change while they come. A place above the last in ``sequence`` is drawn again. Raises ExperimentError.
    """
    if distribution == "uniform":
        return lambda: start + int(draw() * count)
    if distribution == "zipfian":
        return _scrambled(sequence, start, count + expected + 1, draw)
    if distribution == "latest":
        return _latest(sequence, draw)
    raise ExperimentError(
        f"no requestdistribution is called {distribution!r}", "known: uniform, zipfian, latest"
    )


def _scrambled(sequence: Sequence, start: int, items: int, draw: Draw) -> Chooser:
    # One more than 10^10 items, and one more key than there are: YCSB's ranges include their ends.
    zipfian = Zipfian(SCRAMBLED_ITEMS + 1, draw, SCRAMBLED_ZETA)

    def choose() -> int:
        while True:
            place = start + fnv_hash(zipfian.next(SCRAMBLED_ITEMS + 1)) % items
            if place <= sequence.last:
                return place

    return choose


def _latest(sequence: Sequence, draw: Draw) -> Chooser:
    if sequence.last < FEWEST_FOR_LATEST - 1:
        raise ExperimentError(f"the requestdistribution latest needs {FEWEST_FOR_LATEST} records or more")
    zipfian = Zipfian(sequence.last, draw)
    return lambda: sequence.last - zipfian.next(sequence.last)


def _added(zeta: float, past: int, last: int) -> float:
    """The sum up to ``last`` from that up to ``past``, added one by one as YCSB does, to the last bit."""
    for item in range(past + 1, last + 1):
        zeta += 1.0 / pow(item, THETA)
    return zeta


@cache
def _zeta(items: int) -> float:
    return _added(0.0, 0, items)


_SECOND = 1.0 + pow(0.5, THETA)
