"""Limits of a pipeline on files, checked while it runs.

One pipeline runs at a time (see ``aggregate``), so there is one meter.

Time: work is counted in units of about one step of an interpreted loop, and the clock is checked after a fixed number
of units. The limit is processor time, but reading the processor clock takes some microseconds. A thread never gets more
processor time than wall time. So the wall clock is checked first, and the processor clock only if the wall clock
exceeds the limit.

Memory: the memory that a stage holds is estimated block by block, from a sample of its documents, or from all of them
once the pipeline has made a large value.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

from mongo_tables.aggregation.errors import NotOffline, Path

_T = TypeVar("_T")
_QUANTUM = 16_384
BLOCK = 128
"""The clock is checked each time after this many documents or elements of an array."""
_STRIDE = 16
_SLOW = 0.01
_LARGE_TEXT, _LARGE_ARRAY = 65_536, 4_096
# The server's error codes for a stage out of memory, a long string, and a large document.
_OUT_OF_MEMORY = 146
_STRING_TOO_LONG = 16493
_DOCUMENT_TOO_LARGE = 10334
# Bytes of CPython's objects, rounded. They are equal for all versions and machines, so that limits are
# reproducible.
_EMPTY_DOCUMENT, _FIELD = 180, 20
_EMPTY_ARRAY, _ELEMENT = 56, 8
_TEXT, _SCALAR = 50, 32
_SAMPLE = 32
_PART = 8
"""The estimated size of a small field in BSON, in bytes, including its type and its name."""
_DEEPEST = 8


class PipelineLimits(NamedTuple):
    """The limits of each pipeline.

    Attributes:
        seconds: Processor time, excluding the reading of files.
        stage_bytes: Memory of the documents, groups and arrays that one stage holds.
        document_bytes: BSON size of a document, and of a value that an expression makes.
        regex_steps: Steps of one regular expression on one text, as PCRE2 counts them; MongoDB 6.0 has the
            same default.
    """

    seconds: float = 60
    stage_bytes: int = 2**30
    document_bytes: int = 16 * 2**20
    regex_steps: int = 200_000


class LimitReached(NotOffline):
    """A pipeline that exceeds a limit. ``limit`` is the name of a field of ``PipelineLimits``."""

    def __init__(self, message: str, limit: str, path: Path | None = None, code: int | None = None) -> None:
        super().__init__(message, path, code)
        self.limit = limit


def spelt(size: int) -> str:
    """Return a number of bytes in readable form: ``1 GiB``, ``16 MiB``, ``100,000 bytes``.

    Example:
        >>> spelt(16 * 2**20), spelt(100_000)
        ('16 MiB', '100,000 bytes')
    """
    for unit, bytes_of_one in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= bytes_of_one and size % bytes_of_one == 0:
            return f"{size // bytes_of_one:,} {unit}"
    return f"{size:,} bytes"


def memory_of(value: Any, levels: int = _DEEPEST) -> int:
    """Estimate the memory of a value in bytes. A part that several values share counts for each of them."""
    kind = type(value)
    if kind is str:
        return _TEXT + len(value)
    if kind is dict:
        inside = sum(memory_of(item, levels - 1) for item in value.values()) if levels else 0
        return _EMPTY_DOCUMENT + _FIELD * len(value) + inside
    if kind is list:
        some = value if len(value) <= _SAMPLE else value[:: len(value) // _SAMPLE]
        inside = sum(memory_of(item, levels - 1) for item in some) if levels and some else 0
        return _EMPTY_ARRAY + _ELEMENT * len(value) + len(value) * inside // max(len(some), 1)
    return _TEXT + len(value) if isinstance(value, bytes) else _SCALAR


def subtract_size(value: Any, room: int) -> int:
    """Return ``room`` minus the BSON size of a document or an array. If the size exceeds ``room``, return any
    negative number.

    Documents of other classes, which are lazily read from files, are skipped.
    """
    room -= 5 + 2 * len(value)
    items: Iterable[Any]
    if type(value) is dict:
        items = value.values()
        room -= len("".join(value))
    else:
        items, power = value, 0
        while power < len(value):  # an element's name is its number: one more digit from each power of ten on
            room -= len(value) - power
            power = 10 * power or 10
    for item in items:
        kind = type(item)
        if kind is dict or kind is list:
            room = subtract_size(item, room)
        elif kind is str:
            room -= 5 + (len(item) if item.isascii() else len(item.encode("utf-8", "surrogatepass")))
        elif kind is float:
            room -= 8
        elif item is None:
            continue
        elif isinstance(item, bytes):
            room -= 5 + len(item)
        else:
            room -= 1 if kind is bool else 4 if kind is int else 8
        if room < 0:
            break
    return room


class _Meter:
    """The counters of one pipeline, with their initial values.

    ``room``: the number of bytes that the value being compared may still have. ``not_before``: the wall-clock time
    before which the limit of processor time cannot be reached. ``time_outs``: the number of time-outs of all
    pipelines.
    """

    limits = PipelineLimits()
    end = float("inf")
    not_before = float("inf")
    left = _QUANTUM
    room = 0
    large = False
    arrays = 0
    time_outs = 0


_METER = _Meter()


def current() -> PipelineLimits:
    """Return the limits of the running pipeline, or the defaults."""
    return _METER.limits


def has_large_values() -> bool:
    """Return whether the running pipeline has made a large value. From then on, memory is counted exactly."""
    return _METER.large


def time_outs() -> int:
    """Return the number of pipelines of this process that ran out of time."""
    return _Meter.time_outs


@contextmanager
def measure_pipeline(limits: PipelineLimits) -> Iterator[None]:
    """Count the work of the ``with`` block from zero, and restore the previous counters afterwards."""
    global _METER
    before, _METER = _METER, _Meter()
    _METER.limits, _METER.end = limits, time.thread_time() + limits.seconds
    _METER.not_before = time.monotonic() + limits.seconds
    try:
        yield
    finally:
        _METER = before


@contextmanager
def pause_clock() -> Iterator[None]:
    """Exclude the processor time of the ``with`` block, which reads files, from the pipeline's time."""
    start = time.thread_time()
    try:
        yield
    finally:
        _METER.end += time.thread_time() - start


