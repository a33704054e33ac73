"""Records as YCSB 0.15 writes them: which key a sequence number has, and the fields under it.

With ``insertorder=hashed`` the key is ``user`` and the 64-bit FNV-1a hash of the number's eight bytes, low byte
first, without its sign (http://www.isthe.com/chongo/tech/comp/fnv/); with ``ordered`` it is the number itself. Either
is filled with zeros from the left to ``zeropadding`` digits. Fields are BSON binaries; bytes are drawn from the
same ranges as YCSB's, so that they compress alike. Fields stand in the order of their numbers.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from mongo_tables.runner.wire.messages import document

FNV_OFFSET_BASIS = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
_WORD = (1 << 64) - 1
_SIGN = 1 << 63

_INT = struct.Struct("<i")
_TEXT_LENGTH = 6 << 17
_MASKS = bytes((31, 63, 95, 31, 63, 95))
"""Bits that vary in each of six bytes in a row; each byte is a space and as much as these bits say."""


def fnv_hash(number: int) -> int:
    """FNV-1a of a number, as the absolute value of a signed 64-bit integer."""
    found = FNV_OFFSET_BASIS
    for octet in (number & _WORD).to_bytes(8, "little"):
        found = (found ^ octet) * FNV_PRIME & _WORD
    return found if found < _SIGN else (1 << 64) - found


def key_namer(insertorder: str, zeropadding: int) -> Callable[[int], bytes]:
    """What gives the key of a sequence number."""
    digits = b"user%%0%dd" % zeropadding
    if insertorder == "ordered":
        return lambda number: digits % number
    return lambda number: digits % fnv_hash(number)


def id_element(key: bytes) -> bytes:
    """The BSON element ``_id`` with this key."""
    return b"\x02_id\0" + _INT.pack(len(key) + 1) + key + b"\0"


def field_drawer(length: int, draw: Callable[[], float]) -> Callable[[int], bytes]:
    """What gives the BSON element of the field with a number, with ``length`` random bytes."""
    text = _text()
    places = (_TEXT_LENGTH - length) // len(_MASKS)
    size = _INT.pack(length) + b"\0"

    def field(number: int) -> bytes:
        start = int(draw() * places) * len(_MASKS)
        return b"\x05field%d\0%b%b" % (number, size, text[start : start + length])

    return field


def record_maker(config: Mapping[str, Any], draw: Callable[[], float]) -> Callable[[int], bytes]:
    """What gives the whole record with a sequence number, as YCSB's properties in ``config`` say."""
    name = key_namer(config.get("insertorder", "hashed"), config.get("zeropadding", 1))
    field = field_drawer(config.get("fieldlength", 100), draw)
    numbers = range(config.get("fieldcount", 10))
    return lambda number: document(id_element(name(number)) + b"".join(map(field, numbers)))


@cache
def _text() -> bytes:
    """Bytes to cut fields from, the same in every run."""
    bits = int.from_bytes(random.Random("ycsb").randbytes(_TEXT_LENGTH), "little")
    masks = int.from_bytes(_MASKS * (_TEXT_LENGTH // len(_MASKS)), "little")
    spaces = int.from_bytes(b" " * _TEXT_LENGTH, "little")
    return ((bits & masks) + spaces).to_bytes(_TEXT_LENGTH, "little")
