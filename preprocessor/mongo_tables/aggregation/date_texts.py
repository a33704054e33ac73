"""Dates parsed from text without a format, in the forms that the server (timelib) reads and people write.

Supported are ISO 8601 dates, week dates and times, ``2020/01/02``, ``1/2/2020``, ``2-1-2020``, ``2.1.2020``,
``Jan 2, 2020``, ``2 January 2020``, RFC 2822 dates, ``@seconds``; a time after the date, with ``am`` or
``pm``, an offset or the abbreviation of a zone. Other forms that the server reads (``last monday of …``)
raise NotOffline.
"""

from __future__ import annotations

import re

from mongo_tables.aggregation.date_formats import ABBREVIATIONS, DateParts, read_zone, unreadable
from mongo_tables.aggregation.dates import Zone, days_from_civil, iso_weekday
from mongo_tables.aggregation.errors import AggregationError, NotOffline

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?P<day>3[01]|[0-2]?\d)"
_NUMBER = r"(?P<month>1[0-2]|0?\d)"
_YEAR = r"(?P<year>\d{4})"
_ANY_YEAR = r"(?P<year>\d{4}|\d{2})"
_WEEKDAY = r"(?:(?P<weekday>mon|tue|wed|thu|fri|sat|sun)(?:day|sday|nesday|rsday|urday)?\.?,?\s+)?"
_DATE = [
    re.compile(pattern + r"(?!\d)", re.IGNORECASE | re.ASCII)
    for pattern in (
        rf"{_YEAR}-{_NUMBER}-{_DAY}",
        rf"{_YEAR}(?P<month>1[0-2]|0\d)(?P<day>3[01]|[0-2]\d)",
        rf"{_YEAR}/{_NUMBER}/{_DAY}",
        r"(?P<iso_year>\d{4})-?W(?P<iso_week>0[1-9]|[1-4]\d|5[0-3])(?:-?(?P<iso_day>[1-7]))?(?!-)",
        rf"{_YEAR}-{_NUMBER}(?!-)",
        rf"{_NUMBER}/{_DAY}/{_ANY_YEAR}",
        rf"{_DAY}-{_NUMBER}-{_YEAR}",
        rf"{_DAY}\.{_NUMBER}\.{_YEAR}",
        rf"{_YEAR}-(?P<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)-(?P<day>3[01]|[0-2]\d)",
        rf"{_WEEKDAY}{_DAY}(?:st|nd|rd|th)?[ \t]+{_MONTH}[ \t]+{_YEAR}",
        rf"{_DAY}-{_MONTH}-{_YEAR}",
        rf"{_WEEKDAY}{_MONTH}[ \t]+{_DAY}(?:st|nd|rd|th)?(?:,?[ \t]+){_YEAR}",
        rf"{_MONTH}[ \t]+{_YEAR}",
    )
]
_TIME = re.compile(
    r"(?:[ \t]*t|[ \t\n]+|,[ \t]*)(?P<hour>\d{1,2})"
    r"(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d*))?)?)?"
    r"(?P<half>[ \t]*[ap]\.?m\.?(?![a-z]))?(?![\d:.,])",
    re.IGNORECASE | re.ASCII,
)
# Only after a date with hyphens is a fraction of a second read as such.
_FRACTIONAL = re.compile(r"\d{4}-\d\d?-\d\d?(?:t\d|[ \t]+\d?)\d:", re.IGNORECASE | re.ASCII)
_COMPACT_TIME = re.compile(
    r"(?:[ \t]*t|[ \t]+)(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)(?![\d:.,])", re.I | re.ASCII
)
_STAMP = re.compile(r"\s*@(-?\d{1,15})\s*")
_ALL_DIGITS = re.compile(r"(\d{8})(\d{2})(\d{2})(\d{2})")
# Year, month and day, or year and day of the year, at any position where the server may find them in a run of
# digits.
_DATE_OF_DIGITS = re.compile(r"\d{4}(?:(?:0\d|1[0-2])(?:[0-2]\d|3[01])|[0-2]\d\d|3[0-6]\d)")
# As in the output of JavaScript and of C: the year follows the time.
_YEAR_LAST = re.compile(
    rf"{_WEEKDAY}{_MONTH}[ \t]+{_DAY}[ \t]+(?P<time>\d{{1,2}}:\d{{2}}:\d{{2}})"
    rf"(?P<zone>[ \t]+[+-]\d\d:?\d\d)?[ \t]+{_YEAR}(?!\d)",
    re.I | re.ASCII,
)
# Words with a meaning in dates: for the server, a text with any other word is not a date.
_VOCABULARY = """
    january february march april may june july august september october november december sept
    sun sunday mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth next last previous this
    ms msec millisecond milliseconds microsecond microseconds usec sec secs seconds min mins minute minutes hour
    hours day days week weeks fortnight fortnights forthnight month months year years weekday weekdays ago now
    today midnight noon tomorrow yesterday back front of am pm st nd rd th sat
    i ii iii iv v vi vii viii ix x xi xii
"""
_WORDS = frozenset(_VOCABULARY.split()).union(_MONTHS, _DAYS, ABBREVIATIONS)


