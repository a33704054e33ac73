"""A chart as inline SVG: lines, grouped bars or dots, drawn by hand and coloured by the page.

Colours are classes with custom properties, so that one drawing serves a light and a dark page. A series is
told by two things: colour and dash or marker; the name of a line stands at its end, those of bars and dots in a
key. A vertical axis that is linear begins at zero. Dates stand on a time axis, to scale, under bars too. Text is text:
it can be searched, selected and printed. To a screen reader the drawing is one image with a name and a description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, zip_longest
from typing import Final

from preprocessor.render.chartdata import Data, Plot, Point, Series, data_of
from preprocessor.render.chartscale import Scale, apart, linear_marks, log_marks
from preprocessor.render.headers import with_unit
from preprocessor.render.text import display_width, text_html
from preprocessor.render.timeaxis import Mark, has_clock_times, time_marks
from preprocessor.render.values import raw_text

WIDTH: Final = 640
_HEIGHT: Final = 310
_COLOURS: Final = 6
_LETTER: Final = 6.8
_LINE: Final = 15
_WIDEST: Final = 1.25
_LONGEST: Final = 26
_BARS_WITH_VALUES: Final = 10
_MARGIN: Final = 18
_MOST_MOMENTS: Final = 9
_MOST_UNDER_BARS: Final = 13


def chart_html(plot: Plot, rows: Sequence[Mapping[str, object]]) -> str:
    """The chart in a box that scrolls where the screen is narrow. Lines end in ``\\n``."""
    drawing = _Drawing.of(plot, data_of(plot, rows))
    name = text_html(plot.name or _summary(plot, drawing.data))
    return "\n".join(
        (
            f'<div class="mongo-chart" role="group" tabindex="0" aria-label="{name}" data-search-exclude>',
            f'<svg viewBox="0 0 {WIDTH} {_n(drawing.height)}" role="img">',
            f"<title>{name}</title>",
            f"<desc>{text_html(_description(plot, drawing.data))}</desc>",
            *_frame(drawing),
            *_marks(drawing),
            "</svg>",
            "</div>",
        )
    )


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Data with its axes. ``x_marks`` and ``y_marks``: values on the axes and their texts."""

    plot: Plot
    data: Data
    x: Scale
    y: Scale
    x_marks: tuple[tuple[float, str], ...]
    y_marks: tuple[tuple[float, str], ...]
    height: float
    slanted: bool

    @classmethod
    def of(cls, plot: Plot, data: Data) -> _Drawing:
        y_values = _y_marks(plot, data)
        y_marks = tuple(zip(y_values, _mark_texts(plot, plot.y[0], y_values), strict=True))
        left = max(_width(text) for _, text in y_marks) + 16
        right = WIDTH - _right_margin(plot, data)
        x, x_marks = _x_axis(plot, data, left, right)
        slanted, foot = _foot(data, x_marks, (x.end - x.start) / max(len(data.x_values), 1))
        top = 34 + (_LINE + 4) * (_key_places(data.series)[-1][1] + 1 if _has_key(plot, data) else 0)
        y = Scale(y_values[0], y_values[-1], _HEIGHT - 52, top, "y" in plot.log)
        return cls(plot, data, x, y, x_marks, y_marks, _HEIGHT + foot, slanted)

    @property
    def band(self) -> float:
        """The room for each name on the horizontal axis; for each bar over a time axis."""
        if self.data.kind == "time" and self.data.gap:
            return self.x.at(self.x.low + self.data.gap) - self.x.start
        return (self.x.end - self.x.start) / max(len(self.data.x_values), 1)

    @property
    def margin(self) -> float:
        """How far the frame goes beyond the first and the last place of the horizontal axis."""
        return 0 if self.data.kind == "category" else _MARGIN

    @property
    def floor(self) -> float:
        """Where bars stand: on zero, or on the lower end of an axis that has none."""
        return self.y.at(max(self.y.low, min(0.0, self.y.high))) if not self.y.log else self.y.start


