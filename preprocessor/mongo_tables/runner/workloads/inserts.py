"""Bulk inserts: ordered batches of generated documents.

Documents are generated as BSON before the window, up to ``PREPARED_BYTES``. When all of them are sent, they are sent
again, with new values of ``_id``. They take far more space than a page of the storage engine (32 KiB), so repetition
does not improve compression. Equal seeds give equal documents.

A document of ``DocumentFactory`` has an optional ``_id``, any extra fields, then triples ``intfieldN`` (int32, 0 to
99,999), ``datefieldN`` (a date) and ``stringfieldN`` (1 to 32 characters of text with the letter frequencies of
English), N = 1, 2, …, until its BSON has at least the requested size. So it exceeds that size by less than one triple.
The bytes are composed without an encoder, which would be slower: a triple takes about a microsecond.

A document of ``FlatFactory`` is like those of POCDriver (https://github.com/johnlpage/POCDriver): some top-level fields
and an empty ``bin``. The field ``fld0`` is a whole number, ``fld1`` a date, ``fld3`` text; of the other fields, every
third is a number, every fifth a date, the rest text. Numbers and the age of dates are normally distributed, so most are
small. The texts differ from POCDriver's.

The head of a document is the BSON of those elements that are new each time the document is sent. Its length is the same
for all documents of a run, so the rest need not be encoded again. ``idType`` selects the ``_id``:

* none: no ``_id``, the server generates one;
* ``OBJECT_ID``: an ObjectId from the client (it contains a time, so two runs differ);
* ``UUID``: a random UUID (version 4, binary subtype 4);
* ``BUSINESS_ID``: ``ACC``, five digits of one of ``customers`` customers, ``_``, six hex digits counting that
  customer's documents, three hex digits of the connection;
* ``SEQUENCE``: 0, 1, 2, … (int64), then ``count: 0`` or, with ``groupSize``, the number of the document's group
  (``group``, an int32) and its place in the group (``group_seq`` and ``group_seq_i``, doubles);
* ``WORKER_SEQUENCE``: ``{w, i}``, the connection and its own 0, 1, 2, … (int32).
"""

from __future__ import annotations

import os
import random
import struct
import time
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.workloads import Config, Done, Share, Step, Workload

if TYPE_CHECKING:
    from mongo_tables.runner.wire.client import WireClient

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
    """A generator of documents of triples, with its own random numbers: equal seeds give equal documents."""

    def __init__(self, seed: str, size_kb: float, head_length: int = 0) -> None:
        """``size_kb`` is the minimum size of a document in units of 1,024 bytes, including its head."""
        self._random = random.Random(seed)
        self._text = _text()
        self._size = round(size_kb * 1024) - head_length

    def tail(self) -> bytes:
        """Return the BSON of one document after its head: the triples and the closing zero."""
        draw = self._random.random
        text = self._text
        parts: list[bytes] = []
        size = 5  # the length at the start and the zero at the end
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


def assemble(head: bytes, tail: bytes = b"\0") -> bytes:
    """Return the BSON document with the elements of ``head`` and ``tail``. ``tail`` ends with the closing zero."""
    return _INT.pack(4 + len(head) + len(tail)) + head + tail


@cache
def _names(number: int) -> tuple[bytes, bytes, bytes]:
    """Return the BSON type byte and the name of each of the three fields with this number."""
    kinds = ((b"\x10", "intfield"), (b"\x09", "datefield"), (b"\x02", "stringfield"))
    first, second, third = (kind + f"{name}{number}".encode() + b"\0" for kind, name in kinds)
    return first, second, third


@cache
def _text() -> bytes:
    """Return 1 MiB of text, the same in every run: a space at every 6th place, a full stop at every 60th."""
    # Each byte value stands for a letter, and more values stand for a frequent letter. Drawing letter by letter
    # would take 100 times as long.
    weights = _LETTERS | _DIGITS
    share = 250 / sum(weights.values())
    slots = "".join(letter * max(1, round(weight * share)) for letter, weight in weights.items())
    table = (slots * 2)[:256].encode("ascii")
    letters = bytearray(random.Random("text").randbytes(TEXT_LENGTH).translate(table))
    letters[5::6] = b" " * len(letters[5::6])
    letters[59::60] = b"." * len(letters[59::60])
    return bytes(letters)


