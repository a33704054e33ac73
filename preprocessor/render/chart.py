"""A chart as inline SVG: lines, grouped bars or dots, drawn by hand and coloured by the page.

Colours are classes with custom properties, so that one drawing serves a light and a dark page. A series is
told by two things: colour and dash or marker; the name of a line stands at its end where there is room, those of bars
and dots in a key. A vertical axis that is linear begins at zero. Dates stand on a time axis, to scale, under bars too.
Text is text: it can be searched, selected and printed. To a screen reader the drawing is one image with a name and a
description.

Each chart is drawn twice, wide and narrow, for text that shrinks with a drawing cannot be read on a phone. The style
sheet shows the one that fits; where there is none, it is the wide one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from math import ceil
from typing import Final, NamedTuple

from preprocessor.render.chartdata import Data, Plot, Point, Series, data_of
from preprocessor.render.chartparts import (
    LETTER,
    LINE,
    NARROW,
    WIDTH,
    area_html,
    axis_title,
    bar_html,
    colour_class,
    coordinate,
    key_height,
    key_html,
    mark_texts,
    marker_path,
    shorten,
    summarise_axes,
    text_width,
    tip_html,
    wrap_text,
)
from preprocessor.render.chartscale import Scale, apart, linear_marks, log_marks
from preprocessor.render.horizontalchart import describe_rows, draw_horizontally
from preprocessor.render.text import text_html
from preprocessor.render.timeaxis import Mark, has_clock_times, time_marks

_HEIGHT: Final = 310
_HEIGHT_OF_NARROW: Final = 280
_WIDEST: Final = 1.25
_BARS_WITH_VALUES: Final = 10
_MARGIN: Final = 18
_MOST_MOMENTS: Final = 9
_MOST_UNDER_BARS: Final = 13
_NAMES_AT_ENDS: Final = 0.32
"""The part of the width that names at the ends of lines may take."""


class _Turn(NamedTuple):
    """By how many degrees names under an axis are turned, with the sine and the cosine of it."""

    degrees: int
    sine: float
    cosine: float


_TURNS: Final = (_Turn(30, 0.5, 0.87), _Turn(60, 0.87, 0.5))


class Drawing(NamedTuple):
    """A chart of one width: its name, its description in words, its height, and its elements."""

    name: str
    description: str
    width: int
    height: float
    elements: Sequence[str]


def draw_chart(plot: Plot, rows: Sequence[Mapping[str, object]], width: int = WIDTH) -> Drawing:
    """The chart as it is drawn on a page that has room for this width."""
    return _draw_data(plot, data_of(plot, rows), width)


def chart_html(plot: Plot, rows: Sequence[Mapping[str, object]]) -> str:
    """The chart, wide and narrow, in a box that the keyboard reaches. Lines end in ``\\n``."""
    data = data_of(plot, rows)
    wide, narrow = (_draw_data(plot, data, width) for width in (WIDTH, NARROW))
    name = text_html(wide.name)
    # A style sheet wins over the attribute.
    return "\n".join(
        (
            f'<div class="mongo-chart" role="group" tabindex="0" aria-label="{name}" data-search-exclude>',
            *_svg(wide, 'class="mongo-chart__wide"'),
            *_svg(narrow, 'class="mongo-chart__narrow" display="none"'),
            "</div>",
        )
    )


def _draw_data(plot: Plot, data: Data, width: int) -> Drawing:
    described = (describe_rows if plot.horizontal else _description)(plot, data)
    height, elements = (draw_horizontally if plot.horizontal else _draw)(plot, data, width)
    return Drawing(plot.name or summarise_axes(plot), described, width, height, elements)


def _svg(drawing: Drawing, kind: str) -> Iterator[str]:
    """One drawing, with its name and description.

    The name is no ``<title>``, which browsers would show wherever the pointer rests, beside what a point tells.
    """
    box = f'viewBox="0 0 {drawing.width} {coordinate(drawing.height)}"'
    yield f'<svg {kind} {box} role="img" aria-label="{text_html(drawing.name)}">'
    yield f"<desc>{text_html(drawing.description)}</desc>"
    yield from drawing.elements
    yield "</svg>"


def _draw(plot: Plot, data: Data, width: int) -> tuple[float, list[str]]:
    """The height of a chart over a horizontal axis, and its elements."""
    drawing = _Drawing.of(plot, data, width)
    return drawing.height, [*_frame(drawing), *_marks(drawing)]


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Data with its axes. ``x_marks`` and ``y_marks``: values on the axes and their texts.

    ``titles`` are the lines of the title of the vertical axis and of the horizontal one. Where names must be slanted,
    ``turn`` is a row of ``_TURNS``.
    """

    plot: Plot
    data: Data
    width: int
    x: Scale
    y: Scale
    x_marks: tuple[tuple[float, str], ...]
    y_marks: tuple[tuple[float, str], ...]
    titles: tuple[list[str], list[str]]
    height: float
    turn: _Turn | None

    @classmethod
    def of(cls, plot: Plot, data: Data, width: int) -> _Drawing:
        """The data with axes that have room on a drawing of this width."""
        y_values = _y_marks(plot, data)
        y_marks = tuple(zip(y_values, mark_texts(plot, plot.y[0], y_values), strict=True))
        left = max(text_width(text) for _, text in y_marks) + 16
        x, x_marks = _x_axis(plot, data, left, width - _right_margin(plot, data, width), width)
        turn, foot = _foot(data, x_marks, (x.end - x.start) / max(len(data.x_values), 1))
        titles = _titles(plot, data, x_marks, width)
        above, below = (LINE * (len(lines) - 1) for lines in titles)
        top = 34 + above + (key_height(data.series, width) if _has_key(plot, data, width) else 0)
        bottom = (_HEIGHT if width == WIDTH else max(_HEIGHT_OF_NARROW, top + 200)) + above
        y = Scale(y_values[0], y_values[-1], bottom - 52, top, "y" in plot.log)
        return cls(plot, data, width, x, y, x_marks, y_marks, titles, bottom + foot + below, turn)

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
    def margin(self) -> float:
        """How far the frame goes beyond the first and the last place of the horizontal axis."""
        return 0 if self.data.kind == "category" else _MARGIN

    @property
    def floor(self) -> float:
        """Where bars stand: on zero, or on the lower end of an axis that has none."""
        return self.y.at(max(self.y.low, min(0.0, self.y.high))) if not self.y.log else self.y.start


