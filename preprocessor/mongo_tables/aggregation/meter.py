"""Counts what the running pipeline costs, and ends it at its limits.

One pipeline runs at a time (see ``aggregate``), so there is one meter. Time: work is counted in units of about what
one step of an interpreted loop takes, and the clock is looked at when enough of them have come together. To ask for
processor time takes the system some microseconds; so the clock on the wall is asked, and the other one only when by
this one the time may be over: no thread gets more processor time than passes. Memory: what a stage holds is estimated
block by block, from some documents of each; from all as soon as the pipeline has made a single large value. So what
small pipelines pay is too little to be seen.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, TypeVar

from mongo_tables.aggregation.errors import Path
from mongo_tables.aggregation.limits import LimitReached, Limits, spelt
from mongo_tables.aggregation.sizes import exceeds, is_small, memory_of

_T = TypeVar("_T")
_QUANTUM = 16_384
BLOCK = 128
"""How many documents, or elements of an array, pass between two looks at the clock."""
_STRIDE = 16
_SMALL = 16 * 2**20
_FIRST_BLOCK = 1
_SLOW = 0.01
_LARGE_TEXT, _LARGE_ARRAY = 65_536, 4_096
# What the server says of a stage whose memory is full.
_OUT_OF_MEMORY = 146
_STRING_TOO_LONG = 16493
_DOCUMENT_TOO_LARGE = 10334


class _Meter:
    __slots__ = ("arrays", "end", "large", "left", "limits", "not_before", "read")

    def __init__(self) -> None:
        self.limits = Limits()
        self.end = float("inf")
        # By the clock on the wall: until then the time cannot be over.
        self.not_before = float("inf")
        self.left = _QUANTUM
        self.large = False
        self.arrays = 0
        self.read: Sequence[Any] = ()


_METER = _Meter()


def limits() -> Limits:
    """The limits of the pipeline that runs; the defaults when none does."""
    return _METER.limits


@contextmanager
def measure_pipeline(limits: Limits) -> Iterator[None]:
    """Counts from nothing while the block runs, for this thread, and afterwards goes on where it was."""
    global _METER
    before, _METER = _METER, _Meter()
    _METER.limits, _METER.end = limits, time.thread_time() + limits.seconds
    _METER.not_before = time.monotonic() + limits.seconds
    try:
        yield
    finally:
        _METER = before


def last_read() -> Sequence[Any]:
    """The documents that the pipeline took last from its collection."""
    return _METER.read


@contextmanager
def pause_clock() -> Iterator[None]:
    """Leave the processor time of the block out of the pipeline's, because the block reads files."""
    start = time.thread_time()
    try:
        yield
    finally:
        _METER.end += time.thread_time() - start


def spend(units: int, path: Path | None = None) -> None:
    """Counts work; raises LimitReached when the time is over."""
    _METER.left -= units
    if _METER.left < 0:
        _METER.left = _QUANTUM
        look(path)


def look(path: Path | None = None) -> None:
    """Raises LimitReached when the time is over."""
    if time.monotonic() < _METER.not_before:
        return
    left = _METER.end - time.thread_time()
    _METER.not_before = time.monotonic() + left
    if left < 0:
        seconds = _METER.limits.seconds
        raise LimitReached(
            f"the pipeline took more than {seconds:g} second{'s' * (seconds != 1)} of processor time",
            limit="seconds",
            path=path,
        )


def watch_clock(items: Iterable[_T], path: Path | None = None) -> Iterator[_T]:
    """The items, with a look at the clock before each block of them; costs next to nothing for each."""
    return chain.from_iterable(blocks(items, path))


def admit_read_documents(documents: Iterable[_T]) -> Iterator[_T]:
    """``admit_documents``, for documents that may be read from files meanwhile: that time does not count."""
    if isinstance(documents, list):
        return chain.from_iterable(_entering(documents, None, source=True))
    return chain.from_iterable(_reading(iter(documents)))


def admit_documents(items: Iterable[_T], path: Path | None = None) -> Iterator[_T]:
    """Documents that come to a pipeline one by one, under ``watch_clock``.

    Large arrays that the last ones made are forgotten.
    """
    return chain.from_iterable(_entering(items, path))


def _entering(items: Iterable[_T], path: Path | None, *, source: bool = False) -> Iterator[list[_T]]:
    iterator, size = iter(items), _FIRST_BLOCK
    while block := list(islice(iterator, size)):
        look(path)
        if source:
            _METER.read = block
        yield block
        _METER.arrays = 0
        size = 1 if _METER.large else min(2 * size, BLOCK)


