"""The fast path: commands as prepared bytes over a connection that PyMongo opened.

PyMongo finds the primary, opens the connection, encrypts it and signs in; then this module writes OP_MSG
messages to its socket and reads the answers
(https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg). A command is encoded once, and
for each operation only the selector, the update or the documents are put in. An answer is checked for ``ok``,
``writeErrors``, ``writeConcernError`` and for a cursor that has more.

It exists because encoding, sessions and checks make a driver cost several times what the request itself
costs, and a load generator must not be what is measured. ``clients.PyMongoClient`` is the reference for what
it does.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NoReturn

from preprocessor.runner.clients import PROJECTION, UnexpectedReply

if TYPE_CHECKING:
    from pymongo import MongoClient

OP_MSG = 2013
_MORE_TO_COME = 2
"""The flag of a message that is not answered."""
MOST_AT_ONCE = 16 * 1024
_HEADER = struct.Struct("<iiiiI")  # length, request, response to, opcode, flags
_SECTION = 21
"""Where the BSON of an answer begins: after its header and the kind of its only section."""
_INT = struct.Struct("<i")
_LONG = struct.Struct("<q")
_DOUBLE = struct.Struct("<d")
_FIXED = {0x01: 8, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16, 0x7F: 0, 0xFF: 0}
_OK = b"\x01ok\0" + _DOUBLE.pack(1)
_REST = {0x02: 4, 0x03: 0, 0x04: 0, 0x05: 5, 0x0D: 4, 0x0E: 4, 0x0F: 0}


class WireClient:
    """One connection to the primary that works on one collection."""

    def __init__(
        self, client: MongoClient[Any], namespace: tuple[str, str], concern: Mapping[str, Any]
    ) -> None:
        """``namespace`` is database and collection, ``concern`` the write concern."""
        database, collection = namespace
        self._held = ExitStack()
        self._socket = _checked_out(client, self._held)
        write = {"writeConcern": dict(concern), "$db": database}
        self._insert = _elements({"insert": collection, "ordered": True, **write})
        self._update = _elements({"update": collection, "ordered": True, **write})
        self._update_each = _elements({"update": collection, "ordered": False, **write})
        self._modify = {
            upsert: _elements({"findAndModify": collection, "new": True, "upsert": upsert, **write})
            for upsert in (False, True)
        }
        self._find = _elements({"find": collection, "projection": PROJECTION, "$db": database})
        self._delete = _elements({"delete": collection, "ordered": True, **write})
        self._aggregate = _elements({"aggregate": collection, "cursor": {}, "$db": database})
        self._upsert = {upsert: _elements({"upsert": upsert, "multi": False}) for upsert in (False, True)}
        self._more = {"collection": collection, "$db": database}
        self._read = _elements({"find": collection, "limit": 1, "singleBatch": True, "$db": database})
        self._scan = _elements({"find": collection, "sort": {"_id": 1}, "$db": database})
        self._acknowledged = concern.get("w") != 0

    def insert(self, documents: Sequence[bytes]) -> None:
        """One ``insert`` with the documents in a section of their own."""
        inserted = self._written(self._insert, b"documents\0", documents)
        if inserted != len(documents):
            raise UnexpectedReply(f"{inserted} of {len(documents)} documents were inserted")

    def update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """One ``update`` with one statement; an upserted document counts as matched."""
        statement = _document(b"\x03q\0" + selector + b"\x03u\0" + update + self._upsert[upsert])
        return self._written(self._update, b"updates\0", (statement,))

    def update_each(self, statements: Sequence[bytes]) -> int:
        """One unordered ``update`` with the statements in a section of their own."""
        return self._written(self._update_each, b"updates\0", statements)

    def find_and_update(self, selector: bytes, update: bytes, upsert: bool) -> int:
        """One ``findAndModify``."""
        body = _document(self._modify[upsert] + b"\x03query\0" + selector + b"\x03update\0" + update)
        reply = _checked(self._exchange(b"\0", body))
        return 0 if reply["value"] is None else 1

    def find(self, selector: bytes, limit: int, skip: int) -> tuple[int, int]:
        """One ``find``, and ``getMore`` until the cursor is empty."""
        numbers = b"\x10limit\0" + _INT.pack(limit) + b"\x10skip\0" + _INT.pack(skip)
        return self._drained(_document(self._find + b"\x03filter\0" + selector + numbers))

    def read(self, selector: bytes, projection: bytes) -> tuple[int, int]:
        """One ``find`` whose answer is a single batch."""
        return self._drained(
            _document(self._read + b"\x03filter\0" + selector + b"\x03projection\0" + projection)
        )

    def scan(self, selector: bytes, limit: int, projection: bytes) -> tuple[int, int]:
        """One ``find``, and ``getMore`` until the cursor is empty."""
        asked = b"\x03filter\0" + selector + b"\x03projection\0" + projection
        return self._drained(_document(self._scan + asked + b"\x10limit\0" + _INT.pack(limit)))

    def replace(self, selector: bytes, document: bytes) -> int:
        """One ``update``: a statement without operators replaces."""
        return self.update(selector, document, False)

    def delete(self, selector: bytes) -> int:
        """One ``delete`` with one statement."""
        statement = _document(b"\x03q\0" + selector + b"\x10limit\0\1\0\0\0")
        return self._written(self._delete, b"deletes\0", (statement,))

    def aggregate(self, pipeline: bytes) -> tuple[int, int]:
        """One ``aggregate``, and ``getMore`` until the cursor is empty."""
        return self._drained(_document(self._aggregate + b"\x04pipeline\0" + pipeline))

    def close(self) -> None:
        """Give the connection back to PyMongo."""
        self._held.close()

    def _drained(self, command: bytes) -> tuple[int, int]:
        reply = self._exchange(b"\0", command)
        count, size, cursor = _batch(reply, b"firstBatch")
        while cursor:
            more = {"getMore": _int64(cursor), **self._more}
            reply = self._exchange(b"\0", _document(_elements(more)))
            further, length, cursor = _batch(reply, b"nextBatch")
            count, size = count + further, size + length
        return count, size

    def _written(self, command: bytes, name: bytes, documents: Sequence[bytes]) -> int:
        length = 4 + len(name) + sum(map(len, documents))
        parts = (b"\0", _document(command), b"\x01", _INT.pack(length), name, *documents)
        if self._acknowledged:
            return _number(self._exchange(*parts))
        self._socket.sendall(_message(_MORE_TO_COME, parts))
        return len(documents)

    def _exchange(self, *parts: bytes) -> bytes:
        """Send one message whose sections are these parts; give the BSON of the answer."""
        self._socket.sendall(_message(0, parts))
        # Most answers come whole: to ask for the head first would be one more call of the system for each.
        answer: bytes = self._socket.recv(MOST_AT_ONCE)
        if len(answer) < _SECTION:
            answer += self._receive(_SECTION - len(answer))
        length, _, _, opcode, flags = _HEADER.unpack_from(answer)
        if opcode != OP_MSG or flags or answer[20]:
            raise UnexpectedReply(f"an answer with opcode {opcode}, flags {flags}, section {answer[20]}")
        if len(answer) < length:
            answer += self._receive(length - len(answer))
        return answer[_SECTION:]

    def _receive(self, length: int) -> bytes:
        parts: list[bytes] = []
        while length:
            parts.append(self._socket.recv(length))
            if not parts[-1]:
                raise ConnectionError("the server closed the connection")
            length -= len(parts[-1])
        return b"".join(parts)


def _checked_out(client: Any, held: ExitStack) -> Any:
    """The socket of a connection to the primary, which stays checked out until ``held`` is closed.

    PyMongo has no public way to a connection of its pool, so ``client`` is taken for what it is inside; the
    test that holds both clients equal notices when that changes.
    """
    from pymongo.server_selectors import writable_server_selector

    server = client._topology.select_server(writable_server_selector, "load")
    connection = held.enter_context(server.pool.checkout())
    return getattr(connection.conn, "sock", connection.conn)


def _elements(values: Mapping[str, Any]) -> bytes:
    """The BSON of the elements alone, without the length before them and the zero after."""
    import bson

    return bson.encode(values)[4:-1]


def _message(flags: int, parts: Sequence[bytes]) -> bytes:
    return b"".join((_HEADER.pack(20 + sum(map(len, parts)), 1, 0, OP_MSG, flags), *parts))


def _document(elements: bytes) -> bytes:
    return _INT.pack(len(elements) + 5) + elements + b"\0"


def _int64(value: int) -> Any:
    from bson.int64 import Int64

    return Int64(value)


def _checked(reply: bytes) -> dict[str, Any]:
    import bson

    answer: dict[str, Any] = bson.decode(reply)
    if answer.get("ok") != 1 or "writeErrors" in answer or "writeConcernError" in answer:
        _refuse(answer)
    return answer


def _number(reply: bytes) -> int:
    """``n`` of the answer to a write, which stands first in it; what has more than counts is decoded."""
    if reply.startswith(b"\x10n\0", 4) and _OK in reply and b"write" not in reply:
        return int(_INT.unpack_from(reply, 7)[0])
    return int(_checked(reply)["n"])


def _refuse(answer: Mapping[str, Any]) -> NoReturn:
    first = (answer.get("writeErrors") or [answer.get("writeConcernError") or answer])[0]
    raise UnexpectedReply(str(first.get("errmsg", "refused")), int(first.get("code", 0)))


def _batch(reply: bytes, name: bytes) -> tuple[int, int, int]:
    """Number of documents, their bytes, and the cursor's id (0: no more), without decoding a document."""
    start = 18 + len(name)
    if reply.startswith(b"\x03cursor\0", 4) and reply.startswith(b"\x04%b\0" % name, 16):
        end = start + _INT.unpack_from(reply, start)[0]
        whole = 12 + _INT.unpack_from(reply, 12)[0]
        if reply.startswith(b"\x12id\0", end) and reply.startswith(_OK, whole):
            return *_count(reply, start), _LONG.unpack_from(reply, end + 4)[0]
    return _batch_in_any_order(reply, name)


def _batch_in_any_order(reply: bytes, name: bytes) -> tuple[int, int, int]:
    fields = _places(reply, 0)
    ok = fields.get(b"ok")
    if ok is None or _DOUBLE.unpack_from(reply, ok)[0] != 1:
        _checked(reply)
    cursor = _places(reply, fields[b"cursor"])
    start = cursor[name]
    return *_count(reply, start), _LONG.unpack_from(reply, cursor[b"id"])[0]


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


def _places(reply: bytes, start: int) -> dict[bytes, int]:
    """Where the value of every field of the document at ``start`` begins."""
    end = start + _INT.unpack_from(reply, start)[0] - 1
    place = start + 4
    found = {}
    while place < end:
        kind = reply[place]
        zero = reply.index(0, place + 1)
        found[reply[place + 1 : zero]] = place = zero + 1
        place += _FIXED[kind] if kind in _FIXED else _INT.unpack_from(reply, place)[0] + _REST[kind]
    return found
