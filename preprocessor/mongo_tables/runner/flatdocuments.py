"""Documents as POCDriver inserts them: a few fields side by side, their types by number, and an empty ``bin``.

The field ``fld0`` is a whole number, ``fld1`` a date, ``fld3`` text; of the others every third is a number, every
fifth a date, the rest text. Numbers and the age of dates are normally distributed, so most are small. What
POCDriver does is told by its README (https://github.com/johnlpage/POCDriver); the text is ours.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from functools import cache

from mongo_tables.runner.documents import FIRST_DATE_MS

NUMBER_SPREAD = 1e6
DATE_SPREAD_MS = 3e11
TEXT_WORDS = 20_000
EMPTY_BINARY = b"\x05bin\0\0\0\0\0\0"

_SENTENCE = (
    "a heron stood where the slow river bends and nobody on the bridge above it knew for how long it had been "
    "waiting there between reeds and stones as if morning were a matter of patience rather than of light"
)
_INT = struct.Struct("<i")
_LONG = struct.Struct("<q")

Value = Callable[[], bytes]


class FlatFactory:
    """Makes documents from one stream of random numbers: the same ``seed`` gives the same documents."""

    def __init__(self, seed: str, fields: int, text_bytes: int) -> None:
        """``text_bytes`` is the most that a text has: it is cut at the end of a word."""
        self._random = random.Random(seed)
        self._text_bytes = text_bytes
        kinds: dict[bytes, Value] = {b"\x12": self._number, b"\x09": self._date, b"\x02": self._words}
        self._fields = [
            (kind + f"fld{number}".encode() + b"\0", kinds[kind])
            for number, kind in enumerate(map(_kind, range(fields)))
        ]

    def tail(self) -> bytes:
        """The BSON of all fields of one document: what comes after its head, the closing zero included."""
        fields = b"".join([name + value() for name, value in self._fields])
        return fields + EMPTY_BINARY + b"\0"

    def _number(self) -> bytes:
        return _LONG.pack(int(abs(self._random.gauss(0, 1)) * NUMBER_SPREAD))

    def _date(self) -> bytes:
        return _LONG.pack(FIRST_DATE_MS - int(abs(self._random.gauss(0, 1)) * DATE_SPREAD_MS))

    def _words(self) -> bytes:
        text, starts = _text()
        start = starts[int(self._random.random() * (len(starts) - self._text_bytes))]
        end = max(start, text.rfind(b" ", start, start + self._text_bytes + 1))
        return _INT.pack(end - start + 1) + text[start:end] + b"\0"


def _kind(number: int) -> bytes:
    """The BSON type byte of the field with this number."""
    if number in (0, 1, 3):
        return {0: b"\x12", 1: b"\x09", 3: b"\x02"}[number]
    if number % 3 == 0:
        return b"\x12"
    return b"\x09" if number % 5 == 0 else b"\x02"


@cache
def _text() -> tuple[bytes, tuple[int, ...]]:
    """A text of words in random order with single spaces, and where each word begins; the same in every run."""
    words = random.Random("words").choices(_SENTENCE.split(), k=TEXT_WORDS)
    starts, place = [], 0
    for word in words:
        starts.append(place)
        place += len(word) + 1
    return " ".join(words).encode("ascii"), tuple(starts)