def _foot(data: Data, marks: Sequence[Mark], band: float) -> tuple[bool, float]:
    """Whether names under the axis must be slanted, and the height that texts take beyond one line."""
    if data.kind != "category":
        return False, max(text.count("\n") for _, text in marks) * _LINE if marks else 0
    lines = [_wrap(text, band - 6) for text in data.x_texts]
    most = max(map(len, lines), default=1)
    if most <= 3 and all(_width(line) <= band - 2 for each in lines for line in each):
        return False, (most - 1) * _LINE
    return True, max(_width(_short(text)) for text in data.x_texts) * 0.5 - 8


def _has_key(plot: Plot, data: Data) -> bool:
    """Bars and dots have no ends to stand names at."""
    return plot.mark != "line" and len(data.series) > 1


def _right_margin(plot: Plot, data: Data) -> float:
    if len(data.series) < 2 or plot.mark != "line":
        return 20
    return max(_width(_short(series.name)) for series in data.series) + 22


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


def _x_axis(plot: Plot, data: Data, left: float, right: float) -> tuple[Scale, tuple[Mark, ...]]:
    values = data.x_values or (0.0,)
    if data.kind == "category":
        half = 0.5
        scale = Scale(values[0] - half, values[-1] + half, left, right)
        return scale, tuple(zip(data.x_values, data.x_texts, strict=True))
    margin = min(float(_MARGIN), (right - left) / 20)
    if data.kind == "time":
        return _time_axis(plot, data, left + margin, right - margin)
    log = "x" in plot.log and values[0] > 0
    scale = Scale(values[0], values[-1], left + margin, right - margin, log)
    own = tuple(zip(values, _mark_texts(plot, plot.x, values), strict=True))
    if len(own) <= 10 and _fit(own, scale):
        return scale, own
    marks = log_marks(values[0], values[-1], 8) if log else linear_marks(values[0], values[-1], 7)
    inside = [mark for mark in marks if values[0] <= mark <= values[-1]]
    return scale, tuple(zip(inside, _mark_texts(plot, plot.x, inside), strict=True))


def _time_axis(plot: Plot, data: Data, start: float, end: float) -> tuple[Scale, tuple[Mark, ...]]:
    """To scale; under bars with half a bar's room at both ends."""
    if not data.x_values:
        return Scale(0, 0, start, end), ()
    bars = plot.mark == "bar"
    low, high, half = data.x_values[0], data.x_values[-1], data.gap / 2 if bars else 0.0
    scale = Scale(low - half, high + half, start, end)
    marks = time_marks(
        low, high, plot.timezone, _MOST_UNDER_BARS if bars else _MOST_MOMENTS, lambda all: _fit(all, scale)
    )
    return scale, tuple(marks)


def _fit(marks: Sequence[Mark], scale: Scale) -> bool:
    """Whether no text touches the next one of the same line."""
    rows = zip_longest(*(text.split("\n") for _, text in marks), fillvalue="")
    lines = ([pair for pair in zip((at for at, _ in marks), row, strict=True) if pair[1]] for row in rows)
    return all(_line_fits([(_within(scale, at, text), text) for at, text in line]) for line in lines)


def _within(scale: Scale, value: float, text: str) -> float:
    """Where the middle of a text stands: under its mark, or as near as it is not cut at an end of the axis."""
    half = _width(text) * _WIDEST / 2
    return max(min(scale.at(value), WIDTH - half), half)


def _line_fits(texts: Sequence[tuple[float, str]]) -> bool:
    return all(
        right - left >= (_width(left_text) + _width(right_text)) / 2 + 8
        for (left, left_text), (right, right_text) in pairwise(texts)
    )


