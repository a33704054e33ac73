"""All documents of a collection as BSON, end to end as they are kept: no document is an object of its own."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import accumulate, islice, pairwise
from operator import eq
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from mongo_tables.results import rawbson

if TYPE_CHECKING:
    from mongo_tables.results.packed import Packed

ONCE: Final = "a server holds each _id once; drop one of the two"
"""What to do about an ``_id`` that is repeated."""

_RUN = 256 * 2**10
"""Bytes of documents that are handed over together, about."""


class _Piece(NamedTuple):
    """Documents end to end, and where each of them begins and the last one ends."""

    content: bytes
    bounds: array[int]

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Take documents. Raises ``rawbson.Broken`` where they cannot be taken apart."""
        return cls(content, rawbson.bounds(content))

    @property
    def amount(self) -> int:
        """How many documents there are."""
        return len(self.bounds) - 1

    @property
    def size(self) -> int:
        """Bytes of all documents."""
        return len(self.content)

    @property
    def longest(self) -> int:
        """No document has more bytes."""
        return self.size


class RawPlace(NamedTuple):
    """Bytes in which a document stands, and where it begins and ends in them."""

    content: bytes
    start: int
    end: int


class RawDocuments:
    """The documents of one piece after the other, in their order; a piece is some documents, end to end.

    Those that come packed are unpacked piece by piece, one at a time.
    """

    def __init__(self, pieces: Iterable[bytes | Packed]) -> None:
        """Take the pieces. Raises ``rawbson.Broken`` for one that cannot be taken apart."""
        self._pieces = tuple(_Piece.of(piece) if isinstance(piece, bytes) else piece for piece in pieces)
        self._ends = tuple(accumulate(piece.amount for piece in self._pieces))
        self._opened: tuple[int, _Piece] | None = None

    @classmethod
    def of(cls, raws: Iterable[bytes]) -> RawDocuments:
        """The documents given one by one."""
        return cls([b"".join(raws)])

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[bytes]:
        for content, bounds in self._all():
            for start, end in pairwise(bounds):
                yield content[start:end]

    def __getitem__(self, number: int) -> bytes:
        content, start, end = self.find(number)
        return content[start:end]

    def find(self, number: int) -> RawPlace:
        """Where a document stands."""
        piece, index = self.place(number)
        content, bounds = self._open(piece)
        return RawPlace(content, bounds[index], bounds[index + 1])

    def _all(self) -> Iterator[_Piece]:
        return map(self._open, range(len(self._pieces)))

    def _open(self, number: int) -> _Piece:
        """A piece, unpacked where it is packed. Raises ``rawbson.Broken`` where it holds something else."""
        piece = self._pieces[number]
        if isinstance(piece, _Piece):
            return piece
        if self._opened is None or self._opened[0] != number:
            opened = _Piece.of(piece.unpack())
            if opened.amount != piece.amount:
                raise rawbson.Broken("another number of documents than were packed")
            self._opened = number, opened
        return self._opened[1]

    def hold_any(self, texts: Iterable[bytes]) -> bool:
        """Whether one of some texts stands anywhere in the bytes."""
        wanted = tuple(texts)
        return any(text in piece.content for piece in self._all() for text in wanted)

    @property
    def size(self) -> int:
        """Bytes of all documents."""
        return sum(piece.size for piece in self._pieces)

    def place(self, number: int) -> tuple[int, int]:
        """Which piece a document is in, and its number there."""
        piece = bisect_right(self._ends, number)
        return piece, number - (self._ends[piece - 1] if piece else 0)

    def sizes(self, numbers: Iterable[int]) -> Iterator[int]:
        """Bytes of each of some documents."""
        for number in numbers:
            piece, index = self.place(number)
            bounds = self._open(piece).bounds
            yield bounds[index + 1] - bounds[index]

    def large(self, least: int) -> frozenset[int]:
        """The numbers of the documents of at least so many bytes."""
        found: list[int] = []
        first = 0
        for number, piece in enumerate(self._pieces):
            bounds = self._open(number).bounds if piece.longest >= least else ()
            found += [
                first + index for index, (start, end) in enumerate(pairwise(bounds)) if end - start >= least
            ]
            first += piece.amount
        return frozenset(found)

    def first_values(self) -> Iterator[bytes]:
        """The first field of each document. Raises ``rawbson.Broken`` where there is none."""
        for content, bounds in self._all():
            for start in bounds[:-1]:
                yield rawbson.first_value(content, start)

    def repeated_ids(self) -> Iterator[tuple[int, int]]:
        """The number of each document with the ``_id`` of an earlier one, and the number of that one.

        Hashes show first whether there is any: they take a tenth of the memory of the values.
        """
        hashes = sorted(array("q", map(hash, self.first_values())))
        if not any(map(eq, hashes, islice(hashes, 1, None))):
            return
        seen: dict[bytes, int] = {}
        for number, value in enumerate(self.first_values()):
            first = seen.setdefault(value, number)
            if first != number:
                yield number, first

    def runs(self, apart: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Documents end to end, as many as are handled well at once, and the number of the first.

        Those with a number in ``apart`` are handed over alone.
        """
        alone = sorted(apart)
        first = 0
        for content, bounds in self._all():
            count = len(bounds) - 1
            inside = [number - first for number in alone if first <= number < first + count]
            for start, end in _cut(bounds, inside):
                yield first + start, content[bounds[start] : bounds[end]]
            first += count

    def runs_of(self, numbers: Iterable[int], apart: Container[int]) -> Iterator[tuple[int, bytes]]:
        """The same of some of the documents."""
        first, held, size = 0, list[bytes](), 0
        for number in numbers:
            raw = self[number]
            if held and (number in apart or size > _RUN):
                yield first, b"".join(held)
                held, size = [], 0
            if number in apart:
                yield number, raw
                continue
            first = first if held else number
            held.append(raw)
            size += len(raw)
        if held:
            yield first, b"".join(held)


def _cut(bounds: array[int], alone: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first document of each run of a piece, and the one behind its last."""
    at = 0
    for single in (*alone, len(bounds) - 1):
        while at < single:
            end = min(max(bisect_right(bounds, bounds[at] + _RUN) - 1, at + 1), single)
            yield at, end
            at = end
        if single < len(bounds) - 1:
            yield single, single + 1
            at = single + 1
