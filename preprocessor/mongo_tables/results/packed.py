"""Documents that are kept packed, some hundreds together: those of a large file take a part of their room.

In BSON each document has the names of all its fields, so that a table of short cells becomes several times as large.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from mongo_tables.results.rawbson import Broken

_SIZE: Final = 2**20
"""Bytes of documents that are packed together, about."""
_LEVEL: Final = 3
"""Of zlib: higher ones take much longer to pack, lower ones longer to unpack."""
_HEAD: Final = struct.Struct("<IIII")


class Packed(NamedTuple):
    """Some documents, end to end: packed, how many they are, and the bytes of all of them and of the longest."""

    content: bytes
    amount: int
    size: int
    longest: int

    def unpack(self) -> bytes:
        """The documents, end to end. Raises ``Broken`` where they are not what was packed."""
        try:
            return zlib.decompress(self.content)
        except zlib.error as error:
            raise Broken(str(error)) from None


def pack(documents: Iterable[bytes]) -> Iterator[Packed]:
    """The documents in their order, packed as they come."""
    held, size = list[bytes](), 0
    for raw in documents:
        held.append(raw)
        size += len(raw)
        if size >= _SIZE:
            yield _pack(held)
            held, size = [], 0
    if held:
        yield _pack(held)


def _pack(raws: Sequence[bytes]) -> Packed:
    joined = b"".join(raws)
    return Packed(zlib.compress(joined, _LEVEL), len(raws), len(joined), max(map(len, raws)))


def join(pieces: Iterable[Packed]) -> bytes:
    """The pieces in one, from which ``split`` makes them again."""
    return b"".join(
        part for piece in pieces for part in (_HEAD.pack(len(piece.content), *piece[1:]), piece.content)
    )


def split(joined: bytes) -> list[Packed]:
    """The pieces that ``join`` put together. Raises ``Broken`` for anything else."""
    found, at = list[Packed](), 0
    while at < len(joined):
        try:
            length, *told = _HEAD.unpack_from(joined, at)
        except struct.error as error:
            raise Broken(str(error)) from None
        at += _HEAD.size + length
        found.append(Packed(joined[at - length : at], *told))
    return found