def _wrap(text: str, room: float) -> list[str]:
    """Break the text at its blanks into lines that fit ``room``; a wider word is a line of its own."""
    lines: list[str] = []
    for word in text.split():
        if lines and _width(f"{lines[-1]} {word}") <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def _mark_texts(plot: Plot, column: str, values: Sequence[float]) -> list[str]:
    """The numbers of an axis: all their digits up to a billion, grouped as the column's cells or as need be."""
    form = plot.format.get(column)
    given = form.thousands if form else None
    grouped = bool(given) or max(map(abs, values), default=0) >= 10_000
    return [
        _mark_text(value, given if isinstance(given, str) else "," if grouped else "") for value in values
    ]


def _mark_text(value: float, separator: str) -> str:
    text = raw_text(value)
    number = Decimal(text)
    if abs(number) >= 10**9 or (number and abs(number) < Decimal("0.0001")):
        return raw_text(float(f"{value:.3g}")) if "e" in text else f"{number:.3g}".lower().replace("e+", "e")
    return format(number, ",f").replace(",", separator)


def _frame(drawing: _Drawing) -> Iterator[str]:
    """Grid, marks, titles of the axes and, for bars and dots, the key."""
    plot, x, y = drawing.plot, drawing.x, drawing.y
    left, right = _n(x.start - drawing.margin), _n(x.end + drawing.margin)
    yield '<g class="mongo-chart__axis">'
    for value, text in drawing.y_marks:
        at = _n(y.at(value))
        yield f'<path d="M{left} {at}H{right}"/>'
        yield f'<text x="{_n(float(left) - 8)}" y="{at}" dy=".32em" text-anchor="end">{text_html(text)}</text>'
    for value, text in drawing.x_marks:
        yield _x_mark(drawing, value, text)
    yield f'<text class="mongo-chart__name" x="0" y="14">{text_html(_axis_title(plot, *_y_title(plot)))}</text>'
    middle = _n((x.start + x.end) / 2)
    title = text_html(_axis_title(plot, plot.label(plot.x), _x_unit(drawing), "x"))
    at = _n(drawing.height - 8)
    yield f'<text class="mongo-chart__name" x="{middle}" y="{at}" text-anchor="middle">{title}</text>'
    yield "</g>"
    if _has_key(plot, drawing.data):
        yield from _key(plot.mark, drawing.data.series)


def _x_unit(drawing: _Drawing) -> str:
    """The zone of an axis of dates, where the author names it or the marks show times of day."""
    plot = drawing.plot
    if drawing.data.kind != "time":
        return plot.unit(plot.x)
    return plot.timezone or ("UTC" if has_clock_times(drawing.x_marks) else "")


def _x_mark(drawing: _Drawing, value: float, text: str) -> str:
    at, below = _n(drawing.x.at(value)), drawing.y.start
    if drawing.slanted:
        room = int(drawing.x.at(value) / 0.87 / _LETTER) - 1  # letters may be a little wider than most
        turned = f'text-anchor="end" transform="rotate(-30 {at} {_n(below + 14)})"'
        return f'<text x="{at}" y="{_n(below + 14)}" {turned}>{text_html(_short(text, room))}</text>'
    tick = f'<path class="mongo-chart__tick" d="M{at} {_n(below)}v5"/>'
    lines = _wrap(text, drawing.band - 6) if drawing.data.kind == "category" else text.split("\n")
    spans = []
    for number, line in enumerate(lines):
        middle = _within(drawing.x, value, line) if drawing.data.kind == "time" else drawing.x.at(value)
        place = f'x="{_n(middle)}" y="{_n(below + 19 + number * _LINE)}"'
        spans.append(f'<text {place} text-anchor="middle">{text_html(line)}</text>')
    return "\n".join([tick, *spans])


def _y_title(plot: Plot) -> tuple[str, str, str]:
    """The title of the vertical axis; for several columns their common unit if any, as lines carry the names."""
    units = {plot.unit(column) for column in plot.y}
    unit = units.pop() if len(units) == 1 else ""
    if len(plot.y) == 1:
        return plot.label(plot.y[0]), unit, "y"
    return (unit, "", "y") if unit else (", ".join(plot.label(column) for column in plot.y), "", "y")


