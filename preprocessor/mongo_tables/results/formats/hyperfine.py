"""The output of hyperfine's ``--export-json FILE``, by version 1, which states no schema, and version 2 (schema 2).

The section JSON of hyperfine's README describes schema 2. ``BenchmarkResult`` in its source has the fields of version
1: https://github.com/sharkdp/hyperfine. Each sample is a separate process. The environment of a command may contain
secrets and is omitted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from mongo_tables.results.formats.benchmark import (
    SECONDS,
    TIME,
    Benchmark,
    RunOrigin,
    make_documents,
    read_date,
    with_parameters,
)
from mongo_tables.results.formats.json_parts import JsonPart, read_whole
from mongo_tables.results.formats.model import SourceFile

_SUITE: Final = "hyperfine"
_SCHEMA: Final = 2
_UNITS: Final = {"second": SECONDS, "byte": "B", "": "1"}
_METRICS: Final = {
    "time_wall_clock": TIME, "time_cpu": "CPU time", "time_user": "user time", "time_system": "system time",
    "memory_peak_resident": "peak memory", "cpu_cycles": "CPU cycles", "cache_references": "cache references",
    "cache_misses": "cache misses", "branch_misses": "branch misses",
}  # fmt: skip
"""Our names of hyperfine's measures. Other measures keep their names."""
_ALWAYS: Final = ("command", "mean", "stddev", "median", "user", "system", "min", "max", "times")
_NOW: Final = ("memory_usage_byte", "exit_codes")
_OTHERS: Final = (*_NOW, "parameters")
_SUMMARY: Final = {name: name for name in ("mean", "median", "min", "max", "stddev")}


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield a document for each measure of each command."""
    whole = read_whole(file, _SUITE)
    schema = whole.find("schema_version")
    if schema and schema.value != _SCHEMA:
        raise schema.refuse(
            f"unknown schema {schema.value} of hyperfine's JSON: only schema {_SCHEMA} and version 1 are supported"
        )
    first = RunOrigin(_SUITE, versions={"harness": "hyperfine 1"})
    origin, read_one = (_read_origin(whole), _read_measurements) if schema else (first, _read_result)
    return make_documents(
        file, origin, [one for part in whole.need("results").elements() for one in read_one(part)]
    )


def _read_origin(whole: JsonPart) -> RunOrigin:
    metadata = whole.need("metadata")
    version, platform = metadata.need("hyperfine_version").text(), metadata.find("platform")
    hardware = {"cpu_architecture": "architecture", "system": "os"}
    return RunOrigin(
        tool=_SUITE,
        start=read_date(metadata.text_at("start_time")),
        versions={"harness": f"hyperfine {version}"},
        hardware={name: platform.text_at(key) for name, key in hardware.items()} if platform else {},
    )


def _read_result(part: JsonPart) -> Iterator[Benchmark]:
    """Yield the measures of a command from version 1. Processor times have only a mean."""
    part.need_keys("stddev", "system")
    part.refuse_renamed(_ALWAYS, _OTHERS)
    part.refuse_renamed((*_ALWAYS, *_NOW), _OTHERS)
    command, parameters = part.need("command").text(), _read_parameters(part)
    times, memory, codes = (part.find(key) for key in ("times", "memory_usage_byte", "exit_codes"))
    runs = times.numbers() if times else []
    failed = _join(_say_failed(codes.values()) if codes else "", times.lost_numbers() if times else "")
    yield _measure(
        command,
        TIME,
        SECONDS,
        parameters,
        runs,
        part.named_numbers(_SUMMARY),
        part.need("mean"),
        failed=failed,
    )
    for key in ("user", "system"):
        if key in part.fields():
            mean = part.need(key)
            yield _measure(command, f"{key} time", SECONDS, parameters, [], {}, mean, failed=failed)
    if memory and (used := memory.numbers()):
        failed = _join(failed, memory.lost_numbers())
        yield _measure(command, "peak memory", "B", parameters, used, {}, None, failed=failed)


def _read_measurements(part: JsonPart) -> Iterator[Benchmark]:
    """Yield the measures of a command from schema 2. ``summary`` names them, ``measurements`` has the samples."""
    name, parameters = part.find("name") or part.need("command"), _read_parameters(part)
    runs = list(part.need("measurements").elements())
    extra = {"command": part.need("command").text()}
    failed = _say_failed(one.fields().get("exit_code") for one in runs)
    part.need("summary").need_keys("time_wall_clock")
    for metric, summary in part.need("summary").members():
        unit = summary.text_at("unit")
        if unit not in _UNITS:
            raise summary.need("unit").refuse(f"unknown unit {unit!r} of hyperfine")
        samples = [one.need(metric).need("value").number() for one in runs]
        lost = samples.count(None)
        told = f"{lost} of {len(samples)} values are not finite" if lost else ""
        yield _measure(
            name.text(), _METRICS.get(metric, metric), _UNITS[unit], parameters,
            [one for one in samples if one is not None], summary.named_numbers(_SUMMARY), summary.need("mean"),
            failed=_join(failed, told), extra=extra,
        )  # fmt: skip


def _measure(
    command: str, metric: str, unit: str, parameters: dict[str, Any], samples: Sequence[float],
    summary: dict[str, float], mean: JsonPart | None, *, failed: str, extra: dict[str, Any] | None = None,
) -> Benchmark:  # fmt: skip
    base = command  # the command with names of parameters in place of values: ``sleep {delay}``
    for key, value in parameters.items():
        named = f"{{{key}}}".replace("\\", "\\\\")
        base = re.sub(rf"(?<![\w.]){re.escape(str(value))}(?![\w.])", named, base)
    return Benchmark(
        suite=_SUITE,
        key=with_parameters(command, parameters),
        name=with_parameters(
            command, {name: one for name, one in parameters.items() if str(one) not in command}
        ),
        base=base,
        metric=metric,
        unit=unit,
        better="lower",
        parameters=parameters,
        value=mean.number() if mean else None,
        statistic="mean" if mean else "",
        summary=summary,
        samples=samples,
        processes=max(1, len(samples)),
        failed=failed,
        extra=extra or {},
    )


def _read_parameters(part: JsonPart) -> dict[str, Any]:
    given = part.find("parameters")
    members = given.members() if given else ()
    return {
        name: one.need("value").value if isinstance(one.value, dict) else one.value for name, one in members
    }


def _join(*failures: str) -> str:
    return "; ".join(filter(None, failures))


def _say_failed(codes: Iterable[Any]) -> str:
    """Return how many runs ended with a status other than 0. The status null means a signal."""
    ends = Counter("by a signal" if code is None else f"with status {code}" for code in codes)
    good = ends.pop("with status 0", 0)
    total = good + sum(ends.values())
    return "; ".join(f"{count} of {total} runs ended {end}" for end, count in ends.items())
