"""Go's benchmark format: the output of ``go test -bench``, also with ``-json``, and of other programs.

https://go.dev/design/14313-benchmark-format defines the lines. ``key: value`` describes all results after it. A line
that begins with ``Benchmark`` is a result. All other lines are skipped. ``Unit`` lines state whether higher or lower
values of a unit are better (https://github.com/golang/go/issues/43744). Several lines with the same name are samples,
all of one process.

``go test`` prints a name and a tab before the benchmark runs, and the result after it. If the benchmark prints lines of
its own, its result is a later line without a name. This reader joins the name and the result; benchstat omits such
results.

Go ends each line with a newline, so a last line without one is cut off, and the file is refused. Files with a line of a
failure, or with a name that has no result, are refused, too. A file that is cut between two lines looks complete,
because many people keep only the lines with results.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from typing import Any, Final, NamedTuple

from mongo_tables.results.formats import GO_EVENT
from mongo_tables.results.formats.benchmark import (
    AGAIN,
    SECONDS,
    TIME,
    Benchmark,
    Better,
    RunOrigin,
    make_documents,
    read_date,
    shift,
    with_parameters,
)
from mongo_tables.results.formats.json_parts import LARGEST_COUNT, read_lines
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.model import ResultsError

TOOL: Final = "Go benchmark"
NANOSECONDS: Final = "ns/op"
_SECONDS: Final = "sec/op"
BETTER: Final[Mapping[str, Better]] = {
    NANOSECONDS: "lower", _SECONDS: "lower", "B/op": "lower", "allocs/op": "lower", "MB/s": "higher", "B/s": "higher",
}  # fmt: skip
"""Whether lower or higher values are better, for the units of Go."""
CONFIGURATION: Final = re.compile(r"([^\sA-Z:][^\sA-Z:]*):(?:[ \t]+(.*))?")
PARAMETER: Final = re.compile(r"([^=/]+)=([^/]*)")
_RESULT: Final = re.compile(r"Benchmark(?![a-z])\S*\s+\d+\s")
_BEGUN: Final = re.compile(r"(Benchmark[^\sa-z]\S*) *\t")
"""A name as ``go test`` prints it before the benchmark runs. With ``-v``, the line has only the name, without a tab."""
_RESULT_ALONE: Final = re.compile(
    r" *\d+(?:\t *[\d.]+ \S+)+\s*|[ \t]*\d+[ \t]+[\d.]+[ \t]+\S+/\S+(?:[ \t]+[\d.]+[ \t]+\S+)*\s*"
)
"""A result without its name, between tabs, or between blanks if its first unit is unambiguous."""
_LIKE_RESULT: Final = re.compile(r"[ \t]*Benchmark(?![a-z])\S*[ \t]+[\d.]\S*[ \t].*/(?:op|s)\b")
_REST: Final = re.compile(
    r"[ \t]*[^\s:]+[ \t]+\d+[ \t]+[\d.]+ \S+/op\b|.*\t *[\d.]+ [^\s/]+/op\b|[ \t]*[\d.]+ [^\s/]+/op\t"
)
_FORM: Final = "a result is a line NAME ITERATIONS VALUE UNIT, with further values and units"
_REPEATED: Final = re.compile(r"#\d\d+$")
"""The end of a repeated name, which is not a part of its last parameter."""
_PROCESSORS: Final = re.compile(r"-(\d+)$")
_FAILURE: Final = re.compile(
    r"(?:Benchmark\S*\s+)?(--- FAIL: .+|panic: .+|fatal error: .+|exit status [1-9]\d*|FAIL(?:\t.*)?"
    r"|signal: (?:killed|terminated|interrupt|aborted|hangup|quit|segmentation fault|bus error)(?: \(core dumped\))?"
    r"|\*\*\* Test killed.*|g?make(?:\[\d+\])?: \*\*\* .+)",
    re.DOTALL,
)
"""A line that ``go test``, or the ``make`` that ran it, prints on a failure, with or without the name."""
_PACKAGE: Final = "pkg"
_ORIGIN: Final = frozenset((
    "goos", "goarch", "cpu", "cpu-count", "kernel", "commit", "commit-time", "branch", "harness", "runtime",
    "start-time",
))  # fmt: skip
"""The keys that describe a whole run. If their values change, the file has several runs."""

Others = tuple[tuple[str, str], ...]
"""The configuration that consists of keys that the format does not define."""


@dataclass(slots=True)
class _Samples:
    """The samples of one name, in one package, unit and configuration."""

    suite: str
    name: str
    unit: str
    others: Others
    values: list[float] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    lost: int = 0


class _Begun(NamedTuple):
    """A benchmark without a result so far, and the line with its name."""

    name: str
    line: int


@dataclass(slots=True)
class _ReaderState:
    """The state of the reader. ``others`` is the configuration of the next results."""

    begun: _Begun | None = None
    origin: dict[str, str] = field(default_factory=dict)
    suite: str = TOOL
    others: Others = ()
    better: dict[str, str] = field(default_factory=dict)
    samples: dict[tuple[str, str, str, Others], _Samples] = field(default_factory=dict)


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield a document for each unit of each name.

    Raises ``ResultsError`` for a malformed result, a result without a name, a name without a result, a NUL character, a
    failed run, a last line without a newline, and a file of several runs.
    """
    reading = _ReaderState()
    for number, line in _lines(file):
        if "\0" in line:
            raise file.refuse("the file contains a NUL character", number, line.index("\0") + 1)
        if failure := _FAILURE.fullmatch(line.rstrip()):
            raise _refuse_failure(file, number, failure[1])
        if not line.endswith("\n"):
            name = line.split()[0] if line.startswith("Benchmark") else ""
            cut = f"the file ends within {f'the result of {name!r}' if name else 'a line'}"
            raise file.refuse(cut, number, 1, AGAIN)
        if line.startswith("Benchmark"):
            _refuse_begun(file, reading)
            _read_named(file, number, line, reading)
        elif reading.begun and _RESULT_ALONE.fullmatch(line):
            _read_result(file, number, f"{reading.begun.name} {line}", reading)
            reading.begun = None
        elif _RESULT_ALONE.fullmatch(line):
            raise file.refuse("this result has no benchmark name", number, 1, _FORM)
        elif _LIKE_RESULT.match(line) or _REST.match(line):
            raise _refuse_alike(file, number, line)
        elif line.startswith("Unit "):
            _read_unit(line, reading)
        elif found := CONFIGURATION.fullmatch(line.rstrip()):
            _read_configuration(file, number, found[1], (found[2] or "").strip(), reading)
    _refuse_begun(file, reading)
    merged = _merge(reading.samples.values())
    bare = {one.name for one in merged if not _PROCESSORS.search(one.name)}
    benchmarks = [_make_benchmark(one, reading.better, bare) for one in merged]
    return make_documents(file, _make_origin(reading.origin), benchmarks)


