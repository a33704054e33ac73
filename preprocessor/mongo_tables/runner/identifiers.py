"""What stands at the head of a generated document: its ``_id``, and fields that count documents.

A head is the BSON of elements whose length is the same for all documents of a run, so that it can be changed
without encoding the rest again. ``idType`` says which ``_id``:

* none: no ``_id``, the server gives one;
* ``OBJECT_ID``: an ObjectId, made by the client (a time, so not the same in two runs);
* ``UUID``: a random UUID (version 4, binary subtype 4);
* ``BUSINESS_ID``: ``ACC``, five digits of one of 20,000 customers, ``_``, six hex digits counting that customer's
  documents, three hex digits of the connection;
* ``SEQUENCE``: 0, 1, 2, … (int64), then ``count: 0`` or, with ``groupSize``, the group of the document and its
  place in the group (``group`` an int32, ``group_seq`` and ``group_seq_i`` doubles);
* ``WORKER_SEQUENCE``: ``{w, i}``, the connection and 0, 1, 2, … of its own (int32).
"""

from __future__ import annotations

import os
import random
import struct
import time
from array import array
from collections.abc import Callable
from itertools import count

from mongo_tables.runner.errors import ExperimentError
from mongo_tables.runner.workloads import Config, Share

CUSTOMERS = 20_000

Head = Callable[[int], bytes]
"""Gives the head of the document with this number, which those take that count all documents together."""

_SECONDS = struct.Struct(">I")
_SEQUENCE = struct.Struct("<5sq7si")
_OWN_SEQUENCE = struct.Struct("<5si3si3six")
_GROUPED = struct.Struct("<5sq7si11sd13sd")


def heads(config: Config, share: Share) -> Head | None:
    """Give the source of heads that ``idType`` asks for, None for no head; raises ExperimentError."""
    kind = config.get("idType")
    if kind is None:
        return None
    if kind not in _KINDS:
        raise ExperimentError(f"no idType is called {kind!r}", f"known: {', '.join(_KINDS)}")
    return _KINDS[kind](config, share)


def _object_id(config: Config, share: Share) -> Head:
    # As the driver makes them (time, five random bytes, counter), a third of its price: there may be 100,000
    # a second. https://www.mongodb.com/docs/manual/reference/bson-types/#objectid
    own = os.urandom(5)
    counter = int.from_bytes(os.urandom(3), "big")

    def head(number: int) -> bytes:
        nonlocal counter
        counter = counter + 1 & 0xFFFFFF
        return b"\x07_id\0%b%b%b" % (_SECONDS.pack(int(time.time())), own, counter.to_bytes(3, "big"))

    return head


def _uuid(config: Config, share: Share) -> Head:
    draw = random.Random(f"{share.seed}/id").randbytes

    def head(number: int) -> bytes:
        value = bytearray(draw(16))
        value[6] = value[6] & 0x0F | 0x40
        value[8] = value[8] & 0x3F | 0x80
        return b"\x05_id\0\x10\0\0\0\x04" + value

    return head


def _business_id(config: Config, share: Share) -> Head:
    draw = random.Random(f"{share.seed}/id").random
    counts = array("l", bytes(CUSTOMERS * array("l").itemsize))
    thread = b"%03x" % (config.get("firstThread", 0) + share.worker)

    def head(number: int) -> bytes:
        customer = int(draw() * CUSTOMERS)
        counts[customer] += 1
        return b"\x02_id\0\x13\0\0\0ACC%05d_%06x%b\0" % (customer, counts[customer], thread)

    return head


def _sequence(config: Config, share: Share) -> Head:
    groups = max(1, config["totalDocsToInsert"] // config["groupSize"]) if "groupSize" in config else 0

    def counted(number: int) -> bytes:
        return _SEQUENCE.pack(b"\x12_id\0", number, b"\x10count\0", 0)

    def grouped(number: int) -> bytes:
        place = float(number // groups)
        group = number % groups
        return _GROUPED.pack(
            b"\x12_id\0",
            number,
            b"\x10group\0",
            group,
            b"\x01group_seq\0",
            place,
            b"\x01group_seq_i\0",
            place,
        )

    return grouped if groups else counted


def _worker_sequence(config: Config, share: Share) -> Head:
    own = count()

    def head(number: int) -> bytes:
        return _OWN_SEQUENCE.pack(b"\x03_id\0", 19, b"\x10w\0", share.worker, b"\x10i\0", next(own))

    return head


_KINDS: dict[str, Callable[[Config, Share], Head]] = {
    "BUSINESS_ID": _business_id,
    "OBJECT_ID": _object_id,
    "UUID": _uuid,
    "SEQUENCE": _sequence,
    "WORKER_SEQUENCE": _worker_sequence,
}