def spend(units: int, path: Path | None = None) -> None:
    """Count work. Raises LimitReached when the time is over."""
    _METER.left -= units
    if _METER.left < 0:
        _METER.left = _QUANTUM
        look(path)


def begin_comparison() -> None:
    """Start counting the parts of the next value to compare."""
    _METER.room = _METER.limits.document_bytes


def spend_parts(number: int) -> None:
    """Count ``number`` parts of the value that is being compared. Raises LimitReached if the value has too many
    parts.

    The limit is necessary because a few objects that contain each other repeatedly can have more parts than fit into
    memory.
    """
    _METER.room -= number * _PART
    if _METER.room < 0:
        message = f"a value in a comparison needs more than {spelt(_METER.limits.document_bytes)}"
        raise LimitReached(message, "document_bytes", None, _DOCUMENT_TOO_LARGE)
    spend(number)


def look(path: Path | None = None) -> None:
    """Raise LimitReached if the time is over."""
    if time.monotonic() < _METER.not_before:
        return
    left = _METER.end - time.thread_time()
    _METER.not_before = time.monotonic() + left
    if left < 0:
        seconds = _METER.limits.seconds
        _Meter.time_outs += 1
        message = f"the pipeline used more than {seconds:g} second{'s' * (seconds != 1)} of processor time"
        raise LimitReached(message, "seconds", path)


def watch_clock(items: Iterable[_T], path: Path | None = None) -> Iterator[_T]:
    """Yield the items, and check the clock before each block of items."""
    return chain.from_iterable(blocks(items, path))


def admit_documents(items: Iterable[_T], path: Path | None = None) -> Iterator[_T]:
    """Yield a pipeline's input documents one by one, with the checks of ``admit_blocks``."""
    return chain.from_iterable(admit_blocks(items, path))


