"""Documents of benchmark tools: read from any results source, compared, and merged from several runs.

Two files were measured at different times and are not paired, so nothing is called faster or slower by them. What can
be given is the ratio, and an interval where the samples are of several processes on both sides. A process is then the
unit, since samples within one share what it happened to be, its place in memory and the order of its hash tables
(Kalibera and Jones, *Rigorous benchmarking in reasonable time*, ISMM 2013); the interval is that of Welch's t on the
logarithms (Welch, 1947), which supposes that processes are independent. What the machine did differently at both times
is in the ratio, and in no interval.

Several runs of the same benchmarks are blocks: what was measured in one run is paired, so it may be judged. A run
is a file: in it the tool measured every benchmark once, one soon after the other. What the machine did during a run is
in all of them, and leaves their ratio, as in a block of ``mongo-tables run`` (``results.conclusions``). The order of
benchmarks within a run is the tool's, the same each time: what comes of that order is in the ratio as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from statistics import fmean, median
from typing import Any, Final, NamedTuple

import bson
from bson.codec_options import CodecOptions

from mongo_tables.results.conclusions import block_speeds, conclude
from mongo_tables.results.formats.benchmark import SECONDS, TIME
from mongo_tables.results.intervals import interval_between, speed_interval
from mongo_tables.results.model import ResultsError
from mongo_tables.results.opening import open_source

_OPTIONS: Final[CodecOptions[dict[str, Any]]] = CodecOptions(tz_aware=True)
_HINT: Final = "name a file that a benchmark tool wrote, or a folder that `mongo-tables import` wrote into"


def read_benchmarks(where: str, collection: str = "") -> list[dict[str, Any]]:
    """The documents of benchmarks in a source, of one collection or of all; dates have a zone.

    Raises ``ResultsError`` where there are none.
    """
    with closing(open_source(where)) as source:
        names = source.collections()
        if collection and collection not in names:
            raise ResultsError(
                f"{source.name} has no collection {collection!r}", hint=_HINT, environment=True
            )
        raws = (raw for name in ([collection] if collection else names) for raw in source.raws(name))
        found = [row for row in (bson.decode(raw, _OPTIONS) for raw in raws) if is_benchmark(row)]
        if not found:
            raise ResultsError(f"{source.name} has no benchmarks", hint=_HINT, environment=True)
    return found


def leave_samples_out(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without its samples and what is said of each of them; how many there were stays, ``count``.

    Without samples there is no interval between two runs (``results.benchmark_results``).
    """
    of_samples = {
        "samples",
        "processes",
        *(["iterations"] if isinstance(document.get("iterations"), list) else []),
    }
    return {name: value for name, value in document.items() if name not in of_samples}


Row = Mapping[str, Any]

_TWO_TIMES: Final = "not measured side by side"
_ONE_PROCESS: Final = f"{_TWO_TIMES}, and samples of one process do not say how much processes differ"
_NO_SAMPLES: Final = f"{_TWO_TIMES}, and without samples"
_NO_RATIO: Final = "a side has no value above 0"
_LEAST: Final = 2


class Ratio(NamedTuple):
    """The value in NEW to that in OLD, and why it has no verdict.

    Where it has an interval, it is that of the geometric means of so many ``processes`` or more on each side.
    """

    ratio: float | None
    low: float | None
    high: float | None
    processes: int
    reason: str


def is_benchmark(row: Row) -> bool:
    """Whether a document is that of a benchmark tool: its key names a measure, and it has a unit."""
    key = row.get("_id")
    return isinstance(key, Mapping) and "metric" in key and isinstance(row.get("unit"), str)


def list_processes(row: Row) -> list[float]:
    """The mean of the samples of each process, in their order; nothing where the samples are of one."""
    samples, processes = row.get("samples") or (), row.get("processes") or 0
    if processes < _LEAST or len(samples) % processes:
        return []
    size = len(samples) // processes
    return [fmean(samples[start : start + size]) for start in range(0, len(samples), size)]


def compare_benchmarks(old: Row, new: Row) -> Ratio:
    """The ratio of two documents of the same benchmark, with its 95 % interval where both are of several processes."""
    sides = list_processes(old), list_processes(new)
    processes = min(map(len, sides))
    if processes and min(*sides[0], *sides[1]) > 0:
        found = interval_between(*sides)
        return Ratio(found.ratio, found.low, found.high, processes, _TWO_TIMES)
    before, after = old.get("value") or 0, new.get("value") or 0
    if before <= 0 or after <= 0:
        return Ratio(None, None, None, 0, _NO_RATIO)
    sampled = old.get("samples") and new.get("samples")
    return Ratio(after / before, None, None, 0, _ONE_PROCESS if sampled else _NO_SAMPLES)


