"""The output of pytest-benchmark's ``--benchmark-json=FILE`` and ``--benchmark-autosave``.

The fields are those of ``Metadata.as_dict`` and ``BenchmarkSession`` in the source of versions 3.1 to 5:
https://github.com/ionelmc/pytest-benchmark. The samples are its rounds, all within the process of pytest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mongo_tables.results.formats.benchmark import (
    SECONDS,
    TIME,
    Benchmark,
    RunOrigin,
    make_documents,
    read_date,
)
from mongo_tables.results.formats.json_parts import JsonPart, read_whole
from mongo_tables.results.formats.model import SourceFile

_TOOL: Final = "pytest-benchmark"
_KNOWN: Final = ("3.", "4.", "5.")
_ALWAYS: Final = ("mean", "median", "min", "max", "stddev", "q1", "q3", "iterations")
_OTHERS: Final = (
    "rounds", "iqr", "iqr_outliers", "stddev_outliers", "outliers", "ld15iqr", "hd15iqr", "ops", "total", "data",
)  # fmt: skip
_SUMMARY: Final = {
    "mean": "mean", "median": "median", "min": "min", "max": "max", "stddev": "stddev", "q1": "q1", "q3": "q3",
}  # fmt: skip


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield a document for the time of each benchmark."""
    whole = read_whole(file, _TOOL)
    origin = _read_origin(whole)
    return make_documents(file, origin, [_read_benchmark(one) for one in whole.need("benchmarks").elements()])


def _read_origin(whole: JsonPart) -> RunOrigin:
    version = whole.need("version")
    if not version.text().startswith(_KNOWN):
        raise version.refuse(
            f"a file of pytest-benchmark {version.text()}: only versions 3 to 5 are supported"
        )
    machine, commit = whole.find("machine_info"), whole.find("commit_info")
    runtime = [machine.text_at(f"python_{one}") for one in ("implementation", "version")] if machine else []
    return RunOrigin(
        tool=_TOOL,
        start=read_date(whole.text_at("datetime")),
        versions={
            "harness": f"pytest-benchmark {version.text()}",
            "runtime": " ".join(runtime) if all(runtime) else "",
        },
        hardware=_read_machine(machine) if machine else {},
        commit=_read_commit(commit) if commit else {},
    )


def _read_machine(machine: JsonPart) -> dict[str, Any]:
    cpu = machine.find("cpu")
    cpu = cpu if cpu and isinstance(cpu.value, dict) else None
    cores = cpu.find("count") if cpu else None
    return {
        "cpu": (cpu.text_at("brand_raw") or cpu.text_at("brand")) if cpu else "",
        "cpu_architecture": machine.text_at("machine"),
        "system": machine.text_at("system"),
        "kernel": machine.text_at("release"),
        "cores": cores.whole() if cores else None,
    }


def _read_commit(commit: JsonPart) -> dict[str, Any]:
    named = {name: commit.text_at(name).replace("(unknown)", "") for name in ("id", "branch")}
    if not named["id"]:
        return {}
    dirty = commit.fields().get("dirty")
    time = read_date(commit.text_at("time"))
    return {**named, "time": time, "dirty": dirty if isinstance(dirty, bool) else None}


def _read_benchmark(one: JsonPart) -> Benchmark:
    key, name, stats = one.need("fullname").text(), one.need("name").text(), one.need("stats")
    stats.refuse_renamed(_ALWAYS, _OTHERS)
    samples = stats.find("data") or one.find("data")
    extra, parameters = one.find("extra_info"), one.find("params")
    told = {"group": one.text_at("group"), **(extra.fields() if extra else {})}
    return Benchmark(
        # the file and the class of the test
        suite=key.removesuffix(f"::{name}") or key,
        key=key,
        name=name,
        base=name.partition("[")[0],
        metric=TIME,
        unit=SECONDS,
        better="lower",
        parameters=parameters.fields() if parameters else {},
        value=median.number() if (median := stats.find("median")) else None,
        statistic="median",
        summary=stats.named_numbers(_SUMMARY),
        samples=samples.numbers() if samples else (),
        iterations=stats.need("iterations").whole_or_none(),
        failed=samples.lost_numbers() if samples else "",
        extra={name: value for name, value in told.items() if value != ""},
    )
