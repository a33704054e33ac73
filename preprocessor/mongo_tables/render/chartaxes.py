"""The axes of a chart over a horizontal axis: where they stand, and where they are marked with what texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from math import ceil
from typing import Final, NamedTuple

from mongo_tables.aggregation.dates import DAY
from mongo_tables.render.chartdata import Data, Plot
from mongo_tables.render.chartparts import LINE, mark_texts, shorten, text_width, wrap_text
from mongo_tables.render.chartscale import Scale, linear_marks, log_marks
from mongo_tables.render.timeaxis import Mark, time_marks

Span = tuple[float, float]
"""From where to where something goes, from left to right."""

WIDEST: Final = 1.25
"""How much wider a text may be than it is reckoned."""
MARGIN: Final = 18
_MOST_MOMENTS: Final = 9
_MOST_UNDER_BARS: Final = 13


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
        return ceil((LINE - 3) / (self.band * self.turn.sine)) if self.turn else 1

    @property
    def sides(self) -> Span:
        """From where to where the frame goes."""
        return self.x.start - self.margin, self.x.end + self.margin

    @property
    def floor(self) -> float:
        """Where bars stand: on zero, or on the lower end of an axis that has none."""
        return self.y.at(max(self.y.low, min(0.0, self.y.high))) if not self.y.log else self.y.start

    def foot(self, base: float) -> float:
        """Where what begins at a value of the vertical axis stands."""
        return self.y.at(base) if base else self.floor


def y_marks(plot: Plot, values: Sequence[float], most: int = 5) -> tuple[Mark, ...]:
    """About so many round values around those that the axis has to show, and zero, with their texts."""
    values = [*values, *(end for one in plot.references for end in (one.low, one.high))]
    if "y" in plot.log:
        above = [value for value in values if value > 0]
        found = log_marks(min(above, default=1), max(above, default=10), most + 1)
    else:
        found = linear_marks(min(0, *values, 0), max(0, *values, 0), most)
    return tuple(zip(found, mark_texts(plot, plot.y[0], found), strict=True))


def x_axis(plot: Plot, data: Data, sides: Span, span: Span) -> tuple[Scale, tuple[Mark, ...]]:
    """The horizontal axis between two sides, with the marks that have room; their texts stand within ``span``."""
    left, right = sides
    values = data.x_values or (0.0,)
    if data.kind == "category":
        half = 0.5
        scale = Scale(values[0] - half, values[-1] + half, left, right)
        return scale, tuple(zip(data.x_values, data.x_texts, strict=True))
    margin = min(float(MARGIN), (right - left) / 20)
    inner = left + margin, right - margin
    if data.kind == "time":
        return _time_axis(plot, data, inner, span)
    log = "x" in plot.log and values[0] > 0
    scale = Scale(values[0], values[-1], *inner, log)
    own = tuple(zip(values, mark_texts(plot, plot.x, values), strict=True))
    if len(own) <= 10 and fit(own, scale, span):
        return scale, own
    return scale, _round_marks(plot, scale, span)


def _round_marks(plot: Plot, scale: Scale, span: Span) -> tuple[Mark, ...]:
    """Round numbers on the horizontal axis, as many as stand clear of one another."""
    marks: tuple[Mark, ...] = ()
    for most in (8, 5, 3, 2):
        found = (log_marks if scale.log else linear_marks)(scale.low, scale.high, most)
        inside = [mark for mark in found if scale.low <= mark <= scale.high]
        marks = tuple(zip(inside, mark_texts(plot, plot.x, inside), strict=True))
        if fit(marks, scale, span):
            break
    return marks


def _time_axis(plot: Plot, data: Data, sides: Span, span: Span) -> tuple[Scale, tuple[Mark, ...]]:
    """To scale; under bars with half a bar's room at both ends."""
    if not data.x_values:
        return Scale(0, 0, *sides), ()
    bars = plot.mark == "bar"
    low, high, half = data.x_values[0], data.x_values[-1], data.gap / 2 if bars else 0.0
    scale = Scale(low - half, high + half, *sides)
    marks = time_marks(
        low,
        high,
        plot.timezone,
        _MOST_UNDER_BARS if bars else _MOST_MOMENTS,
        lambda all: fit(all, scale, span),
        _least_distance(data, bars),
    )
    return scale, tuple(marks)


def _least_distance(data: Data, bars: bool) -> float:
    """How far marks are apart at least: as far as bars, and a day where no two values are of one.

    Months differ by a tenth, days by an hour.
    """
    nearly = data.gap * 0.9
    if bars:
        return nearly
    return DAY if nearly >= DAY * 0.8 else 0


def fit(marks: Sequence[Mark], scale: Scale, span: Span, between: float = 8) -> bool:
    """Whether no text touches the next one of the same line."""
    rows = zip_longest(*(text.split("\n") for _, text in marks), fillvalue="")
    lines = ([pair for pair in zip((at for at, _ in marks), row, strict=True) if pair[1]] for row in rows)
    placed = ([(within(span, scale.at(at), text), text) for at, text in line] for line in lines)
    return all(_line_fits(line, between) for line in placed)


def within(span: Span, middle: float, text: str) -> float:
    """Where the middle of a text stands: where it should, or as near as the text is not cut at an end of the span."""
    half = text_width(text) * WIDEST / 2
    return max(min(middle, span[1] - half), span[0] + half)


def _line_fits(texts: Sequence[tuple[float, str]], between: float) -> bool:
    return all(
        right - left >= (text_width(left_text) + text_width(right_text)) / 2 + between
        for (left, left_text), (right, right_text) in pairwise(texts)
    )


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