def admit_blocks(items: Iterable[_T], path: Path | None = None) -> Iterator[list[_T]]:
    """Yield a pipeline's input documents in blocks, and check the clock before each block.

    The time to read them from files does not count. The count of large arrays is reset after each block.
    """
    iterator, size = iter(items), 1
    is_read = not isinstance(items, list)
    while True:
        start = time.thread_time() if is_read else 0.0
        block = list(islice(iterator, size))
        taken = time.thread_time() - start if is_read else 0.0
        _METER.end += taken
        if not block:
            return
        look(path)
        yield block
        _METER.arrays = 0
        # Documents that are read slowly are large, so only a few of them are held.
        size = 1 if _METER.large else max(1, size // 4) if taken > _SLOW else min(2 * size, BLOCK)


def held_blocks(items: Iterable[_T]) -> Iterator[Iterable[_T]]:
    """Yield the documents that a stage makes in lazy blocks, and check the clock before each block."""
    iterator = iter(items)
    for first in iterator:
        look()
        yield (first,)
        _METER.arrays = 0
        yield islice(iterator, 0 if _METER.large else BLOCK - 1)
    _METER.arrays = 0


def unwind_elements(items: Sequence[_T]) -> Iterable[_T]:
    """Return the elements of an array for an ``$unwind``. The elements of long arrays are checked like input
    documents.
    """
    if len(items) > BLOCK or _METER.large:
        return admit_documents(items)
    spend(len(items))
    return items


def each(items: Sequence[_T], path: Path | None = None) -> Iterable[_T]:
    """Return the elements of an array for a loop. In long arrays, check the clock before each block of elements."""
    if len(items) > BLOCK:
        return watch_clock(items, path)
    spend(len(items), path)
    return items


def blocks(items: Iterable[_T], path: Path | None = None) -> Iterator[list[_T]]:
    """Yield the items in blocks of ``BLOCK`` items, and check the clock before each block."""
    iterator = iter(items)
    while block := list(islice(iterator, BLOCK)):
        look(path)
        yield block


def gather_within_limits(items: Iterable[_T], path: Path) -> list[_T]:
    """Return all items for a stage or an expression. Raises LimitReached if they take too much memory."""
    rows: list[_T] = []
    held = 0
    iterator = iter(items)
    while block := list(islice(iterator, BLOCK)):
        look(path)
        rows += block
        if _METER.large:
            held = hold(held, sum(map(memory_of, block)), path)
        elif len(block) == BLOCK:  # the memory of a few small items does not count
            held = hold(held, _STRIDE * sum(map(memory_of, block[::_STRIDE])), path)
    return rows


def is_counted(number: int) -> bool:
    """Return whether the memory of ``number`` documents counts. A few small documents do not count."""
    return _METER.large or number >= BLOCK


def hold(held: int, more: int, path: Path | None = None) -> int:
    """Return ``held`` plus ``more`` bytes. Raises LimitReached if the sum is too large."""
    held += more
    if held > _METER.limits.stage_bytes:
        message = f"a stage used more than {spelt(_METER.limits.stage_bytes)}"
        raise LimitReached(message, "stage_bytes", path, _OUT_OF_MEMORY)
    return held


def check_size(value: Any, what: str, path: Path | None = None) -> None:
    """Raise LimitReached for a document or array that is too large. ``what`` is its name in the message.

    Documents that are not a ``dict`` are unchanged documents of a file, and were measured when they were read.
    """
    most = _METER.limits.document_bytes
    if (type(value) is dict or type(value) is list) and subtract_size(value, most) < 0:
        message = f"{what} needs more than {spelt(most)}"
        raise LimitReached(message, "document_bytes", path, _DOCUMENT_TOO_LARGE)


def admit_text(text: str) -> str:
    """Return a string that an expression made. Raises LimitReached if it is longer than a document may be."""
    if len(text) > _LARGE_TEXT:
        _METER.large = True
        check_text(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")))
    return text


def check_text(size: int) -> None:
    """Raise LimitReached if a string of ``size`` bytes exceeds the size of a document."""
    if size > _METER.limits.document_bytes:
        message = f"an expression made a string of more than {spelt(_METER.limits.document_bytes)}"
        raise LimitReached(message, "document_bytes", None, _STRING_TOO_LONG)


def count_array(length: int, element: int = 8) -> None:
    """Count the memory of an array that an expression makes. Raises LimitReached if all counted arrays take too much.

    ``element``: the bytes of each element that the array adds.
    """
    if length > _LARGE_ARRAY:
        _METER.large = True
        if length > BLOCK * _LARGE_ARRAY:
            _METER.arrays = hold(_METER.arrays, length * element)
        else:
            hold(0, length * element)
        spend(length // 8)