def _axis_title(plot: Plot, label: str, unit: str, axis: str) -> str:
    text = with_unit(label, unit)
    return f"{text}, log scale" if axis in plot.log else text


def _key(mark: str, series: Sequence[Series]) -> Iterator[str]:
    for index, (one, (at, row)) in enumerate(zip(series, _key_places(series), strict=True)):
        below, look = row * (_LINE + 4), f'class="{_colour(index)} mongo-chart__area"'
        if mark == "dot":
            yield f'<path {look} d="{_shape(index, at + 5, 30 + below)}"/>'
        else:
            yield f'<rect {look} x="{_n(at)}" y="{25 + below}" width="10" height="10"/>'
        name = text_html(_short(one.name))
        yield f'<text class="mongo-chart__label" x="{_n(at + 15)}" y="{34 + below}">{name}</text>'


def _key_places(series: Sequence[Series]) -> list[tuple[float, int]]:
    """Where each name of the key begins, and in which row of it, from 0: a row is as wide as the drawing."""
    places: list[tuple[float, int]] = []
    at, row = 0.0, 0
    for one in series:
        width = _width(_short(one.name)) + 34
        if at and at + width > WIDTH:
            at, row = 0.0, row + 1
        places.append((at, row))
        at += width
    return places


# -- what stands between the axes
# -------------------------------------------------------------------------------


def _marks(drawing: _Drawing) -> Iterator[str]:
    if drawing.plot.mark == "bar":
        yield from _bars(drawing)
        return
    for index, series in enumerate(drawing.data.series):
        yield f'<g class="{_colour(index)} mongo-chart__d{index % 4}">'
        if drawing.plot.mark == "line":
            yield from _line(drawing, series)
        yield from (
            _range(drawing, point.ends, drawing.x.at(point.x)) for point in series.drawn if point.ends
        )
        yield from (_dot(drawing, index, series, point) for point in series.drawn)
        yield "</g>"
    if drawing.plot.mark == "line" and len(drawing.data.series) > 1:
        yield from _names(drawing)


def _line(drawing: _Drawing, series: Series) -> Iterator[str]:
    for run in series.runs():
        if len(run) > 1:
            path = "L".join(f"{_n(drawing.x.at(one.x))} {_n(drawing.y.at(one.y or 0.0))}" for one in run)
            yield f'<path class="mongo-chart__line" d="M{path}"/>'


def _range(drawing: _Drawing, ends: tuple[float, float], x: float) -> str:
    """The range of a value: a thin line with a short one across each of its ends."""
    low, high = (_n(drawing.y.at(end)) for end in ends)
    left = _n(x - 3)
    return f'<path class="mongo-chart__range" d="M{left} {low}h6M{_n(x)} {low}V{high}M{left} {high}h6"/>'


#: Shapes around a point, by the number of the series: circle, square, diamond, triangle.
_SHAPES: Final = (
    "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M{x} {y}m-3.5-3.5h7v7h-7z",
    "M{x} {y}m0-5l5 5l-5 5l-5-5z",
    "M{x} {y}m0-5l4.8 8.4h-9.6z",
)


def _dot(drawing: _Drawing, index: int, series: Series, point: Point) -> str:
    shape = _shape(index, drawing.x.at(point.x), drawing.y.at(point.y or 0.0))
    return f'<path class="mongo-chart__area" d="{shape}">{_tip(drawing, series, point)}</path>'


def _shape(index: int, x: float, y: float) -> str:
    """The outline of a point of the series with this number."""
    return _SHAPES[index % len(_SHAPES)].format(x=_n(x), y=_n(y))


def _tip(drawing: _Drawing, series: Series, point: Point) -> str:
    """What is shown while the pointer rests on a point."""
    plot = drawing.plot
    unit = next((plot.unit(column) for column in plot.y if plot.unit(column)), "")
    x = f"{plot.label(plot.x)} {point.x_text} {plot.unit(plot.x)}".rstrip()
    value = " ".join(filter(None, (point.y_text, point.ends_text, unit)))
    return f"<title>{text_html(f'{x}: {value}')} – {text_html(series.name)}</title>"


