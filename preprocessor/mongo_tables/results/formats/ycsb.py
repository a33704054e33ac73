"""YCSB's output at the end of a load or a run, with a line for each figure: ``[READ], AverageLatency(us), 412.5``.

The lines are those of ``TextMeasurementsExporter`` (https://github.com/brianfrankcooper/YCSB), in versions 0.1 to 0.17.
Other lines are skipped. The command line may contain a password, so only the workload and the number of threads are
read from it.

YCSB ends each line with a newline, so a last line without one is cut off. If an operation lacks a figure that other
operations have, a line is missing. A file that is cut between two operations looks complete.

``Return=STATUS`` counts the results of operations. If some operations of a kind failed, the field ``failed`` says how
many, in the documents of this kind and of the whole run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from mongo_tables.results.formats.benchmark import Benchmark, Better, RunOrigin, make_documents, shift
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.model import ResultsError

_TOOL: Final = "YCSB"
_OURS: Final = re.compile(r"\[[^\]]+\],")
_LINE: Final = re.compile(r"\[([^\]]+)\], ([^,]+), (.*)")
_LIKE_OURS: Final = re.compile(r"\S+,? [^,\s]+, ?-?\d[\d.]*\s*$")
_NAMED: Final = re.compile(r"(.+)\((.+)\)")
_VERSION: Final = re.compile(r"YCSB Client (\S+)")
_WORKLOAD: Final = re.compile(r"-P\s+(?:\S*[/\\])?([\w.-]+)(?=\s|$)")
_THREADS: Final = re.compile(r"(?:-threads\s+|threadcount=)(\d+)")
_BUCKET: Final = re.compile(r">?\d+")
_OPERATIONS: Final = "Operations"
_LATENCY_MAX: Final = "MaxLatency"
_LIKE_LATENCY: Final = "Latency("
_OVERALL: Final = ("RunTime(ms)", "Throughput(ops/sec)")
_PERCENTILE: Final = "PercentileLatency"
_UNCOUNTED: Final = 1.0
"""The range of the histogram of the oldest versions, in seconds. They omit percentiles beyond this range."""
_RETURNED: Final = "Return="
"""The prefix of the counts of results. Some kinds of operations have no such counts."""
_GOOD: Final = frozenset({"OK", "BATCHED_OK", "0"})
"""The results of successful operations. The oldest versions write numbers."""
_AGAIN: Final = "run YCSB once more"
_POWERS: Final = {"us": -6, "ms": -3}
_UNITS: Final = {"us": "s", "ms": "s", "ops/sec": "ops/s", "%": "%"}
_COUNTS: Final = {"MBs": "MB", "Count": "", "Load": "", "Operations": "operations"}


class _Line(NamedTuple):
    """A line: the kind of operation, the measure and its figure. Times are in seconds.

    ``measure`` is the text in the line, with the unit in brackets. ``metric`` is the text without the unit. ``unit``
    may be "".
    """

    subject: str
    measure: str
    metric: str
    unit: str
    value: float | None


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Yield a document for each figure of each kind of operation.

    Raises ``ResultsError`` for buckets of a histogram and points of a time series, which are parts of a figure.
    """
    versions = {"harness": _TOOL}
    parameters: dict[str, str] = {}
    found = []
    ends: dict[str, int] = {}
    for number, line in enumerate(file.lines(), 1):
        if not line.endswith("\n"):
            raise _refuse_cut(file, number)
        if version := _VERSION.match(line):
            versions["harness"] = f"{_TOOL} {version[1]}"
        elif line.startswith("Command line:"):
            # The rest of the command line may contain secrets.
            for name, pattern in (("workload", _WORKLOAD), ("threads", _THREADS)):
                if values := pattern.findall(line):
                    parameters[name] = values[-1]
        elif _OURS.match(line):
            found.append(_read_line(file, number, line))
            ends[found[-1].subject] = number
        elif _LIKE_OURS.match(line):
            raise _refuse_cut(file, number)
    if lacking := _find_lacking(found):
        subject, measure = lacking
        where = "the file ends within" if subject == found[-1].subject else "a line is missing in"
        raise file.refuse(f"{where} {subject}: it has no {measure}", ends[subject], 1, _AGAIN)
    failures = _tell_failures(found)
    benchmarks = [_make_benchmark(one, parameters, failures[one.subject]) for one in found]
    return make_documents(file, RunOrigin(_TOOL, versions=versions), benchmarks)


