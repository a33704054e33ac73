"""The common form of the results of all benchmark tools: one document for each measure of each benchmark.

``schemas/benchmark.schema.json`` lists its fields. A document with a date has the form of a result
(``results.provenance``), so it gets the same provenance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from statistics import fmean, median, stdev
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.formats.raw_values import (
    are_numbers,
    are_versions,
    hold_name,
    hold_value,
    to_number,
    version_key,
)
from mongo_tables.results.model import NoBenchmarks
from mongo_tables.results.row_names import ORDER

Better = Literal["lower", "higher", ""]

TIME: Final = "time"
"""The measure for the duration of one execution of the work, in seconds."""
SECONDS: Final = "s"
AGAIN: Final = "run the benchmarks once more"
"""The hint for a file that may lack results."""
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
MOST_SAMPLES: Final = 500_000
"""The maximum number of samples of one document. A server accepts documents of 16 MiB."""
_PART: Final = r"(?<![^\s/,:(\[])([^\W\d]\w*)=([\w.]+)(?![^\s/,)\]])"
"""A parameter within a name: ``n=10``."""
_NAMED: Final = re.compile(_PART)
_GAP: Final = r"[\s/,:|–-]"
_PARTS: Final = rf"{_PART}(?:{_GAP}+{_PART})*"
_WITH_GAPS: Final = re.compile(
    rf"(?<=[(\[]){_PARTS}{_GAP}+|(?<!{_GAP}){_GAP}*(?:[(\[]{_PARTS}[)\]]|{_PARTS})"
)
"""Parameters, with the signs that separate them from the rest of a name, or with the brackets around them."""
_LARGEST: Final = 1e150
"""The largest figure. Its square is still a finite double."""
_ALWAYS: Final = frozenset({"name", "benchmark", "metric", "unit", "value", "tool"})
_OF_SAMPLES: Final[Mapping[str, Callable[[Sequence[float]], Any]]] = {
    "mean": fmean,
    "median": median,
    "min": min,
    "max": max,
    "stddev": lambda samples: stdev(samples) if len(samples) > 1 else None,
}


class RunOrigin(NamedTuple):
    """The facts about a whole run in a file: tool, date, machine, commit.

    ``versions`` has ``harness``, the tool, and ``runtime``, the program that ran the work. ``hardware`` and ``commit``
    have the fields of the schema. Unknown values are None or "". ``start`` is in UTC. ``apart`` is the hint if the file
    has a benchmark twice.
    """

    tool: str
    start: datetime | None = None
    versions: Mapping[str, Any] = _NOTHING
    hardware: Mapping[str, Any] = _NOTHING
    commit: Mapping[str, Any] = _NOTHING
    apart: str = "give benchmarks different names, or write each run into a separate file"


class ToolInterval(NamedTuple):
    """The interval of the value as the tool computed it, and the kind of this interval."""

    low: float
    high: float
    of: str


class Benchmark(NamedTuple):
    """One measure of one benchmark.

    Attributes:
        key: The full name, unique within the ``suite``.
        name: The name for readers; by default the key.
        base: The name without parameters; by default the name.
        value: The tool's figure. Without a value and a ``statistic``, it is the median of the samples.
        statistic: The name of the statistic in ``value``, such as ``mean``.
        summary: The tool's other figures: ``mean``, ``median``, ``min`` and so on.
        processes: The number of processes that measured the samples, one after the other. Each measured equally many.
        failed: Why there is no value, or why it may be wrong.
        order: Sort keys for parameters that are versions.
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
    interval: ToolInterval | None = None
    samples: Sequence[float] = ()
    processes: int = 1
    iterations: int | Sequence[int] | None = None
    failed: str = ""
    extra: Mapping[str, Any] = _NOTHING
    order: Mapping[str, str] = _NOTHING

    def percentile(self, name: str, value: float | None) -> Benchmark:
        """Return a percentile of this distribution as a separate measure, such as ``sampled time p99``."""
        return self._replace(
            metric=f"{self.metric} {name}", value=value, statistic=name, summary={}, interval=None, samples=()
        )


def make_documents(
    file: SourceFile, origin: RunOrigin, benchmarks: Iterable[Benchmark]
) -> Iterator[dict[str, Any]]:
    """Yield the documents of a file, in order.

    Raises ``ResultsError`` if it has no benchmark, a measure of a benchmark twice, or too many samples.
    """
    found = _type_parameters(file, [*map(_read_name, benchmarks)])
    if not found:
        error = file.refuse(f"this file of {origin.tool} has no benchmark", hint=AGAIN)
        raise NoBenchmarks(error.message, hint=error.hint, environment=True, findings=error.findings)
    seen: set[tuple[str, str, str]] = set()
    for one in found:
        place = (one.suite, one.key, one.metric)
        if place in seen:
            of = f" of {one.suite!r}" if one.suite not in (origin.tool, *one.key.split("::")) else ""
            raise file.refuse(f"the benchmark {one.key!r}{of} has its {one.metric} twice", hint=origin.apart)
        seen.add(place)
        if len(one.samples) > MOST_SAMPLES:
            raise file.refuse(
                f"the benchmark {one.key!r} has {len(one.samples):,} samples, but the limit is {MOST_SAMPLES:,}",
                hint="let the tool write fewer samples, or none",
            )
        if max(map(abs, _list_figures(one)), default=0.0) > _LARGEST:
            odd = f"a figure is above {_LARGEST:g}, which is not plausible"
            one = one._replace(value=None, summary={}, interval=None, samples=(), iterations=None, failed=odd)
        yield make_document(origin, one)


