"""Sums, differences and roundings of dates: `$dateAdd`, `$dateSubtract`, `$dateDiff`, `$dateTrunc`.

Years to days are counted on the clock and calendar of the time zone, hours and less as they pass.
Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateAdd/ and its neighbours.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from bson.int64 import Int64

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    check_named_arguments,
    compile_expression,
    fold_constant,
    form,
)
from mongo_tables.aggregation.dates import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Zone,
    date_millis,
    days_from_civil,
    days_in_month,
    iso_weekday,
    local_millis,
    local_parts,
    zone_of,
)
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import integral, rank
from mongo_tables.aggregation.values import (
    INT64_MAX,
    INT64_MIN,
    Document,
    Evaluate,
    date_from_millis,
    is_nullish,
    is_string,
    type_name,
)

_FIXED = {"millisecond": 1, "second": SECOND, "minute": MINUTE, "hour": HOUR}
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_UNITS = frozenset((*_FIXED, *_DAYS, *_MONTHS))
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Bins are counted from the start of 2000; its first day is a Saturday.
_START_DAYS = days_from_civil(2000, 1, 1)
_START = _START_DAYS * DAY
_MOST_BINS = 100_000_000_000
# The server's error codes: of a value that is no date, of a unit that is no string, of a unit that does not exist.
_CODES = {
    "$dateAdd": (5166403, 5166404, 9),
    "$dateSubtract": (5166403, 5166404, 9),
    "$dateDiff": (5166307, 5439013, 5439014),
    "$dateTrunc": (5439012, 5439013, 5439014),
}


def _runs(name: str, argument: Any, scope: Scope, path: Path) -> tuple[dict[str, Evaluate], bool]:
    """The arguments as functions of the document, and whether all of them are constants."""
    given = check_named_arguments(name, argument, path)
    nodes = {key: compile_expression(value, scope, where) for key, (value, where) in given.items()}
    return {key: node.run for key, node in nodes.items()}, all(node.constant for node in nodes.values())


def _present(document: Document, reads: Iterable[Evaluate]) -> list[Any] | None:
    """The arguments' values; None as soon as one is null or missing, and the rest is not computed."""
    values = []
    for read in reads:
        value = read(document)
        if is_nullish(value):
            return None
        values.append(value)
    return values


def _utc(_: Document) -> str:
    return "UTC"


def _one(_: Document) -> int:
    return 1


def _date(name: str, argument: str, value: Any) -> int:
    try:
        return date_millis(value)
    except AggregationError:
        raise AggregationError(
            f"{name} takes '{argument}' as a date, not {type_name(value)}", code=_CODES[name][0]
        ) from None


def _unit(name: str, value: Any) -> str:
    if not is_string(value):
        raise AggregationError(
            f"{name} takes 'unit' as a string, not {type_name(value)}", code=_CODES[name][1]
        )
    if value not in _UNITS:
        raise AggregationError(f"{name} knows no unit '{value}'", code=_CODES[name][2])
    return str(value)


def _weekday(name: str, value: Any) -> int:
    """1 for Monday to 7 for Sunday, of a name or its first three letters in any case."""
    if not is_string(value):
        raise AggregationError(
            f"{name} takes 'startOfWeek' as a string, not {type_name(value)}", code=5439015
        )
    for number, day in enumerate(_WEEKDAYS, 1):
        if value.lower() in (day, day[:3]):
            return number
    raise AggregationError(f"{name} knows no day of the week '{value}'", code=5439016)


def _make_date(name: str, date: int) -> Any:
    if not INT64_MIN <= date <= INT64_MAX:
        raise AggregationError(f"{name} gives no date of 64 bits", code=5976500)
    return date_from_millis(date)


def _add(name: str, sign: int, argument: Any, scope: Scope, path: Path) -> Node:
    runs, is_constant = _runs(name, argument, scope, path)
    reads = [runs["startDate"], runs["unit"], runs["amount"], runs.get("timezone", _utc)]

    def run(document: Document) -> Any:
        try:
            values = _present(document, reads)
            return None if values is None else _sum(name, sign, *values)
        except AggregationError as error:
            raise error.at(path) from None

    return fold_constant(Node(run, constant=is_constant), path)


def _sum(name: str, sign: int, value: Any, unit: Any, amount: Any, where: Any) -> Any:
    date, unit = _date(name, "startDate", value), _unit(name, unit)
    number = integral(amount) if rank(amount) else None
    if number is None or not INT64_MIN <= number <= INT64_MAX or sign * number > INT64_MAX:
        raise AggregationError(
            f"{name} takes 'amount' as a whole number of 64 bits, not {amount!r}", code=5166405
        )
    return _make_date(name, _move_date(date, unit, sign * number, zone_of(where)))


def _move_date(date: int, unit: str, amount: int, zone: Zone) -> int:
    if unit != "millisecond" and date < 0 and date % SECOND:
        # The server loses a second of dates before 1970 that have milliseconds.
        date -= SECOND
    if unit in _FIXED:
        return date + amount * _FIXED[unit]
    local = zone.local(date)
    if unit in _DAYS:
        moved = local + amount * _DAYS[unit] * DAY
    else:
        parts = local_parts(local)
        years, index = divmod(parts.month - 1 + amount * _MONTHS[unit], 12)
        day = min(parts.day, days_in_month(parts.year + years, index + 1))
        moved = local_millis(parts.year + years, index + 1, day, 0, 0, 0, local % DAY)
    return zone.date(moved, zone.summer(date))


