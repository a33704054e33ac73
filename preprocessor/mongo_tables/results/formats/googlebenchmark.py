"""The output of Google Benchmark with ``--benchmark_format=json`` or ``--benchmark_out=FILE``.

https://google.github.io/benchmark/user_guide.html shows an example. The fields are those of ``json_reporter.cc``, which
calls them schema 1 since version 1.9. The samples are the repetitions, all within one process. If a file has only
aggregates, they become the summary. A fitted complexity (``BigO``, ``RMS``) is not a measurement and is omitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mongo_tables.results.formats.benchmark import (
    SECONDS,
    TIME,
    Benchmark,
    RunOrigin,
    make_documents,
    read_date,
    shift,
)
from mongo_tables.results.formats.json_parts import JsonPart, read_whole
from mongo_tables.results.formats.model import SourceFile

_TOOL: Final = "Google Benchmark"
_SCHEMA: Final = 1
_POWERS: Final = {"s": 0, "ms": -3, "us": -6, "ns": -9}
_TIMES: Final = {"real_time": TIME, "cpu_time": "CPU time"}
_RATES: Final = ("bytes_per_second", "items_per_second")
_NOT_COUNTERS: Final = frozenset((
    "name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "repetition_index",
    "threads", "iterations", "time_unit", "label", "aggregate_name", "aggregate_unit", "error_occurred",
    "error_message", "skipped", "skip_message", "big_o", "rms", "cpu_coefficient", "real_coefficient", *_TIMES,
))  # fmt: skip
_SUMMARY: Final = ("mean", "median", "stddev", "min", "max")
_ARGUMENT: Final = re.compile(r"([A-Za-z_]\w*):(.+)")


@dataclass(slots=True)
class _Measure:
    values: list[float] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    summary: dict[str, float] = field(default_factory=dict)
    other: dict[str, tuple[float, str]] = field(default_factory=dict)
    lost: int = 0


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield a document for each time, and for each of the benchmarks' own counters."""
    whole = read_whole(file, _TOOL)
    context = whole.need("context")
    runs: dict[str, list[JsonPart]] = {}
    for one in whole.need("benchmarks").elements():
        runs.setdefault(_read_name(one), []).append(one)
    # The path of the program may identify the machine.
    suite = re.split(r"[/\\]", context.text_at("executable"))[-1] or _TOOL
    benchmarks = [one for name, parts in runs.items() for one in _read_runs(suite, name, parts)]
    return make_documents(file, _read_origin(context), benchmarks)


def _read_name(run: JsonPart) -> str:
    """Return the name of a run. Raises ``ResultsError`` for a run without a key that Google Benchmark always writes."""
    run.need_keys("name", *(["run_name"] if "run_type" in run.fields() else []))
    if run.fields().get("run_type") == "aggregate":
        run.need_keys("aggregate_name")
    if not _read_failure(run) and not {"big_o", "rms"} & run.fields().keys():
        run.need_keys(*_TIMES, "time_unit")
    return (run.find("run_name") or run.need("name")).text()


def _read_origin(context: JsonPart) -> RunOrigin:
    schema, cores = context.find("json_schema_version"), context.find("num_cpus")
    if schema and schema.value != _SCHEMA:
        raise schema.refuse(
            f"unknown schema {schema.value} of Google Benchmark's JSON: only schema {_SCHEMA} is supported"
        )
    number = context.text_at("library_version").removeprefix("v")
    return RunOrigin(
        _TOOL,
        start=read_date(context.text_at("date")),
        versions={"harness": f"{_TOOL} {number}".strip()},
        hardware={"cores": cores.whole() if cores else None},
    )


