"""Axes: where a value stands on them, and at which values they are marked with what texts.

Marks are 1, 2 or 5 times a power of ten, computed in decimals: no axis says 0.30000000000000004.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, zip_longest
from typing import Final, NamedTuple

from mongo_tables.aggregation.dates import DAY
from mongo_tables.directives.column_format import ColumnFormat
from mongo_tables.render.charts.elements import LINE, shorten, text_width, wrap_text
from mongo_tables.render.charts.plot import Data, Plot
from mongo_tables.render.charts.time_marks import Mark, time_marks
from mongo_tables.render.markup import with_minus_signs
from mongo_tables.render.number_text import number_text
from mongo_tables.render.values import raw_text

Span = tuple[float, float]
"""From where to where something goes, from left to right or downwards."""

WIDEST: Final = 1.25
"""How much wider a text may be than it is reckoned."""
MARGIN: Final = 18
_STEPS: Final = (1, 2, 5, 10)
_MOST_MOMENTS: Final = 9
_MOST_UNDER_BARS: Final = 13


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from the value ``low`` to ``high``, drawn from the coordinate ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The coordinate of a value."""
        low, high, value = (
            map(math.log10, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        )
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def foot(self, base: float = 0.0) -> float:
        """Where what begins at a value stands, zero as a rule: at the lower end of an axis that does not have it."""
        return self.start if self.log else self.at(max(self.low, min(base, self.high)))

    def has(self, value: float) -> bool:
        """Whether the axis has a place for a value: one that is logarithmic has none for 0 or less."""
        return value > 0 or not self.log

    def nearest(self, value: float) -> float:
        """The coordinate of a value, the lower end of the axis where that has no place for it."""
        return self.at(value) if self.has(value) else self.start


class Turn(NamedTuple):
    """By how many degrees names under an axis are turned, with the sine and the cosine of it."""

    degrees: int
    sine: float
    cosine: float


_TURNS: Final = (Turn(30, 0.5, 0.87), Turn(60, 0.87, 0.5))


@dataclass(frozen=True, slots=True)
class Axes:
    """Data with its axes. ``x_marks`` and ``y_marks``: values on the axes and their texts.

    The frame goes ``margin`` beyond the first and the last place. Texts stand within ``span``. Where names must be
    slanted, ``turn`` says how. ``told``: whether points have tips.
    """

    plot: Plot
    data: Data
    x: Scale
    y: Scale
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    margin: float
    span: Span
    turn: Turn | None
    told: bool

    @property
    def band(self) -> float:
        """The room for each name on the horizontal axis; for each bar over a time axis."""
        if self.data.kind == "time" and self.data.gap:
            return self.x.at(self.x.low + self.data.gap) - self.x.start
        return (self.x.end - self.x.start) / max(len(self.data.x_values), 1)

    @property
    def every(self) -> int:
        """Which names under the axis stand there: each, or every second, third … where they would touch."""
        return math.ceil((LINE - 3) / (self.band * self.turn.sine)) if self.turn else 1

    @property
    def sides(self) -> Span:
        """From where to where the frame goes."""
        return self.x.start - self.margin, self.x.end + self.margin


def y_marks(plot: Plot, values: Sequence[float], most: int = 5) -> tuple[Mark, ...]:
    """About so many round values around those that a vertical axis has to show, and zero, with their texts."""
    values = _with_references(plot, values)
    if "y" in plot.log:
        found = log_marks(min(values, default=1), max(values, default=10), most + 1)
    else:
        found = linear_marks(min(0, *values, 0), max(0, *values, 0), most)
    return with_texts(plot, plot.y[0], found)


def value_axis(
    plot: Plot, values: Sequence[float], sides: Span, span: Span, *, from_zero: bool
) -> tuple[Scale, tuple[Mark, ...]]:
    """A horizontal axis of values with its marks: with zero, but for dots and ranges that lie around a reference."""
    values, log = _with_references(plot, values), "y" in plot.log
    if log:
        values = values or [1, 10]
    elif from_zero or not plot.references or not values:
        values = [0.0, *values]
    for most in (5, 3, 2):
        found = (log_marks if log else linear_marks)(min(values), max(values), most)
        scale, marks = Scale(found[0], found[-1], *sides, log), with_texts(plot, plot.y[0], found)
        if fit(marks, scale, span, between=4):
            break
    return scale, marks


def _with_references(plot: Plot, values: Sequence[float]) -> list[float]:
    """All values that an axis has to show and can."""
    every = [*values, *(end for one in plot.references for end in (one.low, one.high))]
    return [value for value in every if value > 0] if "y" in plot.log else every


def x_axis(plot: Plot, data: Data, sides: Span, span: Span) -> tuple[Scale, tuple[Mark, ...]]:
    """The horizontal axis between two sides, with the marks that have room; their texts stand within ``span``."""
    left, right = sides
    values = data.x_values or (0.0,)
    if data.kind == "category":
        marks = tuple(zip(data.x_values, data.x_texts, strict=True))
        return Scale(values[0] - 0.5, values[-1] + 0.5, left, right), marks
    margin = min(float(MARGIN), (right - left) / 20)
    inner = left + margin, right - margin
    if data.kind == "time":
        return _time_axis(plot, data, inner, span)
    scale = Scale(values[0], values[-1], *inner, "x" in plot.log and values[0] > 0)
    own = with_texts(plot, plot.x, values)
    if len(own) <= 10 and fit(own, scale, span):
        return scale, own
    marks = ()
    for most in (8, 5, 3, 2):
        found = (log_marks if scale.log else linear_marks)(scale.low, scale.high, most)
        marks = with_texts(plot, plot.x, [mark for mark in found if scale.low <= mark <= scale.high])
        if fit(marks, scale, span):
            break
    return scale, marks


def _time_axis(plot: Plot, data: Data, sides: Span, span: Span) -> tuple[Scale, tuple[Mark, ...]]:
    """To scale; under bars with half a bar's room at both ends."""
    if not data.x_values:
        return Scale(0, 0, *sides), ()
    low, high, half = data.x_values[0], data.x_values[-1], data.gap / 2 if data.banded else 0.0
    scale = Scale(low - half, high + half, *sides)
    most = _MOST_UNDER_BARS if data.banded else _MOST_MOMENTS
    # Months differ by a tenth, days by an hour.
    nearly = data.gap * 0.9
    # As far apart as bars, and a day where no two values are of one.
    least = nearly if data.banded else DAY if nearly >= DAY * 0.8 else 0
    marks = time_marks(low, high, plot.timezone, most, lambda all: fit(all, scale, span), least)
    return scale, tuple(marks)


def turn_of(data: Data, marks: Sequence[Mark], band: float) -> tuple[Turn | None, float]:
    """How names under the axis must be slanted, if they must, and the height that texts take beyond one line."""
    if data.kind != "category":
        return None, max(text.count("\n") for _, text in marks) * LINE if marks else 0
    lines = [wrap_text(text, band - 6) for text in data.x_texts]
    most = max(map(len, lines), default=1)
    if most <= 3 and all(text_width(line) <= band - 2 for each in lines for line in each):
        return None, (most - 1) * LINE
    turn = next((each for each in _TURNS if band * each.sine >= LINE - 3), _TURNS[-1])
    return turn, max(text_width(shorten(text)) for text in data.x_texts) * turn.sine - 8


# -- which values are marked
# -------------------------------------------------------------------------------------------------


def linear_marks(low: float, high: float, most: int) -> list[float]:
    """Round values from the last below ``low`` to the first above ``high``, about ``most`` of them.

    Around zero there may be one more: both ends lie beyond the values.
    """
    most += low < 0 < high
    raw = (high - low) / most if high > low else max(abs(high), 1) / most
    power = Decimal(1).scaleb(math.floor(math.log10(raw)) if raw > 0 else 0)
    step = next((factor * power for factor in _STEPS if factor * power >= Decimal(raw)), _STEPS[-1] * power)
    first = math.floor(Decimal(low) / step)
    last = max(math.ceil(Decimal(high) / step), first + 1)
    return [float(number * step) for number in range(first, last + 1)]


def log_marks(low: float, high: float, most: int) -> list[float]:
    """Powers of ten around the values; where these are few, their double and fivefold as well."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    if last - first > 2:
        every = math.ceil((last - first) / most)
        return [float(Decimal(1).scaleb(power)) for power in range(first, last + every, every)]
    fine = [float(Decimal(factor).scaleb(power)) for power in range(first, last) for factor in (1, 2, 5)]
    marks = [*fine, float(Decimal(1).scaleb(last))]
    # From the last that is not above ``low`` to the first that is not below ``high``.
    start = max((index for index, mark in enumerate(marks) if mark <= low), default=0)
    end = min((index for index, mark in enumerate(marks) if mark >= high), default=len(marks) - 1)
    return marks[start : max(end, start + 1) + 1]


def with_texts(plot: Plot, column: str, values: Sequence[float]) -> tuple[Mark, ...]:
    """The marks of numbers with what a page shows for them."""
    return tuple(zip(values, map(with_minus_signs, mark_texts(plot, column, values)), strict=True))


def mark_texts(plot: Plot, column: str, values: Sequence[float]) -> list[str]:
    """The numbers of an axis: all their digits up to a billion, grouped as the column's cells or as need be.

    Negative ones have a hyphen, as in Markdown.
    """
    form = plot.format.get(column) or ColumnFormat()
    grouped = bool(form.thousands) or max(map(abs, values), default=0) >= 10_000
    written = ColumnFormat(thousands=form.thousands or grouped, locale=form.locale, percent=form.percent)
    return [_mark_text(value, written) for value in values]


def _mark_text(value: float, form: ColumnFormat) -> str:
    text = raw_text(value)
    number = Decimal(text)
    if abs(number) >= 10**9 or (number and abs(number) < Decimal("0.0001")):
        return raw_text(float(f"{value:.3g}")) if "e" in text else f"{number:.3g}".lower().replace("e+", "e")
    return number_text(format(number, "f"), form, whole=True)


# -- what has room
# -------------------------------------------------------------------------------------------------


def fit(marks: Sequence[Mark], scale: Scale, span: Span, between: float = 8) -> bool:
    """Whether no text touches the next one of the same line."""
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
    """Where the middle of a text stands: where it should, or as near as the text is not cut at an end of the span."""
    half = text_width(text) * WIDEST / 2
    return max(min(middle, span[1] - half), span[0] + half)


def apart(at: Sequence[float], room: float, low: float, high: float) -> list[float]:
    """The coordinates moved as little as may be until neighbours are ``room`` apart, within the limits.

    They stay in their order. Where they do not all fit, they share the space between the limits.
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