def _tell_failures(lines: Sequence[_Line]) -> dict[str, str]:
    """Return for each subject how many of its operations failed, and with which result, or "".

    Subjects that are not a kind of operation, such as the whole run, get the failures of all kinds of operations.
    """
    ends: dict[str, dict[str, float]] = {one.subject: {} for one in lines if one.measure == _OPERATIONS}
    for one in lines:
        if one.measure.startswith(_RETURNED):
            ends.setdefault(one.subject, {})[one.measure.removeprefix(_RETURNED)] = one.value or 0
    told = {
        subject: "; ".join(
            f"{count:.0f} of {sum(some.values()):.0f} operations returned {end}"
            for end, count in some.items()
            if end not in _GOOD and count
        )
        for subject, some in ends.items()
    }
    whole = "; ".join(f"{subject}: {said}" for subject, said in told.items() if said)
    return {one.subject: told.get(one.subject, whole) for one in lines}


def _find_lacking(lines: Sequence[_Line]) -> tuple[str, str] | None:
    """Return an operation and the figure that is missing from it, or None. YCSB prints the same figures for each."""
    measures: dict[str, dict[str, _Line]] = {"OVERALL": {}}
    for one in lines:
        if not one.measure.startswith(_RETURNED):
            measures.setdefault(one.subject, {})[one.measure] = one
    if missing := [name for name in _OVERALL if name not in measures["OVERALL"]]:
        return "OVERALL", missing[0]
    operations = {
        subject: some
        for subject, some in measures.items()
        if _OPERATIONS in some or any(_LIKE_LATENCY in name for name in some)
    }
    every = dict.fromkeys(name for some in operations.values() for name in some)
    for subject, some in operations.items() if _OPERATIONS in every else ():
        longest = next((line for name, line in some.items() if name.startswith(_LATENCY_MAX)), None)
        if longest is None:
            return subject, _LATENCY_MAX
        is_counted = (longest.value or 0) < _UNCOUNTED or any(f"{_PERCENTILE}(us)" in name for name in every)
        for name in every if is_counted else (name for name in every if _PERCENTILE not in name):
            if name not in some:
                return subject, name
        if is_counted and not any(_PERCENTILE in name for name in some):
            return subject, _PERCENTILE
    return None


def _refuse_cut(file: SourceFile, number: int) -> ResultsError:
    return file.refuse("a line of YCSB is cut off", number, 1, "a line is [OPERATION], MEASURE, VALUE")


def _read_line(file: SourceFile, number: int, line: str) -> _Line:
    parts = _LINE.fullmatch(line.rstrip())
    if parts is None:
        raise _refuse_cut(file, number)
    if _BUCKET.fullmatch(parts[2]):
        hint = "run YCSB without measurement.histogram.verbose and without measurementtype=timeseries"
        raise file.refuse("buckets of a histogram and points of a series cannot be read", number, 1, hint)
    try:
        value = float(parts[3])
    except ValueError:
        raise file.refuse(f"{parts[3]!r} is not a number", number, line.rindex(parts[3]) + 1) from None
    named = _NAMED.fullmatch(parts[2])
    metric, unit = named.groups() if named else (parts[2], "")
    is_finite = abs(value) < float("inf")
    seconds = shift(value, _POWERS[unit]) if is_finite and unit in _POWERS else value
    return _Line(parts[1], parts[2], metric, unit, seconds if is_finite else None)


def _make_benchmark(line: _Line, parameters: dict[str, str], failure: str) -> Benchmark:
    return Benchmark(
        suite=_TOOL,
        key=line.subject,
        metric=line.metric,
        unit=_UNITS.get(line.unit, line.unit) if line.unit else _COUNTS.get(line.measure, ""),
        better=_find_better(line.measure),
        parameters=parameters,
        value=line.value,
        failed="not a number" if line.value is None else failure,
    )


def _find_better(measure: str) -> Better:
    if measure.startswith("Throughput"):
        return "higher"
    return "lower" if _LIKE_LATENCY in measure or measure.startswith("RunTime") else ""