def _read_runs(suite: str, key: str, parts: Sequence[JsonPart]) -> Iterator[Benchmark]:
    measures: dict[str, _Measure] = {}
    units: dict[str, str] = {}
    failures = dict.fromkeys(text for one in parts if (text := _read_failure(one)))
    for one in parts:
        if not _read_failure(one):
            _read_run(one, measures, units)
    if failures and not measures:
        measures, units = {TIME: _Measure()}, {TIME: SECONDS}
    name, parameters = _split_name(key)
    labels = dict.fromkeys(filter(None, (one.text_at("label") for one in parts)))
    for metric, found in measures.items():
        lost = f"{found.lost} of {found.lost + len(found.values)} values are not finite" if found.lost else ""
        lost = lost or ("" if found.values or found.summary or failures else "no value is finite")
        whole = Benchmark(
            suite=suite,
            key=key,
            base=name,
            metric=metric,
            unit=units[metric],
            better="lower" if metric in _TIMES.values() else "higher" if metric in _RATES else "",
            parameters=parameters,
            value=None if found.values else found.summary.get("median", found.summary.get("mean")),
            statistic="median" if found.values or "median" in found.summary else "mean",
            summary=found.summary,
            samples=found.values,
            iterations=found.iterations[0] if len(set(found.iterations)) == 1 else found.iterations,
            failed="; ".join([*failures, lost] if lost else failures),
            extra={"label": ", ".join(labels)} if labels else {},
        )
        yield whole
        for statistic, (value, unit) in found.other.items():
            yield whole.percentile(statistic, value)._replace(unit=unit)


def _read_failure(run: JsonPart) -> str:
    for failed, message in (("error_occurred", "error_message"), ("skipped", "skip_message")):
        if (told := run.find(failed)) and told.value:
            return run.text_at(message) or failed.replace("_", " ")
    return ""


def _read_run(run: JsonPart, measures: dict[str, _Measure], units: dict[str, str]) -> None:
    statistic, iterations = run.text_at("aggregate_name"), run.find("iterations")
    for metric, unit, value in _list_values(run):
        found = measures.setdefault(metric, _Measure())
        units.setdefault(metric, unit)
        if value is None:
            found.lost += not statistic
        elif not statistic:
            found.values.append(value)
            found.iterations.extend(
                [count] if iterations and (count := iterations.whole_or_none()) is not None else []
            )
        elif statistic in _SUMMARY:
            found.summary[statistic] = value
        elif statistic != "cv":  # The coefficient of variation follows from the others.
            is_relative = run.fields().get("aggregate_unit") == "percentage"
            found.other[statistic] = (value, "1" if is_relative else unit)


def _list_values(run: JsonPart) -> Iterator[tuple[str, str, float | None]]:
    unit = run.text_at("time_unit") or "s"
    if unit not in _POWERS:
        raise run.need("time_unit").refuse(f"unknown unit {unit!r} of Google Benchmark")
    power = _POWERS[unit]
    relative = run.fields().get("aggregate_unit") == "percentage"
    for key, metric in _TIMES.items():
        if part := run.find(key):
            value = part.number()
            yield metric, SECONDS, value if value is None or relative else shift(value, power)
    for key, part in run.members():
        if key not in _NOT_COUNTERS and part.is_number():
            yield key, _UNITS.get(key, ""), part.number()


_UNITS: Final = {
    "bytes_per_second": "B/s", "items_per_second": "items/s", "allocs_per_iter": "allocations", "max_bytes_used": "B",
    "total_allocated_bytes": "B", "net_heap_growth": "B",
}  # fmt: skip


def _split_name(key: str) -> tuple[str, dict[str, str]]:
    """Return a name and its arguments. ``/n:8`` is a named argument, ``/8`` a positional one."""
    first, *others = key.split("/")
    plain, parameters = [first], {}
    for one in others:
        if named := _ARGUMENT.fullmatch(one):
            parameters[named[1]] = named[2]
        elif re.fullmatch(r"-?\d+", one):
            parameters[f"argument {sum(name.startswith('argument ') for name in parameters) + 1}"] = one
        else:
            plain.append(one)
    return "/".join(plain), parameters
