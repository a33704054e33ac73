"""Benchmarks in Go's format: https://go.dev/design/14313-benchmark-format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from mongo_tables.commands.export.losses import Place, Row, Written
from mongo_tables.results.formats import gobenchmark
from mongo_tables.results.formats.benchmark import SECONDS, TIME

READER: Final = gobenchmark.read

_BLANKS: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_CONFIGURATION: Final = {
    "goos": ("hardware", "system"), "goarch": ("hardware", "cpu_architecture"), "cpu": ("hardware", "cpu"),
    "cpu-count": ("hardware", "cores"), "kernel": ("hardware", "kernel"), "commit": ("commit", "id"),
    "commit-time": ("commit", "time"), "branch": ("commit", "branch"), "harness": ("versions", "harness"),
    "runtime": ("versions", "runtime"), "start-time": ("start_time",),
}  # fmt: skip
"""The line that has each field: those that the format's description shows, and others by our names."""


def write(rows: Sequence[Row]) -> Written:
    """The benchmarks as text: a line for each sample, and one for the value where there are no samples.

    What is said of the run is said of the first one; another run's is not written.
    """
    named = _name_rows(rows)
    lines = [*_list_configuration(rows[0]), *_list_units(rows)]
    suite = ""
    for row, place in zip(rows, named, strict=True):
        if place is None:
            continue
        if place[0] != suite:
            suite = place[0]
            lines += ["", f"pkg: {'' if suite == gobenchmark.TOOL else suite}".rstrip()]
        lines += _list_results(row, place)
    return Written("\n".join(lines).lstrip("\n") + "\n" if any(named) else "", named)


def _name_rows(rows: Sequence[Row]) -> list[Place | None]:
    """Where each row is in the text; as Go does, equal names are told apart by ``#01`` and so on."""
    seen: dict[Place, int] = {}
    named: list[Place | None] = []
    for row in rows:
        if not _values(row):
            named.append(None)
            continue
        suite = _one_word(row["_id"]["testname"], " ") or gobenchmark.TOOL
        place = (suite, _name(row), _measure(row))
        number = seen[place] = seen.get(place, -1) + 1
        named.append((suite, f"{place[1]}#{number:02}", place[2]) if number else place)
    return named


def _name(row: Row) -> str:
    """The name of a result: that which Go gave it, else one that Go could have given it."""
    full = str(row["_id"]["name"])
    if row.get("tool") == gobenchmark.TOOL and not _BLANKS.search(full):
        return full
    name = _one_word(str(row["benchmark"]))
    parameters = dict(row.get("parameters") or {})
    processors = parameters.pop("gomaxprocs", None)
    parts = [f"/{_one_word(str(key))}={_one_word(str(value))}" for key, value in parameters.items()]
    behind = f"-{processors}" if isinstance(processors, int) else ""
    return f"Benchmark{name[:1].upper()}{name[1:]}{''.join(parts)}{behind}"


def _one_word(text: str, instead: str = "_") -> str:
    return _BLANKS.sub(instead, text).strip(instead)


def _measure(row: Row) -> str:
    """The measure as reading gives it: a time, else the unit as Go has it."""
    metric, unit = row["metric"], row["unit"]
    if (metric, unit) == (TIME, SECONDS):
        return TIME
    return _one_word(metric if metric == unit or not unit else f"{metric}-{unit}") or "1"


def _list_configuration(row: Row) -> Iterator[str]:
    for key, path in _CONFIGURATION.items():
        value: Any = row
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value not in (None, ""):
            yield f"{key}: {_say(value)}"


def _say(value: Any) -> str:
    if isinstance(value, datetime):
        utc = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        return f"{utc.isoformat()}Z"
    return _one_word(str(value), " ")


def _list_units(rows: Sequence[Row]) -> Iterator[str]:
    """What Go's own tools do not know: which direction of a unit is better."""
    stated = {_measure(row): row["better"] for row in rows if row.get("better")}
    for measure, better in stated.items():
        if measure != TIME and gobenchmark.BETTER.get(measure) != better:
            yield f"Unit {measure} better={better}"


def _list_results(row: Row, place: Place) -> Iterator[str]:
    values, iterations = _values(row), row.get("iterations", 1)
    counts = iterations if isinstance(iterations, list) else [iterations] * len(values)
    counts = counts if len(counts) == len(values) else [1] * len(values)
    unit = gobenchmark.NANOSECONDS if place[2] == TIME else place[2]
    for value, count in zip(values, counts, strict=True):
        yield f"{place[1]}\t{int(count)}\t{_write(value, 9 if place[2] == TIME else 0)} {unit}"


def _values(row: Row) -> list[float]:
    value = row.get("value")
    return list(row.get("samples") or ([] if value is None else [value]))


def _write(value: float, places: int) -> str:
    """The number times a power of ten, in as many digits as lead back to it."""
    number = Decimal(repr(float(value))).scaleb(places)
    return f"{number:f}" if -12 <= number.adjusted() <= 18 else str(number)
