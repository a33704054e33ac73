"""Documents of benchmark tools, read from any results source and merged from several runs.

A run is a file in which the tool measured every benchmark once, within a short time. Several runs of the same
benchmarks are treated as blocks: disturbances of the machine during a run affect all of its benchmarks and cancel in
their ratio, so a verdict is possible (``results.conclusions``). The tool runs its benchmarks in the same order each
time, so effects of the order remain in the ratio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from statistics import median
from typing import Any, Final

import bson
from bson.codec_options import CodecOptions

from mongo_tables.results.conclusions import block_speeds, conclude
from mongo_tables.results.formats.benchmark import SECONDS, TIME
from mongo_tables.results.intervals import speed_interval
from mongo_tables.results.model import unusable
from mongo_tables.results.opening import open_source
from mongo_tables.results.row_names import is_benchmark

_OPTIONS: Final[CodecOptions[dict[str, Any]]] = CodecOptions(tz_aware=True)
_HINT: Final = "name a file that a benchmark tool wrote, or a folder that `mongo-tables import` wrote into"


def read_benchmarks(where: str) -> list[dict[str, Any]]:
    """Return the benchmark documents of a source. Their dates have a time zone.

    Raises ``ResultsError`` if there are none.
    """
    with closing(open_source(where)) as source:
        raws = (raw for name in source.collections() for raw in source.raws(name))
        found = [row for row in (bson.decode(raw, _OPTIONS) for raw in raws) if is_benchmark(row)]
        if not found:
            raise unusable(f"{source.name} has no benchmarks", _HINT)
    return found


def leave_samples_out(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document without its samples and their details. ``count`` still has their number."""
    of_samples = {
        "samples",
        "processes",
        *(["iterations"] if isinstance(document.get("iterations"), list) else []),
    }
    return {name: value for name, value in document.items() if name not in of_samples}


Row = Mapping[str, Any]

_OF_ONE_RUN: Final = frozenset({
    "samples", "count", "processes", "iterations", "mean", "median", "min", "max", "stddev", "q1", "q3", "low", "high",
    "interval", "failed", "extra",
})  # fmt: skip
"""The fields that describe a single run, so they are not copied into the merged document."""


def merge_runs(runs: Sequence[Sequence[Row]], reference: str) -> list[dict[str, Any]]:
    """Return one document for each measure of each benchmark. Its samples are the values of the runs.

    A time or a rate of operations also gets ``repeats``, the speed in each block; ``speed``, their median with an
    interval; and ``comparison``, the verdict against the benchmark ``reference`` of its suite. Raises ``ResultsError``
    if no suite has that benchmark, or if a suite has several benchmarks with that name.
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
            {
                "statistic": "median",
                "median": median(values),
                "min": min(values),
                "max": max(values),
                "samples": values,
                "count": len(values),
                "processes": len(values),
            }
            if values
            else {}
        ),
        **({"failed": "; ".join(failed)} if failed else {}),
        **_tell_blocks(measured),
    }


def _tell_blocks(measured: Sequence[tuple[int, Row]]) -> dict[str, Any]:
    """Return the fields ``repeats`` and ``speed``, or nothing if a value is 0 or is not a speed."""
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
    """Return operations per second, or 0 if the row has no speed."""
    value = float(row["value"])
    if (row["metric"], row["unit"]) == (TIME, SECONDS) and value > 0:
        return 1 / value
    return value if row["unit"] == "ops/s" else 0.0


def _compare(rows: Sequence[dict[str, Any]], reference: str) -> None:
    """Add the comparison of each row with the reference of its suite and measure."""
    there = [
        row
        for row in rows
        if reference in (row["_id"]["name"], row["name"], row["benchmark"]) and block_speeds(row)
    ]
    suites = [(row["_id"]["testname"], row["_id"]["metric"]) for row in there]
    if not there:
        names = ", ".join(dict.fromkeys(repr(row["_id"]["name"]) for row in rows if block_speeds(row)))
        raise unusable(f"there is no benchmark {reference!r} with a speed", f"there are {names}")
    if len(set(suites)) < len(suites):
        names = ", ".join(dict.fromkeys(repr(row["_id"]["name"]) for row in there))
        raise unusable(f"several benchmarks are called {reference!r}", f"name one of {names}")
    for base, suite in zip(there, suites, strict=True):
        some = [
            row
            for row in rows
            if (row["_id"]["testname"], row["_id"]["metric"]) == suite and block_speeds(row)
        ]
        number = next(number for number, row in enumerate(some) if row is base)
        for row, told in zip(some, conclude(some, number), strict=True):
            row["comparison"] = told
