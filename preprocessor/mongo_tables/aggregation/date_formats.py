"""Writing and reading dates with a format string such as ``%Y-%m-%d``.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateToString/#format-specifiers

The module also parses dates without a format, in common forms that the server (timelib) reads.

Supported are ISO 8601 dates, week dates and times, ``2020/01/02``, ``1/2/2020``, ``2-1-2020``, ``2.1.2020``,
``Jan 2, 2020``, ``2 January 2020``, RFC 2822 dates, ``@seconds``; a time after the date, with ``am`` or
``pm``, an offset or the abbreviation of a zone. Other forms that the server reads (``last monday of …``)
raise NotOffline.
"""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from mongo_tables.aggregation.dates import (
    DAY,
    MINUTE,
    UTC,
    Parts,
    Zone,
    days_from_civil,
    days_from_iso_week,
    iso_week,
    iso_weekday,
    local_parts,
    sunday_week,
)
from mongo_tables.aggregation.errors import AggregationError, NotOffline

# The time zone abbreviations that the server reads, each with its hours east of UTC. They were found by asking
# mongod for every word of up to four letters.
_LIST = """
acdt 10.5 acst 9.5 addt -2 adt -3 aedt 11 aest 10 ago 0 ahdt -9 ahst -10 akdt -8 akst -9 amt
-3.84444 apt -3 ast -4 awdt 9 awst 8 awt -3 bdst 2 bdt -10 bmt -3.97472 bst 1 cast 9.5 cat 2 cddt -4
cdt -5 cemt 3 cest 2 cet 1 chst 10 cmt -4.28 cpt -5 cst -6 cwt -5 dmt -0.4225 eat 3 eddt -3 edt -4
eest 3 eet 2 emt -7.29111 ept -4 est -5 ewt -4 ffmt -4.07222 fmt -1.12667 fri -48 gdt 11 gmt 0 gst
10 hdt -9.5 hkst 9 hkt 8 hmt -5.49333 hpt -9.5 hst -10 hwt -9.5 iddt 4 idt 3 imt 6.95139 ist 2 jdt
10 jmt 2.34444 jst 9 kdt 10 kmt 1.59333 kst 8.5 lst 2.60944 mddt -5 mdst 4.52194 mdt -6 mest 2 met 1
mmt 2.50472 mon -120 mpt -6 msd 4 msk 3 mst -7 mwt -6 nddt -1.5 ndt -2.51444 noon -12 now 0 npt -2.5
nst -3.5 nwt -2.5 nzdt 13 nzmt 11.5 nzst 12 pddt -6 pdt -7 pkst 6 pkt 5 plmt 7.10833 pmt -3.67667
ppmt -4.81667 ppt -7 pst -8 pwt -7 qmt -5.23333 rmt 1.60944 sast 2 sat -72 sdmt -4.66667 sjmt
-5.60361 smt -3.85667 sst -11 sun -96 tbmt 2.98639 thu -24 tmt 3.42889 tue -144 uct 0 utc 0 wast 2
wat 1 wed 0 wemt 2 west 1 wet 0 wib 7 wit 9 wita 8 wmt 1.4 yddt -7 ydt -8 ypt -8 yst -9 ywt -8
"""
_HOURS = _LIST.split()
ABBREVIATIONS = dict(zip(_HOURS[::2], map(float, _HOURS[1::2]), strict=True))
_OFFSET = re.compile(r"(?:gmt)?([+-])(?:(\d{1,2}):(\d{1,2})|(\d{1,4}))(?!\d)", re.IGNORECASE | re.ASCII)
_LETTERS = re.compile(r"[A-Za-z]+")


def unreadable(text: str, why: str) -> AggregationError:
    """Return the error for a text that is not a date. ``onError`` catches this error."""
    return AggregationError(f"cannot parse '{text}' as a date: {why}", code=241)


