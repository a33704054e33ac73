"""The core workloads of YCSB 0.15: reads, updates, inserts, scans and read-modify-writes of records in proportion.

Parameters have YCSB's names, defaults and meanings (https://github.com/brianfrankcooper/YCSB/wiki/Core-Properties);
records are byte for byte of the same form, so that either program can run on what the other has loaded. An
operation on a record that is not there is no failure: it counts under a kind of its own (``read_not_found``).

Three things differ. A run ends by time; ``operationcount`` only says for how many operations the zipfian
distribution leaves room for new records. Connections share no counter of inserts: each has its own slice of the
numbers after those that are loaded, and chooses from the loaded records and its own. Field values come from one
prepared text.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from mongo_tables.runner.errors import ExperimentError
from mongo_tables.runner.wire.messages import document
from mongo_tables.runner.workloads import Amounts, Config, Done, Share, Step, Traits
from mongo_tables.runner.workloads.insert import make
from mongo_tables.runner.ycsb.distributions import Sequence, chooser
from mongo_tables.runner.ycsb.records import field_drawer, id_element, key_namer, record_maker

if TYPE_CHECKING:
    from pymongo.database import Database

    from mongo_tables.runner.clients import Client

TRAITS = Traits(
    needs=frozenset({"recordcount", "testTimeSecs"}), keeps_data=True, grows_with="insertproportion"
)
FORGOTTEN_AT_ONCE = 5000
"""More than there may be connections, of which each inserts every n-th number, n being how many they are: so a
stretch of this length has a record as long as any is left."""

_LOADED = ("fieldcount", "fieldlength", "insertorder", "zeropadding")
"""Parameters that make other data."""
_ALL_FIELDS = document(b"")


def plan(config: Config) -> None:
    """As many as ``testTimeSecs`` allows."""
    return


def create(database: Database[Any], config: Config) -> None:
    """An empty collection."""
    make(database, config, ())


def preload(config: Config) -> Config:
    """The load of ``insertcount`` records, always acknowledged by a majority."""
    start, count = _loaded_range(config)
    _shares(config)  # a mistake in them is told before anything is loaded
    return {
        "workload": "ycsb_load",
        "collection": config["collection"],
        "totalDocsToInsert": count,
        "insertstart": start,
        **{name: config[name] for name in _LOADED if name in config},
    }


def reset(database: Database[Any], config: Config) -> None:
    """Without the records that an earlier window inserted: the keys after the loaded ones, as long as any is left."""
    collection = database[config["collection"]]
    name = _namer(config)
    _, count = _loaded_range(config)
    number = config["recordcount"]
    while collection.estimated_document_count() > count:
        keys = [name(one).decode() for one in range(number, number + FORGOTTEN_AT_ONCE)]
        if not collection.delete_many({"_id": {"$in": keys}}).deleted_count:
            return  # what is left is no record of ours, or the estimate is none
        number += FORGOTTEN_AT_ONCE


def report(done: Amounts) -> tuple[dict[str, Any], dict[str, Any]]:
    """Nothing beside ``work`` and ``latencies``, which count operations by kind."""
    return {}, {}


def open_steps(client: Client, config: Config, share: Share) -> Step:
    """Prepare the generators; a step chooses a kind of operation and does one of it."""
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
    """One operation of each kind, on one connection."""

    def __init__(self, client: Client, config: Config, share: Share, draw: Callable[[], float]) -> None:
        self._client = client
        self._draw = draw
        self._name = _namer(config)
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
        selector = document(b"\x03_id\0" + document(b"\x02$gte\0" + first[5:]))
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
        update = document(b"\x03$set\0" + document(b"".join(map(self._field, numbers))))
        return self._client.update(selector, update, False), len(update)

    def _selector(self) -> bytes:
        return document(id_element(self._key()))

    def _key(self) -> bytes:
        return self._name(self._sequence.number(self._choose()))

    def _projection(self) -> bytes:
        if self._reads_all:
            return _ALL_FIELDS
        return document(b"\x10field%d\0\1\0\0\0" % int(self._draw() * self._fields))


_PROPORTIONS = {
    "readproportion": 0.95,
    "updateproportion": 0.05,
    "insertproportion": 0.0,
    "scanproportion": 0.0,
    "readmodifywriteproportion": 0.0,
}


def _shares(config: Config) -> dict[str, float]:
    """The proportions that are not 0, by name; raises ExperimentError when all are."""
    given = {name: config.get(name, usual) for name, usual in _PROPORTIONS.items()}
    shares = {name: proportion for name, proportion in given.items() if proportion}
    if not shares:
        raise ExperimentError("all proportions of operations are 0", f"give one of {', '.join(given)}")
    return shares


def _chooser(config: Config, share: Share, draw: Callable[[], float]) -> tuple[Sequence, Callable[[], int]]:
    start, count = _loaded_range(config)
    sequence = Sequence(config["recordcount"], share.worker, share.workers)
    # Twice as many as come on average: YCSB's allowance.
    expected = int(
        config.get("operationcount", 0) * config.get("insertproportion", 0.0) * 2.0 / share.workers
    )
    distribution = config.get("requestdistribution", "uniform")
    return sequence, chooser(distribution, sequence, start, count, expected, draw)


def _loaded_range(config: Config) -> tuple[int, int]:
    start, records = config.get("insertstart", 0), config["recordcount"]
    count = config.get("insertcount", records - start)
    if not 0 < count <= records - start:
        raise ExperimentError(
            f"insertstart {start} and insertcount {count} are no part of {records} records",
            "insertstart + insertcount is at most recordcount",
        )
    return start, count


def _namer(config: Config) -> Callable[[int], bytes]:
    return key_namer(config.get("insertorder", "hashed"), config.get("zeropadding", 1))
