"""The documents that experiments insert, as BSON bytes, the same for the same seed.

A document is an optional ``_id``, any extra fields, then triples ``intfieldN`` (int32, 0 to 99,999),
``datefieldN`` (a date) and ``stringfieldN`` (1 to 32 characters of text with the letter frequencies of
English), N = 1, 2, …, until its BSON is at least the size that was asked for. So it is too large by less than
one triple.

The bytes are put together here and not by an encoder, because the generator's speed decides how long one
waits for an experiment: a triple costs about a microsecond this way.
"""

from __future__ import annotations

import random
import struct
from functools import cache

TEXT_LENGTH = 1 << 20
FIRST_DATE_MS = 1_754_917_200_011
DATE_RANGE_MS = 10**10
LARGEST_INT = 99_999
LONGEST_STRING = 32

# Letters per thousand of English text (Norvig, "English Letter Frequency Counts: Mayzner Revisited", 2012:
# https://norvig.com/mayzner.html), and ten digits at five each.
_LETTERS = {
    "e": 125, "t": 93, "a": 80, "o": 76, "i": 76, "n": 72, "s": 65, "r": 63, "h": 51, "l": 41,
    "d": 38, "c": 33, "u": 27, "m": 25, "f": 24, "p": 21, "g": 19, "w": 17, "y": 17, "b": 15, "v": 11, "k": 5,
    "x": 2, "j": 2, "q": 1, "z": 1,
}  # fmt: skip
_DIGITS = dict.fromkeys("0123456789", 5)

_INT = struct.Struct("<i")
_LONG = struct.Struct("<q")


class DocumentFactory:
    """Makes documents from one stream of random numbers: the same ``seed`` gives the same documents."""

    def __init__(self, seed: str, size_kb: float, head_length: int = 0) -> None:
        """``size_kb`` is the least size of a document in units of 1,024 bytes, its head included."""
        self._random = random.Random(seed)
        self._text = _text()
        self._size = round(size_kb * 1024) - head_length

    def tail(self) -> bytes:
        """The BSON of the triples of one document: what comes after its head, the closing zero included."""
        draw = self._random.random
        text = self._text
        parts: list[bytes] = []
        size = 5  # the length in front and the zero at the end
        number = 0
        while size < self._size:
            number += 1
            int_name, date_name, string_name = _names(number)
            length = 1 + int(draw() * LONGEST_STRING)
            start = int(draw() * (TEXT_LENGTH - LONGEST_STRING))
            date = FIRST_DATE_MS + int(draw() * DATE_RANGE_MS)
            value = int(draw() * (LARGEST_INT + 1))
            triple = b"".join((
                int_name, _INT.pack(value), date_name, _LONG.pack(date),
                string_name, _INT.pack(length + 1), text[start : start + length], b"\0",
            ))  # fmt: skip
            parts.append(triple)
            size += len(triple)
        parts.append(b"\0")
        return b"".join(parts)


def assemble(head: bytes, tail: bytes) -> bytes:
    """A BSON document of the elements in ``head`` and those in ``tail``."""
    return _INT.pack(4 + len(head) + len(tail)) + head + tail


@cache
def _names(number: int) -> tuple[bytes, bytes, bytes]:
    """BSON type byte and name of the three fields with this number."""
    kinds = ((b"\x10", "intfield"), (b"\x09", "datefield"), (b"\x02", "stringfield"))
    first, second, third = (kind + f"{name}{number}".encode() + b"\0" for kind, name in kinds)
    return first, second, third


@cache
def _text() -> bytes:
    """1 MiB of text: a space at every 6th place, a full stop at every 60th; the same in every run."""
    # A byte stands for a letter, for a frequent letter many bytes: drawing letter by letter takes 100 times
    # as long.
    weights = _LETTERS | _DIGITS
    share = 250 / sum(weights.values())
    slots = "".join(letter * max(1, round(weight * share)) for letter, weight in weights.items())
    table = (slots * 2)[:256].encode("ascii")
    letters = bytearray(random.Random("text").randbytes(TEXT_LENGTH).translate(table))
    letters[5::6] = b" " * len(letters[5::6])
    letters[59::60] = b"." * len(letters[59::60])
    return bytes(letters)
