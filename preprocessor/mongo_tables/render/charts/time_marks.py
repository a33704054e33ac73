"""The marks of a time axis: round times in a time zone, with short texts that together give the whole date.

Marks are at the beginnings of years, months, days, hours and so on in the zone: a day of 23 or 25 hours begins at its
own midnight. A text has a second line where the larger unit begins or changes: ``Mar`` over ``2024``, ``14:00`` over
``5 Mar 2024``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from mongo_tables.aggregation.dates import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Parts,
    Zone,
    local_millis,
    local_parts,
    zone,
)
from mongo_tables.aggregation.values import millis

MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

AxisMark = tuple[float, str]
"""A position on an axis, in the case of time in milliseconds since 1970, and its text of one or two lines."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The distance of two marks: ``count`` milliseconds of local time, days or months."""

    unit: Literal["clock", "day", "month"]
    count: int

    @property
    def length(self) -> float:
        """Return the approximate length in milliseconds."""
        return self.count * {"clock": 1, "day": DAY, "month": DAY * 30.44}[self.unit]


_STEPS: Final = (
    *(_Step("clock", count) for count in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    *(_Step("clock", count * SECOND) for count in (1, 2, 5, 10, 15, 30)),
    *(_Step("clock", count * MINUTE) for count in (1, 2, 5, 10, 15, 30)),
    *(_Step("clock", count * HOUR) for count in (1, 2, 3, 6, 12)),
    *(_Step("day", count) for count in (1, 2, 3, 7, 14)),
    *(_Step("month", count) for count in (1, 2, 3, 6)),
    *(_Step("month", 12 * count * power) for power in (1, 10, 100, 1000) for count in (1, 2, 5)),
)


def time_marks(
    low: float,
    high: float,
    named: str,
    most: int,
    fit: Callable[[Sequence[AxisMark]], bool],
    least: float = 0,
) -> list[AxisMark]:
    """Return at most ``most`` marks from ``low`` to ``high``, as close as they ``fit`` and at least ``least`` ms apart.

    ``named`` is the time zone in which they are round, "" for UTC. If there is only one time, or no round time lies
    between the two ends, the ends themselves are marked.
    """
    clock = zone(named or "UTC")
    first, last = int(low), int(high)
    for step in _STEPS:
        if (last - first) / step.length > most or step.length < least:
            continue
        moments = _moments(step, first, last, clock)
        marks = _label_moments(moments, step, clock)
        if 2 <= len(moments) <= most and fit(marks):
            return marks
    ends = list(dict.fromkeys((first, last)))
    marks = _label_moments(ends, _finest(ends, clock), clock)
    return marks if fit(marks) else marks[:1]


def _finest(moments: Sequence[int], clock: Zone) -> _Step:
    """Return the largest unit that shows the times in full."""
    for step in (_Step("day", 1), _Step("clock", MINUTE), _Step("clock", SECOND)):
        if all(clock.local(moment) % int(step.length) == 0 for moment in moments):
            return step
    return _Step("clock", 1)


def _moments(step: _Step, first: int, last: int, clock: Zone) -> list[int]:
    """Return the times from ``first`` to ``last`` at which local time is a multiple of the step, in order."""
    found = set[int]()
    for offset in {clock.offset(first), clock.offset(last)}:
        for local in _round_times(step, first + offset, last + offset):
            shown = _find_moments(local, clock)
            if step.unit != "clock":
                # If the clock skips midnight, the day begins at the jump; if it shows midnight twice, at the first.
                shown = shown[:1] or [clock.date(local)]
            found.update(shown)
    return sorted(moment for moment in found if first <= moment <= last)


def _round_times(step: _Step, low: int, high: int) -> Iterator[int]:
    """Yield multiples of the step as local times from ``low`` to ``high``, perhaps one more at either end."""
    if step.unit == "clock":
        yield from range(low // step.count * step.count, high + 1, step.count)
    elif step.unit == "day":
        monday = -3 * DAY  # 1970 began on a Thursday; weeks begin on Mondays.
        length = step.count * DAY
        yield from range((low - monday) // length * length + monday, high + 1, length)
    else:
        begin, end = (parts.year * 12 + parts.month - 1 for parts in map(local_parts, (low, high)))
        for month in range(begin // step.count * step.count, end + 1, step.count):
            yield local_millis(month // 12, month % 12 + 1, 1, 0, 0, 0, 0)


def _find_moments(local: int, clock: Zone) -> list[int]:
    """Return the times at which the clock shows a local time: one, but none or two around a clock change."""
    around = {clock.offset(local - 36 * HOUR), clock.offset(local + 36 * HOUR)}
    return sorted(local - offset for offset in around if clock.local(local - offset) == local)


def _label_moments(moments: Sequence[int], step: _Step, clock: Zone) -> list[AxisMark]:
    marks: list[AxisMark] = []
    before: Parts | None = None
    for moment in moments:
        parts = local_parts(clock.local(moment))
        lines = [_first_line(parts, step), _second_line(parts, before, step)]
        marks.append((float(moment), "\n".join(filter(None, lines))))
        before = parts
    return marks


def _first_line(parts: Parts, step: _Step) -> str:
    if step.unit == "month":
        return str(parts.year) if step.count % 12 == 0 else MONTHS[parts.month - 1]
    if step.unit == "day":
        return f"{parts.day} {MONTHS[parts.month - 1]}"
    text = f"{parts.hour:02d}:{parts.minute:02d}"
    if step.count % MINUTE:
        text += f":{parts.second:02d}"
    return text if step.count % SECOND == 0 else f"{text}.{parts.millisecond:03d}"


def _second_line(parts: Parts, before: Parts | None, step: _Step) -> str:
    """Return the larger unit if the mark is the first or its unit differs from ``before``, else ""."""
    if step.unit == "month" and step.count % 12 == 0:
        return ""
    year = "" if before and before.year == parts.year else str(parts.year)
    if step.unit != "clock":
        return year
    same_day = before and (before.year, before.month, before.day) == (parts.year, parts.month, parts.day)
    return "" if same_day else f"{parts.day} {MONTHS[parts.month - 1]} {year}".rstrip()


def moment_text(value: Any, named: str) -> str:
    """Return a date in full in the zone ``named``, with its UTC offset: ``2024-03-31T03:00:00+02:00``."""
    moment, clock = millis(value), zone(named)
    parts, offset = local_parts(clock.local(moment)), clock.offset(moment)
    text = f"{parts.year:04d}-{parts.month:02d}-{parts.day:02d}T{parts.hour:02d}:{parts.minute:02d}:{parts.second:02d}"
    text += f".{parts.millisecond:03d}" if parts.millisecond else ""
    hours, minutes = divmod(abs(offset) // MINUTE, 60)
    seconds = abs(offset) % MINUTE // SECOND
    away = f"{'-' if offset < 0 else '+'}{hours:02d}:{minutes:02d}" + (f":{seconds:02d}" if seconds else "")
    return f"{text}{away}" if offset else f"{text}Z"