@dataclass(slots=True)
class DateParts:
    """The parts of a date in ``text``. A part that is not found is None. ``offset``: seconds east of UTC."""

    text: str
    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None
    microsecond: int | None = None
    iso_year: int | None = None
    iso_week: int | None = None
    iso_day: int | None = None
    year_day: int | None = None
    offset: int | None = None

    def take(self, name: str, value: int, *, check: bool) -> None:
        """Set a part by name. With ``check``, refuse a mix of week date and calendar date."""
        setattr(self, name, value)
        iso = (self.iso_year, self.iso_week, self.iso_day)
        plain = (self.year, self.month, self.day, self.year_day)
        if check and any(one is not None for one in iso) and any(one is not None for one in plain):
            raise unreadable(self.text, "it mixes a week date with a calendar date")
        if (name == "iso_week" and not 1 <= value <= 53) or (name == "iso_day" and not 1 <= value <= 7):
            raise unreadable(self.text, "this week or day of the week does not exist")

    def date(self, zone: Zone) -> int:
        """Return the date in milliseconds. ``zone`` applies to a time without an offset."""
        days = self._days()
        hour, minute, second = self.hour or 0, self.minute or 0, self.second or 0
        if hour > 23 or minute > 59 or second > 59:
            raise unreadable(self.text, "this time does not exist")
        # ``timezone`` may be an offset of zero next to an offset in the text, but not a zone, not even "UTC".
        if self.offset is not None and zone != UTC:
            raise unreadable(self.text, "it has an offset, so 'timezone' must not be given")
        local = days * DAY + (hour * 60 + minute) * MINUTE + second * 1000
        date = zone.date(local) if self.offset is None else local - self.offset * 1000
        # The server truncates fractions of a millisecond towards 1970.
        finer = self.microsecond or 0
        return date + (finer // 1000 if date >= 0 else -(-finer // 1000))

    def _days(self) -> int:
        if self.iso_year is not None:
            week = 1 if self.iso_week is None else self.iso_week
            weekday = 1 if self.iso_day is None else self.iso_day
            return days_from_iso_week(self.iso_year, week, weekday)
        if self.year is not None and self.year_day is not None and self.month is None:
            if not 1 <= self.year_day <= 365 + isleap(self.year):
                raise unreadable(self.text, "this day of the year does not exist")
            return days_from_civil(self.year, 1, 1) + self.year_day - 1
        if self.year is None or self.month is None or self.day is None:
            raise unreadable(self.text, "it is incomplete: year, month and day are needed")
        if not 1 <= self.month <= 12 or not 1 <= self.day <= monthrange(self.year, self.month)[1]:
            raise unreadable(self.text, "this date does not exist")
        return days_from_civil(self.year, self.month, self.day)


def read_zone(reading: DateParts, text: str, at: int) -> int:
    """Read an offset or a zone's abbreviation at ``at`` into ``reading``. Return the position after it."""
    found = _OFFSET.match(text, at)
    if found:
        hours, minutes = (int(part or 0) for part in found.group(2, 3))
        if digits := found[4]:
            hours, minutes = divmod(int(digits), 100) if len(digits) > 2 else (int(digits), 0)
        reading.offset = (hours * 60 + minutes) * (-60 if found[1] == "-" else 60)
        return found.end()
    letters = _LETTERS.match(text, at)
    east = _abbreviation(letters[0]) if letters else None
    if letters and east is not None and text[letters.end() : letters.end() + 1] in ("", " ", ")"):
        reading.offset = int(east * 3600)
        return letters.end()
    raise unreadable(text, f"expected a time zone after '{text[:at]}'")


@cache
def _abbreviation(letters: str) -> float | None:
    """Return the hours east of UTC of an abbreviation or a military letter: ``Z`` 0, ``A`` to ``M`` east."""
    name = letters.lower()
    if len(name) > 1:
        return ABBREVIATIONS.get(name)
    place = "zabcdefghiklmnopqrstuvwxy".find(name)
    return None if place < 0 else float(place if place <= 12 else 12 - place)


ISO_UTC = "%Y-%m-%dT%H:%M:%S.%LZ"
ISO_LOCAL = "%Y-%m-%dT%H:%M:%S.%L"
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def _year(year: int) -> str:
    if not 0 <= year <= 9999:
        raise AggregationError(f"the year {year} cannot be formatted: it must be from 0 to 9999", code=18537)
    return f"{year:04}"


def _offset(seconds: int) -> str:
    hours, rest = divmod(abs(seconds), 3600)
    return f"{'-' if seconds < 0 else '+'}{hours:02}{rest // 60:02}"


# The text of each specifier, from a local time in milliseconds, its parts, and the zone's offset in seconds
# east of UTC.
_WRITE: dict[str, Callable[[int, Parts, int], str]] = {
    "%": lambda local, parts, offset: "%",
    "Y": lambda local, parts, offset: _year(parts.year),
    "G": lambda local, parts, offset: _year(iso_week(local // DAY)[0]),
    "m": lambda local, parts, offset: f"{parts.month:02}",
    "b": lambda local, parts, offset: MONTHS[parts.month - 1][:3],
    "B": lambda local, parts, offset: MONTHS[parts.month - 1],
    "d": lambda local, parts, offset: f"{parts.day:02}",
    "H": lambda local, parts, offset: f"{parts.hour:02}",
    "M": lambda local, parts, offset: f"{parts.minute:02}",
    "S": lambda local, parts, offset: f"{parts.second:02}",
    "L": lambda local, parts, offset: f"{parts.millisecond:03}",
    "j": lambda local, parts, offset: f"{local // DAY - days_from_civil(parts.year, 1, 1) + 1:03}",
    "w": lambda local, parts, offset: str(iso_weekday(local // DAY) % 7 + 1),
    "u": lambda local, parts, offset: str(iso_weekday(local // DAY)),
    "U": lambda local, parts, offset: f"{sunday_week(local // DAY):02}",
    "V": lambda local, parts, offset: f"{iso_week(local // DAY)[1]:02}",
    "z": lambda local, parts, offset: _offset(offset),
    "Z": lambda local, parts, offset: str(int(offset / 60)),
}


def _tokens(format: str, known: str) -> list[tuple[bool, str]]:
    """Return the format's parts. Each is a pair: whether it is a specifier, and its letter or its literal text."""
    tokens: list[tuple[bool, str]] = []
    for found in re.finditer(r"%(.?)|[^%]+", format, re.S):
        if not found[0].startswith("%"):
            tokens.append((False, found[0]))
        elif not found[1]:
            raise AggregationError("the format ends in a single '%'", code=18535)
        elif found[1] not in known:
            raise AggregationError(f"the format has '%{found[1]}', which is not a specifier", code=18536)
        else:
            tokens.append((True, found[1]))
    return tokens


@lru_cache(maxsize=256)
def check_format(format: str) -> tuple[Callable[[int, Parts, int], str] | str, ...]:
    """Return the parts of a format for ``date_text``. Raises AggregationError for an unknown specifier."""
    tokens = _tokens(format, "".join(_WRITE))
    return tuple(_WRITE[text] if is_specifier else text for is_specifier, text in tokens)


def date_text(date: int, zone: Zone, format: str) -> str:
    """Return a date in milliseconds as text in a zone. Raises AggregationError for the year 10000.

    Example:
        >>> date_text(0, UTC, "%Y-%m-%d")
        '1970-01-01'
    """
    offset = zone.offset(date)
    local = date + offset
    moment = local, local_parts(local), offset // 1000
    return "".join(part if isinstance(part, str) else part(*moment) for part in check_format(format))


def _read_month(text: str) -> int:
    return next(month for month, name in enumerate(MONTHS, 1) if name[:3].lower() == text[:3].lower())


# Reading: the pattern of each specifier, and the name of its part. Numbers may have fewer digits.
_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS)
_READ: dict[str, tuple[str, str, Callable[[str], int]]] = {
    "Y": (r"\d{1,4}", "year", int),
    "m": (r"\d{1,2}", "month", int),
    "b": (_MONTH, "month", _read_month),
    "B": (_MONTH, "month", _read_month),
    "d": (r"\d{1,2}", "day", int),
    "H": (r"\d{1,2}", "hour", int),
    "M": (r"\d{1,2}", "minute", int),
    "S": (r"\d{1,2}", "second", int),
    "L": (r"\d{1,3}", "microsecond", lambda text: int(text.ljust(3, "0")) * 1000),
    "G": (r"\d{1,4}", "iso_year", int),
    "V": (r"\d{1,2}", "iso_week", int),
    "u": (r"\d", "iso_day", int),
    "j": (r"\d{1,3}", "year_day", int),
    "Z": (r"[+-]\d+", "offset", lambda text: int(text) * 60),
}


@lru_cache(maxsize=256)
def check_reading_format(format: str) -> tuple[tuple[bool, str], ...]:
    """Return the parts of a format for ``read_formatted``. Raises AggregationError for an unknown specifier."""
    return tuple(_tokens(format, "".join(_READ) + "z%"))


def read_formatted(text: str, format: str, zone: Zone) -> int:
    """Parse ``text`` by ``format`` and return milliseconds. Text without an offset is local time in ``zone``.

    Raises:
        AggregationError: With code 241, if the text does not match the format or is not a date.
    """
    reading = DateParts(text)
    at = 0
    for is_specifier, token in check_reading_format(format):
        if not is_specifier or token == "%":
            if not text.startswith(token, at):
                raise unreadable(text, f"expected '{token}' after '{text[:at]}'")
            at += len(token)
        elif token == "z":
            at = read_zone(reading, text, at)
        else:
            pattern, name, read = _READ[token]
            found = re.compile(pattern, re.IGNORECASE | re.ASCII).match(text, at)
            if not found:
                raise unreadable(text, f"'%{token}' does not match the text after '{text[:at]}'")
            reading.take(name, read(found[0]), check=read is int)
            at = found.end()
    if at < len(text):
        raise unreadable(text, f"unexpected '{text[at:]}' at the end")
    return reading.date(zone)


_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH_NAME = (
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
        rf"{_WEEKDAY}{_DAY}(?:st|nd|rd|th)?[ \t]+{_MONTH_NAME}[ \t]+{_YEAR}",
        rf"{_DAY}-{_MONTH_NAME}-{_YEAR}",
        rf"{_WEEKDAY}{_MONTH_NAME}[ \t]+{_DAY}(?:st|nd|rd|th)?(?:,?[ \t]+){_YEAR}",
        rf"{_MONTH_NAME}[ \t]+{_YEAR}",
    )
]
_TIME = re.compile(
    r"(?:[ \t]*t|[ \t\n]+|,[ \t]*)(?P<hour>\d{1,2})"
    r"(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d*))?)?)?"
    r"(?P<half>[ \t]*[ap]\.?m\.?(?![a-z]))?(?![\d:.,])",
    re.IGNORECASE | re.ASCII,
)
# A fraction of a second is read only after a date with hyphens.
_FRACTIONAL = re.compile(r"\d{4}-\d\d?-\d\d?(?:t\d|[ \t]+\d?)\d:", re.IGNORECASE | re.ASCII)
_COMPACT_TIME = re.compile(
    r"(?:[ \t]*t|[ \t]+)(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)(?![\d:.,])", re.I | re.ASCII
)
_STAMP = re.compile(r"\s*@(-?\d{1,15})\s*")
_ALL_DIGITS = re.compile(r"(\d{8})(\d{2})(\d{2})(\d{2})")
# Year, month and day, or year and day of the year. The server may find them anywhere in a run of digits.
_DATE_OF_DIGITS = re.compile(r"\d{4}(?:(?:0\d|1[0-2])(?:[0-2]\d|3[01])|[0-2]\d\d|3[0-6]\d)")
# The forms of JavaScript and C, in which the year follows the time.
_YEAR_LAST = re.compile(
    rf"{_WEEKDAY}{_MONTH_NAME}[ \t]+{_DAY}[ \t]+(?P<time>\d{{1,2}}:\d{{2}}:\d{{2}})"
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
_WORDS = frozenset(_VOCABULARY.split()).union((name[:3].lower() for name in MONTHS), _DAYS, ABBREVIATIONS)


def read_date(text: str, zone: Zone) -> int:
    """Parse ``text`` as a date and return milliseconds. Text without an offset is local time in ``zone``.

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
    """Read the date at the start of the text. Return the position after it, or None without a date."""
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
        reading.month = _read_month(name) if name else int(groups["month"])
        reading.day = int(groups.get("day") or ("1" if "day" not in groups else "0"))
        if weekday := groups.get("weekday"):
            days = days_from_civil(reading.year, reading.month, reading.day or 1)
            if iso_weekday(days) != _DAYS.index(weekday[:3].lower()) + 1:
                message = f"'{reading.text}' names the wrong day of the week, which is not available offline"
                raise NotOffline(message)
        return found.end()
    return None


def _time(reading: DateParts, text: str, at: int) -> int:
    """Read the time after the date, if there is a time. Return the position after it."""
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
    """Return the error that the text is not a date, or NotOffline if the text may be a date in an unsupported form."""
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
        rf"(?i:{_MONTH_NAME}\.?[ \t.-]*\d{{1,2}}|\d{{1,2}}[ \t.-]*{_MONTH_NAME})".replace("?P<name>", "?:"),
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
