"""Dates written with a format string, and read with one: ``%Y-%m-%d`` and its like.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateToString/#format-specifiers
"""

from __future__ import annotations

import re
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
    days_in_month,
    iso_week,
    iso_weekday,
    local_parts,
    sunday_week,
)
from mongo_tables.aggregation.errors import AggregationError

# The abbreviations that the server reads, each with its hours east of UTC, as mongod answered for every word of
# up to four letters.
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
    """A text that is no date: what ``onError`` catches."""
    return AggregationError(f"'{text}' is not read as a date: {why}", code=241)


@dataclass(slots=True)
class Reading:
    """The pieces of a date found in ``text``; None is not found. ``offset``: seconds east of UTC."""

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

    def take(self, name: str, value: int) -> None:
        """Sets a piece by name; the pieces of a week date and of a calendar date do not go together."""
        setattr(self, name, value)
        iso = (self.iso_year, self.iso_week, self.iso_day)
        plain = (self.year, self.month, self.day, self.year_day)
        if any(piece is not None for piece in iso) and any(piece is not None for piece in plain):
            raise unreadable(self.text, "it mixes a week date with a calendar date")
        if (name == "iso_week" and not 1 <= value <= 53) or (name == "iso_day" and not 1 <= value <= 7):
            raise unreadable(self.text, "there is no such week or day of the week")

    def date(self, zone: Zone) -> int:
        """The date in milliseconds; ``zone`` is where a time without an offset is read."""
        days = self._days()
        hour, minute, second = self.hour or 0, self.minute or 0, self.second or 0
        if hour > 23 or minute > 59 or second > 59:
            raise unreadable(self.text, "there is no such time")
        # An offset of zero goes with an offset in the text, a zone does not, not even "UTC".
        if self.offset is not None and zone != UTC:
            raise unreadable(self.text, "it has an offset, and 'timezone' is given as well")
        local = days * DAY + (hour * 60 + minute) * MINUTE + second * 1000
        date = zone.date(local) if self.offset is None else local - self.offset * 1000
        # Of what is finer than a millisecond the server cuts off towards 1970.
        finer = self.microsecond or 0
        return date + (finer // 1000 if date >= 0 else -(-finer // 1000))

    def _days(self) -> int:
        if self.iso_year is not None:
            week = 1 if self.iso_week is None else self.iso_week
            weekday = 1 if self.iso_day is None else self.iso_day
            return days_from_iso_week(self.iso_year, week, weekday)
        if self.year is not None and self.year_day is not None and self.month is None:
            if not 1 <= self.year_day <= 365 + (days_in_month(self.year, 2) == 29):
                raise unreadable(self.text, "there is no such day of the year")
            return days_from_civil(self.year, 1, 1) + self.year_day - 1
        if self.year is None or self.month is None or self.day is None:
            raise unreadable(self.text, "it is incomplete: year, month and day are needed")
        if not 1 <= self.month <= 12 or not 1 <= self.day <= days_in_month(self.year, self.month):
            raise unreadable(self.text, "there is no such date")
        return days_from_civil(self.year, self.month, self.day)


def read_zone(reading: Reading, text: str, at: int) -> int:
    """Reads an offset or a zone's abbreviation at ``at`` into ``reading``; gives where it ends."""
    found = _OFFSET.match(text, at)
    if found:
        reading.offset = _seconds(found)
        return found.end()
    letters = _LETTERS.match(text, at)
    hours = _abbreviation(letters[0]) if letters else None
    if letters and hours is not None and text[letters.end() : letters.end() + 1] in ("", " ", ")"):
        reading.offset = int(hours * 3600)
        return letters.end()
    raise unreadable(text, f"no time zone is found after '{text[:at]}'")


def _seconds(found: re.Match[str]) -> int:
    digits = found[4]
    if digits is None:
        hours, minutes = int(found[2]), int(found[3])
    elif len(digits) <= 2:
        hours, minutes = int(digits), 0
    else:
        hours, minutes = divmod(int(digits), 100)
    seconds = hours * 3600 + minutes * 60
    return -seconds if found[1] == "-" else seconds


@cache
def _abbreviation(letters: str) -> float | None:
    """Hours east of UTC of an abbreviation or of a military letter: ``Z`` 0, ``A`` to ``M`` east, else west."""
    name = letters.lower()
    if len(name) == 1:
        if name == "z":
            return 0.0
        if "a" <= name <= "i":
            return float(ord(name) - ord("a") + 1)
        if "k" <= name <= "m":
            return float(ord(name) - ord("a"))
        if "n" <= name <= "y":
            return float(-(ord(name) - ord("n") + 1))
        return None
    return ABBREVIATIONS.get(name)


ISO_UTC = "%Y-%m-%dT%H:%M:%S.%LZ"
ISO_LOCAL = "%Y-%m-%dT%H:%M:%S.%L"
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@dataclass(frozen=True, slots=True)
class _Moment:
    """What a specifier may ask for: the local time in milliseconds, its parts, and seconds east of UTC."""

    local: int
    offset: int
    parts: Parts

    @property
    def days(self) -> int:
        return self.local // DAY

    @property
    def year_day(self) -> int:
        return self.days - days_from_civil(self.parts.year, 1, 1) + 1


def _year(year: int) -> str:
    if not 0 <= year <= 9999:
        raise AggregationError(f"the year {year} is not written: 0 to 9999 are", code=18537)
    return f"{year:04}"


def _offset(moment: _Moment) -> str:
    hours, rest = divmod(abs(moment.offset), 3600)
    return f"{'-' if moment.offset < 0 else '+'}{hours:02}{rest // 60:02}"


def _minutes(moment: _Moment) -> str:
    return str(int(moment.offset / 60))


_WRITE: dict[str, Callable[[_Moment], str]] = {
    "%": lambda moment: "%",
    "Y": lambda moment: _year(moment.parts.year),
    "G": lambda moment: _year(iso_week(moment.days)[0]),
    "m": lambda moment: f"{moment.parts.month:02}",
    "b": lambda moment: MONTHS[moment.parts.month - 1][:3],
    "B": lambda moment: MONTHS[moment.parts.month - 1],
    "d": lambda moment: f"{moment.parts.day:02}",
    "H": lambda moment: f"{moment.local // 3_600_000 % 24:02}",
    "M": lambda moment: f"{moment.local // 60_000 % 60:02}",
    "S": lambda moment: f"{moment.local // 1000 % 60:02}",
    "L": lambda moment: f"{moment.local % 1000:03}",
    "j": lambda moment: f"{moment.year_day:03}",
    "w": lambda moment: str(iso_weekday(moment.days) % 7 + 1),
    "u": lambda moment: str(iso_weekday(moment.days)),
    "U": lambda moment: f"{sunday_week(moment.days):02}",
    "V": lambda moment: f"{iso_week(moment.days)[1]:02}",
    "z": _offset,
    "Z": _minutes,
}


def _tokens(format: str, known: str) -> list[tuple[bool, str]]:
    """The format's parts: (is a specifier, letter or literal text)."""
    tokens: list[tuple[bool, str]] = []
    for found in re.finditer(r"%(.?)|[^%]+", format, re.S):
        if not found[0].startswith("%"):
            tokens.append((False, found[0]))
        elif not found[1]:
            raise AggregationError("the format ends in a single '%'", code=18535)
        elif found[1] not in known:
            raise AggregationError(f"the format has '%{found[1]}', which is no specifier", code=18536)
        else:
            tokens.append((True, found[1]))
    return tokens


@lru_cache(maxsize=256)
def _writers(format: str) -> tuple[Callable[[_Moment], str] | str, ...]:
    tokens = _tokens(format, "".join(_WRITE))
    return tuple(_WRITE[text] if is_specifier else text for is_specifier, text in tokens)


def check_format(format: str) -> None:
    """Raises AggregationError for a format that ``date_text`` does not know."""
    _writers(format)


def date_text(date: int, zone: Zone, format: str) -> str:
    """A date in milliseconds, written in a zone with a format; raises AggregationError for the year 10000."""
    offset = zone.offset(date)
    moment = _Moment(date + offset, offset // 1000, local_parts(date + offset))
    return "".join(part if isinstance(part, str) else part(moment) for part in _writers(format))


# Reading: what each specifier takes. Numbers need not have all their digits.
_READ = {
    "Y": ("year", r"\d{1,4}"),
    "m": ("month", r"\d{1,2}"),
    "d": ("day", r"\d{1,2}"),
    "H": ("hour", r"\d{1,2}"),
    "M": ("minute", r"\d{1,2}"),
    "S": ("second", r"\d{1,2}"),
    "G": ("iso_year", r"\d{1,4}"),
    "V": ("iso_week", r"\d{1,2}"),
    "u": ("iso_day", r"\d"),
    "j": ("year_day", r"\d{1,3}"),
}
_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS)


def check_reading_format(format: str) -> None:
    """Raises AggregationError for a format that ``read_formatted`` does not know."""
    _reading_tokens(format)


@lru_cache(maxsize=256)
def _reading_tokens(format: str) -> tuple[tuple[bool, str], ...]:
    return tuple(_tokens(format, "".join(_READ) + "bBLzZ%"))


def read_formatted(text: str, format: str, zone: Zone) -> int:
    """The date that ``text`` is by ``format``, in milliseconds; without an offset it is local to ``zone``.

    Raises AggregationError (241) for a text that does not follow the format or is no date.
    """
    reading = Reading(text)
    at = 0
    for is_specifier, token in _reading_tokens(format):
        read = _specifier if is_specifier and token != "%" else _literal
        at = read(reading, text, at, token)
    if at < len(text):
        raise unreadable(text, f"'{text[at:]}' is left over")
    return reading.date(zone)


def _literal(reading: Reading, text: str, at: int, literal: str) -> int:
    if not text.startswith(literal, at):
        raise unreadable(text, f"'{literal}' is expected after '{text[:at]}'")
    return at + len(literal)


def _specifier(reading: Reading, text: str, at: int, letter: str) -> int:
    if letter == "z":
        return read_zone(reading, text, at)
    if letter in "bB":
        found = re.compile(_MONTH, re.IGNORECASE).match(text, at)
        if found:
            reading.month = [name[:3].lower() for name in MONTHS].index(found[0][:3].lower()) + 1
    elif letter == "Z":
        found = re.compile(r"[+-]\d+", re.ASCII).match(text, at)
        if found:
            reading.offset = int(found[0]) * 60
    elif letter == "L":
        found = re.compile(r"\d{1,3}", re.ASCII).match(text, at)
        if found:
            reading.microsecond = int(found[0].ljust(3, "0")) * 1000
    else:
        name, pattern = _READ[letter]
        found = re.compile(pattern, re.ASCII).match(text, at)
        if found:
            reading.take(name, int(found[0]))
    if not found:
        raise unreadable(text, f"'%{letter}' does not fit after '{text[:at]}'")
    return found.end()