for _name, _sign in {"$dateAdd": 1, "$dateSubtract": -1}.items():
    form(_name)(functools.partial(_add, _name, _sign))


@form("$dateDiff")
def _diff(argument: Any, scope: Scope, path: Path) -> Node:
    runs, is_constant = _runs("$dateDiff", argument, scope, path)
    reads = [runs["startDate"], runs["endDate"], runs["unit"], runs.get("timezone", _utc)]
    read_week = runs.get("startOfWeek")

    def run(document: Document) -> Any:
        try:
            values = _present(document, reads)
            if values is None:
                return None
            start, end, unit, where = values
            week = read_week(document) if read_week and unit == "week" else "sunday"
            if is_nullish(week):
                return None
            first, last = _date("$dateDiff", "startDate", start), _date("$dateDiff", "endDate", end)
            unit = _unit("$dateDiff", unit)
            count = _count(first, last, unit, zone_of(where), _weekday("$dateDiff", week))
        except AggregationError as error:
            raise error.at(path) from None
        return Int64(count)

    return fold_constant(Node(run, constant=is_constant), path)


def _count(first: int, last: int, unit: str, zone: Zone, weekday: int) -> int:
    """How many times a unit begins after ``first`` up to ``last``; negative when ``last`` is earlier."""
    if unit == "millisecond":
        return last - first
    start, end = zone.local(first), zone.local(last)
    if unit in _FIXED:
        return _count_units(first, last, start, end, _FIXED[unit])
    if unit == "day":
        return end // DAY - start // DAY
    if unit == "week":
        return (end // DAY + 3 - (weekday - 1)) // 7 - (start // DAY + 3 - (weekday - 1)) // 7
    one, two = local_parts(start), local_parts(end)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    return (two.year * 12 + two.month - 1) // months - (one.year * 12 + one.month - 1) // months


def _count_units(first: int, last: int, start: int, end: int, unit: int) -> int:
    """The units that begin on the zone's clock, less the whole units by which the clock was put forward."""
    shift = (end - last) - (start - first)
    return end // unit - start // unit - int(shift / unit)


@form("$dateTrunc")
def _trunc(argument: Any, scope: Scope, path: Path) -> Node:
    runs, is_constant = _runs("$dateTrunc", argument, scope, path)
    reads = [runs["date"], runs["unit"], runs.get("binSize", _one), runs.get("timezone", _utc)]
    read_week = runs.get("startOfWeek")

    def run(document: Document) -> Any:
        try:
            values = _present(document, reads)
            if values is None:
                return None
            value, unit, size, where = values
            week: Any = read_week(document) if read_week and unit == "week" else "sunday"
            if is_nullish(week):
                return None
            date, unit, bins = _date("$dateTrunc", "date", value), _unit("$dateTrunc", unit), _bin_size(size)
            _check_width(unit, bins)
            first = _weekday("$dateTrunc", week)
            return _make_date("$dateTrunc", _truncate_date(date, unit, bins, zone_of(where), first))
        except AggregationError as error:
            raise error.at(path) from None

    return fold_constant(Node(run, constant=is_constant), path)


def _bin_size(value: Any) -> int:
    number = integral(value) if rank(value) else None
    if number is None or not INT64_MIN <= number <= INT64_MAX:
        raise AggregationError(f"$dateTrunc takes 'binSize' as a whole number, not {value!r}", code=5439017)
    if number < 1:
        raise AggregationError(f"$dateTrunc takes 'binSize' from 1, not {number}", code=5439018)
    return number


def _check_width(unit: str, size: int) -> None:
    if unit in _FIXED and size * _FIXED[unit] > INT64_MAX:
        raise AggregationError(f"$dateTrunc takes no bins of {size} {unit}s: 64 bits overflow", code=5439002)
    if unit not in _FIXED and size > _MOST_BINS:
        raise AggregationError(f"$dateTrunc takes 'binSize' up to {_MOST_BINS}, not {size}", code=5439006)


def _truncate_date(date: int, unit: str, size: int, zone: Zone, weekday: int) -> int:
    if unit in _FIXED:
        start = zone.date(_START)
        width = _FIXED[unit] * size
        return start + (date - start) // width * width
    local = zone.local(date)
    if unit in _DAYS:
        start_day = _START_DAYS
        if unit == "week":
            start_day += (weekday - iso_weekday(_START_DAYS)) % 7
        width = _DAYS[unit] * size
        day = start_day + (local // DAY - start_day) // width * width
        return zone.date(day * DAY)
    parts = local_parts(local)
    width = _MONTHS[unit] * size
    months = ((parts.year - 2000) * 12 + parts.month - 1) // width * width
    years, index = divmod(months, 12)
    return zone.date(days_from_civil(2000 + years, index + 1, 1) * DAY)
