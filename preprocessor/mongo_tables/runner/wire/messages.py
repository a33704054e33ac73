"""Requests and answers as OP_MSG bytes: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg.

What stays the same from one request to the next is made once by who sends. Answers are checked and counted without
decoding what need not be looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from mongo_tables.runner.clients import UnexpectedReply

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


HEAD = struct.Struct("<i8x9s")
"""What is before the BSON: the length of it all, and in one piece opcode, flags and the kind of the section."""
PLAIN = struct.pack("<iIB", OP_MSG, 0, 0)
"""That piece, where the answer has no flags and is one document."""
FIRST_BATCH, NEXT_BATCH = b"\x04firstBatch\0", b"\x04nextBatch\0"
EMPTY = 5
"""The bytes of a document without elements."""
_DOUBLE = struct.Struct("<d")
_CURSOR = b"\x03cursor\0"
_OK = b"\x01ok\0" + _DOUBLE.pack(1)


def checked(reply: bytes) -> dict[str, Any]:
    """The answer decoded; raises UnexpectedReply when the server refused, or could not do what was asked."""
    import bson

    answer: dict[str, Any] = bson.decode(reply)
    if answer.get("ok") != 1 or "writeErrors" in answer or "writeConcernError" in answer:
        _refuse(answer)
    return answer


def number(reply: bytes) -> int:
    """``n`` of the answer to a write, which stands first in it; what has more than counts is decoded.

    Raises UnexpectedReply as ``checked`` does.
    """
    if reply.startswith(b"\x10n\0", 4) and _OK in reply and b"write" not in reply:
        return int(_INT.unpack_from(reply, 7)[0])
    return int(checked(reply)["n"])


def batch(reply: bytes, name: bytes) -> tuple[int, int, int]:
    """Number of documents, their bytes, and the cursor's id (0: no more), without decoding a document.

    ``name`` is FIRST_BATCH or NEXT_BATCH. Raises UnexpectedReply as ``checked`` does.
    """
    start = 16 + len(name)
    if reply.startswith(_CURSOR, 4) and reply.startswith(name, 16):
        end = start + _INT.unpack_from(reply, start)[0]
        whole = 12 + _INT.unpack_from(reply, 12)[0]
        if reply.startswith(b"\x12id\0", end) and reply.startswith(_OK, whole):
            return *_count(reply, start), _LONG.unpack_from(reply, end + 4)[0]
    return _batch_in_any_order(reply, name)


def beginning(reply: bytes) -> bytes | None:
    """All that ``batch`` looks at, when that is how the answer begins: an answer that begins so too counts the same."""
    if not reply.startswith(_CURSOR, 4):
        return None
    ok = reply.index(_OK, 12 + _INT.unpack_from(reply, 12)[0])
    return reply[: ok + len(_OK)]


def _refuse(answer: Mapping[str, Any]) -> NoReturn:
    first = (answer.get("writeErrors") or [answer.get("writeConcernError") or answer])[0]
    raise UnexpectedReply(str(first.get("errmsg", "refused")), int(first.get("code", 0)))


def _batch_in_any_order(reply: bytes, name: bytes) -> tuple[int, int, int]:
    from bson.raw_bson import RawBSONDocument

    answer = RawBSONDocument(reply)
    if answer.get("ok") != 1:
        checked(reply)
    cursor = answer["cursor"]
    documents: list[RawBSONDocument] = cursor[name[1:-1].decode()]
    return len(documents), sum(len(one.raw) for one in documents), int(cursor["id"])


def _count(reply: bytes, start: int) -> tuple[int, int]:
    end = start + _INT.unpack_from(reply, start)[0] - 1
    place, count, size = start + 4, 0, 0
    while place < end:
        place = reply.index(0, place + 1) + 1
        length = _INT.unpack_from(reply, place)[0]
        place += length
        size += length
        count += 1
    return count, size
