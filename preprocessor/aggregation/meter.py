"""Counts what the running pipeline costs, and ends it at its limits.

One pipeline runs at a time (see ``aggregate``), so there is one meter. Work is counted in units of about what one
step of an interpreted loop takes; the clock is looked at when enough of them have come together.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import TypeVar

from preprocessor.aggregation.limits import LimitReached, Limits

_T = TypeVar("_T")
_QUANTUM = 16_384
BLOCK = 128
"""How many documents pass between two looks at the clock."""


class _Meter:
    __slots__ = ("end", "left", "limits")

    def __init__(self) -> None:
        self.limits = Limits()
        self.end = float("inf")
        self.left = _QUANTUM


_METER = _Meter()


def limits() -> Limits:
    """The limits of the pipeline that runs; the defaults when none does."""
    return _METER.limits


@contextmanager
def measured(limits: Limits) -> Iterator[None]:
    """Counts from nothing while the block runs, for this thread, and afterwards goes on where it was."""
    before = _METER.limits, _METER.end, _METER.left
    _METER.limits, _METER.end, _METER.left = limits, time.thread_time() + limits.seconds, _QUANTUM
    try:
        yield
    finally:
        _METER.limits, _METER.end, _METER.left = before


@contextmanager
def uncounted() -> Iterator[None]:
    """The processor time of the block is not the pipeline's: it reads files."""
    start = time.thread_time()
    try:
        yield
    finally:
        _METER.end += time.thread_time() - start


def spend(units: int) -> None:
    """Counts work; raises LimitReached when the time is over."""
    _METER.left -= units
    if _METER.left < 0:
        _METER.left = _QUANTUM
        look()


def look() -> None:
    """Raises LimitReached when the time is over."""
    if time.thread_time() > _METER.end:
        seconds = _METER.limits.seconds
        raise LimitReached(
            f"the pipeline took more than {seconds:g} second{'s' * (seconds != 1)} of processor time",
            limit="seconds",
        )


def paced(items: Iterable[_T]) -> Iterator[_T]:
    """The items, with a look at the clock before each block of them; costs next to nothing for each."""
    return chain.from_iterable(_blocks(items))


def _blocks(items: Iterable[_T]) -> Iterator[list[_T]]:
    iterator = iter(items)
    while block := list(islice(iterator, BLOCK)):
        look()
        yield block
