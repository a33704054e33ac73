"""The core workloads of YCSB 0.15: reads, updates, inserts, scans and read-modify-writes in given proportions.

Parameters have YCSB's names, defaults and meanings (https://github.com/brianfrankcooper/YCSB/wiki/Core-Properties);
records have the same byte format, so that either program can run on the other's data. An operation on a missing record
does not count as a failure, but as another kind of operation (``read_not_found``).

There are three differences. A window ends by time; ``operationcount`` only determines for how many new records the
zipfian distribution has room. Connections share no counter of inserts: each connection inserts its own part of the
numbers after the loaded numbers, and chooses from the loaded records and its own records. Field values are cut from one
text.

With ``insertorder=hashed`` the key is ``user`` and the 64-bit FNV-1a hash of the number's eight bytes, low byte first,
without its sign (http://www.isthe.com/chongo/tech/comp/fnv/); with ``ordered``, the key is ``user`` and the number
itself. Fields are BSON binaries; bytes are drawn from the same ranges as YCSB's, so that they compress alike. Fields
are in the order of their numbers.

The zipfian distribution follows Jim Gray et al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD
1994, with the constant 0.99. Every generator takes its uniform numbers, from 0 to below 1, from ``draw``.
"""

from __future__ import annotations

import random
import struct
from bisect import bisect
from collections.abc import Callable, Mapping
from functools import cache
from itertools import accumulate
from math import pow
from typing import TYPE_CHECKING, Any

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.workloads import INSERTS, REQUESTS, Config, Done, Share, Step, Workload
from mongo_tables.runner.workloads.inserts import assemble

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.wire.client import WireClient

FORGOTTEN_AT_ONCE = 5000
"""The number of keys that one deletion covers. It must exceed the number of connections.

Each of n connections inserts every n-th number. So if a range of n numbers has no record, no more records follow.
"""

_LOADED = ("fieldcount", "fieldlength", "insertorder")
"""Parameters that change the data."""
_ALL_FIELDS = assemble(b"")
BATCH = 1000
BATCH_BYTES = 16 * 2**20
"""The maximum number of bytes in a batch of large records. A server accepts messages of 48 MB."""
_KEY_BYTES = 23
_ID_OVERHEAD, _FIELD_OVERHEAD = 15, 13
FNV_OFFSET_BASIS = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
_WORD = (1 << 64) - 1
_SIGN = 1 << 63

_INT = struct.Struct("<i")
_TEXT_LENGTH = 6 << 17
_MASKS = bytes((31, 63, 95, 31, 63, 95))
"""The variable bits in each of six consecutive bytes; each byte is a space plus these bits."""


def fnv_hash(number: int) -> int:
    """Return the FNV-1a hash of a number, as the absolute value of a signed 64-bit integer.

    Example:
        >>> fnv_hash(1)
        8517097267634966620
    """
    found = FNV_OFFSET_BASIS
    for octet in (number & _WORD).to_bytes(8, "little"):
        found = (found ^ octet) * FNV_PRIME & _WORD
    return found if found < _SIGN else (1 << 64) - found


def key_namer(config: Mapping[str, Any]) -> Callable[[int], bytes]:
    """Return a function from a sequence number to its key."""
    if config.get("insertorder", "hashed") == "ordered":
        return lambda number: b"user%d" % number
    return lambda number: b"user%d" % fnv_hash(number)


def id_element(key: bytes) -> bytes:
    """Return the BSON element ``_id`` with this key."""
    return b"\x02_id\0" + _INT.pack(len(key) + 1) + key + b"\0"


def field_drawer(length: int, draw: Callable[[], float]) -> Callable[[int], bytes]:
    """Return a function from a field number to its BSON element, with ``length`` random bytes."""
    text = _text()
    places = (_TEXT_LENGTH - length) // len(_MASKS)
    size = _INT.pack(length) + b"\0"

    def field(number: int) -> bytes:
        start = int(draw() * places) * len(_MASKS)
        return b"\x05field%d\0%b%b" % (number, size, text[start : start + length])

    return field


