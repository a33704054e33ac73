"""The output of ``vitest bench --outputJson FILE``: the groups of each file, and the benchmarks of each group.

The fields are those of ``createBenchmarkJsonReport`` in the source of versions 1 to 4
(https://github.com/vitest-dev/vitest) and of Tinybench's results. Times are in milliseconds. The samples, all of one
process, are in the file only if ``benchmark.includeSamples`` is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mongo_tables.results.formats.benchmark import (
    SECONDS,
    TIME,
    Benchmark,
    RunOrigin,
    ToolInterval,
    make_documents,
    shift,
)
from mongo_tables.results.formats.json_parts import JsonPart, read_whole
from mongo_tables.results.formats.model import SourceFile

_TOOL: Final = "Vitest"
_APART: Final = (
    "write one file for each project with `vitest bench --run --project NAME --outputJson FILE`, and give the "
    "benchmarks of a group different names"
)
_SUMMARY: Final = {"mean": "mean", "median": "median", "min": "min", "max": "max", "sd": "stddev"}
_PERCENTILES: Final = {"p75": "p75", "p99": "p99", "p995": "p99.5", "p999": "p99.9"}

_ALWAYS: Final = ("name", "rank", "rme", "hz", "moe", "sampleCount", *_SUMMARY, *_PERCENTILES)
_OTHERS: Final = ("id", "samples", "totalTime", "period", "variance", "sem", "df", "critical")


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield documents for the time of each benchmark, its operations per second, and its percentiles."""
    files = list(read_whole(file, _TOOL).need("files").elements())
    for one in files:
        one.need_keys("filepath")
    groups = (group for one in files for group in one.need("groups").elements())
    found = (
        measure
        for group in groups
        for one in group.need("benchmarks").elements()
        for measure in _read_benchmark(group.need("fullName").text(), one)
    )
    return make_documents(file, RunOrigin(_TOOL, versions={"harness": _TOOL}, apart=_APART), found)


def _read_benchmark(suite: str, one: JsonPart) -> Iterator[Benchmark]:
    one.refuse_renamed(_ALWAYS, _OTHERS)
    figures = {
        name: shift(number, -3)
        for key, name in {**_SUMMARY, **_PERCENTILES, "moe": "moe"}.items()
        if (part := one.find(key)) and (number := part.number()) is not None
    }
    mean, around, count, samples = (
        *map(figures.get, ("mean", "moe")),
        one.find("sampleCount"),
        one.find("samples"),
    )
    time = Benchmark(
        suite=suite,
        key=one.need("name").text(),
        metric=TIME,
        unit=SECONDS,
        better="lower",
        value=mean,
        statistic="mean",
        summary={name: figures[name] for name in _SUMMARY.values() if name in figures}
        | ({"count": number} if count and (number := count.whole_or_none()) is not None else {}),
        interval=None
        if mean is None or around is None
        else ToolInterval(mean - around, mean + around, "95 % of the mean, by Vitest"),
        samples=[shift(number, -3) for number in samples.numbers()] if samples else (),
        failed="Vitest gives no time" if mean is None else samples.lost_numbers() if samples else "",
    )
    yield time
    if "hz" in one.fields():
        rate, lost = (speed.number() if (speed := one.find("hz")) else None), "Vitest gives no hz"
        yield Benchmark(
            suite, time.key, "throughput", "ops/s", better="higher", value=rate, failed="" if rate else lost
        )
    for key, name in _PERCENTILES.items():
        if key in one.fields():
            yield time.percentile(name, figures.get(name))
