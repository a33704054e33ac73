"""Dates taken apart and put together: `$year` to `$millisecond`, `$isoWeek` and its like, `$dateToParts`,
`$dateFromParts`; and timestamps, `$tsSecond` and `$tsIncrement`.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/#date-expression-operators
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from bson.int64 import Int64
from bson.timestamp import Timestamp

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    check_named_arguments,
    compile_expression,
    constant,
    fold_constant,
    form,
    operator,
)
from mongo_tables.aggregation.dates import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
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
from mongo_tables.aggregation.numbers import integral, rank
from mongo_tables.aggregation.values import (
    INT64_MAX,
    INT64_MIN,
    Document,
    date_from_millis,
    is_nullish,
    type_name,
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


def _part(name: str, part: Callable[[int], int], argument: Any, scope: Scope, path: Path) -> Node:
    read, read_zone, is_constant = _date_and_zone(name, argument, scope, path)

    def run(document: Document) -> int | None:
        try:
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
                raise AggregationError(
                    f"{name} takes a string as time zone, not {type_name(where)}", code=40533
                )
            return part(zone(where).local(date))
        except AggregationError as error:
            raise error.at(path) from None

    return fold_constant(Node(run, constant=is_constant), path)


def _date_and_zone(
    name: str, argument: Any, scope: Scope, path: Path
) -> tuple[Callable[[Document], Any], Callable[[Document], Any] | None, bool]:
    """The functions that read the date and the time zone, and whether both are constants."""
    if isinstance(argument, list | tuple):
        if len(argument) != 1:
            raise AggregationError(f"{name} takes 1 argument, not {len(argument)}", path, 40536)
        node = compile_expression(argument[0], scope, (*path, 0))
        return node.run, None, node.constant
    if not isinstance(argument, Mapping) or next(iter(argument), "").startswith("$"):
        node = compile_expression(argument, scope, path)
        return node.run, None, node.constant
    refuse_unknown(argument, ("date", "timezone"), f"{name} has no argument", path, 40535)
    if "date" not in argument:
        raise AggregationError(f"{name} needs the argument 'date'", path, 40539)
    node = compile_expression(argument["date"], scope, (*path, "date"))
    if "timezone" not in argument:
        return node.run, None, node.constant
    where = compile_expression(argument["timezone"], scope, (*path, "timezone"))
    return node.run, where.run, node.constant and where.constant


for _name, _function in _PARTS.items():
    form(_name)(functools.partial(_part, _name, _function))


@form("$dateToParts")
def _to_parts(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments("$dateToParts", argument, path)
    nodes = {key: compile_expression(value, scope, where) for key, (value, where) in given.items()}
    read = nodes["date"].run
    read_zone = nodes["timezone"].run if "timezone" in nodes else None
    read_iso = nodes["iso8601"].run if "iso8601" in nodes else constant(False).run

    def run(document: Document) -> Document | None:
        try:
            value = read(document)
            where = read_zone(document) if read_zone else "UTC"
            if is_nullish(where):
                return None
            place = zone_of(where)
            iso = read_iso(document)
            if is_nullish(iso):
                return None
            if type(iso) is not bool:
                raise AggregationError(
                    f"$dateToParts takes 'iso8601' as a boolean, not {type_name(iso)}", code=40521
                )
            return None if is_nullish(value) else _parts_document(place.local(date_millis(value)), iso)
        except AggregationError as error:
            raise error.at(path) from None

    return fold_constant(Node(run, constant=all(node.constant for node in nodes.values())), path)


def _parts_document(local: int, iso: bool) -> Document:
    parts = local_parts(local)
    days = local // DAY
    if iso:
        year, week = iso_week(days)
        first = {"isoWeekYear": year, "isoWeek": week, "isoDayOfWeek": iso_weekday(days)}
    else:
        first = {"year": parts.year, "month": parts.month, "day": parts.day}
    return {
        **first,
        "hour": parts.hour,
        "minute": parts.minute,
        "second": parts.second,
        "millisecond": parts.millisecond,
    }


_CALENDAR = ("year", "month", "day")
_ISO = ("isoWeekYear", "isoWeek", "isoDayOfWeek")
_TIME = ("hour", "minute", "second", "millisecond")


@form("$dateFromParts")
def _from_parts(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments("$dateFromParts", argument, path)
    if "year" not in given and "isoWeekYear" not in given:
        raise AggregationError("$dateFromParts needs 'year' or 'isoWeekYear'", path, 40516)
    names = _CALENDAR if "year" in given else _ISO
    for name in _ISO if "year" in given else _CALENDAR:
        if name in given:
            raise AggregationError(
                f"$dateFromParts takes '{name}' not beside '{names[0]}'", (*path, name), 40489
            )
    nodes = {key: compile_expression(value, scope, where) for key, (value, where) in given.items()}
    first = [(name, nodes[name].run if name in nodes else None) for name in _TIME]
    second = [(name, nodes[name].run if name in nodes else None) for name in names]
    read_zone = nodes["timezone"].run if "timezone" in nodes else None

    def run(document: Document) -> Any:
        try:
            time = _numbers(document, first)
            if time is None:
                return None
            where = read_zone(document) if read_zone else "UTC"
            if is_nullish(where):
                return None
            place = zone_of(where)
            day = _numbers(document, second)
            return None if day is None else _make_date(day, time, place, names)
        except AggregationError as error:
            raise error.at(path) from None

    return fold_constant(Node(run, constant=all(node.constant for node in nodes.values())), path)


def _numbers(
    document: Document, reads: list[tuple[str, Callable[[Document], Any] | None]]
) -> list[int] | None:
    """The parts in order, None when one of them is null: what follows it is not looked at."""
    numbers: list[int] = []
    for name, read in reads:
        if read is None:
            numbers.append(0 if name in _TIME else 1)
            continue
        value = read(document)
        if is_nullish(value):
            return None
        numbers.append(_check_part(name, value))
    return numbers


def _check_part(name: str, value: Any) -> int:
    number = integral(value) if rank(value) else None
    if number is None or not INT64_MIN <= number <= INT64_MAX:
        raise AggregationError(f"$dateFromParts takes '{name}' as a whole number, not {value!r}", code=40515)
    if name not in ("year", "isoWeekYear", "second", "millisecond") and not -32768 <= number <= 32767:
        raise AggregationError(
            f"$dateFromParts takes '{name}' from -32768 to 32767, not {number}", code=31034
        )
    return number


def _make_date(day: list[int], time: list[int], place: Zone, names: tuple[str, ...]) -> Any:
    if not 1 <= day[0] <= 9999:
        raise AggregationError(f"$dateFromParts takes '{names[0]}' from 1 to 9999, not {day[0]}", code=40523)
    year, second_part, third = day
    if names == _CALENDAR:
        extra, index = divmod(second_part - 1, 12)
        days = days_from_civil(year + extra, index + 1, third)
    else:
        days = days_from_iso_week(year, second_part, third)
    hour, minute, second, millisecond = time
    date = place.date(days * DAY + hour * HOUR + minute * MINUTE + second * SECOND + millisecond)
    if not INT64_MIN <= date <= INT64_MAX:
        raise AggregationError("$dateFromParts gives no date of 64 bits", code=15)
    return date_from_millis(date)


def _timestamp(name: str, value: Any) -> Timestamp | None:
    if is_nullish(value):
        return None
    if not isinstance(value, Timestamp):
        raise AggregationError(f"{name} takes a timestamp, not {type_name(value)}", code=5687301)
    return value


@operator("$tsSecond")
def _seconds(value: Any) -> int | float | None:
    found = _timestamp("$tsSecond", value)
    return None if found is None else Int64(found.time)


@operator("$tsIncrement")
def _increment(value: Any) -> int | float | None:
    found = _timestamp("$tsIncrement", value)
    return None if found is None else Int64(found.inc)
