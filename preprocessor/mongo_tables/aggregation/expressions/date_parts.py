"""Parts of dates, dates from parts, and dates as text; timestamps.

`$year` to `$millisecond`, `$isoWeek` and similar, `$dateToParts`, `$dateFromParts`, `$dateToString`,
`$dateFromString`; `$tsSecond` and `$tsIncrement`.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/#date-expression-operators

The module also adds, subtracts and rounds dates: `$dateAdd`, `$dateSubtract`, `$dateDiff`, `$dateTrunc`.

Units from a year to a day are counted on the calendar of the time zone; hours and shorter units are elapsed time.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateAdd/ and related pages.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bson.int64 import Int64
from bson.timestamp import Timestamp

from mongo_tables.aggregation.compiler import (
    Node,
    Runs,
    Scope,
    check_named_arguments,
    compile_expression,
    fold,
    form,
    named,
    operator,
    placed,
)
from mongo_tables.aggregation.date_formats import (
    ISO_LOCAL,
    ISO_UTC,
    check_format,
    check_reading_format,
    date_text,
    read_date,
    read_formatted,
)
from mongo_tables.aggregation.dates import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    UTC,
    Zone,
    date_millis,
    days_from_civil,
    days_from_iso_week,
    iso_week,
    iso_weekday,
    local_parts,
    sunday_week,
    zone,
    zone_of,
)
from mongo_tables.aggregation.errors import AggregationError, Path, refuse_unknown
from mongo_tables.aggregation.numbers import whole
from mongo_tables.aggregation.values import (
    INT64_MAX,
    INT64_MIN,
    MISSING,
    Document,
    Evaluate,
    date_from_millis,
    is_nullish,
    is_string,
    mistyped,
)

# Each part as a function of the local time in milliseconds.
_PARTS: dict[str, Callable[[int], int]] = {
    "$year": lambda local: local_parts(local).year,
    "$month": lambda local: local_parts(local).month,
    "$dayOfMonth": lambda local: local_parts(local).day,
    "$hour": lambda local: local // HOUR % 24,
    "$minute": lambda local: local // MINUTE % 60,
    "$second": lambda local: local // SECOND % 60,
    "$millisecond": lambda local: local % 1000,
    "$dayOfWeek": lambda local: iso_weekday(local // DAY) % 7 + 1,
    "$isoDayOfWeek": lambda local: iso_weekday(local // DAY),
    "$dayOfYear": lambda local: local // DAY - days_from_civil(local_parts(local).year, 1, 1) + 1,
    "$week": lambda local: sunday_week(local // DAY),
    "$isoWeek": lambda local: iso_week(local // DAY)[1],
    "$isoWeekYear": lambda local: Int64(iso_week(local // DAY)[0]),
}


@form(*_PARTS)
def _part(argument: Any, scope: Scope, path: Path) -> Node:
    name = str(path[-1])
    part, nodes = _PARTS[name], _date_and_zone(name, argument, scope, path)
    read, read_zone = nodes[0].run, nodes[1].run if len(nodes) > 1 else None

    def run(document: Document) -> int | None:
        value = read(document)
        if is_nullish(value):
            return None
        date = date_millis(value)
        if read_zone is None:
            return part(date)
        where = read_zone(document)
        if is_nullish(where):
            return None
        if type(where) is not str:
            raise mistyped(f"the time zone of {name} must be a string, not", where, 40533)
        return part(zone(where).local(date))

    return fold(placed(run, path), nodes, path)


def _date_and_zone(name: str, argument: Any, scope: Scope, path: Path) -> list[Node]:
    """Return the nodes of the date and of the time zone, if there is one."""
    if isinstance(argument, list | tuple):
        if len(argument) != 1:
            raise AggregationError(f"{name} takes 1 argument, not {len(argument)}", path, 40536)
        return [compile_expression(argument[0], scope, (*path, 0))]
    if not isinstance(argument, Mapping) or next(iter(argument), "").startswith("$"):
        return [compile_expression(argument, scope, path)]
    refuse_unknown(argument, ("date", "timezone"), f"{name} has no argument", path, 40535)
    if "date" not in argument:
        raise AggregationError(f"{name} needs the argument 'date'", path, 40539)
    given = [key for key in ("date", "timezone") if key in argument]
    return [compile_expression(argument[key], scope, (*path, key)) for key in given]


def _zone(document: Document, runs: Runs) -> Zone | None:
    """Return the time zone: UTC by default, None if the argument is null."""
    if "timezone" not in runs:
        return UTC
    where = runs["timezone"](document)
    return None if is_nullish(where) else zone_of(where)


@named("$dateToParts")
def _to_parts(name: str, document: Document, runs: Runs) -> Document | None:
    value, place = runs["date"](document), _zone(document, runs)
    if place is None:
        return None
    iso = runs["iso8601"](document) if "iso8601" in runs else False
    if is_nullish(iso):
        return None
    if type(iso) is not bool:
        raise mistyped("'iso8601' of $dateToParts must be a boolean, not", iso, 40521)
    if is_nullish(value):
        return None
    local = place.local(date_millis(value))
    year, month, day, hour, minute, second, millisecond = local_parts(local)
    first = {"year": year, "month": month, "day": day}
    if iso:
        first = dict(zip(_ISO, (*iso_week(local // DAY), iso_weekday(local // DAY)), strict=True))
    return {**first, "hour": hour, "minute": minute, "second": second, "millisecond": millisecond}


_CALENDAR = ("year", "month", "day")
_ISO = ("isoWeekYear", "isoWeek", "isoDayOfWeek")
_TIME = ("hour", "minute", "second", "millisecond")


@form("$dateFromParts")
def _from_parts(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(argument, path)
    if "year" not in given and "isoWeekYear" not in given:
        raise AggregationError("$dateFromParts needs 'year' or 'isoWeekYear'", path, 40516)
    names, others = (_CALENDAR, _ISO) if "year" in given else (_ISO, _CALENDAR)
    for name in others:
        if name in given:
            message = f"$dateFromParts does not accept '{name}' together with '{names[0]}'"
            raise AggregationError(message, (*path, name), 40489)
    nodes = {key: compile_expression(value, scope, where) for key, (value, where) in given.items()}
    runs = {key: node.run for key, node in nodes.items()}

    def run(document: Document) -> Any:
        time = _numbers(document, runs, _TIME)
        place = None if time is None else _zone(document, runs)
        day = None if place is None else _numbers(document, runs, names)
        return (
            None if time is None or place is None or day is None else _date_of_parts(day, time, place, names)
        )

    return fold(placed(run, path), nodes.values(), path)


def _numbers(document: Document, runs: Runs, names: Sequence[str]) -> list[int] | None:
    """Return the parts in order, or None if a part is null. The parts after the first null are not checked."""
    numbers: list[int] = []
    for name in names:
        value = runs[name](document) if name in runs else int(name not in _TIME)
        if is_nullish(value):
            return None
        number = whole(value)
        if number is None:
            message = f"'{name}' of $dateFromParts must be a whole number, not {value!r}"
            raise AggregationError(message, code=40515)
        if name not in ("year", "isoWeekYear", "second", "millisecond") and not -32768 <= number <= 32767:
            message = f"'{name}' of $dateFromParts must be from -32768 to 32767, not {number}"
            raise AggregationError(message, code=31034)
        numbers.append(number)
    return numbers


def _date_of_parts(day: list[int], time: list[int], place: Zone, names: tuple[str, ...]) -> Any:
    if not 1 <= day[0] <= 9999:
        message = f"'{names[0]}' of $dateFromParts must be from 1 to 9999, not {day[0]}"
        raise AggregationError(message, code=40523)
    year, second_part, third = day
    if names == _CALENDAR:
        extra, index = divmod(second_part - 1, 12)
        days = days_from_civil(year + extra, index + 1, third)
    else:
        days = days_from_iso_week(year, second_part, third)
    hour, minute, second, millisecond = time
    date = place.date(days * DAY + hour * HOUR + minute * MINUTE + second * SECOND + millisecond)
    if not INT64_MIN <= date <= INT64_MAX:
        raise AggregationError("the result of $dateFromParts does not fit a date of 64 bits", code=15)
    return date_from_millis(date)


def _format(document: Document, read: Evaluate | None, check: Callable[[str], Any], code: int) -> Any:
    """Return the checked format, None if the format is null, or MISSING if there is no format."""
    if read is None:
        return MISSING
    found = read(document)
    if is_nullish(found):
        return None
    if not is_string(found):
        raise mistyped("a date's format must be a string, not", found, code)
    check(found)
    return found


@named("$dateToString")
def _to_string(name: str, document: Document, runs: Runs) -> Any:
    value = runs["date"](document)
    form = _format(document, runs.get("format"), check_format, 18533)
    place = _zone(document, runs)
    if is_nullish(value):
        return runs["onNull"](document) if "onNull" in runs else None
    if place is None or form is None:
        return None
    if form is MISSING:
        form = ISO_LOCAL if place.rules or place.seconds else ISO_UTC
    return date_text(date_millis(value), place, form)


@named("$dateFromString")
def _from_string(name: str, document: Document, runs: Runs) -> Any:
    value = runs["dateString"](document)
    form = _format(document, runs.get("format"), check_reading_format, 40684)
    place = _zone(document, runs)
    if is_nullish(value):
        return runs["onNull"](document) if "onNull" in runs else None
    try:
        if not is_string(value):
            raise mistyped("$dateFromString requires a string, not", value, 241)
        if place is None or form is None:
            return None
        found = read_date(value, place) if form is MISSING else read_formatted(value, form, place)
        return date_from_millis(found)
    except AggregationError as error:
        if error.code == 241 and "onError" in runs:
            return runs["onError"](document)
        raise


def _timestamp(name: str, value: Any, part: Callable[[Timestamp], int]) -> Int64:
    if not isinstance(value, Timestamp):
        raise mistyped(f"{name} requires a timestamp, not", value, 5687301)
    return Int64(part(value))


@operator("$tsSecond")
def _seconds(value: Any) -> Int64:
    return _timestamp("$tsSecond", value, lambda found: found.time)


@operator("$tsIncrement")
def _increment(value: Any) -> Int64:
    return _timestamp("$tsIncrement", value, lambda found: found.inc)


_FIXED = {"millisecond": 1, "second": SECOND, "minute": MINUTE, "hour": HOUR}
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
UNITS = (*_FIXED, *_DAYS, *_MONTHS)
UNIT_MILLIS = {**_FIXED, **{unit: days * DAY for unit, days in _DAYS.items()}}
"""The milliseconds of each unit with a fixed length."""
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Bins are counted from the start of 2000, which is a Saturday.
_START_DAYS = days_from_civil(2000, 1, 1)
_MOST_BINS = 100_000_000_000
# The server's error codes for a value that is not a date, a unit that is not a string, and an unknown unit.
_CODES = {
    "$dateAdd": (5166403, 5166404, 9),
    "$dateSubtract": (5166403, 5166404, 9),
    "$dateDiff": (5166307, 5439013, 5439014),
    "$dateTrunc": (5439012, 5439013, 5439014),
}
_DEFAULTS = {"timezone": "UTC", "binSize": 1, "startOfWeek": "sunday"}


def _present(document: Document, runs: Runs, *names: str) -> list[Any] | None:
    """Return the arguments' values, or None if one is null or missing. Later arguments are then not computed."""
    values: list[Any] = []
    for name in names:
        counts = name != "startOfWeek" or values[names.index("unit")] == "week"
        value = runs[name](document) if name in runs and counts else _DEFAULTS[name]
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