def _foot(data: Data, marks: Sequence[Mark], band: float) -> tuple[_Turn | None, float]:
    """How names under the axis must be slanted, if they must, and the height that texts take beyond one line."""
    if data.kind != "category":
        return None, max(text.count("\n") for _, text in marks) * LINE if marks else 0
    lines = [wrap_text(text, band - 6) for text in data.x_texts]
    most = max(map(len, lines), default=1)
    if most <= 3 and all(text_width(line) <= band - 2 for each in lines for line in each):
        return None, (most - 1) * LINE
    turn = next((each for each in _TURNS if band * each.sine >= LINE - 3), _TURNS[-1])
    return turn, max(text_width(shorten(text)) for text in data.x_texts) * turn.sine - 8


def _has_key(plot: Plot, data: Data, width: int) -> bool:
    """Bars and dots have no ends to stand names at, and lines on a phone have no room for long ones."""
    return len(data.series) > 1 and not _has_names_at_ends(plot, data, width)


def _has_names_at_ends(plot: Plot, data: Data, width: int) -> bool:
    if len(data.series) < 2 or plot.mark != "line":
        return False
    return _right_margin_of_names(data) <= width * _NAMES_AT_ENDS + 22


def _right_margin_of_names(data: Data) -> float:
    return max(text_width(shorten(series.name)) for series in data.series) + 22


def _right_margin(plot: Plot, data: Data, width: int) -> float:
    return _right_margin_of_names(data) if _has_names_at_ends(plot, data, width) else 20


def _titles(plot: Plot, data: Data, x_marks: Sequence[Mark], width: int) -> tuple[list[str], list[str]]:
    """The titles of the vertical and of the horizontal axis, in lines that fit the drawing."""
    x_title = axis_title(plot, plot.label(plot.x), _x_unit(plot, data, x_marks), "x")
    return wrap_text(axis_title(plot, *_y_title(plot)), width), wrap_text(x_title, width)


