"""Calendar and time zones in integer arithmetic: any year, not only the range of ``datetime``.

A date is a number of milliseconds since 1970 (UTC). A local time is the number of milliseconds since 1970 on the clock
of a zone. Days are counted since 1970-01-01, months and weekdays as in ISO 8601 (Monday is 1). Zones: the Olson names
of the ``tzdata`` package, and offsets ``+05:30``, ``+0530``, ``+03``.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateToParts/ (offsets, Olson
names).
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from bson.objectid import ObjectId
from bson.timestamp import Timestamp

from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.values import is_date, millis, mistyped, type_name

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
_ERA_DAYS = 146_097  # 400 Gregorian years, after which the calendar repeats with its weekdays
_ERA_MILLIS = _ERA_DAYS * DAY
_EPOCH = datetime(1970, 1, 1)
_FIRST_DAY = _EPOCH.toordinal()
_FIRST_MILLIS = -62_135_596_800_000  # 0001-01-01
_LAST_MILLIS = 253_402_300_800_000  # 10000-01-01


class Parts(NamedTuple):
    """The parts of a local time. ``day`` and ``month`` count from 1."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    millisecond: int


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the days from 1970 to a date. ``day`` may be out of range and carries over; ``month`` must be in range."""
    eras, of_era = divmod(year - 1970, 400)
    return eras * _ERA_DAYS + datetime(1970 + of_era, month, day=1).toordinal() - _FIRST_DAY + day - 1


def _find_day(days: int) -> tuple[int, datetime]:
    """Split days since 1970 into a multiple of 400 years and a date from 1970 to 2369."""
    eras, rest = divmod(days, _ERA_DAYS)
    return eras * 400, datetime.fromordinal(_FIRST_DAY + rest)


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Return year, month and day of a count of days since 1970.

    Example:
        >>> civil_from_days(19_000)
        (2022, 1, 8)
    """
    years, day = _find_day(days)
    return years + day.year, day.month, day.day


def iso_weekday(days: int) -> int:
    """Return the weekday of a count of days since 1970: 1 for Monday to 7 for Sunday."""
    return (days + 3) % 7 + 1


def iso_week(days: int) -> tuple[int, int]:
    """Return the ISO 8601 week year and week (1 to 53) of a count of days since 1970.

    Example:
        >>> iso_week(days_from_civil(2021, 1, 1))
        (2020, 53)
    """
    years, day = _find_day(days)
    year, week, _ = day.isocalendar()
    return years + year, week


def days_from_iso_week(year: int, week: int, weekday: int) -> int:
    """Return the days since 1970 of an ISO week date. Week and weekday carry over if out of range."""
    fourth = days_from_civil(year, 1, 4)
    return fourth - iso_weekday(fourth) + 1 + (week - 1) * 7 + weekday - 1


def sunday_week(days: int) -> int:
    """Return the week of the year, 0 to 53, of a count of days since 1970.

    Weeks begin on Sundays. Days before the first Sunday are in week 0.
    """
    year = civil_from_days(days)[0]
    of_year = days - days_from_civil(year, 1, 1)
    return (of_year + 7 - iso_weekday(days) % 7) // 7


def local_parts(local: int) -> Parts:
    """Return the parts of a local time in milliseconds."""
    days, rest = divmod(local, DAY)
    seconds, millisecond = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return Parts(*civil_from_days(days), hour, minute, second, millisecond)


def local_millis(
    year: int, month: int, day: int, hour: int, minute: int, second: int, millisecond: int
) -> int:
    """Return the local time in milliseconds that has these parts. A part out of range carries over."""
    extra, index = divmod(month - 1, 12)
    days = days_from_civil(year + extra, index + 1, day)
    return ((days * 24 + hour) * 60 + minute) * MINUTE + second * SECOND + millisecond