NUMBER_SPREAD = 1e6
DATE_SPREAD_MS = 3e11
TEXT_WORDS = 20_000
EMPTY_BINARY = b"\x05bin\0\0\0\0\0\0"

_SENTENCE = (
    "a heron stood where the slow river bends and nobody on the bridge above it knew for how long it had been "
    "waiting there between reeds and stones as if morning were a matter of patience rather than of light"
)

Value = Callable[[], bytes]


class FlatFactory:
    """A generator of flat documents, with its own random numbers: equal seeds give equal documents."""

    def __init__(self, seed: str, fields: int, text_bytes: int) -> None:
        """``text_bytes`` is the maximum length of a text, which is cut at the end of a word."""
        self._random = random.Random(seed)
        self._text_bytes = text_bytes
        kinds: dict[bytes, Value] = {b"\x12": self._number, b"\x09": self._date, b"\x02": self._words}
        self._fields = [
            (kind + f"fld{number}".encode() + b"\0", kinds[kind])
            for number, kind in enumerate(map(_kind, range(fields)))
        ]

    def tail(self) -> bytes:
        """Return the BSON of one document after its head: all fields and the closing zero."""
        fields = b"".join([name + value() for name, value in self._fields])
        return fields + EMPTY_BINARY + b"\0"

    def _number(self) -> bytes:
        return _LONG.pack(int(abs(self._random.gauss(0, 1)) * NUMBER_SPREAD))

    def _date(self) -> bytes:
        return _LONG.pack(FIRST_DATE_MS - int(abs(self._random.gauss(0, 1)) * DATE_SPREAD_MS))

    def _words(self) -> bytes:
        text, starts = _words()
        start = starts[int(self._random.random() * (len(starts) - self._text_bytes))]
        end = max(start, text.rfind(b" ", start, start + self._text_bytes + 1))
        return _INT.pack(end - start + 1) + text[start:end] + b"\0"


def _kind(number: int) -> bytes:
    """Return the BSON type byte of the field with this number."""
    if number in (0, 1, 3):
        return {0: b"\x12", 1: b"\x09", 3: b"\x02"}[number]
    if number % 3 == 0:
        return b"\x12"
    return b"\x09" if number % 5 == 0 else b"\x02"


@cache
def _words() -> tuple[bytes, tuple[int, ...]]:
    """Return words in random order with single spaces, and the offset of each word; the same in every run."""
    words = random.Random("words").choices(_SENTENCE.split(), k=TEXT_WORDS)
    starts, place = [], 0
    for word in words:
        starts.append(place)
        place += len(word) + 1
    return " ".join(words).encode("ascii"), tuple(starts)


Head = Callable[[int], bytes]
"""A function that returns the head of the document with the given number. Some kinds of heads ignore the number."""

_SECONDS = struct.Struct(">I")
_SEQUENCE = struct.Struct("<5sq7si")
_OWN_SEQUENCE = struct.Struct("<5si3si3six")
_GROUPED = struct.Struct("<5sq7si11sd13sd")


def heads(config: Config, share: Share) -> Head | None:
    """Return the function that makes heads with the ``idType`` of the config, or None if documents have no head.

    Raises CommandError for an unknown ``idType``.
    """
    kind = config.get("idType")
    if kind is None:
        return None
    if kind not in _KINDS:
        raise CommandError(f"there is no idType {kind!r}", f"known: {', '.join(_KINDS)}")
    return _KINDS[kind](config, share)


def _object_id(config: Config, share: Share) -> Head:
    # The driver's format (time, five random bytes, counter), made three times as fast: a run may need 100,000 a second.
    # https://www.mongodb.com/docs/manual/reference/bson-types/#objectid
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
    customers = config["customers"]
    counts = array("l", bytes(customers * array("l").itemsize))
    thread = b"%03x" % (config.get("firstThread", 0) + share.worker)

    def head(number: int) -> bytes:
        customer = int(draw() * customers)
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


PREPARED_BYTES = 16 * 2**20
"""The maximum size of the documents that the connections of a process prepare, unless a single batch is larger."""
FIRST_PRELOAD_THREAD = 0xF00
"""The connection number in business ids of documents that are loaded before the window."""
FEW_DOCUMENTS = 20
"""The number of documents from which the mean size of all documents is estimated."""
MOST_REQUESTS_PER_SECOND = 2_000
"""The maximum number of requests per second of a connection, which limits the number of prepared documents."""