# -- axes
# -------------------------------------------------------------------------------------------------------


def _y_marks(plot: Plot, data: Data) -> list[float]:
    values = [
        y
        for series in data.series
        for point in series.drawn
        for y in (point.y, *(point.ends or ()))
        if y is not None
    ]
    if "y" in plot.log:
        return log_marks(min(values, default=1), max(values, default=10), 6)
    return linear_marks(min(0, *values, 0), max(0, *values, 0), 5)


def _x_axis(plot: Plot, data: Data, left: float, right: float, width: int) -> tuple[Scale, tuple[Mark, ...]]:
    values = data.x_values or (0.0,)
    if data.kind == "category":
        half = 0.5
        scale = Scale(values[0] - half, values[-1] + half, left, right)
        return scale, tuple(zip(data.x_values, data.x_texts, strict=True))
    margin = min(float(_MARGIN), (right - left) / 20)
    if data.kind == "time":
        return _time_axis(plot, data, left + margin, right - margin, width)
    log = "x" in plot.log and values[0] > 0
    scale = Scale(values[0], values[-1], left + margin, right - margin, log)
    own = tuple(zip(values, mark_texts(plot, plot.x, values), strict=True))
    if len(own) <= 10 and _fit(own, scale, width):
        return scale, own
    return scale, _round_marks(plot, scale, width)


def _round_marks(plot: Plot, scale: Scale, width: int) -> tuple[Mark, ...]:
    """Round numbers on the horizontal axis, as many as stand clear of one another."""
    marks: tuple[Mark, ...] = ()
    for most in (8, 5, 3, 2):
        found = (log_marks if scale.log else linear_marks)(scale.low, scale.high, most)
        inside = [mark for mark in found if scale.low <= mark <= scale.high]
        marks = tuple(zip(inside, mark_texts(plot, plot.x, inside), strict=True))
        if _fit(marks, scale, width):
            break
    return marks


def _time_axis(
    plot: Plot, data: Data, start: float, end: float, width: int
) -> tuple[Scale, tuple[Mark, ...]]:
    """To scale; under bars with half a bar's room at both ends."""
    if not data.x_values:
        return Scale(0, 0, start, end), ()
    bars = plot.mark == "bar"
    low, high, half = data.x_values[0], data.x_values[-1], data.gap / 2 if bars else 0.0
    scale = Scale(low - half, high + half, start, end)
    marks = time_marks(
        low,
        high,
        plot.timezone,
        _MOST_UNDER_BARS if bars else _MOST_MOMENTS,
        lambda all: _fit(all, scale, width),
    )
    return scale, tuple(marks)


def _fit(marks: Sequence[Mark], scale: Scale, width: int) -> bool:
    """Whether no text touches the next one of the same line."""
    rows = zip_longest(*(text.split("\n") for _, text in marks), fillvalue="")
    lines = ([pair for pair in zip((at for at, _ in marks), row, strict=True) if pair[1]] for row in rows)
    return all(_line_fits([(_within(scale, at, text, width), text) for at, text in line]) for line in lines)


def _within(scale: Scale, value: float, text: str, width: int) -> float:
    """Where the middle of a text stands: under its mark, or as near as it is not cut at an end of the axis."""
    half = text_width(text) * _WIDEST / 2
    return max(min(scale.at(value), width - half), half)


def _line_fits(texts: Sequence[tuple[float, str]]) -> bool:
    return all(
        right - left >= (text_width(left_text) + text_width(right_text)) / 2 + 8
        for (left, left_text), (right, right_text) in pairwise(texts)
    )


def _frame(drawing: _Drawing) -> Iterator[str]:
    """Grid, marks, titles of the axes and, where names stand in one, the key."""
    x, y = drawing.x, drawing.y
    left, right = coordinate(x.start - drawing.margin), coordinate(x.end + drawing.margin)
    yield '<g class="mongo-chart__axis">'
    for value, text in drawing.y_marks:
        at = coordinate(y.at(value))
        yield f'<path d="M{left} {at}H{right}"/>'
        yield f'<text x="{coordinate(float(left) - 8)}" y="{at}" dy=".32em" text-anchor="end">{text_html(text)}</text>'
    for value, text in drawing.x_marks[:: drawing.every]:
        yield _x_mark(drawing, value, text)
    yield from _draw_titles(drawing)
    yield "</g>"
    if _has_key(drawing.plot, drawing.data, drawing.width):
        top = 34 + LINE * (len(drawing.titles[0]) - 1)
        yield from key_html(drawing.plot.mark, drawing.data.series, drawing.width, top)