def read_date(text: str, zone: Zone) -> int:
    """Parse ``text`` as a date and return milliseconds. Without an offset it is local to ``zone``.

    Raises:
        AggregationError: With code 241, if the text is not a date.
        NotOffline: If it may be a date in an unsupported form.

    Example:
        >>> from mongo_tables.aggregation.dates import UTC
        >>> read_date("Jan 2, 1970", UTC)
        86400000
    """
    if stamp := _STAMP.fullmatch(text):
        reading = DateParts(text, year=1970, month=1, day=1, offset=0)
        return reading.date(zone) + int(stamp[1]) * 1000
    reading = DateParts(text)
    body = text.strip(" \t\n")
    if found := _ALL_DIGITS.fullmatch(body):
        body = f"{found[1]}T{found[2]}{found[3]}{found[4]}"
    elif found := _YEAR_LAST.match(body):
        moved = f"{found['name']} {found['day']}, {found['year']} {found['time']}{found['zone'] or ''}"
        body = (f"{found['weekday']} " if found["weekday"] else "") + moved + body[found.end() :]
    at = _date(reading, body)
    if at is None:
        raise _refusal(text)
    at = _time(reading, body, at)
    at += len(body[at:]) - len(body[at:].lstrip(" \t"))
    if at < len(body):
        try:
            at = read_zone(reading, body, at)
        except AggregationError:
            raise _refusal(text) from None
    if at < len(body):
        raise _refusal(text)
    if abs(reading.offset or 0) > 14 * 3600 or re.search(r"[+-]\d{1,2}:?[6-9]\d$", body):
        raise NotOffline(f"the offset in '{text}' is not available offline")
    return reading.date(zone)


def _date(reading: DateParts, text: str) -> int | None:
    """Read the date at the start of the text. Return its end, or None without a date."""
    for pattern in _DATE:
        found = pattern.match(text)
        if found is None:
            continue
        groups = found.groupdict()
        if groups.get("iso_year"):
            reading.iso_year, reading.iso_week = int(groups["iso_year"]), int(groups["iso_week"])
            reading.iso_day = int(groups["iso_day"] or 1)
            return found.end()
        name = groups.get("name")
        reading.year = int(groups["year"])
        if len(groups["year"]) <= 2:
            reading.year += 2000 if reading.year < 70 else 1900
        reading.month = _MONTHS.index(name[:3].lower()) + 1 if name else int(groups["month"])
        reading.day = int(groups.get("day") or ("1" if "day" not in groups else "0"))
        if weekday := groups.get("weekday"):
            days = days_from_civil(reading.year, reading.month, reading.day or 1)
            if iso_weekday(days) != _DAYS.index(weekday[:3].lower()) + 1:
                message = f"'{reading.text}' names another day of the week: that is not available offline"
                raise NotOffline(message)
        return found.end()
    return None


def _time(reading: DateParts, text: str, at: int) -> int:
    """Read the time after the date, if there is one. Return its end."""
    found = _COMPACT_TIME.match(text, at) or _TIME.match(text, at)
    if found is None:
        return at
    groups = found.groupdict()
    if groups["minute"] is None and not groups.get("half") and "t" not in found[0].lower():
        return at
    reading.hour, reading.minute = int(groups["hour"]), int(groups["minute"] or 0)
    reading.second = int(groups["second"] or 0)
    reading.microsecond = int(float("0." + (groups.get("fraction") or "0")) * 1_000_000)
    if groups.get("fraction") and not _FRACTIONAL.match(text):
        raise NotOffline(f"'{reading.text}' as a date without a format is not available offline")
    if groups.get("half"):
        if "t" in found[0].lower() or groups["fraction"] or text[found.end() :].strip():
            raise NotOffline(f"'{reading.text}' as a date without a format is not available offline")
        if not 1 <= reading.hour <= 12:
            raise unreadable(reading.text, "this hour before or after noon does not exist")
        reading.hour = reading.hour % 12 + (12 if "p" in groups["half"].lower() else 0)
    return found.end()


def _refusal(text: str) -> AggregationError:
    """Return the error that the text is not a date, or NotOffline if it may be one in another form."""
    words = re.findall(r"[A-Za-z]+", re.sub(r"(?<=\d)(?:st|nd|rd|th|[ap]m)", " ", text, flags=re.I))
    unknown = [word for word in words if len(word) > 1 and word.lower() not in _WORDS]
    if unknown or not text.isascii() or not re.search(r"\d", text):
        return unreadable(text, f"'{unknown[0]}' is not part of a date" if unknown else "it contains no date")
    if _is_no_date(text):
        return unreadable(text, "this date or time does not exist")
    return NotOffline(f"'{text}' as a date without a format is not available offline")


# Known invalid forms: numbers alone, dates and times out of range, a lone year or time.
_NO_DATE = "|".join(
    (
        r"\d{1,6}|\d{10}|[+-]\d{1,6}",
        r"(?i:[+-]?\d{1,6}(?:\.\d{0,6})?e[+-]?\d{1,3})",
        r"\d{4}-?W(?:00|5[4-9]|[6-9]\d)",
        r"-?\d{1,6}\.\d{1,2}|\d{1,2}/\d{1,4}|[+-]?\d{1,3}(?:\.\d+)?%",
        rf"(?i:{_MONTH}\.?[ \t.-]*\d{{1,2}}|\d{{1,2}}[ \t.-]*{_MONTH})".replace("?P<name>", "?:"),
        r"\d{1,2}(:\d{1,2}){1,2}(\.\d+)?",
        r"(?i:(?:\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}/\d{1,2}/\d{4})"
        r"(?:[T ]\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)",
    )
)


def _is_no_date(text: str) -> bool:
    body = text.strip()
    if re.fullmatch(r"[+-]?\d{7,}", body) and not _DATE_OF_DIGITS.search(body):
        return True
    return re.fullmatch(_NO_DATE, body) is not None
