"""Sums, differences and roundings of dates: `$dateAdd`, `$dateSubtract`, `$dateDiff`, `$dateTrunc`.

Years to days are counted on the clock and calendar of the time zone, hours and shorter units as elapsed time.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateAdd/ and related pages.
"""

from __future__ import annotations

from typing import Any

from bson.int64 import Int64

from mongo_tables.aggregation.compiler import Runs, named
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
    local_parts,
    zone_of,
)
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.numbers import whole
from mongo_tables.aggregation.values import (
    INT64_MAX,
    INT64_MIN,
    Document,
    date_from_millis,
    is_nullish,
    is_string,
    mistyped,
)

_FIXED = {"millisecond": 1, "second": SECOND, "minute": MINUTE, "hour": HOUR}
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
UNITS = (*_FIXED, *_DAYS, *_MONTHS)
UNIT_MILLIS = {**_FIXED, **{unit: days * DAY for unit, days in _DAYS.items()}}
"""Milliseconds of the units that have a fixed length."""
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Bins are counted from the start of 2000; its first day is a Saturday.
_START_DAYS = days_from_civil(2000, 1, 1)
_MOST_BINS = 100_000_000_000
# The server's error codes: for a value that is not a date, a unit that is not a string, and an unknown unit.
_CODES = {
    "$dateAdd": (5166403, 5166404, 9),
    "$dateSubtract": (5166403, 5166404, 9),
    "$dateDiff": (5166307, 5439013, 5439014),
    "$dateTrunc": (5439012, 5439013, 5439014),
}
_DEFAULTS = {"timezone": "UTC", "binSize": 1}


def _present(document: Document, runs: Runs, *names: str) -> list[Any] | None:
    """Return the arguments' values, or None at the first null or missing one, without computing the rest."""
    values = []
    for name in names:
        value = runs[name](document) if name in runs else _DEFAULTS[name]
        if is_nullish(value):
            return None
        values.append(value)
    return values


def _date(name: str, argument: str, value: Any) -> int:
    try:
        return date_millis(value)
    except AggregationError:
        raise mistyped(f"'{argument}' of {name} must be a date, not", value, _CODES[name][0]) from None


def _unit(name: str, value: Any) -> str:
    if not is_string(value):
        raise mistyped(f"'unit' of {name} must be a string, not", value, _CODES[name][1])
    if value not in UNITS:
        raise AggregationError(f"{name} does not know the unit '{value}'", code=_CODES[name][2])
    return str(value)


def _start_of_week(document: Document, runs: Runs, unit: Any) -> Any:
    """Return the value of ``startOfWeek``, which counts for weeks only, or Sunday if it is not given."""
    return runs["startOfWeek"](document) if "startOfWeek" in runs and unit == "week" else "sunday"


def _weekday(name: str, value: Any) -> int:
    """Return 1 for Monday to 7 for Sunday, from a name or its first three letters in any case."""
    if not is_string(value):
        raise mistyped(f"'startOfWeek' of {name} must be a string, not", value, 5439015)
    for number, day in enumerate(_WEEKDAYS, 1):
        if value.lower() in (day, day[:3]):
            return number
    raise AggregationError(f"{name} does not know the day of the week '{value}'", code=5439016)


def _make_date(name: str, date: int) -> Any:
    if not INT64_MIN <= date <= INT64_MAX:
        raise AggregationError(f"the result of {name} does not fit a date of 64 bits", code=5976500)
    return date_from_millis(date)


@named("$dateAdd", "$dateSubtract")
def _add(name: str, document: Document, runs: Runs) -> Any:
    values = _present(document, runs, "startDate", "unit", "amount", "timezone")
    return None if values is None else shift_date(*values, name=name)


def shift_date(value: Any, unit: Any, amount: Any, where: Any = "UTC", *, name: str = "$dateAdd") -> Any:
    """Return the result of `$dateAdd` or `$dateSubtract` for arguments that are not null."""
    date, unit = _date(name, "startDate", value), _unit(name, unit)
    sign = 1 if name == "$dateAdd" else -1
    number = whole(amount)
    if number is None or sign * number > INT64_MAX:
        message = f"'amount' of {name} must be a whole number of 64 bits, not {amount!r}"
        raise AggregationError(message, code=5166405)
    return _make_date(name, _move_date(date, unit, sign * number, zone_of(where)))