def _draw_titles(drawing: _Drawing) -> Iterator[str]:
    above, below = drawing.titles
    for number, line in enumerate(above):
        yield f'<text class="mongo-chart__name" x="0" y="{14 + LINE * number}">{text_html(line)}</text>'
    widest = max(map(text_width, below)) * _WIDEST / 2
    middle = max(min((drawing.x.start + drawing.x.end) / 2, drawing.width - widest), widest)
    for number, line in enumerate(below, 1 - len(below)):
        place = f'x="{coordinate(middle)}" y="{coordinate(drawing.height - 8 + LINE * number)}"'
        yield f'<text class="mongo-chart__name" {place} text-anchor="middle">{text_html(line)}</text>'


def _x_unit(plot: Plot, data: Data, marks: Sequence[Mark]) -> str:
    """The zone of an axis of dates, where the author names it or the marks show times of day."""
    if data.kind != "time":
        return plot.unit(plot.x)
    return plot.timezone or ("UTC" if has_clock_times(marks) else "")


def _x_mark(drawing: _Drawing, value: float, text: str) -> str:
    at, below = coordinate(drawing.x.at(value)), drawing.y.start
    if drawing.turn:
        room = (
            int(drawing.x.at(value) / drawing.turn.cosine / LETTER) - 1
        )  # letters may be a little wider than most
        turned = (
            f'text-anchor="end" transform="rotate(-{drawing.turn.degrees} {at} {coordinate(below + 14)})"'
        )
        return f'<text x="{at}" y="{coordinate(below + 14)}" {turned}>{text_html(shorten(text, room))}</text>'
    tick = f'<path class="mongo-chart__tick" d="M{at} {coordinate(below)}v5"/>'
    lines = wrap_text(text, drawing.band - 6) if drawing.data.kind == "category" else text.split("\n")
    spans = []
    for number, line in enumerate(lines):
        middle = drawing.x.at(value)
        if drawing.data.kind == "time":
            middle = _within(drawing.x, value, line, drawing.width)
        place = f'x="{coordinate(middle)}" y="{coordinate(below + 19 + number * LINE)}"'
        spans.append(f'<text {place} text-anchor="middle">{text_html(line)}</text>')
    return "\n".join([tick, *spans])


def _y_title(plot: Plot) -> tuple[str, str, str]:
    """The title of the vertical axis; for several columns their common unit if any, as lines carry the names."""
    unit = plot.common_unit
    if len(plot.y) == 1:
        return plot.label(plot.y[0]), unit, "y"
    return (unit, "", "y") if unit else (", ".join(plot.label(column) for column in plot.y), "", "y")


# -- what stands between the axes
# -------------------------------------------------------------------------------


def _marks(drawing: _Drawing) -> Iterator[str]:
    if drawing.plot.mark == "bar":
        yield from _bars(drawing)
        return
    for index, series in enumerate(drawing.data.series):
        yield f'<g class="{colour_class(index)} mongo-chart__d{index % 4}">'
        if drawing.plot.mark == "line":
            yield from _line(drawing, series)
        yield from (
            _range(drawing, point.ends, drawing.x.at(point.x)) for point in series.drawn if point.ends
        )
        yield from (_dot(drawing, index, series, point) for point in series.drawn)
        yield "</g>"
    if _has_names_at_ends(drawing.plot, drawing.data, drawing.width):
        yield from _names(drawing)


def _line(drawing: _Drawing, series: Series) -> Iterator[str]:
    for run in series.runs():
        if len(run) > 1:
            places = (
                (coordinate(drawing.x.at(one.x)), coordinate(drawing.y.at(one.y or 0.0))) for one in run
            )
            path = "L".join(" ".join(place) for place in places)
            yield f'<path class="mongo-chart__line" d="M{path}"/>'


