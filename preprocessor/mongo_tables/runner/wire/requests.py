"""Requests as OP_MSG bytes: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg.

Everything here takes and gives bytes; what stays the same from one request to the next is made once by who sends.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

OP_MSG = 2013
_MORE_TO_COME = 2
"""The flag of a message that is not answered."""
_HEADER = struct.Struct("<iiiiI")
"""Length, number of the request, number of what is answered, opcode, flags."""
_ALONE = struct.Struct("<iiiiIBi")
"""The header, the kind of the only section, the length of its document."""
_AROUND_ELEMENTS = 5
"""The bytes of a document beside its elements."""
_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")
TXN_NUMBER = struct.Struct("<q")
"""The number of a retryable write, which stands last in its command."""
NUMBER_IN_ELEMENTS, NUMBER_IN_DOCUMENT = -TXN_NUMBER.size, -TXN_NUMBER.size - 1
"""Where it begins, counted from the end."""
NUMBER_IN_MESSAGE = _HEADER.size + 1 + NUMBER_IN_DOCUMENT
"""Where it begins in a message with documents, beside the length of the command."""


def elements(values: Mapping[str, Any]) -> bytes:
    """The BSON of the elements alone, without the length before them and the zero after."""
    import bson

    return bson.encode(values)[4:-1]


def document(elements: bytes) -> bytes:
    """The BSON of the document of these elements."""
    return _INT.pack(len(elements) + _AROUND_ELEMENTS) + elements + b"\0"


def int32(name: bytes, value: int) -> bytes:
    """The element with this name and number of 32 bits."""
    return b"\x10%b\0%b" % (name, _INT.pack(value))


def int64(name: bytes, value: int) -> bytes:
    """The element with this name and number of 64 bits."""
    return b"\x12%b\0%b" % (name, _LONG.pack(value))


def alone(elements: bytes | bytearray) -> bytes:
    """A message whose only section is the document of these elements."""
    length = len(elements) + _AROUND_ELEMENTS
    head = _ALONE.pack(_HEADER.size + 1 + length, 1, 0, OP_MSG, 0, 0, length)
    return b"".join((head, elements, b"\0"))


def with_documents(
    command: bytes | bytearray, name: bytes, documents: Sequence[bytes], answered: bool
) -> bytes:
    """A message of two sections: the document that is the command, and a sequence of documents by name."""
    length = _INT.size + len(name) + 1 + sum(map(len, documents))
    flags = 0 if answered else _MORE_TO_COME
    head = _HEADER.pack(_HEADER.size + 1 + len(command) + 1 + length, 1, 0, OP_MSG, flags)
    return b"".join((head, b"\0", command, b"\x01", _INT.pack(length), name, b"\0", *documents))


def cut(message: bytes, length: int, after: int) -> tuple[bytes, bytes]:
    """What is before and after a part of a message that has this length and ``after`` bytes behind it.

    Another part of the same length can then be put between them.
    """
    place = len(message) - after
    return message[: place - length], message[place:]