_OF_ONE_RUN: Final = frozenset({
    "samples", "count", "processes", "iterations", "mean", "median", "min", "max", "stddev", "q1", "q3", "low", "high",
    "interval", "failed", "extra",
})  # fmt: skip
"""Fields of a run's document that are not those of all runs together."""


def merge_runs(runs: Sequence[Sequence[Row]], reference: str) -> list[dict[str, Any]]:
    """One document for each measure of each benchmark, its samples the values of the runs; speeds are judged.

    A time, or operations a second, has the speed of each block in ``repeats``, its median with an interval in
    ``speed``, and ``comparison`` with the benchmark ``reference`` where that is in its suite. Raises ``ResultsError``
    where no suite has that one, or one has several.
    """
    found: dict[str, list[tuple[int, Row]]] = {}
    for block, run in enumerate(runs):
        for row in run:
            found.setdefault(repr(row["_id"]), []).append((block, row))
    merged = [_merge(rows) for rows in found.values()]
    _compare(merged, reference)
    return merged


def _merge(rows: Sequence[tuple[int, Row]]) -> dict[str, Any]:
    first = min((row for _, row in rows), key=lambda row: str(row.get("start_time", "")))
    measured = [(block, row) for block, row in rows if row.get("value") is not None]
    values = [float(row["value"]) for _, row in measured]
    kept = {name: value for name, value in first.items() if name not in _OF_ONE_RUN}
    failed = dict.fromkeys(str(row["failed"]) for _, row in rows if "failed" in row)
    return {
        **kept,
        "value": median(values) if values else None,
        **(
            {"statistic": "median", "median": median(values), "min": min(values), "max": max(values)}
            if values
            else {}
        ),
        **({"samples": values, "count": len(values), "processes": len(values)} if values else {}),
        **({"failed": "; ".join(failed)} if failed else {}),
        **_tell_blocks(measured),
    }


def _tell_blocks(measured: Sequence[tuple[int, Row]]) -> dict[str, Any]:
    """The speed in each block, and over all; nothing for what is no speed, or was 0 in a block."""
    speeds = [(block, row, _speed(row)) for block, row in measured]
    if not speeds or not all(speed for _, _, speed in speeds):
        return {}
    repeats = [
        {
            "block": block,
            **({"start_time": row["start_time"]} if "start_time" in row else {}),
            "operations_per_second": speed,
        }
        for block, row, speed in speeds
    ]
    over = speed_interval([speed for _, _, speed in speeds])
    told = {"median": over.speed, "low": over.low, "high": over.high, "blocks": len(speeds)}
    return {"repeats": repeats, "speed": told}


def _speed(row: Row) -> float:
    """Operations a second; 0 for what is no speed."""
    value = float(row["value"])
    if (row["metric"], row["unit"]) == (TIME, SECONDS) and value > 0:
        return 1 / value
    return value if row["unit"] == "ops/s" else 0.0


def _compare(rows: Sequence[dict[str, Any]], reference: str) -> None:
    """Add what each row is to the reference of its suite, and measure."""
    there = [
        row
        for row in rows
        if reference in (row["_id"]["name"], row["name"], row["benchmark"]) and block_speeds(row)
    ]
    suites = [(row["_id"]["testname"], row["_id"]["metric"]) for row in there]
    if not there:
        names = ", ".join(dict.fromkeys(repr(row["_id"]["name"]) for row in rows if block_speeds(row)))
        raise ResultsError(
            f"no benchmark with a speed is called {reference!r}", hint=f"there are {names}", environment=True
        )
    if len(set(suites)) < len(suites):
        names = ", ".join(dict.fromkeys(repr(row["_id"]["name"]) for row in there))
        raise ResultsError(
            f"several benchmarks are called {reference!r}", hint=f"name one of {names}", environment=True
        )
    for base, suite in zip(there, suites, strict=True):
        some = [
            row
            for row in rows
            if (row["_id"]["testname"], row["_id"]["metric"]) == suite and block_speeds(row)
        ]
        number = next(number for number, row in enumerate(some) if row is base)
        for row, told in zip(some, conclude(some, number), strict=True):
            row["comparison"] = told
