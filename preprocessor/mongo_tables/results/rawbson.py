"""Reading parts of a BSON document without decoding the whole of it.

A result document is mostly ``serverStatus`` counters that no pipeline reads. Elements carry their length,
so the unread ones are stepped over. Layout: https://bsonspec.org/spec.html.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

PathTree = Mapping[str, Any]
"""Wanted paths as nested mappings: ``{"a": {"b": {}}}`` wants ``a.b``; an empty mapping wants everything
below.
"""

DOCUMENT: Final = 0x03
ARRAY: Final = 0x04
STRING: Final = 0x02

_FIXED = {
    0x01: 8,
    0x06: 0,
    0x07: 12,
    0x08: 1,
    0x09: 8,
    0x0A: 0,
    0x10: 4,
    0x11: 8,
    0x12: 8,
    0x13: 16,
    0x7F: 0,
    0xFF: 0,
}
# Bytes that a length-prefixed value has beside what its prefix counts.
_PREFIXED = {0x02: 4, 0x03: 0, 0x04: 0, 0x05: 5, 0x0C: 16, 0x0D: 4, 0x0E: 4, 0x0F: 0}
_DOUBLE = 0x01
_BOOLEAN = 0x08
_INTEGERS = frozenset({0x10, 0x12})
_UNPACK_DOUBLE = struct.Struct("<d").unpack_from
# Types that never equal a string, a number or a boolean: the comparison is decided by the type alone.
_NEVER_A_SCALAR = frozenset({0x03, 0x07, 0x09, 0x0A, 0x11})


class Unclear(Exception):
    """The question needs the decoded document."""


class Broken(ValueError):
    """The bytes are no BSON documents."""


_LEAST = 5
"""Bytes of an empty document: its length and the 0 at its end."""


def split(payload: bytes) -> Iterator[bytes]:
    """The documents of a concatenation of BSON documents. Raises ``Broken`` as ``bounds`` does."""
    return (payload[start:end] for start, end in pairwise(bounds(payload)))


def bounds(payload: bytes) -> array[int]:
    """Where each document of a concatenation of BSON documents begins, and where the last one ends.

    Raises ``Broken`` where a document has an impossible length or no end; what is between is not looked at.
    """
    found = array("Q", (0,))
    size, position = len(payload), 0
    while position < size:
        end = position + int.from_bytes(payload[position : position + 4], "little")
        if end < position + _LEAST or end > size or payload[end - 1]:
            raise Broken(f"no document begins at byte {position} of {size}")
        found.append(end)
        position = end
    return found


Scalar = str | int | float | tuple[bool]
"""A value that equality can be asked of: 1 and 1.0 are the same; a boolean stands in a tuple, as it is no
number.
"""


def string_at(raw: bytes, path: tuple[str, ...]) -> str | None:
    """The string at a dotted path, or None where no string can be. Raises ``Unclear`` as ``scalar_at``."""
    found = scalar_at(raw, path)
    return found if isinstance(found, str) else None


def scalar_at(raw: bytes, path: tuple[str, ...]) -> Scalar | None:
    """The string, number or boolean at a dotted path, or None where none can be.

    Raises ``Unclear`` where an array stands on the path (the query language looks into it) or where the
    value's type could equal one of these all the same: a Decimal128 equals an integer.
    """
    start = 0
    for number, name in enumerate(path):
        found = find(raw, start, name)
        if found is None:
            return None
        kind, start, _ = found
        if kind == ARRAY:
            raise Unclear
        if number == len(path) - 1:
            return _scalar(raw, kind, start)
        if kind != DOCUMENT:
            return None
    return None


def _scalar(raw: bytes, kind: int, start: int) -> Scalar | None:
    if kind == STRING:
        length = int.from_bytes(raw[start : start + 4], "little")
        return str(raw[start + 4 : start + 3 + length], "utf-8")
    if kind in _INTEGERS:
        return int.from_bytes(raw[start : start + _FIXED[kind]], "little", signed=True)
    if kind == _DOUBLE:
        number: float = _UNPACK_DOUBLE(raw, start)[0]
        if number != number:
            raise Unclear  # one NaN equals the other there
        return number
    if kind == _BOOLEAN:
        return (raw[start] != 0,)
    if kind not in _NEVER_A_SCALAR:
        raise Unclear
    return None


def first_value(raw: bytes, start: int = 0) -> bytes:
    """Type, name and value of the first field of the document at ``start``. Raises ``Broken`` where there is none."""
    try:
        for _, _, begin, _, end in elements(raw, start):
            return raw[begin:end]
    except Unclear:
        raise Broken("a field of no known type") from None
    raise Broken("a document without a field")


def elements(raw: bytes, start: int = 0) -> Iterator[tuple[int, str, int, int, int]]:
    """Every element of the document at ``start``: type, name, and where element, value and next element
    begin. Raises ``Broken`` where one does not fit into ``raw``.
    """
    position, most = start + 4, len(raw)
    while kind := raw[position]:
        name_end = raw.index(0, position + 1)
        value = name_end + 1
        end = value + _size(raw, kind, value)
        if end >= most:
            raise Broken("a field longer than its document")
        yield kind, str(raw[position + 1 : name_end], "utf-8"), position, value, end
        position = end


def prune(raw: bytes, wanted: PathTree, small: int, start: int = 0) -> bytes:
    """The document at ``start`` with only the elements that ``wanted`` names, in their order.

    Arrays, and documents of fewer than ``small`` bytes, stay whole: decoding those costs less than choosing.
    """
    kept = bytearray(4)
    for kind, name, position, value, end in elements(raw, start):
        below = wanted.get(name)
        if below is None:
            continue
        if below and kind == DOCUMENT and end - value >= small:
            kept += raw[position:value] + prune(raw, below, small, value)
        else:
            kept += raw[position:end]
    kept.append(0)
    kept[:4] = len(kept).to_bytes(4, "little")
    return bytes(kept)


def find(raw: bytes, start: int, name: str) -> tuple[int, int, int] | None:
    """The field of a name in the document at ``start``: type, and where its value begins and ends.

    Raises ``Broken`` where a field ahead of it does not fit into ``raw``. Names are compared as bytes: of the hundreds
    of counters ahead of it none is decoded.
    """
    sought = name.encode("utf-8", "surrogatepass") + b"\0"
    position, most, none = start + 4, len(raw), "\0" in name
    while kind := raw[position]:
        value = raw.index(0, position + 1) + 1
        end = value + _size(raw, kind, value)
        if end >= most:
            raise Broken("a field longer than its document")
        if raw.startswith(sought, position + 1) and not none:
            return kind, value, end
        position = end
    return None


def _size(raw: bytes, kind: int, value: int) -> int:
    fixed = _FIXED.get(kind)
    if fixed is not None:
        return fixed
    beside = _PREFIXED.get(kind)
    if beside is not None:
        return int.from_bytes(raw[value : value + 4], "little") + beside
    if kind == 0x0B:  # a regular expression is two C strings
        return raw.index(0, raw.index(0, value) + 1) + 1 - value
    raise Unclear
