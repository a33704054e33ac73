"""The marks of a time axis: round times in UTC with short texts.

The first mark, and each mark at which the rest of the date changes, shows this rest in a second line: ``Mar`` over
``2024``, ``14:00`` over ``5 Mar 2024``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mongo_tables.aggregation.dates import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Parts,
    local_millis,
    local_parts,
)

MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

AxisMark = tuple[float, str]
"""A value on an axis and its text. On a time axis, the value is in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The distance between two marks: ``count`` milliseconds (``clock``), days or months."""

    unit: Literal["clock", "day", "month"]
    count: int

    @property
    def length(self) -> float:
        """The approximate length in milliseconds."""
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
    low: float, high: float, most: int, fit: Callable[[Sequence[AxisMark]], bool], least: float
) -> list[AxisMark]:
    """Return the finest marks from ``low`` to ``high`` that ``fit`` accepts: at most ``most``, at least ``least``
    ms apart.

    If there are fewer than two round times from ``low`` to ``high``, these two are the marks.
    """
    first, last = int(low), int(high)
    for step in _STEPS:
        if (last - first) / step.length > most or step.length < least:
            continue
        moments = [moment for moment in _round_times(step, first, last) if first <= moment <= last]
        marks = _label_moments(moments, step)
        if 2 <= len(moments) <= most and fit(marks):
            return marks
    ends = list(dict.fromkeys((first, last)))
    marks = _label_moments(ends, _finest(ends))
    return marks if fit(marks) else marks[:1]


def _finest(moments: Sequence[int]) -> _Step:
    """Return the coarsest step with which texts show the times exactly."""
    for step in (_Step("day", 1), _Step("clock", MINUTE), _Step("clock", SECOND)):
        if all(moment % int(step.length) == 0 for moment in moments):
            return step
    return _Step("clock", 1)


def _round_times(step: _Step, low: int, high: int) -> Iterator[int]:
    """Yield the multiples of the step from ``low`` to ``high``, perhaps with one more at either end."""
    if step.unit == "clock":
        yield from range(low // step.count * step.count, high + 1, step.count)
    elif step.unit == "day":
        monday = -3 * DAY  # 1970 began on a Thursday, and weeks begin on Mondays.
        length = step.count * DAY
        yield from range((low - monday) // length * length + monday, high + 1, length)
    else:
        begin, end = (parts.year * 12 + parts.month - 1 for parts in map(local_parts, (low, high)))
        for month in range(begin // step.count * step.count, end + 1, step.count):
            yield local_millis(month // 12, month % 12 + 1, 1, 0, 0, 0, 0)


def _label_moments(moments: Sequence[int], step: _Step) -> list[AxisMark]:
    marks: list[AxisMark] = []
    before: Parts | None = None
    for moment in moments:
        parts = local_parts(moment)
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
    """Return the rest of the date, or "" if the mark ``before`` has the same."""
    if step.unit == "month" and step.count % 12 == 0:
        return ""
    year = "" if before and before.year == parts.year else str(parts.year)
    if step.unit != "clock":
        return year
    same_day = before and (before.year, before.month, before.day) == (parts.year, parts.month, parts.day)
    return "" if same_day else f"{parts.day} {MONTHS[parts.month - 1]} {year}".rstrip()
