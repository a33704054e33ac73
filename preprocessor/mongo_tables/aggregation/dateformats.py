"""Dates written with a format string, and read with one: ``%Y-%m-%d`` and its like.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/dateToString/#format-specifiers
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from mongo_tables.aggregation.datereading import Reading, read_zone, unreadable
from mongo_tables.aggregation.dates import (
    DAY,
    Parts,
    Zone,
    days_from_civil,
    iso_week,
    iso_weekday,
    local_parts,
    sunday_week,
)
from mongo_tables.aggregation.errors import AggregationError

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