def _move_date(date: int, unit: str, amount: int, zone: Zone) -> int:
    if unit != "millisecond" and date < 0 and date % SECOND:
        # The server loses a second for dates before 1970 that have milliseconds.
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
        moved = days_from_civil(parts.year + years, index + 1, day) * DAY + local % DAY
    return zone.date(moved, zone.summer(date))


@named("$dateDiff")
def _diff(name: str, document: Document, runs: Runs) -> Any:
    values = _present(document, runs, "startDate", "endDate", "unit", "timezone")
    if values is None:
        return None
    start, end, unit, where = values
    week = _start_of_week(document, runs, unit)
    if is_nullish(week):
        return None
    first, last = _date(name, "startDate", start), _date(name, "endDate", end)
    return Int64(_count(first, last, _unit(name, unit), zone_of(where), _weekday(name, week)))


def _count(first: int, last: int, unit: str, zone: Zone, weekday: int) -> int:
    """Return how often a unit begins after ``first`` up to ``last``; negative if ``last`` is earlier."""
    if unit == "millisecond":
        return last - first
    start, end = zone.local(first), zone.local(last)
    if unit in _FIXED:
        # The units that begin on the zone's clock, without whole units by which the clock was moved forward.
        width, shift = _FIXED[unit], (end - last) - (start - first)
        return end // width - start // width - int(shift / width)
    if unit == "day":
        return end // DAY - start // DAY
    if unit == "week":
        return (end // DAY + 4 - weekday) // 7 - (start // DAY + 4 - weekday) // 7
    one, two, months = local_parts(start), local_parts(end), _MONTHS[unit]
    return (two.year * 12 + two.month - 1) // months - (one.year * 12 + one.month - 1) // months


@named("$dateTrunc")
def _trunc(name: str, document: Document, runs: Runs) -> Any:
    values = _present(document, runs, "date", "unit", "binSize", "timezone")
    if values is None:
        return None
    value, unit, size, where = values
    week = _start_of_week(document, runs, unit)
    if is_nullish(week):
        return None
    date, unit, bins = _date(name, "date", value), _unit(name, unit), whole(size)
    if bins is None:
        raise AggregationError(f"'binSize' of $dateTrunc must be a whole number, not {size!r}", code=5439017)
    if bins < 1:
        raise AggregationError(f"'binSize' of $dateTrunc must be at least 1, not {bins}", code=5439018)
    if unit in _FIXED and bins * _FIXED[unit] > INT64_MAX:
        raise AggregationError(f"bins of {bins} {unit}s overflow 64 bits in $dateTrunc", code=5439002)
    if unit not in _FIXED and bins > _MOST_BINS:
        raise AggregationError(
            f"'binSize' of $dateTrunc must be at most {_MOST_BINS}, not {bins}", code=5439006
        )
    first = _weekday(name, week)
    return _make_date(name, _truncate_date(date, unit, bins, zone_of(where), first))


def _truncate_date(date: int, unit: str, size: int, zone: Zone, weekday: int) -> int:
    if unit in _FIXED:
        start = zone.date(_START_DAYS * DAY)
        width = _FIXED[unit] * size
        return start + (date - start) // width * width
    local = zone.local(date)
    if unit in _DAYS:
        start_day = _START_DAYS
        if unit == "week":
            start_day += (weekday - iso_weekday(_START_DAYS)) % 7
        width = _DAYS[unit] * size
        return zone.date((start_day + (local // DAY - start_day) // width * width) * DAY)
    parts = local_parts(local)
    width = _MONTHS[unit] * size
    months = ((parts.year - 2000) * 12 + parts.month - 1) // width * width
    years, index = divmod(months, 12)
    return zone.date(days_from_civil(2000 + years, index + 1, 1) * DAY)