class Zone(NamedTuple):
    """A time zone: a fixed number of ``seconds`` east of UTC, or the rules of an Olson zone.

    ``named``: the zone is UTC, given by its name. When the server reads dates, it treats this name differently from
    an offset of zero.
    """

    seconds: int
    rules: ZoneInfo | None = None
    named: bool = False

    def offset(self, date: int) -> int:
        """Return the milliseconds east of UTC at a date."""
        if self.rules is None:
            return self.seconds * 1000
        return _offset(self._clock(date))

    def local(self, date: int) -> int:
        """Return the local time at a date."""
        return date + self.offset(date)

    def summer(self, date: int) -> bool:
        """Return whether daylight saving time applies at a date."""
        if self.rules is None:
            return False
        return bool(self._clock(date).dst())

    def _clock(self, date: int) -> datetime:
        assert self.rules is not None
        moment = _EPOCH + timedelta(milliseconds=_in_range(date))
        return self.rules.fromutc(moment.replace(tzinfo=self.rules))

    def date(self, local: int, summer: bool | None = None) -> int:
        """Return the date of a local time, in milliseconds since 1970 (UTC).

        A time that the clock skips uses the offset before the jump. If the clock shows a time twice,
        ``summer`` selects daylight saving time; None selects the zone's state at the start of 1970, as the
        server does for a time that is not computed from a date.
        """
        if self.rules is None:
            return local - self.seconds * 1000
        clock = (_EPOCH + timedelta(milliseconds=_in_range(local))).replace(tzinfo=self.rules)
        first = _offset(clock)
        second = _offset(clock.replace(fold=1))
        if first <= second:
            return local - first
        if summer is None:
            summer = self.summer(0)
        # The server looks up the local time as if it were UTC, and then corrects the result.
        guess = self.offset(local)
        better = self.offset(local - guess)
        if guess == better and guess >= 0 and summer and not self.summer(local):
            better = first if self.offset(local - guess - 2 * HOUR) != better else better
        elif guess == better and guess <= 0 and not summer and self.summer(local):
            better = second if self.offset(local - guess + 2 * HOUR) != better else better
        return local - better


def _offset(clock: datetime) -> int:
    return (clock.utcoffset() or timedelta()) // timedelta(milliseconds=1)


def _in_range(moment: int) -> int:
    """Return the moment moved by multiples of 400 years into ``datetime``'s range, at least two days from the ends."""
    if _FIRST_MILLIS + DAY * 2 <= moment < _LAST_MILLIS - DAY * 2:
        return moment
    start = _FIRST_MILLIS + DAY * 2 if moment < 0 else _LAST_MILLIS - DAY * 2 - _ERA_MILLIS
    return start + (moment - start) % _ERA_MILLIS


UTC = Zone(0)
_OFFSET = re.compile(r"([+-])([0-9]{2})(?::?([0-9]{2}))?")


@lru_cache(maxsize=256)
def zone(name: str) -> Zone:
    """Return the zone of an Olson name or an offset. Raises AggregationError (40485) for anything else."""
    if name == "UTC":
        return Zone(0, named=True)
    if found := _OFFSET.fullmatch(name):
        seconds = int(found[2]) * 3600 + int(found[3] or 0) * 60
        return Zone(-seconds if found[1] == "-" else seconds)
    if not re.fullmatch(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}", name) or name not in zone_names():
        raise AggregationError(f"unknown time zone '{name}'", code=40485)
    # Use the tzdata package instead of the system's data, so that every machine gives the same result.
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return Zone(0, ZoneInfo.from_file(file, key=name))


def is_zone(name: str) -> bool:
    """Return whether ``zone`` knows the name."""
    try:
        zone(name)
    except AggregationError:
        return False
    return True


def zone_names() -> list[str]:
    """Return all Olson names."""
    return resources.files("tzdata").joinpath("zones").read_text("utf-8").split()


def zone_of(value: Any) -> Zone:
    """Return the zone of a non-null ``timezone`` argument. Raises AggregationError if it is not a string."""
    if type(value) is not str:
        raise mistyped("a time zone must be a string, not", value, 40517)
    return zone(value)


def date_millis(value: Any) -> int:
    """Return the milliseconds since 1970 of a value that the server accepts as a date: date, timestamp or ObjectId."""
    if is_date(value):
        return millis(value)
    if isinstance(value, Timestamp):
        return value.time * 1000
    if isinstance(value, ObjectId):
        # The server reads an ObjectId's seconds as signed, so years from 2038 on become dates before 1970.
        return int.from_bytes(value.binary[:4], "big", signed=True) * 1000
    raise AggregationError(f"{type_name(value)} is not a date", code=16006)
