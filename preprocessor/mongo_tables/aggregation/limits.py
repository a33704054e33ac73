"""What a pipeline on files may cost, counted while it runs, and its end where it costs more.

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
from typing import Any, NamedTuple, TypeVar

from mongo_tables.aggregation.errors import NotOffline, Path

_T = TypeVar("_T")
_QUANTUM = 16_384
BLOCK = 128
"""How many documents, or elements of an array, pass between two looks at the clock."""
_STRIDE = 16
_SMALL = 16 * 2**20
_SLOW = 0.01
_LARGE_TEXT, _LARGE_ARRAY = 65_536, 4_096
# What the server says of a stage whose memory is full.
_OUT_OF_MEMORY = 146
_STRING_TOO_LONG = 16493
_DOCUMENT_TOO_LARGE = 10334
# Bytes of CPython's objects, rounded: the same on every version and machine, so that limits are.
_EMPTY_DOCUMENT, _FIELD = 180, 20
_EMPTY_ARRAY, _ELEMENT = 56, 8
_TEXT, _SCALAR = 50, 32
_SAMPLE = 32
_DEEPEST = 8
# Values of a document, or characters of one of them, up to which it is small.
_FEW = 4_096


class Limits(NamedTuple):
    """The limits of each pipeline.

    ``seconds``: processor time, without that of reading the files. ``stage_bytes``: what one stage holds of
    documents, groups and arrays, as they lie in memory. ``document_bytes``: the BSON of one document, and of one
    value that an expression makes. ``regex_steps``: steps of one regular expression on one text, as PCRE2 counts
    them; MongoDB 6.0 has this default too.
    """

    seconds: float = 60
    stage_bytes: int = 2**30
    document_bytes: int = 16 * 2**20
    regex_steps: int = 200_000


class LimitReached(NotOffline):
    """A pipeline that would cost more than it may. ``limit`` is the name of a field of ``Limits``."""

    def __init__(self, message: str, limit: str, path: Path | None = None, code: int | None = None) -> None:
        super().__init__(message, path, code)
        self.limit = limit


def spelt(size: int) -> str:
    """A number of bytes as people write it: ``1 GiB``, ``16 MiB``, ``100,000 bytes``."""
    for unit, bytes_of_one in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= bytes_of_one and size % bytes_of_one == 0:
            return f"{size // bytes_of_one:,} {unit}"
    return f"{size:,} bytes"


def memory_of(value: Any, levels: int = _DEEPEST) -> int:
    """About how many bytes of memory a value takes. What several values share counts for each of them."""
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


def exceeds(value: Any, most: int) -> bool:
    """Whether the value takes more than ``most`` bytes as BSON; looks at no more of it than that needs.

    Documents of another class are those of files, read part by part when asked for: they are passed over.
    """
    return _subtract_size(value, most) < 0


def is_small(document: dict[str, Any] | list[Any]) -> bool:
    """Whether a document or an array has neither many values nor a long text, told at a glance.

    Such a document takes 16 MiB at the very most, as long as its texts are ASCII.
    """
    return _few_left(document, _FEW) >= 0


def _few_left(value: Any, room: int) -> int:
    """``room`` less the number of values in a document or array; below 0 if they do not fit or a text is long."""
    room -= len(value)
    if room < 0:
        return room
    for item in value.values() if type(value) is dict else value:
        kind = type(item)
        if kind is str:
            if len(item) > _FEW:
                return -1
        elif kind is dict or kind is list:
            room = _few_left(item, room)
            if room < 0:
                break
    return room


def _subtract_size(value: Any, room: int) -> int:
    """``room`` less the BSON size of a value; any number below 0 if it does not fit."""
    kind = type(value)
    if kind is str:
        return room - 5 - (len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass")))
    if kind is dict or kind is list:
        room -= 5
        named = value.items() if kind is not list else enumerate(value)
        for name, item in named:
            room = _subtract_size(item, room - 2 - len(str(name)))
            if room < 0:
                break
        return room
    if isinstance(value, bytes):
        return room - 5 - len(value)
    return room - (0 if value is None else 1 if value is True or value is False else 4 if kind is int else 8)


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


def current() -> Limits:
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
        message = f"the pipeline took more than {seconds:g} second{'s' * (seconds != 1)} of processor time"
        raise LimitReached(message, "seconds", path)


def watch_clock(items: Iterable[_T], path: Path | None = None) -> Iterator[_T]:
    """The items, with a look at the clock before each block of them; costs next to nothing for each."""
    return chain.from_iterable(blocks(items, path))


def admit_read_documents(documents: Iterable[_T]) -> Iterator[_T]:
    """``admit_documents``, for documents that may be read from files meanwhile: that time does not count."""
    return chain.from_iterable(_admit(documents, None, source=True))


def admit_documents(items: Iterable[_T], path: Path | None = None) -> Iterator[_T]:
    """Documents that come to a pipeline one by one, under ``watch_clock``.

    Large arrays that the last ones made are forgotten.
    """
    return chain.from_iterable(_admit(items, path))


def _admit(items: Iterable[_T], path: Path | None, *, source: bool = False) -> Iterator[list[_T]]:
    iterator, size = iter(items), 1
    is_read = source and not isinstance(items, list)
    while True:
        start = time.thread_time() if is_read else 0.0
        block = list(islice(iterator, size))
        taken = time.thread_time() - start if is_read else 0.0
        _METER.end += taken
        if not block:
            return
        look(path)
        if source:
            _METER.read = block
        yield block
        _METER.arrays = 0
        # What takes long to read is large, and not to be held with a hundred others.
        size = 1 if _METER.large else max(1, size // 4) if taken > _SLOW else min(2 * size, BLOCK)


def give_held_documents(items: Iterable[_T]) -> Iterator[_T]:
    """Documents that a stage gives of what it holds: as ``admit_documents``.

    None is made before it is asked for.
    """

    def watch(iterator: Iterator[_T]) -> Iterator[Iterable[_T]]:
        for first in iterator:
            look()
            yield (first,)
            _METER.arrays = 0
            yield islice(iterator, 0 if _METER.large else BLOCK - 1)

    return chain.from_iterable(watch(iter(items)))


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
        if _METER.large:
            held = hold(held, sum(map(memory_of, block)), path)
        elif len(block) == BLOCK:  # a few small ones do not count
            held = hold(held, _STRIDE * sum(map(memory_of, block[::_STRIDE])), path)
    return rows


def is_counted(number: int) -> bool:
    """Whether the memory of so many documents counts: not that of a few small ones."""
    return _METER.large or number >= BLOCK


def hold(held: int, more: int, path: Path | None = None) -> int:
    """The bytes that a stage holds with ``more`` bytes added; raises LimitReached when that is too much."""
    held += more
    if held > _METER.limits.stage_bytes:
        message = f"a stage held more than {spelt(_METER.limits.stage_bytes)}"
        raise LimitReached(message, "stage_bytes", path, _OUT_OF_MEMORY)
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
        message = f"{what} takes more than {spelt(most)}"
        raise LimitReached(message, "document_bytes", path, _DOCUMENT_TOO_LARGE)


def admit_text(text: str) -> str:
    """Give back a string that an expression made; raises LimitReached when it is longer than a document may be."""
    if len(text) > _LARGE_TEXT:
        _METER.large = True
        check_text(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")))
    return text


def check_text(size: int) -> None:
    """Raises LimitReached for a string of so many bytes if that is more than a document may have."""
    if size > _METER.limits.document_bytes:
        message = f"an expression made a string of more than {spelt(_METER.limits.document_bytes)}"
        raise LimitReached(message, "document_bytes", None, _STRING_TOO_LONG)


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
