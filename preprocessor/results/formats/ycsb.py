"""What YCSB prints when a load or a run is over, a line for each figure: ``[READ], AverageLatency(us), 412.5``.

The lines are those of ``TextMeasurementsExporter`` (https://github.com/brianfrankcooper/YCSB), in versions 0.1 to 0.17;
other lines, which it prints before, are passed over. Of the command line, which can hold a password, only the workload
and the number of threads are read.

YCSB ends each line, so a last one without an end is cut off; so is a last operation that lacks figures which YCSB gives
of each. A file that is cut between two operations cannot be told from a whole one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from preprocessor.results.formats.benchmark import Benchmark, Better, Origin, make_documents, shift
from preprocessor.results.formats.model import SourceFile
from preprocessor.results.model import ResultsError

_TOOL: Final = "YCSB"
_OURS: Final = re.compile(r"\[[^\]]+\], ")
_LINE: Final = re.compile(r"\[([^\]]+)\], ([^,]+), (.*)")
_NAMED: Final = re.compile(r"(.+)\((.+)\)")
_VERSION: Final = re.compile(r"YCSB Client (\S+)")
_WORKLOAD: Final = re.compile(r"-P\s+(?:\S*[/\\])?([\w.-]+)(?=\s|$)")
_THREADS: Final = re.compile(r"(?:-threads\s+|threadcount=)(\d+)")
_BUCKET: Final = re.compile(r">?\d+")
_OPERATIONS: Final = "Operations"
_LATENCY_MAX: Final = "MaxLatency"
"""The last of the figures that each version gives of each operation."""
_RETURNED: Final = "Return="
"""How often operations ended so: not each kind of operation did."""
_AGAIN: Final = "run YCSB once more"
_POWERS: Final = {"us": -6, "ms": -3}
_UNITS: Final = {"us": "s", "ms": "s", "ops/sec": "ops/s", "%": "%"}
_COUNTS: Final = {"MBs": "MB", "Count": "", "Load": "", "Operations": "operations"}


class _Line(NamedTuple):
    """What a line says: of which kind of operation, what is measured, and the figure."""

    subject: str
    measure: str
    value: float | None


def read(file: SourceFile) -> Iterator[dict[str, Any]]:
    """The documents of the file: each figure of each kind of operation.

    Buckets of a histogram and points of a series in time are parts of a figure, and are refused.
    """
    versions = {"harness": _TOOL}
    parameters: dict[str, str] = {}
    found = []
    number = 0
    for number, line in enumerate(file.lines(), 1):
        if not line.endswith("\n"):
            raise _refuse_cut(file, number)
        if version := _VERSION.match(line):
            versions["harness"] = f"{_TOOL} {version[1]}"
        elif line.startswith("Command line:"):
            parameters |= _read_command(line)
        elif _OURS.match(line):
            found.append(_read_line(file, number, line))
    if lacking := _find_lacking(found):
        raise file.refuse(f"the file ends within {found[-1].subject}: it has no {lacking}", number, 1, _AGAIN)
    return make_documents(
        file, Origin(_TOOL, versions=versions), [_make_benchmark(one, parameters) for one in found]
    )


def _find_lacking(lines: Sequence[_Line]) -> str:
    """A figure that the last operation lacks, and each has: ends of latency, and what the others have; "" for none."""
    measures: dict[str, dict[str, None]] = {}
    for one in lines:
        if not one.measure.startswith(_RETURNED):
            measures.setdefault(one.subject, {})[one.measure] = None
    last = measures.pop(lines[-1].subject, {}) if lines else {}
    if _OPERATIONS not in last:
        return ""
    if not any(one.startswith(_LATENCY_MAX) for one in last):
        return _LATENCY_MAX
    others = (one for one in measures.values() if _OPERATIONS in one)
    return next((measure for one in others for measure in one if measure not in last), "")


def _read_command(line: str) -> dict[str, str]:
    """What of a command line is told: the last workload file without its folder, and the threads."""
    workloads, threads = _WORKLOAD.findall(line), _THREADS.findall(line)
    return {
        **({"workload": workloads[-1]} if workloads else {}),
        **({"threads": threads[-1]} if threads else {}),
    }


def _refuse_cut(file: SourceFile, number: int) -> ResultsError:
    return file.refuse("a line of YCSB that is cut off", number, 1, "[OPERATION], MEASURE, VALUE")


def _read_line(file: SourceFile, number: int, line: str) -> _Line:
    parts = _LINE.fullmatch(line.rstrip())
    if parts is None:
        raise _refuse_cut(file, number)
    if _BUCKET.fullmatch(parts[2]):
        hint = (
            "run YCSB without measurement.histogram.verbose, and with another measurementtype than timeseries"
        )
        raise file.refuse("buckets of a histogram, or points of a series, are not read", number, 1, hint)
    try:
        value = float(parts[3])
    except ValueError:
        raise file.refuse(f"{parts[3]!r} is no number", number, line.rindex(parts[3]) + 1) from None
    return _Line(parts[1], parts[2], value if abs(value) < float("inf") else None)


def _make_benchmark(line: _Line, parameters: dict[str, str]) -> Benchmark:
    named = _NAMED.fullmatch(line.measure)
    unit = named[2] if named else ""
    value = line.value
    return Benchmark(
        suite=_TOOL,
        key=line.subject,
        metric=named[1] if named else line.measure,
        unit=_UNITS.get(unit, unit) if named else _COUNTS.get(line.measure, ""),
        better=_find_better(line.measure),
        parameters=parameters,
        value=shift(value, _POWERS[unit]) if value is not None and unit in _POWERS else value,
        failed="" if value is not None else "not a number",
    )


def _find_better(measure: str) -> Better:
    if measure.startswith("Throughput"):
        return "higher"
    return "lower" if "Latency(" in measure or measure.startswith("RunTime") else ""
