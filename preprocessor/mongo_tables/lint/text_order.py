"""Texts that are sorted letter by letter, though they hold something with an order of its own.

It is a number in a frame of equal text (``9 ms``, ``10 ms``), a decimal number with groups (``12.00 €``), a number with
a unit of time (``1.5 s``, ``12 ms``), or a date in another notation than ISO 8601. Each way of reading gives the texts
of one frame a key. Texts that no way reads, or that have equal keys, are in no wrong order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

_Key = tuple[str, Any] | None
"""The frame of a text, in which texts are compared, and its place among them; None if a way does not read it."""

_RUN: Final = re.compile(r"\d+")
_DECIMAL: Final = re.compile(r"\d{1,3}(?:[, \u00a0\u202f'’]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?")
_TIME: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|µs|μs|us|ms|s|sec|min|h)")
_SECONDS: Final = {"ns": -9, "µs": -6, "μs": -6, "us": -6, "ms": -3, "s": 0, "sec": 0}
_MINUTES: Final = {"min": 60, "h": 3600}
_YEAR_LAST: Final = re.compile(r"(?:(\d{1,2})[./-])?(\d{1,2})[./-](\d{4})")
_NAMED_MONTH: Final = re.compile(r"(?:(\d{1,2})\.? )?([A-Za-z]{3})[a-z]*\.?,? (\d{4})")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def find_misplaced_texts(values: Iterable[Any], direction: Any) -> str | None:
    """Return two texts that are in the wrong order, or None if there are none."""
    texts = sorted({value for value in values if isinstance(value, str)})
    for read in (_read_runs, _read_decimals, _read_time, _read_date):
        framed: dict[str, list[tuple[str, Any]]] = defaultdict(list)
        for text in texts:
            if found := read(text):
                framed[found[0]].append((text, found[1]))
        for some in framed.values():
            for (text, key), (following, next_key) in pairwise(some):
                if key > next_key:
                    first, second = (text, following) if direction == 1 else (following, text)
                    return f'"{first}" comes before "{second}"'
    return None


def _read_runs(text: str) -> _Key:
    """Read whole numbers, of which none is padded with zeros."""
    runs = _RUN.findall(text)
    is_padded = any(run.startswith("0") and run != "0" for run in runs)
    return None if is_padded else (_RUN.sub("#", text), [int(run) for run in runs])


def _read_decimals(text: str) -> _Key:
    """Read one decimal number, with a point or a comma, or with groups of thousands."""
    found = _DECIMAL.findall(text)
    if len(found) != 1 or re.match(r"0\d", found[0]):
        return None
    plain = re.sub(r"[ \u00a0\u202f'’]", "", found[0])
    is_grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain)
    return _DECIMAL.sub("#", text), Decimal(plain.replace(",", "" if is_grouped else "."))


def _read_time(text: str) -> _Key:
    """Read a number with a unit of time."""
    found = _TIME.fullmatch(text)
    if not found:
        return None
    number, unit = Decimal(found[1]), found[2]
    return "", number * _MINUTES[unit] if unit in _MINUTES else number.scaleb(_SECONDS[unit])


def _read_date(text: str) -> _Key:
    """Read a date whose year is last, or whose month has a name; between slashes and hyphens either may be the day."""
    if named := _NAMED_MONTH.fullmatch(text):
        month = named[2].lower()
        return ("", (int(named[3]), _MONTHS.index(month), int(named[1] or 0))) if month in _MONTHS else None
    found = _YEAR_LAST.fullmatch(text)
    if not found:
        return None
    if text.count(".") == 2 and int(found[2]) <= len(_MONTHS):
        return ".", (int(found[3]), int(found[2]), int(found[1]))
    # Of a day and a month only the year says which is later.
    return (" ", (int(found[3]),)) if found[1] else ("-", (int(found[3]), int(found[2])))
