"""A horizontal chart: names at the left, bars or dots with their ranges beside them, and their values at the end.

It is for what has names and no order in itself, such as rows that are compared with one of them: names need not be
slanted, and values are read without an axis. With a reference a line stands where there is no difference. An axis of
bars, and any that is not near its reference, begins at zero.

On a narrow drawing each name stands above its bars, which have the whole width; so do values that are words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from preprocessor.render.chartdata import Data, Plot, Point, Series
from preprocessor.render.chartparts import (
    LINE,
    WIDTH,
    area_html,
    axis_title,
    bar_html,
    colour_class,
    coordinate,
    cut,
    key_height,
    key_html,
    mark_texts,
    marker_path,
    summarise_axes,
    text_width,
    tip_html,
    wrap_text,
)
from preprocessor.render.chartscale import Scale, linear_marks, log_marks
from preprocessor.render.text import text_html

_ROW: Final = 22
"""The height of a bar or a dot with what is around it."""
_BETWEEN: Final = 10
"""Between the rows of two names."""
_WIDEST_NAMES: Final = 210
_WIDEST_VALUES: Final = 240
_LETTER_OF_VALUES: Final = 1.02
_LEAST_ROOM: Final = 150
"""For what is drawn, however long names and values are."""
_SHORT_VALUES: Final = 0.3
"""The part of a narrow drawing that values may take beside their bars; longer ones stand above."""
_AROUND_MARKS: Final = 12
"""Beside an axis that begins at the edge of the drawing: half of the text of its first and last mark."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One bar or dot: the series by number, its middle, and where its value stands."""

    index: int
    series: Series
    point: Point
    middle: float
    value_at: float