def _list_figures(one: Benchmark) -> Iterator[float]:
    yield from one.samples
    yield from one.summary.values()
    yield from (one.interval.low, one.interval.high) if one.interval else ()
    yield from () if one.value is None else (one.value,)


def make_document(origin: RunOrigin, one: Benchmark) -> dict[str, Any]:
    """Return the document of a benchmark, without unknown fields."""
    figures = _tell_figures(one)
    lost = figures["value"] is None
    told = {
        "_id": {"testname": one.suite, "name": one.key, "metric": one.metric},
        "name": one.name or one.key,
        "benchmark": one.base or one.name or one.key,
        "parameters": dict(one.parameters),
        "metric": one.metric,
        "unit": one.unit,
        "better": one.better,
        **figures,
        "iterations": one.iterations if isinstance(one.iterations, int) else list(one.iterations or ()),
        "failed": one.failed or (f"{origin.tool} gives no {one.statistic or 'value'}" if lost else ""),
        "start_time": origin.start,
        "tool": origin.tool,
        "versions": _leave_out_unknown(origin.versions),
        "hardware": _leave_out_unknown(origin.hardware),
        "commit": _leave_out_unknown(origin.commit),
        "extra": {hold_name(name): hold_value(value) for name, value in one.extra.items()},
        ORDER: {"parameters": dict(one.order)} if one.order else {},
    }
    return _leave_out_unknown(told, _ALWAYS)


def _leave_out_unknown(told: Mapping[str, Any], always: Collection[str] = ()) -> dict[str, Any]:
    unknown: tuple[Any, ...] = (None, "", [], {})
    return {name: value for name, value in told.items() if value not in unknown or name in always}


def _tell_figures(one: Benchmark) -> dict[str, Any]:
    """Return value, statistic and the tool's other figures. Missing figures are computed from the samples."""
    given = dict(one.summary)
    if one.value is not None and one.statistic in _OF_SAMPLES:
        given.setdefault(one.statistic, one.value)
    if one.samples:
        figures = (compute(one.samples) for compute in _OF_SAMPLES.values())
        given = {**dict(zip(_OF_SAMPLES, figures, strict=True)), **given}
    value, statistic = one.value, one.statistic
    if value is None and statistic in (
        "",
        "median",
    ):  # The median does not replace another statistic, such as a mean.
        value, statistic = given.get("median"), "median"
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
    """Return a name with its parameters in brackets: ``sort (n = 10)``."""
    named = ", ".join(f"{key} = {value}" for key, value in parameters.items())
    return f"{name} ({named})" if named else name


def shift(number: float | int | str, places: int) -> float:
    """Return a decimal number times a power of ten, rounded to the nearest double: 123.4 ns are 1.234e-07 s.

    Raises ValueError for a text that is not a number.
    """
    try:
        return float(Decimal(number if isinstance(number, str) else repr(number)).scaleb(places))
    except ArithmeticError:
        raise ValueError(f"{number} is not a number") from None


def read_date(text: str) -> datetime | None:
    """Return a date in UTC, to the millisecond. A text without a time zone is in UTC. Return None for other texts."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    utc = found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def _read_name(one: Benchmark) -> Benchmark:
    """Return the benchmark. If its tool has stated no parameters, use those in its name, such as ``n=10``.

    A name that consists only of parameters becomes the name of the benchmark, without the values.
    """
    name = one.base or one.name or one.key
    named = {} if one.parameters else dict(_NAMED.findall(name))
    if not named:
        return one
    base = _WITH_GAPS.sub("", name).strip(" /,:|–-") or _NAMED.sub(r"\1", name)
    return one._replace(parameters=named, base=base)


def _type_parameters(file: SourceFile, benchmarks: Sequence[Benchmark]) -> list[Benchmark]:
    """Return the benchmarks. If all texts of a parameter in the file are numbers, they become numbers.

    Texts that look like numbers but are versions stay texts. ``order`` has their sort keys.
    """
    texts: dict[str, list[str]] = {}
    plain = {name: True for one in benchmarks for name in one.parameters}
    for one in benchmarks:
        for name, value in one.parameters.items():
            if isinstance(value, str):
                texts.setdefault(name, []).append(value)
            elif isinstance(value, bool) or not isinstance(value, int | float | None):
                plain[name] = False
    numbers = {name for name, some in texts.items() if plain[name] and are_numbers(some)}
    versions = {name for name, some in texts.items() if name not in numbers and are_versions(some)}
    for name in numbers:  # Tables show numbers with the decimals that they have in the file.
        decimals = {len(text.partition(".")[2]) for text in texts[name]}
        if len(decimals) == 1:
            file.decimals[f"parameters.{name}"] = decimals.pop()
    return [
        one._replace(
            parameters={
                hold_name(name): to_number(value) if name in numbers and isinstance(value, str) else hold_value(value)
                for name, value in one.parameters.items()
            },
            order={
                hold_name(name): version_key(value)
                for name, value in one.parameters.items()
                if name in versions and isinstance(value, str)
            },
        )
        for one in benchmarks
    ]  # fmt: skip
