"""Criterion's public output: the messages of ``cargo criterion --message-format=json``.

https://bheisler.github.io/criterion.rs/book/cargo_criterion/external_tools.html documents the messages.

https://bheisler.github.io/criterion.rs/book/user_guide/csv_output.html calls the JSON files in ``target/criterion``
private and the table ``raw.csv`` next to them deprecated. Their structure may change at any time, so they are refused.
All samples come from one process. For each sample, the work was executed several times.

A file of a failed run is refused: it has a panic, an error of Cargo or an unsuccessful build, or only some of its
groups have ended. A file with the messages of only some benchmarks looks complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from mongo_tables.results.formats.benchmark import (
    AGAIN,
    SECONDS,
    TIME,
    Benchmark,
    RunOrigin,
    ToolInterval,
    make_documents,
    shift,
)
from mongo_tables.results.formats.json_parts import JsonPart, read_lines
from mongo_tables.results.formats.libtest import FAILURE
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.formats.raw_values import are_numbers

_TOOL: Final = "Criterion"
_ORIGIN: Final = RunOrigin(_TOOL, versions={"harness": "cargo-criterion"})
_POWERS: Final = {"s": 0, "ms": -3, "us": -6, "µs": -6, "ns": -9, "ps": -12}
_COMPLETE: Final = "benchmark-complete"
_ALWAYS: Final = (
    "reason", "id", "report_directory", "iteration_count", "measured_values", "unit", "throughput", "typical", "mean",
    "median", "median_abs_dev", "slope", "change",
)  # fmt: skip
_GROUP: Final = "group-complete"
_PASSED_OVER: Final = frozenset((
    "compiler-message", "compiler-artifact", "build-script-executed", "build-finished", "timing-info",
))  # fmt: skip
"""Reasons of Cargo's own messages.

https://doc.rust-lang.org/cargo/reference/external-tools.html#json-messages
"""
_BUILT: Final = "build-finished"
_PUBLIC: Final = "cargo criterion --message-format=json > bench.json"


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield a document for each benchmark and each throughput. Raises ``ResultsError`` for private files."""
    if b'"reason"' not in file.seen and b'"measured_values"' not in file.seen:
        raise file.refuse(
            "Criterion calls this file private or deprecated, and may change it at any time",
            hint=f"use its public output: {_PUBLIC}",
        )
    return make_documents(file, _ORIGIN, _read_messages(file))


def _read_messages(file: SourceFile) -> list[Benchmark]:
    """Return the benchmarks of all messages. Each group is a suite. All benchmarks without a group are one suite.

    Messages of Cargo are skipped, and so is JSON of other programs, which does not have the key ``reason``.
    """
    for number, line in enumerate(file.lines(), 1):
        if FAILURE.fullmatch(said := line.strip()):
            raise file.refuse(f"the run failed, so results may be missing: {said}", number, 1, AGAIN)
    completed: list[JsonPart] = []
    groups: dict[str, str] = {}
    for message in read_lines(file, _TOOL, ("reason", "measured_values")):
        if "measured_values" in message.fields():
            message.need_keys("reason")
        reason = message.find("reason")
        if reason and reason.value == _COMPLETE:
            completed.append(message)
        elif reason and reason.value == _GROUP:
            name = message.need("group_name").text()
            groups |= {one.text(): name for one in message.need("benchmarks").elements()}
        elif reason and reason.value == _BUILT and message.fields().get("success") is False:
            raise message.refuse("the build failed, so results may be missing", AGAIN)
        elif reason and reason.text() not in _PASSED_OVER:
            raise reason.refuse(f"unknown message {reason.text()!r} of cargo-criterion")
    if not completed:
        raise file.refuse("this file has no results of Criterion", hint=f"use its public output: {_PUBLIC}")
    for one in completed:
        if groups and (key := one.need("id").text()) not in groups:
            raise one.refuse(f"the group of {key!r} never ended, so results may be missing", AGAIN)
    if lost := groups.keys() - {one.need("id").text() for one in completed}:
        raise file.refuse(f"the benchmark {min(lost)!r} of {groups[min(lost)]!r} is missing", hint=AGAIN)
    lasts: dict[str, list[str]] = {}
    for key in (one.need("id").text() for one in completed):
        _, group, rest = _split_id(key, groups)
        lasts.setdefault(group, []).extend([rest.rpartition("/")[2]] if "/" in rest else [])
    sized = {group for group, some in lasts.items() if are_numbers(some)}
    return [measure for one in completed for measure in _with_throughput(_read_message(one, groups, sized))]


