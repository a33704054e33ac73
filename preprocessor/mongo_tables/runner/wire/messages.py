"""Requests and answers as OP_MSG bytes: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg.

Senders compose the constant parts of requests once. Answers are checked and counted without decoding what is not
needed.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from mongo_tables.runner.clients import UnexpectedReply

OP_MSG = 2013
_MORE_TO_COME = 2
"""The flag of a message without an answer (``moreToCome``)."""
_HEADER = struct.Struct("<iiiiI")
"""Length, request number, number of the answered request, opcode, flags."""
_ALONE = struct.Struct("<iiiiIBi")
"""The header, the kind of the only section, the length of its document."""
_AROUND_ELEMENTS = 5
"""The bytes of a document in addition to its elements."""
_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")
TXN_NUMBER = struct.Struct("<q")
"""The number of a retryable write, the last element of its command."""
NUMBER_IN_ELEMENTS, NUMBER_IN_DOCUMENT = -TXN_NUMBER.size, -TXN_NUMBER.size - 1
"""Its offset, counted from the end."""
NUMBER_IN_MESSAGE = _HEADER.size + 1 + NUMBER_IN_DOCUMENT
"""Its offset in a message with documents, without the length of the command."""


def elements(values: Mapping[str, Any]) -> bytes:
    """Return the BSON of the elements only, without the length before them and the zero after."""
    import bson

    return bson.encode(values)[4:-1]


def document(elements: bytes) -> bytes:
    """Return the BSON of the document with these elements."""
    return _INT.pack(len(elements) + _AROUND_ELEMENTS) + elements + b"\0"


def int32(name: bytes, value: int) -> bytes:
    """Return the element with this name and 32-bit number."""
    return b"\x10%b\0%b" % (name, _INT.pack(value))


def int64(name: bytes, value: int) -> bytes:
    """Return the element with this name and 64-bit number."""
    return b"\x12%b\0%b" % (name, _LONG.pack(value))


def alone(elements: bytes | bytearray) -> bytes:
    """Return a message whose only section is the document with these elements."""
    length = len(elements) + _AROUND_ELEMENTS
    head = _ALONE.pack(_HEADER.size + 1 + length, 1, 0, OP_MSG, 0, 0, length)
    return b"".join((head, elements, b"\0"))


def with_documents(
    command: bytes | bytearray, name: bytes, documents: Sequence[bytes], answered: bool
) -> bytes:
    """Return a message of two sections: the command document, and a named sequence of documents."""
    length = _INT.size + len(name) + 1 + sum(map(len, documents))
    flags = 0 if answered else _MORE_TO_COME
    head = _HEADER.pack(_HEADER.size + 1 + len(command) + 1 + length, 1, 0, OP_MSG, flags)
    return b"".join((head, b"\0", command, b"\x01", _INT.pack(length), name, b"\0", *documents))


def cut(message: bytes, length: int, after: int) -> tuple[bytes, bytes]:
    """Return the bytes before and after a part of this length that is followed by ``after`` bytes.

    Another part of the same length can then replace it.
    """
    place = len(message) - after
    return message[: place - length], message[place:]


HEAD = struct.Struct("<i8x9s")
"""The bytes before the BSON: the total length, and in one piece opcode, flags and the kind of the section."""
PLAIN = struct.pack("<iIB", OP_MSG, 0, 0)
"""That piece for an answer without flags and with one document."""
FIRST_BATCH, NEXT_BATCH = b"\x04firstBatch\0", b"\x04nextBatch\0"
EMPTY = 5
"""The bytes of a document without elements."""
_DOUBLE = struct.Struct("<d")
_CURSOR = b"\x03cursor\0"
_OK = b"\x01ok\0" + _DOUBLE.pack(1)


def checked(reply: bytes) -> dict[str, Any]:
    """Return the decoded answer; raise UnexpectedReply if the server refused or failed."""
    import bson

    answer: dict[str, Any] = bson.decode(reply)
    if answer.get("ok") != 1 or "writeErrors" in answer or "writeConcernError" in answer:
        _refuse(answer)
    return answer


def number(reply: bytes) -> int:
    """Return ``n``, the first element of the answer to a write; decode only answers with more than counts.

    Raises UnexpectedReply as ``checked`` does.
    """
    if reply.startswith(b"\x10n\0", 4) and _OK in reply and b"write" not in reply:
        return int(_INT.unpack_from(reply, 7)[0])
    return int(checked(reply)["n"])


def batch(reply: bytes, name: bytes) -> tuple[int, int, int]:
    """Return number of documents, their bytes, and the cursor's id (0: exhausted), without decoding a document.

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
    """Return the prefix that determines the result of ``batch``, or None if the answer begins differently.

    Answers with the same prefix have the same counts.
    """
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
