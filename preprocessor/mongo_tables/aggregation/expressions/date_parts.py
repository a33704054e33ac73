"""Parts of dates, dates from parts, and dates as text; timestamps.

`$year` to `$millisecond`, `$isoWeek` and similar, `$dateToParts`, `$dateFromParts`, `$dateToString`,
`$dateFromString`; `$tsSecond` and `$tsIncrement`.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/#date-expression-operators
"""

from __future__ import annotations

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
    """Return the zone: UTC by default, None if it is null."""
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
        return None if time is None or place is None or day is None else _make_date(day, time, place, names)

    return fold(placed(run, path), nodes.values(), path)


def _numbers(document: Document, runs: Runs, names: Sequence[str]) -> list[int] | None:
    """Return the parts in order, or None at the first null, without checking the rest."""
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


def _make_date(day: list[int], time: list[int], place: Zone, names: tuple[str, ...]) -> Any:
    if not 1 <= day[0] <= 9999:
        raise AggregationError(
            f"'{names[0]}' of $dateFromParts must be from 1 to 9999, not {day[0]}", code=40523
        )
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
    """Return the format after ``check``, None if it is null, or MISSING if there is none."""
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


def _timestamp(name: str, value: Any, part: Callable[[Timestamp], int]) -> Int64 | None:
    if is_nullish(value):
        return None
    if not isinstance(value, Timestamp):
        raise mistyped(f"{name} requires a timestamp, not", value, 5687301)
    return Int64(part(value))


@operator("$tsSecond")
def _seconds(value: Any) -> Int64 | None:
    return _timestamp("$tsSecond", value, lambda found: found.time)


@operator("$tsIncrement")
def _increment(value: Any) -> Int64 | None:
    return _timestamp("$tsIncrement", value, lambda found: found.inc)