def _weekday(name: str, value: Any) -> int:
    """Return the number of a weekday, 1 for Monday to 7 for Sunday, from its name or first three letters in any
    case."""
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
        # The server subtracts an extra second from dates before 1970 that have milliseconds.
        date -= SECOND
    if unit in _FIXED:
        return date + amount * _FIXED[unit]
    local = zone.local(date)
    if unit in _DAYS:
        moved = local + amount * _DAYS[unit] * DAY
    else:
        parts = local_parts(local)
        years, index = divmod(parts.month - 1 + amount * _MONTHS[unit], 12)
        day = min(parts.day, monthrange(parts.year + years, index + 1)[1])
        moved = days_from_civil(parts.year + years, index + 1, day) * DAY + local % DAY
    return zone.date(moved, zone.summer(date))


@named("$dateDiff")
def _diff(name: str, document: Document, runs: Runs) -> Any:
    values = _present(document, runs, "startDate", "endDate", "unit", "timezone", "startOfWeek")
    if values is None:
        return None
    start, end, unit, where, week = values
    first, last = _date(name, "startDate", start), _date(name, "endDate", end)
    return Int64(_count(first, last, _unit(name, unit), zone_of(where), _weekday(name, week)))


def _count(first: int, last: int, unit: str, zone: Zone, weekday: int) -> int:
    """Return the number of times that a unit begins after ``first`` and up to ``last``.

    The number is negative if ``last`` is earlier than ``first``.
    """
    if unit == "millisecond":
        return last - first
    start, end = zone.local(first), zone.local(last)
    if unit in _FIXED:
        # Count the units on the zone's clock, without the whole units that the clock skipped when it was moved
        # forward.
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
    values = _present(document, runs, "date", "unit", "binSize", "timezone", "startOfWeek")
    if values is None:
        return None
    value, unit, size, where, week = values
    date, unit, bins = _date(name, "date", value), _unit(name, unit), whole(size)
    if bins is None:
        raise AggregationError(f"'binSize' of $dateTrunc must be a whole number, not {size!r}", code=5439017)
    if bins < 1:
        raise AggregationError(f"'binSize' of $dateTrunc must be at least 1, not {bins}", code=5439018)
    if unit in _FIXED and bins * _FIXED[unit] > INT64_MAX:
        raise AggregationError(f"bins of {bins} {unit}s overflow 64 bits in $dateTrunc", code=5439002)
    if unit not in _FIXED and bins > _MOST_BINS:
        message = f"'binSize' of $dateTrunc must be at most {_MOST_BINS}, not {bins}"
        raise AggregationError(message, code=5439006)
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
