"""The output of JMH's ``-rf json -rff FILE``: a list with an object for each benchmark, mode and set of parameters.

The fields are those of ``JSONResultFormat`` in the source of JMH since version 1.5, https://github.com/openjdk/jmh. Old
versions do not state their version. If ``threads`` differs between runs, it becomes a parameter. The samples are the
measured iterations, one fork after the other. Each fork is a separate process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    with_parameters,
)
from mongo_tables.results.formats.json_parts import JsonPart, read_whole
from mongo_tables.results.formats.model import SourceFile

_POWERS: Final = {"s": 0, "ms": -3, "us": -6, "ns": -9}
_FACTORS: Final = {"min": 60.0, "hr": 3600.0, "day": 86400.0}
_ALWAYS: Final = ("benchmark", "mode", "threads", "forks", "primaryMetric", "secondaryMetrics")
_OTHERS: Final = (
    "jmhVersion", "jvm", "jvmArgs", "jdkVersion", "vmName", "vmVersion", "warmupIterations", "warmupTime",
    "warmupBatchSize", "measurementIterations", "measurementTime", "measurementBatchSize", "params",
)  # fmt: skip
_OF_METRIC: Final = ("score", "scoreError", "scoreConfidence", "scorePercentiles", "scoreUnit")
_OPERATIONS: Final = "ops/s"


class _Mode(NamedTuple):
    metric: str
    better: Better
    unit: str = SECONDS


_MODES: Final = {
    "thrpt": _Mode("throughput", "higher", _OPERATIONS),
    "avgt": _Mode(TIME, "lower"),
    "sample": _Mode("sampled time", "lower"),
    "ss": _Mode("single-shot time", "lower"),
}


_SAMPLED: Final = "sample"
"""The mode that samples a distribution of times. Its percentiles are measures, too."""


class _Scale(NamedTuple):
    """One of our units, and the conversion of a JMH unit to it: by a power of ten, then by a factor."""

    unit: str
    power: int = 0
    factor: float = 1.0

    def of(self, number: float) -> float:
        """Return the number in our unit."""
        return (shift(number, self.power) if self.power else number) * self.factor


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield a document for the score of each benchmark, and for each figure of its profilers."""
    runs = list(read_whole(file, "JMH").elements())
    threads = {str(part.fields().get("threads")) for part in runs}
    varied = ["threads"] if len(threads) > 1 else []
    benchmarks = [one for part in runs for one in _read_run(part, varied)]
    return make_documents(file, _read_origin(runs[0]) if runs else RunOrigin("JMH"), benchmarks)


def _read_origin(part: JsonPart) -> RunOrigin:
    known = part.fields()
    version = known.get("jmhVersion", "")
    machine = " ".join(str(known[key]) for key in ("vmName", "vmVersion") if known.get(key))
    return RunOrigin("JMH", versions={"harness": f"JMH {version}".strip(), "runtime": machine})


def _read_run(part: JsonPart, varied: Sequence[str]) -> Iterator[Benchmark]:
    part.refuse_renamed(_ALWAYS, _OTHERS)
    version, mode = part.find("jmhVersion"), part.need("mode")
    if version and not version.text().startswith("1."):
        raise version.refuse(f"the file was written by JMH {version.text()}, but only JMH 1 is supported")
    if mode.text() not in _MODES:
        raise mode.refuse(f"unknown JMH mode {mode.text()!r}")
    primary = part.need("primaryMetric")
    raw = "rawDataHistogram" if primary.find("rawDataHistogram") else "rawData"
    primary.refuse_renamed((*_OF_METRIC, raw), ("rawData",))
    unit, known = primary.need("scoreUnit"), _MODES[mode.text()]
    if _read_scale(primary).unit != known.unit:
        raise unit.refuse(f"the JMH unit {unit.text()!r} does not fit the mode {mode.text()!r}")
    main = _read_metric(part, primary, known.metric, known.better, varied)
    yield main._replace(summary=_read_histogram(primary)) if mode.text() == _SAMPLED else main
    if mode.text() == _SAMPLED and (percentiles := primary.find("scorePercentiles")):
        scale = _read_scale(primary)
        for text, one in percentiles.members():
            if (value := one.number()) is not None:
                yield main.percentile(f"p{text.removesuffix('.0')}", scale.of(value))
    if others := part.find("secondaryMetrics"):
        yield from (_read_metric(part, one, name.lstrip("·"), "", varied) for name, one in others.members())


def _read_histogram(metric: JsonPart) -> dict[str, float]:
    """Return the ``count`` of samples in the histograms of all forks and iterations, or nothing without them."""
    given = metric.find("rawDataHistogram")
    bars = (
        bar.elements()
        for fork in (given.elements() if given else ())
        for iteration in fork.elements()
        for bar in iteration.elements()
    )
    count = sum(number.whole() for bar in bars for number in list(bar)[1:])
    return {"count": count} if count else {}


def _read_metric(
    part: JsonPart, metric: JsonPart, name: str, better: Better, varied: Sequence[str]
) -> Benchmark:
    scale, benchmark, given = _read_scale(metric), part.need("benchmark").text(), part.find("params")
    given_forks = list(metric.need("rawData").elements()) if metric.find("rawData") else []
    forks = [fork.numbers() for fork in given_forks]
    lost = next(filter(None, (fork.lost_numbers() for fork in given_forks)), "")
    alike = len({len(fork) for fork in forks}) == 1
    parameters = {**(given.fields() if given else {}), **{key: part.fields().get(key) for key in varied}}
    _, _, method = benchmark.rpartition(".")
    score = metric.need("score").number()
    return Benchmark(
        suite=benchmark.rpartition(".")[0],
        key=with_parameters(benchmark, parameters),
        name=with_parameters(method, parameters),
        base=method,
        metric=name,
        unit=scale.unit,
        better=better,
        parameters=parameters,
        value=None if score is None else scale.of(score),
        statistic="mean",
        interval=_read_interval(metric, scale),
        samples=[scale.of(one) for fork in forks for one in fork],
        processes=len(forks) if alike else 1,
        failed=lost if score is not None else "JMH gives no score",
        extra={
            key: one.value for key in ("threads", "forks", "warmupIterations", "measurementIterations")
            if (one := part.find(key))
        },
    )  # fmt: skip


def _read_scale(metric: JsonPart) -> _Scale:
    """Return the conversion of the unit to seconds or operations per second. Other units are not converted."""
    unit = metric.need("scoreUnit").text()
    above, _, below = unit.partition("/")
    if below == "op" and above in _POWERS:
        return _Scale(SECONDS, _POWERS[above])
    if below == "op" and above in _FACTORS:
        return _Scale(SECONDS, factor=_FACTORS[above])
    if above == "ops" and below in _POWERS:
        return _Scale(_OPERATIONS, -_POWERS[below])
    if above == "ops" and below in _FACTORS:
        return _Scale(_OPERATIONS, factor=1 / _FACTORS[below])
    return _Scale(unit)


def _read_interval(metric: JsonPart, scale: _Scale) -> ToolInterval | None:
    """Return JMH's 99.9 % interval of the mean, or None for a single sample."""
    ends = metric.find("scoreConfidence")
    if ends is None:
        return None
    found = [one.number() for one in ends.elements()]
    if len(found) != 2:
        raise ends.refuse(f"`scoreConfidence` must have two numbers, not {len(found)}")
    low, high = found
    return (
        None
        if low is None or high is None
        else ToolInterval(scale.of(low), scale.of(high), "99.9 % of the mean, by JMH")
    )