def _reading(iterator: Iterator[_T]) -> Iterator[list[_T]]:
    size = _FIRST_BLOCK
    while True:
        start = time.thread_time()
        block = list(islice(iterator, size))
        taken = time.thread_time() - start
        _METER.end += taken
        if not block:
            return
        look()
        _METER.read = block
        yield block
        _METER.arrays = 0
        # What takes long to read is large, and not to be held with a hundred others.
        size = 1 if _METER.large else max(1, size // 4) if taken > _SLOW else min(2 * size, BLOCK)


def give_held_documents(items: Iterable[_T]) -> Iterator[_T]:
    """Documents that a stage gives of what it holds: as ``admit_documents``.

    None is made before it is asked for.
    """
    return chain.from_iterable(_watch(iter(items)))


def _watch(iterator: Iterator[_T]) -> Iterator[Iterable[_T]]:
    for first in iterator:
        look()
        yield (first,)
        _METER.arrays = 0
        yield islice(iterator, 0 if _METER.large else BLOCK - 1)


def unwind_elements(items: Sequence[_T]) -> Iterable[_T]:
    """The elements of an array, of which each becomes a document."""
    if len(items) > BLOCK or _METER.large:
        return admit_documents(items)
    spend(len(items))
    return items


def each(items: Sequence[_T], path: Path | None = None) -> Iterable[_T]:
    """The elements of an array for a loop: many of them under ``watch_clock``."""
    if len(items) > BLOCK:
        return watch_clock(items, path)
    spend(len(items), path)
    return items


def blocks(items: Iterable[_T], path: Path | None = None) -> Iterator[list[_T]]:
    """The items in blocks of ``BLOCK``, with a look at the clock before each."""
    iterator = iter(items)
    while block := list(islice(iterator, BLOCK)):
        look(path)
        yield block


def gather_within_limits(items: Iterable[_T], path: Path | None = None) -> list[_T]:
    """All items, for a stage or an expression that holds them; raises LimitReached when that is too much memory."""
    rows: list[_T] = []
    held = 0
    for block in blocks(items, path):
        rows += block
        held = hold(held, weight(block), path)
    return rows


def is_counted(number: int) -> bool:
    """Whether the memory of so many documents counts: not that of a few small ones."""
    return _METER.large or number >= BLOCK


def weight(block: Sequence[Any]) -> int:
    """About how much memory the values of a block take; 0 for a few small ones."""
    if _METER.large:
        return sum(map(memory_of, block))
    if len(block) < BLOCK:
        return 0
    return _STRIDE * sum(map(memory_of, block[::_STRIDE]))


def hold(held: int, more: int, path: Path | None = None) -> int:
    """The bytes that a stage holds with ``more`` bytes added; raises LimitReached when that is too much."""
    held += more
    if held > _METER.limits.stage_bytes:
        raise LimitReached(
            f"a stage held more than {spelt(_METER.limits.stage_bytes)}",
            limit="stage_bytes",
            path=path,
            code=_OUT_OF_MEMORY,
        )
    return held


def check_key(value: Any) -> None:
    """Raises LimitReached for a document or an array that is larger than one may be, before keys are made of it.

    Nested in itself some dozen times, a value of few objects has more parts than any memory.
    """
    if type(value) is dict or type(value) is list:
        _check_size(value, "a value that is compared", None)


def check_document(document: Any, path: Path | None = None) -> None:
    """Raises LimitReached for a document that is larger than one may be.

    What is no ``dict`` comes from a file as it is, where documents are measured when they are read.
    """
    if type(document) is dict:
        _check_size(document, "a document", path)


def _check_size(value: Any, what: str, path: Path | None) -> None:
    most = _METER.limits.document_bytes
    if (most < _SMALL or not is_small(value)) and exceeds(value, most):
        raise LimitReached(
            f"{what} takes more than {spelt(most)}",
            limit="document_bytes",
            path=path,
            code=_DOCUMENT_TOO_LARGE,
        )


def admit_text(text: str) -> str:
    """Give back a string that an expression made; raises LimitReached when it is longer than a document may be."""
    if len(text) > _LARGE_TEXT:
        _METER.large = True
        check_text(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")))
    return text


def check_text(size: int) -> None:
    """Raises LimitReached for a string of so many bytes if that is more than a document may have."""
    if size > _METER.limits.document_bytes:
        raise LimitReached(
            f"an expression made a string of more than {spelt(_METER.limits.document_bytes)}",
            limit="document_bytes",
            code=_STRING_TOO_LONG,
        )


def count_array(length: int, element: int = 8) -> None:
    """Count an array that an expression makes; raises LimitReached when it and others take too much memory.

    ``element``: bytes of each element that are new with the array.
    """
    if length > _LARGE_ARRAY:
        _METER.large = True
        if length > BLOCK * _LARGE_ARRAY:
            _METER.arrays = hold(_METER.arrays, length * element)
        else:
            hold(0, length * element)
        spend(length // 8)
