"""The Bencher Metric Format: a value for each measure of each benchmark, with an optional interval.

https://bencher.dev/docs/reference/bencher-metric-format has its schema, https://bencher.dev/bmf.json. Its files have no
version, samples, units, machine, commit or date. Two built-in measures have a unit
(https://bencher.dev/docs/how-to/track-custom-benchmarks): ``latency`` nanoseconds, ``throughput`` operations per
second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from mongo_tables.results.formats.benchmark import (
    SECONDS,
    TIME,
    Benchmark,
    Better,
    RunOrigin,
    ToolInterval,
    make_documents,
    shift,
)
from mongo_tables.results.formats.json_parts import JsonPart, read_whole
from mongo_tables.results.formats.model import SourceFile

TOOL: Final = "Bencher"
BOUNDS: Final = "lower and upper value, as given to Bencher"
_PARTS: Final = frozenset({"value", "lower_value", "upper_value"})


class Measure(NamedTuple):
    """A built-in measure of Bencher, and the power of ten that converts its unit to ours."""

    metric: str
    unit: str
    better: Better
    power: int


MEASURES: Final[Mapping[str, Measure]] = {
    "latency": Measure(TIME, SECONDS, "lower", -9),
    "throughput": Measure("throughput", "ops/s", "higher", 0),
}


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield a document for each measure of each benchmark."""
    found = [
        _read_metric(name, measure, metric)
        for name, measures in read_whole(file, TOOL).members()
        for measure, metric in measures.members()
    ]
    return make_documents(file, RunOrigin(TOOL), found)


def _read_metric(name: str, slug: str, metric: JsonPart) -> Benchmark:
    if unknown := metric.fields().keys() - _PARTS:
        raise metric.refuse(f"unknown key `{sorted(unknown)[0]}` in the Bencher Metric Format")
    known = MEASURES.get(slug, Measure(slug, "", "", 0))
    value, low, high = (
        None if (part := metric.find(key)) is None else part.number()
        for key in ("value", "lower_value", "upper_value")
    )
    if value is None:
        raise metric.refuse("`value` is missing, or not a finite number")
    if low is not None and high is not None and low > high:
        raise metric.refuse("`lower_value` is above `upper_value`")
    bounds = [shift(one, known.power) for one in (low, high) if one is not None]
    return Benchmark(
        suite=TOOL,
        key=name,
        metric=known.metric,
        unit=known.unit,
        better=known.better,
        value=shift(value, known.power),
        interval=ToolInterval(bounds[0], bounds[1], BOUNDS) if len(bounds) == 2 else None,
        extra={} if len(bounds) != 1 else {"lower_value" if low is not None else "upper_value": bounds[0]},
    )
