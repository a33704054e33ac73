"""Documents of benchmark tools as rows that are compared: what was measured, in which unit, and what may be concluded.

Two files were measured at different times and are not paired, so nothing is called faster or slower by them. What can
be given is the ratio, and an interval where the samples are of several processes on both sides. A process is then the
unit, since samples within one share what it happened to be, its place in memory and the order of its hash tables
(Kalibera and Jones, *Rigorous benchmarking in reasonable time*, ISMM 2013); the interval is that of Welch's t on the
logarithms (Welch, 1947), which supposes that processes are independent. What the machine did differently at both times
is in the ratio, and in no interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final, NamedTuple

from mongo_tables.results.intervals import interval_between

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
    return [fmean(one) for one in _parts(samples, len(samples) // processes)]


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


def _parts(samples: Sequence[float], size: int) -> list[Sequence[float]]:
    return [samples[start : start + size] for start in range(0, len(samples), size)]