def _lines(file: SourceFile) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line: of the file, or of the output in the events of ``go test -json``.

    https://pkg.go.dev/cmd/test2json describes the events. An event may have a part of a line, and packages may
    alternate.
    """
    if not file.has_line(GO_EVENT):
        yield from enumerate(file.lines(), 1)
        return
    output: dict[str, list[tuple[int, str]]] = {}
    for event in read_lines(file, TOOL, ("Action", "Output")):
        action, package = event.need("Action").text(), event.fields().get("Package")
        if action == "build-fail":
            raise _refuse_failure(file, event.line, "the build failed")
        if not action.startswith("build"):
            event.need_keys("Package")
        if action == "output":
            said = event.need("Output")
            pieces = output.setdefault(str(package), [])
            if pieces and not pieces[-1][1].endswith("\n"):
                number, begun = pieces.pop()
                pieces.append((number, begun + said.text()))
            else:
                pieces.append((event.line, said.text()))
        elif action != "build-output" and event.find("Output"):
            raise event.refuse(f"unknown action {action!r} of `go test -json`")
    yield from (piece for pieces in output.values() for piece in pieces)


def _refuse_failure(file: SourceFile, number: int, said: str) -> ResultsError:
    message = f"the run failed, so results may be missing: {' '.join(said.split())}"
    return file.refuse(message, number, 1, AGAIN)


def _read_configuration(file: SourceFile, number: int, key: str, value: str, reading: _ReaderState) -> None:
    if key == _PACKAGE:
        reading.suite = value or TOOL
    elif key not in _ORIGIN:
        reading.others = tuple(sorted({**dict(reading.others), key: value}.items()))
    elif reading.samples and reading.origin.get(key, value) != value:
        raise file.refuse(
            f"`{key}` changes from {reading.origin[key]!r} to {value!r}: the file has several runs", number, 1,
            "write each run into a separate file",
        )  # fmt: skip
    else:
        reading.origin[key] = value


def _refuse_begun(file: SourceFile, reading: _ReaderState) -> None:
    """Raise the error for a benchmark that has begun and has no result."""
    if begun := reading.begun:
        raise file.refuse(f"the benchmark {begun.name!r} begins here and has no result", begun.line, 1, AGAIN)


def _read_named(file: SourceFile, number: int, line: str, reading: _ReaderState) -> None:
    """Read a line with a name: a result, or the name of a benchmark whose result comes later.

    A line with only a name, as ``-v`` prints it, is skipped.
    """
    if _RESULT.match(line):
        _read_result(file, number, line, reading)
    elif _LIKE_RESULT.match(line):
        raise _refuse_alike(file, number, line)
    elif begun := _BEGUN.match(line):
        reading.begun = _Begun(begun[1], number)
    elif _REST.match(line):
        raise _refuse_alike(file, number, line)


def _refuse_alike(file: SourceFile, number: int, line: str) -> ResultsError:
    """Return the error for a line that looks like a result but is malformed."""
    return file.refuse(
        f"the line of {line.split()[0]!r} looks like a result, but is malformed", number, 1, _FORM
    )


def _read_result(file: SourceFile, number: int, line: str, reading: _ReaderState) -> None:
    words = line.split()
    if len(words) % 2 or len(words) < 4:
        raise file.refuse(f"the result of {words[0]!r} is cut off", number, 1, _FORM)
    if int(words[1]) > LARGEST_COUNT:
        raise file.refuse(f"{words[1]!r} has more than 64 bits", number, line.index(words[1]) + 1)
    for text, unit in zip(words[2::2], words[3::2], strict=True):
        try:
            value = shift(text.replace("_", ""), -9 if unit == NANOSECONDS else 0)
        except ValueError:
            raise file.refuse(f"{text!r} is not a number", number, line.index(text) + 1) from None
        place = (reading.suite, words[0], _SECONDS if unit == NANOSECONDS else unit, reading.others)
        found = reading.samples.setdefault(place, _Samples(*place))
        if isfinite(value):
            found.values.append(value)
            found.iterations.append(int(words[1]))
        else:
            found.lost += 1


def _read_unit(line: str, reading: _ReaderState) -> None:
    _, unit, *properties = (*line.split(), "")
    for one in properties:
        name, _, value = one.partition("=")
        if name == "better":
            reading.better[_SECONDS if unit == NANOSECONDS else unit] = value


def _merge(every: Collection[_Samples]) -> list[_Samples]:
    """Return the samples, merged by name and by the configuration that differs within the file."""
    values: dict[str, set[str]] = {}
    for key, value in chain.from_iterable(one.others for one in every):
        values.setdefault(key, set()).add(value)
    merged: dict[tuple[str, str, str, Others], _Samples] = {}
    for one in every:
        others = tuple(pair for pair in one.others if len(values[pair[0]]) > 1)
        place = (one.suite, one.name, one.unit, others)
        into = merged.setdefault(place, _Samples(*place))
        into.values += one.values
        into.iterations += one.iterations
        into.lost += one.lost
    return list(merged.values())


def _make_benchmark(one: _Samples, stated: Mapping[str, str], bare: Collection[str]) -> Benchmark:
    better = stated.get(one.unit) or BETTER.get(one.unit, "")
    is_time = one.unit == _SECONDS
    # Go omits the number of processors if it is 1. Then a number is a part of the name, as in SHA-256.
    base, parameters = split_name(one.name, bare and _PROCESSORS.sub("", one.name) not in bare)
    alike = len(set(one.iterations)) == 1
    others = dict(one.others)
    return Benchmark(
        suite=one.suite,
        key=with_parameters(one.name, others),
        name=with_parameters(one.name.removeprefix("Benchmark"), others),
        base=base,
        metric=TIME if is_time else one.unit,
        unit=SECONDS if is_time else one.unit,
        better="lower" if better == "lower" else "higher" if better == "higher" else "",
        parameters={**parameters, **others},
        samples=one.values,
        iterations=one.iterations[0] if alike else one.iterations,
        failed=f"{one.lost} of {one.lost + len(one.values)} values are not finite" if one.lost else "",
    )


def split_name(full: str, is_bare: object = False) -> tuple[str, dict[str, str]]:
    """Return a name without ``Benchmark`` and the number at its end, and its parameters, ``/key=value``.

    The number, such as ``-8``, becomes the parameter ``gomaxprocs``: the number of processors of Go's scheduler. With
    ``is_bare``, the number belongs to the name.

    Example:
        >>> split_name("BenchmarkSort/size=10-8")
        ('Sort', {'size': '10', 'gomaxprocs': '8'})
    """
    processors = None if is_bare else _PROCESSORS.search(full)
    named = full[: processors.start()] if processors else full
    first, *others = named.removeprefix("Benchmark").split("/")
    parameters = {one[1]: _REPEATED.sub("", one[2]) for part in others if (one := PARAMETER.fullmatch(part))}
    plain = [part for part in others if not PARAMETER.fullmatch(part)]
    if processors:
        parameters["gomaxprocs"] = processors[1]
    return "/".join([first, *plain]), parameters


def _make_origin(known: Mapping[str, str]) -> RunOrigin:
    cores, commit = known.get("cpu-count", ""), known.get("commit")
    return RunOrigin(
        TOOL,
        read_date(known.get("start-time", "")),
        versions={name: known.get(name) for name in ("harness", "runtime")},
        hardware={
            "cpu": known.get("cpu"),
            "cpu_architecture": known.get("goarch"),
            "system": known.get("goos"),
            "kernel": known.get("kernel"),
            "cores": int(cores) if cores.isdecimal() else None,
        },
        commit={
            "id": commit,
            "branch": known.get("branch"),
            "time": read_date(known.get("commit-time", "")),
        }
        if commit
        else {},
    )
