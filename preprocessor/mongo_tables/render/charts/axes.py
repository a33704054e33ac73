"""Axes: the coordinates of values, the marks with their texts, and names that fit into the room of a drawing.

The distance of marks is 1, 2 or 5 times a power of ten. It is computed in decimals, so that no axis shows
0.30000000000000004.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, pairwise, takewhile, zip_longest
from typing import Final

from mongo_tables.aggregation.dates import DAY
from mongo_tables.directives.columns import ColumnFormat
from mongo_tables.render.charts.elements import LETTER, LONGEST, text_width, wrap_text
from mongo_tables.render.charts.plot import Data, Plot
from mongo_tables.render.charts.time_marks import AxisMark, time_marks
from mongo_tables.render.markup import display_width, typeset
from mongo_tables.render.number_text import number_text
from mongo_tables.render.values import raw_text

_SHARES: Final = (0.5, 0.0, 1.0)
"""Three ways to cut a name: in the middle, at the beginning, at the end. The number is the share of the kept letters
that are before the cut.
"""
_STAYS: Final = re.compile(r"(?:[\[(]|\w+=)$")


def fit_names(names: Sequence[str], most: int, *, roomy: int | None = None) -> list[str]:
    """Return the names, cut to ``most`` letters.

    If all names have at most ``roomy`` letters (default: ``most``), they are returned unchanged. Otherwise, the
    beginning and the end that all names share are left out, and long names are cut so that different names stay
    different, if possible.

    Example:
        >>> fit_names(["tests/test_codec.py::test_trip[utf8]", "tests/test_codec.py::test_trip[ascii]"], 20)
        ['…[utf8]', '…[ascii]']
    """
    if all(display_width(name) <= (roomy or most) for name in names):
        return list(names)
    short = _without_common(names)
    found = [[_cut(name, most, share) for name in short] for share in _SHARES]
    return next((each for each in found if are_apart(names, each)), found[0])


def are_apart(names: Sequence[str], shown: Sequence[str]) -> bool:
    """Return whether different names are shown differently."""
    return len(set(shown)) == len(set(names))


def _without_common(names: Sequence[str]) -> list[str]:
    """Return the names with an ellipsis in place of the words with which all of them begin or end."""
    if len(set(names)) < 2:
        return list(names)
    start = _end_of_words(_common(names), names)
    rest = [name[start:] for name in names]
    end = _end_of_words(_common([name[::-1] for name in rest]), [name[::-1] for name in rest])
    # A bracket and the name of a parameter stay: `…[utf8]`, `…n=5`.
    if stays := _STAYS.search(names[0][:start]):
        start = stays.start()
    before, after = "…" if start else "", "…" if end > 1 else names[0][len(names[0]) - end :]
    return [f"{before}{name[start : len(name) - end]}{after}" for name in names]


def _common(names: Sequence[str]) -> str:
    return "".join(
        same.pop() for same in takewhile(lambda each: len(each) == 1, map(set, zip(*names, strict=False)))
    )


def _end_of_words(common: str, names: Sequence[str]) -> int:
    """Return how many letters of a common beginning can be left out: whole words only, and no complete name."""
    for at in range(len(common), 0, -1):
        ends_word = not common[at - 1].isalnum() or all(not name[at : at + 1].isalnum() for name in names)
        if ends_word and all(name[at:] for name in names):
            return at
    return 0


def _cut(name: str, most: int, share: float) -> str:
    """Return a name cut to ``most`` letters with an ellipsis. At least one letter of the name remains."""
    if display_width(name) <= most:
        return name
    kept = max(most - 1, 1)
    head = sum(width <= kept * share for width in accumulate(map(display_width, name)))
    room = kept - display_width(name[:head])
    tail = sum(width <= room for width in accumulate(map(display_width, reversed(name))))
    tail = max(tail, 1 - head)
    return f"{name[:head]}…{name[len(name) - tail :]}"


def letters_in(room: float) -> int:
    """Return how many letters fit into a width."""
    return max(int(room / LETTER), 1)


Span = tuple[float, float]
"""The coordinates of a start and an end, from left to right or from top to bottom."""

WIDEST: Final = 1.25
"""The factor by which a text may be wider than estimated."""
MARGIN: Final = 18
_STEPS: Final = (1, 2, 5, 10)
_MOST_MOMENTS: Final = 9
_MOST_UNDER_BARS: Final = 13
_MOST_NAME_LINES: Final = 3
_ALL_DIGITS: Final = 17
_BETWEEN: Final = 8
"""The least space between two texts of an axis."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from the values ``low`` to ``high``, drawn from the coordinates ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the coordinate of a value."""
        low, high, value = (
            map(math.log10, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        )
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def foot(self, base: float = 0.0) -> float:
        """Return the coordinate at which a bar from the value ``base`` begins, within the axis."""
        return self.start if self.log else self.at(max(self.low, min(base, self.high)))

    def has(self, value: float) -> bool:
        """Return whether the axis can show the value. A logarithmic axis cannot show 0 or less."""
        return value > 0 or not self.log

    def nearest(self, value: float) -> float:
        """Return the coordinate of a value, or the start of the axis if the axis cannot show the value."""
        return self.at(value) if self.has(value) else self.start


@dataclass(frozen=True, slots=True)
class Axes:
    """The data of a panel with its axes.

    Attributes:
        plot: The settings of the chart.
        data: The data.
        x: The horizontal axis.
        y: The vertical axis.
        x_marks: The marks of the horizontal axis.
        y_marks: The marks of the vertical axis.
        margin: The distance from the ends of the horizontal axis to the frame.
        span: The coordinates between which texts have to stay.
        tips: Whether points have tooltips.
    """

    plot: Plot
    data: Data
    x: Scale
    y: Scale
    x_marks: tuple[AxisMark, ...]
    y_marks: tuple[AxisMark, ...]
    margin: float
    span: Span
    tips: bool

    @property
    def band(self) -> float:
        """The room on the horizontal axis for each name, or on a time axis for each bar."""
        if self.data.kind == "time" and self.data.gap:
            return self.x.at(self.x.low + self.data.gap) - self.x.start
        return (self.x.end - self.x.start) / max(len(self.data.x_values), 1)

    @property
    def sides(self) -> Span:
        """The left and the right edge of the frame."""
        return self.x.start - self.margin, self.x.end + self.margin


def y_marks(plot: Plot, values: Sequence[float], most: int) -> tuple[AxisMark, ...]:
    """Return about ``most`` marks at round values for a vertical axis of these values."""
    values, log = _list_shown(plot, values, zero=plot.zero), "y" in plot.log
    return with_texts(
        plot, plot.y[0], (log_marks if log else linear_marks)(min(values), max(values), most + log)
    )


def value_axis(
    plot: Plot, values: Sequence[float], sides: Span, span: Span, *, from_zero: bool
) -> tuple[Scale, tuple[AxisMark, ...]]:
    """Return a horizontal axis of values with its marks.

    The axis includes zero if ``from_zero``, or if the chart has no references and the author does not exclude zero.
    """
    values = _list_shown(plot, values, zero=from_zero or (plot.zero and not plot.references))
    log, highest = "y" in plot.log, max(values)
    for most in (5, 3, 2):
        found = (log_marks if log else linear_marks)(min(values), highest, most)
        high = found[-1]
        if most < 5 and not log and len(found) > 2 and high - highest > (high - found[-2]) / 2:
            # With few marks, the last one is far from the highest value, and bars would be short.
            found, high = found[:-1], highest
        scale, marks = Scale(found[0], high, *sides, log), with_texts(plot, plot.y[0], found)
        if fit(marks, scale, span, between=4):
            break
    return scale, marks


def _list_shown(plot: Plot, values: Sequence[float], *, zero: bool) -> list[float]:
    """Return the values that the value axis has to show: values, ends of references and, if necessary, zero.

    There is at least one value.
    """
    every = [*values, *(end for one in plot.references for end in (one.low, one.high))]
    if "y" in plot.log:
        return [value for value in every if value > 0] or [1.0, 10.0]
    return [*every, 0.0] if zero or not every else every


def x_axis(plot: Plot, data: Data, sides: Span, span: Span) -> tuple[Scale, tuple[AxisMark, ...]]:
    """Return the horizontal axis between two sides, with marks whose texts fit within ``span``."""
    left, right = sides
    values = data.x_values or (0.0,)
    if data.kind == "category":
        return Scale(values[0] - 0.5, values[-1] + 0.5, left, right), _name_marks(data, right - left)
    margin = min(float(MARGIN), (right - left) / 20)
    inner = left + margin, right - margin
    if data.kind == "time":
        return _time_axis(plot, data, inner, span)
    scale = Scale(values[0], values[-1], *inner, "x" in plot.log and values[0] > 0)
    marks = with_texts(plot, plot.x, values)
    if len(marks) <= 10 and fit(marks, scale, span):
        return scale, marks
    for most in (8, 5, 3, 2):
        found = (log_marks if scale.log else linear_marks)(scale.low, scale.high, most)
        marks = with_texts(plot, plot.x, [mark for mark in found if scale.low <= mark <= scale.high])
        if fit(marks, scale, span):
            break
    return scale, marks


def _time_axis(plot: Plot, data: Data, sides: Span, span: Span) -> tuple[Scale, tuple[AxisMark, ...]]:
    """Return a time axis with its marks. It has room for half a bar at both ends if the mark is wide."""
    if not data.x_values:
        return Scale(0, 0, *sides), ()
    low, high, half = data.x_values[0], data.x_values[-1], data.gap / 2 if data.banded else 0.0
    scale = Scale(low - half, high + half, *sides)
    most = _MOST_UNDER_BARS if data.banded else _MOST_MOMENTS
    nearly = data.gap * 0.9  # Months differ in length by a tenth, and days by an hour.
    # At most one mark for each bar. With other marks whole days, if no two values share a day.
    least = nearly if data.banded else DAY if nearly >= DAY * 0.8 else 0
    marks = time_marks(low, high, most, lambda all: fit(all, scale, span), least)
    return scale, tuple(marks)


def names_below(names: Sequence[str], room: float) -> list[str]:
    """Break names into lines that fit under an axis, where each name has ``room``. Return [] if a name does not
    fit.
    """
    room -= _BETWEEN
    lines = [wrap_text(name, room) for name in names]
    fits = all(
        len(each) <= _MOST_NAME_LINES and all(text_width(line) <= room for line in each) for each in lines
    )
    return ["\n".join(each) for each in lines] if fits else []


def _name_marks(data: Data, room: float) -> tuple[AxisMark, ...]:
    """Return the names under an axis.

    If names do not fit, they are cut. If cut names do not fit, only every second, third, … is shown.
    """
    count, names = len(data.x_values), data.x_texts
    if not names_below(names, room / max(count, 1)):
        names = tuple(fit_names(names, LONGEST))
    for every in range(1, count + 1):
        shown = slice(every // 2, max(count - every // 2, every // 2 + 1), every)
        if lines := names_below(names[shown], room * every / count):
            return tuple(zip(data.x_values[shown], lines, strict=True))
    return ()


# -- choice of marks --


def linear_marks(low: float, high: float, most: int) -> list[float]:
    """Return about ``most`` equally distant round values that enclose ``low`` and ``high``.

    Example:
        >>> linear_marks(3, 97, 5)
        [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    """
    most += low < 0 < high
    raw = (high - low) / most if high > low else max(abs(high), 1) / most
    power = Decimal(1).scaleb(math.floor(math.log10(raw)) if raw > 0 else 0)
    step = next((factor * power for factor in _STEPS if factor * power >= Decimal(raw)), _STEPS[-1] * power)
    first = math.floor(Decimal(low) / step)
    last = max(math.ceil(Decimal(high) / step), first + 1)
    return [float(number * step) for number in range(first, last + 1)]


def log_marks(low: float, high: float, most: int) -> list[float]:
    """Return the powers of ten that enclose ``low`` and ``high``. If they are few, also return 2 and 5 times each
    of them.

    Example:
        >>> log_marks(3, 900, 5)
        [1.0, 10.0, 100.0, 1000.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    if last - first > 2:
        every = math.ceil((last - first) / most)
        return [float(Decimal(1).scaleb(power)) for power in range(first, last + every, every)]
    fine = [float(Decimal(factor).scaleb(power)) for power in range(first, last) for factor in (1, 2, 5)]
    marks = [*fine, float(Decimal(1).scaleb(last))]
    # Keep the marks that enclose ``low`` and ``high``.
    start = max((index for index, mark in enumerate(marks) if mark <= low), default=0)
    end = min((index for index, mark in enumerate(marks) if mark >= high), default=len(marks) - 1)
    return marks[start : max(end, start + 1) + 1]


def with_texts(plot: Plot, column: str, values: Sequence[float]) -> tuple[AxisMark, ...]:
    """Return the values as marks with their texts."""
    return tuple(zip(values, map(typeset, mark_texts(plot, column, values)), strict=True))


def mark_texts(plot: Plot, column: str, values: Sequence[float]) -> list[str]:
    """Return the texts of the values of an axis. Values below a billion are not rounded.

    Digits are grouped if the column's cells have groups or if a value is large. Negative numbers have a hyphen.
    """
    form = plot.format.get(column) or ColumnFormat()
    grouped = bool(form.thousands) or max(map(abs, values), default=0) >= 10_000
    written = ColumnFormat(
        thousands=form.thousands or grouped, locale=form.locale, percent=form.percent, duration=form.duration
    )
    texts = [_mark_text(value, written) for value in values]
    if len(set(texts)) == len(set(values)):
        return texts
    # Large values that differ little need all their digits.
    written = written._replace(significant=_ALL_DIGITS if form.duration else None)
    return [number_text(format(Decimal(raw_text(value)), "f"), written, whole=True) for value in values]


def _mark_text(value: float, form: ColumnFormat) -> str:
    text = raw_text(value)
    number = Decimal(text)
    if not form.duration and (abs(number) >= 10**9 or (number and abs(number) < Decimal("0.0001"))):
        return raw_text(float(f"{value:.3g}")) if "e" in text else f"{number:.3g}".lower().replace("e+", "e")
    return number_text(format(number, "f"), form, whole=True)


# -- layout of texts --


def fit(marks: Sequence[AxisMark], scale: Scale, span: Span, between: float = _BETWEEN) -> bool:
    """Return whether the texts of neighbouring marks do not touch in any of their lines."""
    for row in zip_longest(*(text.split("\n") for _, text in marks), fillvalue=""):
        placed = [
            (within(span, scale.at(at), text), text) for (at, _), text in zip(marks, row, strict=True) if text
        ]
        if any(
            right - left < (text_width(one) + text_width(other)) / 2 + between
            for (left, one), (right, other) in pairwise(placed)
        ):
            return False
    return True


def within(span: Span, middle: float, text: str) -> float:
    """Return the middle of a text, moved as little as possible so that the text stays within the span."""
    half = text_width(text) * WIDEST / 2
    return max(min(middle, span[1] - half), span[0] + half)


def apart(at: Sequence[float], room: float, low: float, high: float) -> list[float]:
    """Return the coordinates, moved within the limits so that neighbours are at least ``room`` apart.

    Their order stays the same. If they do not all fit, they are spread evenly.

    Example:
        >>> apart([1, 2, 9], 3, 0, 10)
        [1, 4, 9]
    """
    room = min(room, (high - low) / max(len(at) - 1, 1))
    order = sorted(range(len(at)), key=lambda index: at[index])
    placed = [0.0] * len(at)
    below = low
    for index in order:
        placed[index] = below = max(at[index], below)
        below += room
    above = high
    for index in reversed(order):
        placed[index] = above = min(placed[index], above)
        above -= room
    return placed
