"""A server that does nothing but acknowledge: what a load generator can do when no database is in the way.

    python -m benchmarks.acknowledging PORT

It answers the handshake as a standalone MongoDB 6.0 and every other OP_MSG with ``ok: 1``, with the number of
documents or statements it was sent, or with a cursor of one document, without looking at anything else. The
answers are encoded once.
"""

from __future__ import annotations

import asyncio
import struct
import sys

import bson

HEADER = struct.Struct("<iiii")
OP_REPLY, OP_QUERY, OP_MSG = 1, 2004, 2013
HELLO = bson.encode(
    {
        "ok": 1.0, "ismaster": True, "isWritablePrimary": True, "helloOk": True, "minWireVersion": 0,
        "maxWireVersion": 17, "maxBsonObjectSize": 16 * 2**20, "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000, "readOnly": False,
    }
)  # fmt: skip
FOUND = bson.encode({"cursor": {"firstBatch": [{}], "id": bson.Int64(0), "ns": "a.b"}, "ok": 1.0})
WRITTEN: dict[int, bytes] = {}


class Acknowledging(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Nothing has come yet."""
        self._transport = transport
        self._waiting = bytearray()

    def data_received(self, data: bytes) -> None:
        """Answer every message that is there as a whole."""
        self._waiting += data
        while len(self._waiting) >= 16:
            length, request, _, opcode = HEADER.unpack_from(self._waiting)
            if len(self._waiting) < length:
                return
            message = bytes(self._waiting[16:length])
            del self._waiting[:length]
            self._transport.write(answer(message, request, opcode))  # type: ignore[attr-defined]


def answer(message: bytes, request: int, opcode: int) -> bytes:
    """The bytes that answer a message without its header."""
    if opcode == OP_QUERY:
        body = struct.pack("<iqii", 8, 0, 0, 1) + HELLO
        return HEADER.pack(16 + len(body), 1, request, OP_REPLY) + body
    body = b"\0\0\0\0\0" + _document(message)
    return HEADER.pack(16 + len(body), 1, request, OP_MSG) + body


def _document(message: bytes) -> bytes:
    # Flags, the kind of the first section, the length of the command, the type of its first field; its name.
    name = message[10 : message.index(0, 10)]
    if name in (b"find", b"aggregate"):
        return FOUND
    if name in (b"insert", b"update", b"delete"):
        return _written(_count(message))
    return HELLO


def _written(count: int) -> bytes:
    if count not in WRITTEN:
        WRITTEN[count] = bson.encode({"n": count, "nModified": count, "ok": 1.0})
    return WRITTEN[count]


def _count(message: bytes) -> int:
    """How many documents the section after the command holds."""
    start = 5 + struct.unpack_from("<i", message, 5)[0]
    end = start + 1 + struct.unpack_from("<i", message, start + 1)[0]
    place = message.index(0, start + 5) + 1
    count = 0
    while place < end:
        place += struct.unpack_from("<i", message, place)[0]
        count += 1
    return count


async def serve(port: int) -> None:
    """Listen on loopback until the process ends."""
    server = await asyncio.get_running_loop().create_server(Acknowledging, "localhost", port)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
