"""The output of pytest-benchmark's ``--benchmark-json=FILE`` and ``--benchmark-autosave``.

Its documentation has no list of fields; they are those of ``Metadata.as_dict`` and ``BenchmarkSession`` of versions 3.1
to 5: https://github.com/ionelmc/pytest-benchmark. The samples are its rounds, all within the process of pytest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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

_KNOWN: Final = ("3.", "4.", "5.")
_SUMMARY: Final = {
    "mean": "mean", "median": "median", "min": "min", "max": "max", "stddev": "stddev", "q1": "q1", "q3": "q3",
}  # fmt: skip


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield the documents of the file: the time of each benchmark."""
    whole = read_whole(file)
    origin = _read_origin(whole)
    return make_documents(file, origin, [_read_benchmark(one) for one in whole.need("benchmarks").elements()])


def _read_origin(whole: JsonPart) -> RunOrigin:
    version = whole.need("version")
    if not version.text().startswith(_KNOWN):
        raise version.refuse(
            f"a file of pytest-benchmark {version.text()}: only versions 3 to 5 are supported"
        )
    machine, commit, date = whole.find("machine_info"), whole.find("commit_info"), whole.find("datetime")
    return RunOrigin(
        tool="pytest-benchmark",
        start=read_date(date.text()) if date else None,
        versions={"harness": f"pytest-benchmark {version.text()}", **_read_runtime(machine)},
        hardware=_read_machine(machine) if machine else {},
        commit=_read_commit(commit) if commit else {},
    )


def _read_runtime(machine: JsonPart | None) -> dict[str, str]:
    known = _read_texts(machine, {"name": "python_implementation", "version": "python_version"})
    return {"runtime": f"{known['name']} {known['version']}"} if len(known) == 2 else {}


def _read_machine(machine: JsonPart) -> dict[str, Any]:
    cpu = machine.find("cpu")
    about = _read_texts(machine, {"cpu_architecture": "machine", "system": "system", "kernel": "release"})
    if cpu is None or not isinstance(cpu.value, dict):
        return about
    cores = cpu.find("count")
    model = _read_texts(cpu, {"cpu": "brand"}) | _read_texts(cpu, {"cpu": "brand_raw"})
    return {**model, **about, **({"cores": cores.whole()} if cores else {})}


def _read_commit(commit: JsonPart) -> dict[str, Any]:
    named = _read_texts(commit, {"id": "id", "branch": "branch"})
    named = {name: text for name, text in named.items() if text != "(unknown)"}
    if "id" not in named:
        return {}
    time = read_date(_read_texts(commit, {"time": "time"}).get("time", ""))
    dirty = commit.fields().get("dirty")
    return {
        **named,
        **({"time": time} if time else {}),
        **({"dirty": dirty} if isinstance(dirty, bool) else {}),
    }


def _read_texts(part: JsonPart | None, names: Mapping[str, str]) -> dict[str, str]:
    """Return the strings of a part, by our names for them."""
    found = {name: one.text() for name, key in names.items() if part and (one := part.find(key))}
    return {name: text for name, text in found.items() if text}


def _read_benchmark(one: JsonPart) -> Benchmark:
    key, name, stats = one.need("fullname").text(), one.need("name").text(), one.need("stats")
    samples = stats.find("data") or one.find("data")
    extra, group, parameters = one.find("extra_info"), one.find("group"), one.find("params")
    told = {"group": group.text() if group else "", **(extra.fields() if extra else {})}
    return Benchmark(
        # The file of the test, and its class.
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
