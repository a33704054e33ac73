"""Fingerprints: the server's counters per operation, which show the mechanism of an experiment.

An experiment file names its counters (``fingerprint``) and, where it is known, the range of a counter at full size
(``[[full_size]]``). A range is given by a minimum and a maximum, or by a published figure and a factor, which divides
and multiplies the figure. If all counters of a row are in their ranges, the row shows the published effect (``same``).
If one counter is outside its range, the row shows another effect (``other``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul, sub
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.results.conclusions import drop_target_name
from mongo_tables.results.pooling import FINGERPRINT
from mongo_tables.runner.experiment import Experiment, config_of
from mongo_tables.runner.servers import value_at
from mongo_tables.runner.workloads import workload

Row = Mapping[str, Any]
Regime = Literal["same", "other", "unknown"]


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of ``serverStatus``: the sum of the values at its paths."""

    paths: tuple[str, ...]
    published: str = ""
    """The figure of published rows that corresponds to the counter, or ""."""
    per: tuple[str, ...] = ("DocsPerSecond", "qps")
    """Figures or parameters of a published row. The first of them that is not 0 is the row's number of operations."""
    times: int = 1
    """The factor that converts the published figure to the counter's unit."""


COUNTERS: Final[Mapping[str, Counter]] = {
    # The publication gives this number of pages the unit KB.
    "pages_read": Counter(("wiredTiger.cache.pages read into cache",), "cachePageReadPerSecondKB"),
    "pages_written": Counter(("wiredTiger.cache.pages written from cache",)),
    "pages_evicted_by_writers": Counter(("wiredTiger.cache.modified pages evicted by application threads",)),
    "bytes_read": Counter(("wiredTiger.cache.bytes read into cache",)),
    "bytes_written": Counter(
        ("wiredTiger.block-manager.bytes written",), "compressedDataPerSecondKB", times=1024
    ),
    "journal_syncs": Counter(("wiredTiger.log.log sync operations",)),
    "journal_bytes": Counter(("wiredTiger.log.log bytes written",), "journalPerSecondKB", times=1024),
    "keys_examined": Counter(("metrics.queryExecutor.scanned",)),
    "documents_examined": Counter(("metrics.queryExecutor.scannedObjects",)),
    "documents_returned": Counter(("metrics.document.returned",)),
    "write_conflicts": Counter(("metrics.operation.writeConflicts",), "writeConflicts", ("nUpdates",)),
    "requests": Counter(("network.numRequests",)),
    "bytes_sent": Counter(("network.bytesOut",)),
    "processor_microseconds": Counter(("extra_info.user_time_us", "extra_info.system_time_us")),
}


class CounterRange(NamedTuple):
    """The minimum and maximum of a counter per operation at full size."""

    least: float
    most: float


def find_ranges(experiment: Experiment, number: int) -> dict[str, CounterRange | None]:
    """Return the counters of variant ``number`` (from 0), each with its range at full size, or None if it is unknown.

    A control has the ranges of its experiment: values outside of these ranges show the effect of the cache.
    """
    figures = {
        variant: {**experiment.parameters, **experiment.variants[variant - 1], **row}
        for variant, row in experiment.full_size_rows()
        if variant
    }.get(number + 1, {})
    found: dict[str, CounterRange | None] = dict.fromkeys(experiment.fingerprint)
    for entry in experiment.full_size:
        if number + 1 in entry.get("variants", [number + 1]):
            name = entry["counter"]
            found[name] = _range(entry, figures) or found[name]
    return found


def _range(entry: Mapping[str, Any], figures: Mapping[str, Any]) -> CounterRange | None:
    if "most" in entry:
        return CounterRange(entry.get("least", 0), entry["most"])
    counter = COUNTERS[entry["counter"]]
    per = next((figures[name] for name in counter.per if figures.get(name)), None)
    if counter.published not in figures or per is None:
        return None
    there = figures[counter.published] * counter.times / per
    # A value below ``negligible`` counts as 0.
    negligible, factor = entry.get("negligible", 0), entry["factor"]
    return CounterRange(there / factor if there > negligible else 0, max(there * factor, negligible))


def take_fingerprint(row: Row, experiment: Experiment, number: int) -> dict[str, Any]:
    """Return the fingerprint of a row with ``before_status`` and ``after_status``.

    The fingerprint has the counters with their ranges, and the ``regime``: whether they show the published effect.
    ``number`` is the row's variant, from 0. A counter is None if the server did not report it both before and after the
    window.
    """
    operations = _operations(row, experiment, number)
    counters = [
        _judge(row, name, operations, within) for name, within in find_ranges(experiment, number).items()
    ]
    regime = _regime([one["inside"] for one in counters if "inside" in one])
    return {"regime": regime, "operations": operations, "counters": counters}


def renew(rows: Iterable[Row], experiment: Experiment, ids: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows of the variants with new fingerprints. Rows without the server's states are left out.

    ``ids`` has the ``_id`` of each variant of the experiment.
    """
    return [
        {**row, FINGERPRINT: take_fingerprint(row, experiment, ids.index(key))}
        for row in rows
        if experiment.fingerprint and "after_status" in row and (key := drop_target_name(row["_id"])) in ids
    ]


def _judge(row: Row, name: str, operations: float, within: CounterRange | None) -> dict[str, Any]:
    total = find_difference(row, dict.fromkeys(COUNTERS[name].paths, 1))
    value = None if total is None or not operations else total / operations
    if within is None:
        return {"counter": name, "value": value}
    inside = None if value is None else within.least <= value <= within.most
    return {"counter": name, "value": value, "least": within.least, "most": within.most, "inside": inside}


def _regime(inside: list[bool | None]) -> Regime:
    if False in inside:
        return "other"
    return "same" if inside and None not in inside else "unknown"


def _operations(row: Row, experiment: Experiment, number: int) -> float:
    """Return the number of operations that the server counted between its two states.

    A window begins and ends in the middle of requests. The client counts the part of such a request in the window; the
    server counts all of it or nothing. If the server has no counter of these operations, or if other members answered
    reads, return the client's number.
    """
    config = config_of(experiment, experiment.variants[number])
    factors = workload(config["workload"]).server_counts(config)
    alone = row.get("read_preference", {}).get("mode", "primary") == "primary"
    counted = find_difference(row, factors) if factors and alone else None
    return counted if counted and counted > 0 else float(row["work"]["operations"])


def find_difference(row: Row, factors: Mapping[str, float]) -> float | None:
    """Return the sum of the counters' increases between the two states of a row, each times its factor.

    Return None if a state lacks a counter.
    """
    before, after = (
        [value_at(row.get(name), path.split(".")) for path in factors]
        for name in ("before_status", "after_status")
    )
    if None in before or None in after:
        return None
    return float(sum(map(mul, factors.values(), map(sub, after, before))))