def _names(drawing: _Drawing) -> Iterator[str]:
    """The name of each series at its last point, none over another."""
    ends = [
        (index, series, series.drawn[-1]) for index, series in enumerate(drawing.data.series) if series.drawn
    ]
    heights = [drawing.y.at(point.y or 0.0) for _, _, point in ends]
    placed = apart(heights, _LINE, drawing.y.end, drawing.y.start)
    for (index, series, point), height in zip(ends, placed, strict=True):
        place = f'x="{_n(drawing.x.at(point.x) + 10)}" y="{_n(height)}" dy=".32em"'
        name = text_html(_short(series.name))
        yield f'<text class="mongo-chart__label {_colour(index)}" {place}>{name}</text>'


def _bars(drawing: _Drawing) -> Iterator[str]:
    count = max(len(drawing.data.series), 1)
    width = min(drawing.band * 0.76 / count, 64)
    with_values = count * len(drawing.data.x_values) <= _BARS_WITH_VALUES
    room = drawing.band / count - 4 if drawing.data.kind == "time" else width + 20
    for index, series in enumerate(drawing.data.series):
        yield f'<g class="{_colour(index)}">'
        for point in series.drawn:
            left = drawing.x.at(point.x) + (index - count / 2) * width
            with_value = with_values and _width(point.y_text) <= room
            yield from _bar(drawing, series, point, left, width, with_value)
        yield "</g>"


def _bar(
    drawing: _Drawing, series: Series, point: Point, left: float, width: float, with_value: bool
) -> Iterator[str]:
    at, floor = drawing.y.at(point.y or 0.0), drawing.floor
    top, height = min(at, floor), abs(at - floor)
    beside = min(1, width / 8)  # A thin bar keeps most of its width.
    place = f'x="{_n(left + beside)}" y="{_n(top)}" width="{_n(width - 2 * beside)}" height="{_n(height)}"'
    yield f'<rect class="mongo-chart__area" {place}>{_tip(drawing, series, point)}</rect>'
    middle = left + width / 2
    tops = [top]
    if point.ends:
        yield _range(drawing, point.ends, middle)
        tops += map(drawing.y.at, point.ends)
    above = min(tops) - 5 if at <= floor else max(top + height, *tops) + 13
    if with_value and above <= drawing.y.start + 3:  # Below stand the names of the axis.
        yield (
            f'<text class="mongo-chart__value" x="{_n(middle)}" y="{_n(above)}" '
            f'text-anchor="middle">{text_html(point.y_text)}</text>'
        )


# -- words and numbers
# ------------------------------------------------------------------------------------------


def _summary(plot: Plot, data: Data) -> str:
    return f"{', '.join(plot.label(column) for column in plot.y)} by {plot.label(plot.x)}"


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
    ends = [_course(plot, series) for series in data.series if series.drawn]
    first = f"{kind} of {_summary(plot, data)}{ranges}{scales.get(plot.log, '')}{zone}"
    return ". ".join([first, *ends]) + "."


def _course(plot: Plot, series: Series) -> str:
    first, last = series.drawn[0], series.drawn[-1]
    unit = next((f" {plot.unit(column)}" for column in plot.y if plot.unit(column)), "")
    if first is last:
        return f"{series.name}: {first.y_text}{unit} at {first.x_text}"
    return (
        f"{series.name}: from {first.y_text}{unit} at {first.x_text} to {last.y_text}{unit} at {last.x_text}"
    )


def _colour(index: int) -> str:
    return f"mongo-chart__s{index % _COLOURS}"


def _width(text: str) -> float:
    """About how wide the text is, in units of the drawing."""
    return display_width(text) * _LETTER


def _short(text: str, most: int = _LONGEST) -> str:
    most = min(most, _LONGEST)
    return text if len(text) <= most else text[: max(most - 1, 1)] + "…"


def _n(value: float) -> str:
    """A coordinate to a tenth of a unit, in as few digits as it takes."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
