"""The one document that every format of a benchmark tool is read into: one measure of one benchmark.

``schemas/benchmark.schema.json`` has its fields. A document that says when it was measured has the shape of a result
(``results.provenance``): what is told of results is told of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from statistics import fmean, median, stdev
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.results.formats.model import SourceFile

Better = Literal["lower", "higher", ""]

TIME: Final = "time"
"""The measure of how long the work takes once, in seconds."""
SECONDS: Final = "s"
AGAIN: Final = "run the benchmarks once more"
"""What is to be done about a file that may lack results."""
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
MOST_SAMPLES: Final = 500_000
"""More do not fit into one document: a server takes 16 MiB."""
_LARGEST: Final = 1e150
"""The square of a figure has to be a number as well."""
_ALWAYS: Final = frozenset({"name", "benchmark", "metric", "unit", "value", "tool"})
_OF_SAMPLES: Final[Mapping[str, Callable[[Sequence[float]], Any]]] = {
    "mean": fmean,
    "median": median,
    "min": min,
    "max": max,
    "stddev": lambda samples: stdev(samples) if len(samples) > 1 else None,
}
_WHOLE: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})\.\d{0,14}[1-9]")


class Origin(NamedTuple):
    """What a file says of the whole run: when, where, of which commit, by which tool.

    ``versions`` has ``harness``, the tool, and ``runtime``, what ran the work; ``hardware`` and ``commit`` have the
    fields that the schema names. ``start`` is in UTC.
    """

    tool: str
    start: datetime | None = None
    versions: Mapping[str, str] = _NOTHING
    hardware: Mapping[str, Any] = _NOTHING
    commit: Mapping[str, Any] = _NOTHING


class Interval(NamedTuple):
    """The interval that the tool gives for the value, and what it says that it is."""

    low: float
    high: float
    of: str


class Benchmark(NamedTuple):
    """One measure of one benchmark.

    ``key`` is its full name within the ``suite``, which is never that of another one. ``name`` is what the tool shows,
    ``base`` that without parameters; both are the key where nothing else is given.
    ``value`` is the figure that the tool gives, and ``statistic`` what it is of the samples; without one it is the
    median of the samples. ``summary`` has what the tool gives beside it: ``mean``, ``median``, ``min`` and so on.
    ``processes`` is of how many processes the samples are, equally many of each, in their order.
    """

    suite: str
    key: str
    metric: str
    unit: str
    name: str = ""
    base: str = ""
    better: Better = ""
    parameters: Mapping[str, Any] = _NOTHING
    value: float | None = None
    statistic: str = ""
    summary: Mapping[str, float] = _NOTHING
    interval: Interval | None = None
    samples: Sequence[float] = ()
    processes: int = 1
    iterations: int | Sequence[int] | None = None
    failed: str = ""
    extra: Mapping[str, Any] = _NOTHING


def make_documents(
    file: SourceFile, origin: Origin, benchmarks: Iterable[Benchmark]
) -> Iterator[dict[str, Any]]:
    """The documents of a file, in its order.

    Raises ``ResultsError`` where it has no benchmark, a measure of one twice, or more samples than a document holds.
    """
    found = _type_parameters(list(benchmarks))
    if not found:
        raise file.refuse(f"{origin.tool} has no benchmark in this file", hint=AGAIN)
    seen: set[tuple[str, str, str]] = set()
    for one in found:
        place = (one.suite, one.key, one.metric)
        if place in seen:
            raise file.refuse(
                f"the benchmark {one.key!r} has its {one.metric} twice",
                hint="give benchmarks different names, or keep each run in a file of its own",
            )
        seen.add(place)
        if len(one.samples) > MOST_SAMPLES:
            raise file.refuse(
                f"the benchmark {one.key!r} has {len(one.samples):,} samples; a document holds {MOST_SAMPLES:,}",
                hint="have the tool write fewer samples, or none",
            )
        if max(map(abs, _list_figures(one)), default=0.0) > _LARGEST:
            raise file.refuse(
                f"the benchmark {one.key!r} has a figure above {_LARGEST:g}, which none measures"
            )
        yield make_document(origin, one)


def _list_figures(one: Benchmark) -> Iterator[float]:
    yield from one.samples
    yield from one.summary.values()
    yield from (one.interval.low, one.interval.high) if one.interval else ()
    yield from () if one.value is None else (one.value,)


def make_document(origin: Origin, one: Benchmark) -> dict[str, Any]:
    """The document of a benchmark; what is not known of it is not in it."""
    told = {
        "_id": {"testname": one.suite, "name": one.key, "metric": one.metric},
        "name": one.name or one.key,
        "benchmark": one.base or one.name or one.key,
        "parameters": dict(one.parameters),
        "metric": one.metric,
        "unit": one.unit,
        "better": one.better,
        **_tell_figures(one),
        "iterations": one.iterations if isinstance(one.iterations, int) else list(one.iterations or ()),
        "failed": one.failed,
        "start_time": origin.start,
        "tool": origin.tool,
        "versions": dict(origin.versions),
        "hardware": dict(origin.hardware),
        "commit": dict(origin.commit),
        "extra": dict(one.extra),
    }
    unknown: tuple[Any, ...] = (None, "", [], {})
    return {name: value for name, value in told.items() if value not in unknown or name in _ALWAYS}


def _tell_figures(one: Benchmark) -> dict[str, Any]:
    """The value, what it is, all that the tool gives beside it, and of samples what it does not give."""
    given = dict(one.summary)
    if one.value is not None and one.statistic in _OF_SAMPLES:
        given.setdefault(one.statistic, one.value)
    if one.samples:
        figures = (compute(one.samples) for compute in _OF_SAMPLES.values())
        given = {**dict(zip(_OF_SAMPLES, figures, strict=True)), **given}
    value, statistic = (given.get("median"), "median") if one.value is None else (one.value, one.statistic)
    bounds = one.interval
    return {
        "value": value,
        "statistic": "" if value is None else statistic,
        **given,
        **({"low": bounds.low, "high": bounds.high, "interval": bounds.of} if bounds else {}),
        **(
            {"samples": list(one.samples), "count": len(one.samples), "processes": one.processes}
            if one.samples
            else {}
        ),
    }


def with_parameters(name: str, parameters: Mapping[str, Any]) -> str:
    """A name with its parameters behind it, in brackets: ``sort (n = 10)``."""
    named = ", ".join(f"{key} = {value}" for key, value in parameters.items())
    return f"{name} ({named})" if named else name


def shift(number: float | int | str, places: int) -> float:
    """A decimal number times a power of ten, to the nearest double of the decimal result: 123.4 ns are 1.234e-07 s.

    Raises ValueError for a text that is no number.
    """
    try:
        return float(Decimal(number if isinstance(number, str) else repr(number)).scaleb(places))
    except ArithmeticError:
        raise ValueError(f"{number} is not a number") from None


def read_date(text: str) -> datetime | None:
    """A date as tools write it, in UTC and to the millisecond; without a zone it is taken for UTC. None: it is none."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    utc = found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def _type_parameters(benchmarks: Sequence[Benchmark]) -> list[Benchmark]:
    """The benchmarks with parameters as numbers where all texts that the file has for one are numbers.

    A decimal counts as one only as a program writes it, ``0.5``: then versions, ``3.10``, stay what they are.
    """
    texts: dict[str, bool] = {}
    for one in benchmarks:
        for name, value in one.parameters.items():
            texts[name] = texts.get(name, True) and (not isinstance(value, str) or _is_number(value))
    return [
        one._replace(parameters={name: _typed(value, texts[name]) for name, value in one.parameters.items()})
        if one.parameters
        else one
        for one in benchmarks
    ]


def _is_number(text: str) -> bool:
    return bool(_WHOLE.fullmatch(text) or _DECIMAL.fullmatch(text))


def _typed(value: Any, number: bool) -> Any:
    if not number or not isinstance(value, str):
        return value
    return int(value) if _WHOLE.fullmatch(value) else float(value)