def _split_id(key: str, groups: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the suite of a benchmark, its group, and its name within the group."""
    group = groups.get(key, "")
    is_own = not group or group == key
    return (_TOOL, group, key) if is_own else (group, group, key.removeprefix(f"{group}/"))


def _read_message(message: JsonPart, groups: Mapping[str, str], sized: Collection[str]) -> Benchmark:
    """Read a benchmark. The end of its name is a parameter if it is a number in all names of the group."""
    message.refuse_renamed(_ALWAYS, ())
    key = message.need("id").text()
    suite, group, rest = _split_id(key, groups)
    name, _, last = rest.rpartition("/")
    has_value = bool(name) and group in sized
    typical, slope = message.need("typical"), message.find("slope")
    unit, work = message.need("unit").text(), message.find("throughput")
    is_time = unit in _POWERS  # Other units are those of plug-ins, and name the measure.
    samples = message.need("measured_values").numbers()
    counts = [one.whole() for one in message.need("iteration_count").elements()]
    if len(samples) != len(counts) or 0 in counts:
        raise message.refuse("`measured_values` and `iteration_count` do not fit each other")
    return Benchmark(
        suite=suite,
        key=key,
        name=rest,
        base=name if has_value else rest,
        metric=TIME if is_time else unit,
        unit=SECONDS if is_time else unit,
        better="lower" if is_time else "",
        parameters={"value": last} if has_value else {},
        value=_read_estimate(typical, "estimate"),
        statistic="slope" if slope and slope.fields().get("estimate") == typical.fields().get("estimate") else "mean",
        summary={name: _read_estimate(message.need(name), "estimate") for name in ("mean", "median")},
        interval=ToolInterval(
            _read_estimate(typical, "lower_bound"), _read_estimate(typical, "upper_bound"),
            "confidence interval of the value, by Criterion",
        ),
        samples=[_scale(one / count, unit) for one, count in zip(samples, counts, strict=True)],
        iterations=counts,
        extra={
            f"{one.need('unit').text()}_per_iteration": one.need("per_iteration").whole()
            for one in (work.elements() if work else ())
        },
    )  # fmt: skip


def _with_throughput(one: Benchmark) -> Iterator[Benchmark]:
    """Yield a benchmark, and its throughput in each unit: the work per iteration, divided by the time."""
    yield one
    for key, amount in one.extra.items() if one.metric == TIME else ():
        kind = key.removesuffix("_per_iteration")
        if not amount or not all((*one.samples, *([one.value] if one.value is not None else []))):
            continue
        ends = one.interval and sorted(amount / end for end in one.interval[:2] if end > 0)
        yield one._replace(
            metric="throughput" if len(one.extra) == 1 else f"throughput in {kind}",
            unit="B/s" if kind == "bytes" else f"{kind}/s",
            better="higher",
            value=one.value and amount / one.value,
            summary={},
            interval=ToolInterval(ends[0], ends[1], "interval of the time, by Criterion")
            if ends and len(ends) == 2
            else None,
            samples=[amount / sample for sample in one.samples],
        )


def _read_estimate(part: JsonPart, key: str) -> float:
    number = part.need(key).number()
    if number is None:
        raise part.refuse(f"`{key}` is not finite")
    return _scale(number, part.need("unit").text())


def _scale(number: float, unit: str) -> float:
    return shift(number, _POWERS[unit]) if _POWERS.get(unit) else number