@dataclass(frozen=True, slots=True)
class _Rows:
    """All that stands below the key: ``names`` have their lines and where the first of them stands."""

    rows: tuple[_Row, ...]
    names: tuple[tuple[Sequence[str], float], ...]
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where things stand from left to right: names end or, ``above`` their bars, begin; bars; values.

    ``values_above``: values stand above their bars as well, at the right.
    """

    width: int
    above: bool
    values_above: bool
    left: float
    right: float
    name_room: float

    @classmethod
    def of(cls, plot: Plot, data: Data, width: int) -> _Layout:
        """Beside one another where there is room."""
        values = max(
            (text_width(_value_text(plot, one)) for each in data.series for one in each.points), default=0
        )
        values *= _LETTER_OF_VALUES
        if width < WIDTH:
            values_above = values > width * _SHORT_VALUES
            right = width - (_AROUND_MARKS if values_above else max(values + 12, _AROUND_MARKS))
            shares_line = values_above and len(data.series) == 1
            room = max(width - values - 16, width / 3) if shares_line else width
            return cls(width, True, values_above, _AROUND_MARKS, right, room)
        left = min(max(map(text_width, data.x_texts), default=0), _WIDEST_NAMES) + 14
        right = width - min(values, _WIDEST_VALUES, width - left - _LEAST_ROOM) - 12
        return cls(width, False, False, left, right, left - 14)


def draw_horizontally(plot: Plot, data: Data, width: int) -> tuple[float, list[str]]:
    """The height of the drawing, and its elements."""
    layout = _Layout.of(plot, data, width)
    rows = _place_rows(data, layout)
    marks = _marks(plot, data)
    scale = Scale(marks[0], marks[-1], layout.left, layout.right, "y" in plot.log)
    title = wrap_text(axis_title(plot, ", ".join(map(plot.label, plot.y)), plot.common_unit, "y"), width)
    elements = [*_frame(plot, scale, marks, rows), *_title(title, scale, rows, width), *_names(rows, layout)]
    if len(data.series) > 1:
        elements += key_html(plot.mark, data.series, width, 34)
    for row in rows.rows:
        elements += _draw_row(plot, scale, row, layout)
    return rows.bottom + 46 + LINE * (len(title) - 1), elements


def describe_rows(plot: Plot, data: Data) -> str:
    """The drawing in words: each name with its values, and where the line of the reference is."""
    scale = ", logarithmic" if "y" in plot.log else ""
    reference = "" if plot.reference is None else f", with a line at {plot.reference:g}"
    several = len(data.series) > 1
    values = (
        f"{point.x_text}{f', {series.name}' if several else ''}: {point.in_words}"
        for series in data.series
        for point in series.points
    )
    return (
        ". ".join([f"Horizontal {plot.mark} chart of {summarise_axes(plot)}{scale}{reference}", *values])
        + "."
    )


def _place_rows(data: Data, layout: _Layout) -> _Rows:
    """The rows of each name below one another, those of all its series together."""
    top = 16.0 + (key_height(data.series, layout.width) + 10 if len(data.series) > 1 else 0)
    place_name = _place_below_name if layout.above else _place_beside_name
    rows, names, at = list[_Row](), list[tuple[Sequence[str], float]](), top
    for place, text in zip(data.x_values, data.x_texts, strict=True):
        there = [
            (index, series, point)
            for index, series in enumerate(data.series)
            for point in series.points
            if point.x == place
        ]
        lines = wrap_text(text, layout.name_room)
        first_line, placed, at = place_name(there, len(lines), at, layout)
        rows += placed
        names.append((lines, first_line))
    return _Rows(tuple(rows), tuple(names), top, at)


def _place_beside_name(
    there: Sequence[tuple[int, Series, Point]], lines: int, at: float, _: _Layout
) -> tuple[float, list[_Row], float]:
    """Where the first line of a name stands with its rows beside it, and where the next name begins."""
    height = max(_ROW * len(there), LINE * lines) + _BETWEEN
    start = at + (height - _ROW * len(there)) / 2
    middles = [start + _ROW * (number + 0.5) for number in range(len(there))]
    first_line = at + height / 2 - LINE * (lines - 1) / 2
    return first_line, [_Row(*one, at, at) for one, at in zip(there, middles, strict=True)], at + height


def _place_below_name(
    there: Sequence[tuple[int, Series, Point]], lines: int, at: float, layout: _Layout
) -> tuple[float, list[_Row], float]:
    """The same with the rows below: a single value above its bar stands in the first line of the name."""
    first_line, at = at + LINE / 2, at + LINE * lines
    if layout.values_above and layout.name_room < layout.width:
        rows = [_Row(*one, at + _ROW / 2, first_line) for one in there]
        return first_line, rows, at + _ROW * len(there) + _BETWEEN
    step = _ROW + (LINE if layout.values_above else 0)
    rows = []
    for number, one in enumerate(there):
        middle = at + step * (number + 1) - _ROW / 2
        rows.append(_Row(*one, middle, middle - _ROW / 2 - LINE / 2 if layout.values_above else middle))
    return first_line, rows, at + step * len(there) + _BETWEEN


def _marks(plot: Plot, data: Data) -> list[float]:
    """The marks of the axis: with zero, but for dots and ranges that lie around a reference."""
    values = [
        value
        for series in data.series
        for point in series.drawn
        for value in (point.y, *(point.ends or ()))
        if value is not None
    ]
    values += [] if plot.reference is None else [plot.reference]
    if "y" in plot.log:
        return log_marks(min(values, default=1), max(values, default=10), 5)
    least = [] if plot.reference is not None and plot.mark != "bar" else [0.0]
    return linear_marks(min([*least, *values], default=0), max([*least, *values], default=0), 5)


def _frame(plot: Plot, scale: Scale, marks: Sequence[float], rows: _Rows) -> Iterator[str]:
    top, bottom = coordinate(rows.top), coordinate(rows.bottom)
    yield '<g class="mongo-chart__axis">'
    for value, text in zip(marks, mark_texts(plot, plot.y[0], marks), strict=True):
        at = coordinate(scale.at(value))
        yield f'<path d="M{at} {top}V{bottom}"/>'
        yield f'<text x="{at}" y="{coordinate(rows.bottom + 16)}" text-anchor="middle">{text_html(text)}</text>'
    yield "</g>"
    if plot.reference is not None:
        at = coordinate(scale.at(plot.reference))
        yield f'<path class="mongo-chart__reference" d="M{at} {top}V{bottom}"/>'


def _title(lines: Sequence[str], scale: Scale, rows: _Rows, width: int) -> Iterator[str]:
    """The title of the axis, below the middle of it, or as near as it is not cut off."""
    half = max(map(text_width, lines)) / 2
    middle = coordinate(max(min((scale.start + scale.end) / 2, width - half), half))
    yield '<g class="mongo-chart__axis">'
    for number, line in enumerate(lines):
        place = f'x="{middle}" y="{coordinate(rows.bottom + 36 + LINE * number)}" text-anchor="middle"'
        yield f'<text class="mongo-chart__name" {place}>{text_html(line)}</text>'
    yield "</g>"


def _names(rows: _Rows, layout: _Layout) -> Iterator[str]:
    at, anchor = ("0", "") if layout.above else (coordinate(layout.left - 10), ' text-anchor="end"')
    yield '<g class="mongo-chart__names">'
    for lines, first in rows.names:
        for number, line in enumerate(lines):
            place = f'x="{at}" y="{coordinate(first + LINE * number)}" dy=".32em"{anchor}'
            yield f"<text {place}>{text_html(cut(line, layout.name_room))}</text>"
    yield "</g>"


def _draw_row(plot: Plot, scale: Scale, row: _Row, layout: _Layout) -> Iterator[str]:
    point, middle = row.point, row.middle
    tip = tip_html(plot, row.series, point, layout.width)
    yield f'<g class="{colour_class(row.index)}">'
    if point.y is not None and plot.mark == "bar":
        floor = scale.start if scale.log else scale.at(max(scale.low, min(0.0, scale.high)))
        left, right = sorted((floor, scale.at(point.y)))
        yield bar_html(left, middle - 7, right - left, 14, tip)
    if point.ends:
        low, high = (coordinate(scale.at(end)) for end in point.ends)
        ends = "".join(f"M{end} {coordinate(middle - 4)}v8" for end in (low, high))
        yield f'<path class="mongo-chart__range" d="M{low} {coordinate(middle)}H{high}{ends}"/>'
    if point.y is not None and plot.mark != "bar":
        place = f'd="{marker_path(row.index, scale.at(point.y), middle)}"'
        yield area_html("path", place, tip)
    text = text_html(_value_text(plot, point))
    at, anchor = (layout.width, ' text-anchor="end"') if layout.values_above else (layout.right + 8, "")
    place = f'x="{coordinate(at)}" y="{coordinate(row.value_at)}" dy=".32em"{anchor}'
    yield f'<text class="mongo-chart__value" {place}>{text}</text>'
    yield "</g>"


def _value_text(plot: Plot, point: Point) -> str:
    """The value in words; its range is drawn, and stands in the tip. A unit of all values stands below the axis."""
    return point.y_text if plot.common_unit else point.in_words