class Insert(Workload, name="insert"):
    """Inserts of batches. A batch depends only on its number, so the data does not depend on the connections."""

    needs = frozenset({"totalDocsToInsert", "docSizeKB", "writeBatchSize"})
    batched = True
    amount = "totalDocsToInsert"
    counted = "totalDocsToInsert"
    indexed = "intfield"

    def plan(self, config: Config) -> Done:
        """Return ``totalDocsToInsert`` documents of ``docSizeKB`` each."""
        total = int(config["totalDocsToInsert"])
        return Done(total, total, round(total * config["docSizeKB"] * 1024))

    def request_bytes(self, config: Config) -> float:
        """Return the bytes of a batch."""
        return float(min(config["writeBatchSize"], config["totalDocsToInsert"]) * config["docSizeKB"] * 1024)

    def preload(self, config: Config) -> Config | None:
        """Return an insert of ``initialDocsToInsert`` documents, or None if the number is 0."""
        count = config.get("initialDocsToInsert", 0)
        before = {"totalDocsToInsert": count, "initialDocsToInsert": 0, "firstThread": FIRST_PRELOAD_THREAD}
        return {**config, **before} if count else None

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Prepare the documents of the process. Return a step that sends one batch."""
        size = min(config["writeBatchSize"], config["totalDocsToInsert"])
        head, first = heads(config, share), heads(config, share)
        if "pool" not in share.prepared:
            factory = DocumentFactory(share.common_seed, config["docSizeKB"], len(first(0)) if first else 0)
            made = factory.tail if head else lambda: assemble(b"", factory.tail())
            share.prepared["pool"] = _prepare(made, size, PREPARED_BYTES, config["totalDocsToInsert"])
        pool: list[list[bytes]] = share.prepared["pool"]

        def step() -> Done | None:
            numbers = share.take(size)
            if not numbers:
                return None
            batch = _with_heads(head, pool[numbers.start // size % len(pool)], numbers)
            client.insert(batch)
            return Done(len(batch), len(batch), sum(map(len, batch)))

        return step


class FlatInsert(Workload, name="flat_insert"):
    """Inserts of small flat documents like those of POCDriver, until the window's time is over.

    A document has ``nFields`` fields. Its texts have at most ``textBytes`` bytes.
    """

    needs = frozenset({"nFields", "textBytes", "writeBatchSize", "testTimeSecs"})
    batched = True
    result = "nInserts"
    indexed = "fld"
    first_index = 0

    def request_bytes(self, config: Config) -> float:
        """Return the bytes of a batch, estimated from a few documents."""
        factory = FlatFactory("size", config["nFields"], config["textBytes"])
        few = [len(assemble(b"", factory.tail())) for _ in range(FEW_DOCUMENTS)]
        return float(config["writeBatchSize"] * fmean(few))

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Prepare this connection's documents. Return a step that sends one batch."""
        factory = FlatFactory(share.seed, config["nFields"], config["textBytes"])
        size, head = config["writeBatchSize"], heads(config, share)
        made = factory.tail if head else lambda: assemble(b"", factory.tail())
        wanted = config.get("testTimeSecs", inf) * MOST_REQUESTS_PER_SECOND * size
        pool = _prepare(made, size, PREPARED_BYTES // share.workers, wanted)
        sent = 0

        def step() -> Done:
            nonlocal sent
            batch = _with_heads(head, pool[sent // size % len(pool)], range(sent, sent + size))
            client.insert(batch)
            sent += size
            return Done(len(batch), len(batch), sum(map(len, batch)))

        return step


def _prepare(make: Callable[[], bytes], size: int, room: int, wanted: float) -> list[list[bytes]]:
    """Return batches of ``size`` documents or tails: ``wanted`` in total, if they fit into ``room`` bytes, else fewer.

    There is always at least one batch.
    """
    pool: list[list[bytes]] = []
    prepared = 0
    while not pool or (len(pool) * size < wanted and prepared < room):
        pool.append([make() for _ in range(size)])
        prepared += sum(map(len, pool[-1]))
    return pool


def _with_heads(head: Head | None, prepared: Sequence[bytes], numbers: range) -> Sequence[bytes]:
    if head is None:
        return prepared[: len(numbers)]
    return [assemble(head(number), tail) for number, tail in zip(numbers, prepared, strict=False)]
