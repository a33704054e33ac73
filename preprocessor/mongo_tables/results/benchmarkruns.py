"""Several runs of the same benchmarks as blocks: what was measured in one run is paired, so it may be judged.

A run is a file: in it the tool measured every benchmark once, one soon after the other. What the machine did during a
run is in all of them, and leaves their ratio, as in a block of ``mongo-tables run``
(``mongo_tables.results.conclusions``). The order of benchmarks within a run is the tool's, the same each time: what
comes of that order is in the ratio as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

from mongo_tables.results.conclusions import block_speeds, conclude
from mongo_tables.results.formats.benchmark import SECONDS, TIME
from mongo_tables.results.intervals import speed_interval
from mongo_tables.results.model import ResultsError

Row = Mapping[str, Any]

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


def _names_of(row: Row) -> tuple[str, ...]:
    return row["_id"]["name"], row["name"], row["benchmark"]


def _compare(rows: Sequence[dict[str, Any]], reference: str) -> None:
    """Add what each row is to the reference of its suite, and measure."""
    there = [row for row in rows if reference in _names_of(row) and block_speeds(row)]
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