def record_maker(config: Mapping[str, Any], draw: Callable[[], float]) -> Callable[[int], bytes]:
    """Return a function from a sequence number to the whole record, with YCSB's properties in ``config``."""
    name = key_namer(config)
    field = field_drawer(config.get("fieldlength", 100), draw)
    numbers = range(config.get("fieldcount", 10))
    return lambda number: assemble(id_element(name(number)) + b"".join(map(field, numbers)))


@cache
def _text() -> bytes:
    """Return the text from which fields are cut. It is the same in every run."""
    bits = int.from_bytes(random.Random("ycsb").randbytes(_TEXT_LENGTH), "little")
    masks = int.from_bytes(_MASKS * (_TEXT_LENGTH // len(_MASKS)), "little")
    spaces = int.from_bytes(b" " * _TEXT_LENGTH, "little")
    return ((bits & masks) + spaces).to_bytes(_TEXT_LENGTH, "little")


THETA = 0.99
FEWEST_FOR_LATEST = 4
SCRAMBLED_ITEMS = 10**10
SCRAMBLED_ZETA = 26.46902820178302
"""The sum of 1/i^0.99 for i up to 10^10, a constant in YCSB."""

Draw = Callable[[], float]
Chooser = Callable[[], int]
"""A function that returns the place of the next operation's record. ``Sequence`` maps the place to a number."""


class Sequence:
    """The records from which one connection may choose: the loaded records, followed by those that it has inserted.

    YCSB's threads share one counter. The connections of a run are in several processes, so each connection is like an
    instance of YCSB: it inserts every ``workers``-th number after the loaded ones, and knows only its own records. The
    records of a connection have the places 0, 1, 2, …, up to ``last``.
    """

    def __init__(self, first: int, worker: int, workers: int) -> None:
        """``first`` is the lowest number without a loaded record."""
        self.last = first - 1
        self._first, self._worker, self._workers = first, worker, workers

    def number(self, place: int) -> int:
        """Return the sequence number of the record at a place."""
        inserted = place - self._first
        return place if inserted < 0 else self._first + self._worker + inserted * self._workers

    def following(self) -> int:
        """Return the sequence number of the next record to insert."""
        return self.number(self.last + 1)

    def acknowledge(self) -> None:
        """Note that the record with the number ``following`` exists now."""
        self.last += 1


class Zipfian:
    """The zipfian distribution of the numbers from 0 on; 0 is the most frequent. The count of numbers may grow."""

    def __init__(self, items: int, draw: Draw, zeta: float | None = None) -> None:
        """``zeta`` is the sum of 1/i^0.99 for i from 1 to ``items``, if it is known."""
        self._draw = draw
        self._items = self._count = items
        self._zeta = _zeta(items) if zeta is None else zeta
        self._eta = self._new_eta()

    def next(self, count: int) -> int:
        """Return a random number below ``count``, which must not decrease from call to call."""
        if count > self._count:
            self._zeta = _added(self._zeta, self._count, count)
            self._count = count
            self._eta = self._new_eta()
        uniform = self._draw()
        share = uniform * self._zeta
        if share < 1.0:
            return 0
        if share < _SECOND:
            return 1
        return int(count * pow(self._eta * uniform - self._eta + 1, 1 / (1 - THETA)))

    def _new_eta(self) -> float:
        # As in YCSB, this uses the initial count of items, even if there are more now.
        return (1 - pow(2.0 / self._items, 1 - THETA)) / (1 - _zeta(2) / self._zeta)


def chooser(distribution: str, sequence: Sequence, count: int, expected: int, draw: Draw) -> Chooser:
    """Return the generator of a ``requestdistribution`` over the first ``count`` records.

    ``expected`` is the expected number of inserted records. The zipfian distribution includes their places from the
    beginning, so that inserts do not change it; a place without a record is drawn again. Raises CommandError for an
    unknown distribution.
    """
    if distribution == "uniform":
        return lambda: int(draw() * count)
    if distribution == "zipfian":
        return _scrambled(sequence, count + expected + 1, draw)
    if distribution == "latest":
        return _latest(sequence, draw)
    raise CommandError(f"there is no requestdistribution {distribution!r}", "known: uniform, zipfian, latest")


def _scrambled(sequence: Sequence, items: int, draw: Draw) -> Chooser:
    # YCSB's ranges include their ends, so there is one more than 10^10 items (and one more key in ``chooser``).
    zipfian = Zipfian(SCRAMBLED_ITEMS + 1, draw, SCRAMBLED_ZETA)

    def choose() -> int:
        while True:
            place = fnv_hash(zipfian.next(SCRAMBLED_ITEMS + 1)) % items
            if place <= sequence.last:
                return place

    return choose


def _latest(sequence: Sequence, draw: Draw) -> Chooser:
    if sequence.last < FEWEST_FOR_LATEST - 1:
        raise CommandError(f"the requestdistribution latest needs {FEWEST_FOR_LATEST} records or more")
    zipfian = Zipfian(sequence.last, draw)
    return lambda: sequence.last - zipfian.next(sequence.last)


def _added(zeta: float, past: int, last: int) -> float:
    """Return the sum up to ``last`` from the sum up to ``past``.

    Terms are added one by one, so the result equals YCSB's to the last bit.
    """
    for item in range(past + 1, last + 1):
        zeta += 1.0 / pow(item, THETA)
    return zeta


@cache
def _zeta(items: int) -> float:
    return _added(0.0, 0, items)


_SECOND = 1.0 + pow(0.5, THETA)


class Ycsb(Workload, name="ycsb"):
    """Operations in given proportions for ``testTimeSecs``. Rows have the latencies of each kind of operation."""

    needs = frozenset({"recordcount", "testTimeSecs"})
    keeps_data = True
    grows_with = "insertproportion"

    def server_counts(self, config: Config) -> Mapping[str, float]:
        """Return the counters of requests, without the second request of a read-modify-write, which is a write."""
        shares = _shares(config)
        alone = shares.get("updateproportion", 0) + shares.get("insertproportion", 0)
        writes = alone + shares.get("readmodifywriteproportion", 0)
        return {**REQUESTS, "opLatencies.writes.ops": alone / writes if writes else 1}

    def preload(self, config: Config) -> Config:
        """Return the load of ``recordcount`` records, always with majority acknowledgement."""
        _shares(config)  # fail before anything is loaded
        return {
            "workload": "ycsb_load",
            "collection": config["collection"],
            "totalDocsToInsert": config["recordcount"],
            **{name: config[name] for name in _LOADED if name in config},
        }

    def reset(self, database: Database[Any], config: Config) -> None:
        """Delete the records that an earlier window inserted, which have the keys after the loaded keys."""
        collection = database[config["collection"]]
        name = key_namer(config)
        number = count = config["recordcount"]
        while collection.estimated_document_count() > count:
            keys = [name(one).decode() for one in range(number, number + FORGOTTEN_AT_ONCE)]
            if not collection.delete_many({"_id": {"$in": keys}}).deleted_count:
                return  # the other documents were not inserted by a window, or the count is only estimated
            number += FORGOTTEN_AT_ONCE

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Prepare the generators. Return a step that does an operation of a random kind."""
        draw = random.Random(share.seed).random
        operations = _Operations(client, config, share, draw)
        kinds: dict[str, Step] = {
            "readproportion": operations.read,
            "updateproportion": operations.update,
            "insertproportion": operations.insert,
            "scanproportion": operations.scan,
            "readmodifywriteproportion": operations.read_modify_write,
        }
        shares = _shares(config)
        steps = [kinds[name] for name in shares]
        bounds = list(accumulate(shares.values()))
        if len(steps) == 1:
            return steps[0]
        return lambda: steps[bisect(bounds, draw() * bounds[-1])]()


class _Operations:
    """The operations of one connection: a method for each kind."""

    def __init__(self, client: WireClient, config: Config, share: Share, draw: Callable[[], float]) -> None:
        self._client = client
        self._draw = draw
        self._name = key_namer(config)
        self._record = record_maker(config, draw)
        self._sequence, self._choose = _chooser(config, share, draw)
        self._field = field_drawer(config.get("fieldlength", 100), draw)
        self._fields = config.get("fieldcount", 10)
        self._reads_all = config.get("readallfields", True)
        self._writes_all = config.get("writeallfields", False)
        self._longest_scan = config.get("maxscanlength", 1000)

    def read(self) -> Done:
        found, size = self._client.read(self._selector(), self._projection())
        return Done(1, found, size, "read" if found else "read_not_found")

    def update(self) -> Done:
        found, size = self._updated(self._selector())
        return Done(1, found, size, "update" if found else "update_not_found")

    def insert(self) -> Done:
        record = self._record(self._sequence.following())
        self._client.insert((record,))
        self._sequence.acknowledge()
        return Done(1, 1, len(record), "insert")

    def scan(self) -> Done:
        first = id_element(self._key())
        selector = assemble(b"\x03_id\0" + assemble(b"\x02$gte\0" + first[5:]))
        length = 1 + int(self._draw() * self._longest_scan)
        found, size = self._client.scan(selector, length, self._projection())
        return Done(1, found, size, "scan" if found else "scan_not_found")

    def read_modify_write(self) -> Done:
        selector = self._selector()
        found, size = self._client.read(selector, self._projection())
        if found:
            found, written = self._updated(selector)
            size += written
        return Done(1, found, size, "readmodifywrite" if found else "readmodifywrite_not_found")

    def _updated(self, selector: bytes) -> tuple[int, int]:
        numbers = range(self._fields) if self._writes_all else (int(self._draw() * self._fields),)
        update = assemble(b"\x03$set\0" + assemble(b"".join(map(self._field, numbers))))
        return self._client.update(selector, update, False), len(update)

    def _selector(self) -> bytes:
        return assemble(id_element(self._key()))

    def _key(self) -> bytes:
        return self._name(self._sequence.number(self._choose()))

    def _projection(self) -> bytes:
        if self._reads_all:
            return _ALL_FIELDS
        return assemble(b"\x10field%d\0\1\0\0\0" % int(self._draw() * self._fields))


_PROPORTIONS = {
    "readproportion": 0.95,
    "updateproportion": 0.05,
    "insertproportion": 0.0,
    "scanproportion": 0.0,
    "readmodifywriteproportion": 0.0,
}


def _shares(config: Config) -> dict[str, float]:
    """Return the proportions that are not 0, by name. Raises CommandError if all proportions are 0."""
    given = {name: config.get(name, usual) for name, usual in _PROPORTIONS.items()}
    shares = {name: proportion for name, proportion in given.items() if proportion}
    if not shares:
        raise CommandError("all proportions of operations are 0", f"give one of {', '.join(given)}")
    return shares


def _chooser(config: Config, share: Share, draw: Callable[[], float]) -> tuple[Sequence, Callable[[], int]]:
    count = config["recordcount"]
    sequence = Sequence(count, share.worker, share.workers)
    # YCSB reserves twice the average number.
    expected = int(
        config.get("operationcount", 0) * config.get("insertproportion", 0.0) * 2.0 / share.workers
    )
    distribution = config.get("requestdistribution", "uniform")
    return sequence, chooser(distribution, sequence, count, expected, draw)


class YcsbLoad(Workload, name="ycsb_load"):
    """The load phase of YCSB: inserts of ``totalDocsToInsert`` records."""

    needs = frozenset({"totalDocsToInsert"})
    counted = "totalDocsToInsert"

    def server_counts(self, config: Config) -> Mapping[str, float]:
        """Return the counter of inserts."""
        return INSERTS

    def plan(self, config: Config) -> Done:
        """Return all records. Their size is computed with keys of 23 characters and field numbers of one digit."""
        total = int(config["totalDocsToInsert"])
        fields = config.get("fieldcount", 10) * (_FIELD_OVERHEAD + config.get("fieldlength", 100))
        return Done(total, total, total * (_ID_OVERHEAD + _KEY_BYTES + fields))

    def open_steps(self, client: WireClient, config: Config, share: Share) -> Step:
        """Return a step that creates and inserts the next batch of records."""
        make_record = record_maker(config, random.Random(share.seed).random)
        size = max(1, min(BATCH, BATCH_BYTES // self.plan({**config, "totalDocsToInsert": 1}).bytes))

        def step() -> Done | None:
            batch = [make_record(number) for number in share.take(size)]
            if not batch:
                return None
            client.insert(batch)
            return Done(len(batch), len(batch), sum(map(len, batch)))

        return step