def _range(drawing: _Drawing, ends: tuple[float, float], x: float) -> str:
    """The range of a value: a thin line with a short one across each of its ends."""
    low, high = (coordinate(drawing.y.at(end)) for end in ends)
    left = coordinate(x - 3)
    return (
        f'<path class="mongo-chart__range" d="M{left} {low}h6M{coordinate(x)} {low}V{high}M{left} {high}h6"/>'
    )


def _dot(drawing: _Drawing, index: int, series: Series, point: Point) -> str:
    shape = marker_path(index, drawing.x.at(point.x), drawing.y.at(point.y or 0.0))
    return area_html("path", f'd="{shape}"', tip_html(drawing.plot, series, point, drawing.width))


def _names(drawing: _Drawing) -> Iterator[str]:
    """The name of each series at its last point, none over another."""
    ends = [
        (index, series, series.drawn[-1]) for index, series in enumerate(drawing.data.series) if series.drawn
    ]
    heights = [drawing.y.at(point.y or 0.0) for _, _, point in ends]
    placed = apart(heights, LINE, drawing.y.end, drawing.y.start)
    for (index, series, point), height in zip(ends, placed, strict=True):
        place = f'x="{coordinate(drawing.x.at(point.x) + 10)}" y="{coordinate(height)}" dy=".32em"'
        name = text_html(shorten(series.name))
        yield f'<text class="mongo-chart__label {colour_class(index)}" {place}>{name}</text>'


def _bars(drawing: _Drawing) -> Iterator[str]:
    count = max(len(drawing.data.series), 1)
    width = min(drawing.band * 0.76 / count, 64)
    with_values = count * len(drawing.data.x_values) <= _BARS_WITH_VALUES
    room = drawing.band / count - 4 if drawing.data.kind == "time" else min(width + 20, drawing.band / count)
    for index, series in enumerate(drawing.data.series):
        yield f'<g class="{colour_class(index)}">'
        for point in series.drawn:
            left = drawing.x.at(point.x) + (index - count / 2) * width
            with_value = with_values and text_width(point.y_text) <= room
            yield from _bar(drawing, series, point, left, width, with_value)
        yield "</g>"


def _bar(
    drawing: _Drawing, series: Series, point: Point, left: float, width: float, with_value: bool
) -> Iterator[str]:
    at, floor = drawing.y.at(point.y or 0.0), drawing.floor
    top, height = min(at, floor), abs(at - floor)
    beside = min(1, width / 8)  # A thin bar keeps most of its width.
    tip = tip_html(drawing.plot, series, point, drawing.width)
    yield bar_html(left + beside, top, width - 2 * beside, height, tip)
    middle = left + width / 2
    tops = [top]
    if point.ends:
        yield _range(drawing, point.ends, middle)
        tops += map(drawing.y.at, point.ends)
    above = min(tops) - 5 if at <= floor else max(top + height, *tops) + 13
    if with_value and above <= drawing.y.start + 3:  # Below stand the names of the axis.
        yield (
            f'<text class="mongo-chart__value" x="{coordinate(middle)}" y="{coordinate(above)}" '
            f'text-anchor="middle">{text_html(point.y_text)}</text>'
        )


# -- words and numbers
# ------------------------------------------------------------------------------------------


def _description(plot: Plot, data: Data) -> str:
    """The drawing in words: what is on the axes, and from where to where each series goes."""
    kind = {"line": "Line chart", "bar": "Bar chart", "dot": "Dot chart"}[plot.mark]
    scales = {
        "x": ", horizontal axis logarithmic",
        "y": ", vertical axis logarithmic",
        "xy": ", logarithmic axes",
    }
    zone = f", dates in {plot.timezone}" if data.kind == "time" and plot.timezone else ""
    ranges = ", with ranges" if any(point.ends for series in data.series for point in series.drawn) else ""
    ends = [_course(series) for series in data.series if series.drawn]
    first = f"{kind} of {summarise_axes(plot)}{ranges}{scales.get(plot.log, '')}{zone}"
    return ". ".join([first, *ends]) + "."


def _course(series: Series) -> str:
    first, last = series.drawn[0], series.drawn[-1]
    begins, ends = (f"{point.in_words} at {point.x_text}" for point in (first, last))
    return f"{series.name}: {begins}" if first is last else f"{series.name}: from {begins} to {ends}"
