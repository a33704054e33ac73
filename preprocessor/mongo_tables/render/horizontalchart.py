"""A horizontal chart: names at the left, bars or dots with their ranges beside them, and their values at the end.

It is for what has names and no order in itself, such as rows that are compared with one of them: names need not be
slanted, and values are read without an axis. With a reference a line stands where there is no difference. An axis of
bars, and any that is not near its reference, begins at zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mongo_tables.directives.specs import Reference
from mongo_tables.render.chartaxes import WIDEST, Span, fit, within
from mongo_tables.render.chartdata import Data, Plot
from mongo_tables.render.chartkey import key_height, key_html, reference_entries, series_entries
from mongo_tables.render.chartparts import (
    BOLD,
    LINE,
    WIDTH,
    area_html,
    axis_title,
    bar_html,
    break_text,
    colour_class,
    coordinate,
    cut,
    mark_texts,
    marker_path,
    text_width,
    tip_html,
)
from mongo_tables.render.chartreference import draw_bands, draw_lines, has_place, middle_of
from mongo_tables.render.chartscale import Scale, linear_marks, log_marks
from mongo_tables.render.chartstripes import Box, dress_part
from mongo_tables.render.horizontallayout import Layout, Part, Row, Rows, names_of, place_rows
from mongo_tables.render.text import text_html
from mongo_tables.render.timeaxis import Mark

_KEY_AT: Final = 34
_BETWEEN_MARKS: Final = 4
_BELOW: Final = 46
"""What the texts of the axis and its title take."""


def draw_horizontally(plot: Plot, data: Data, width: int) -> tuple[float, list[str]]:
    """The height of the drawing, and its elements."""
    names, span = names_of(plot, data), (0.0, float(width))
    layout = Layout.of(names, width)
    scale, marks = value_axis(plot, data.y_values, (layout.left, layout.right), span)
    labels = _place_labels(plot.references, scale, span)
    key = series_entries(plot, data.series) if len(data.series) > 1 else []
    key += [] if labels else reference_entries(plot.references)
    top = 16 + (key_height(key, width) + 10 if key else 0) + (LINE if labels else 0)
    rows = place_rows(names, layout, top)
    title = title_of(plot, width)
    elements = [
        *draw_ground(plot, scale, marks, rows, layout),
        *draw_title(title, (scale.start, scale.end), width, rows.bottom),
        *draw_names(rows, layout),
        *key_html(key, width, _KEY_AT),
        *draw_rows(plot, scale, rows, layout, told=width == WIDTH),
        *_draw_labels(labels, span, rows.top - 5),
    ]
    return rows.bottom + _BELOW + LINE * (len(title) - 1), elements


def value_axis(plot: Plot, values: Sequence[float], sides: Span, span: Span) -> tuple[Scale, list[Mark]]:
    """The axis of the values with its marks: with zero, but for dots and ranges that lie around a reference."""
    values = [*values, *(end for one in plot.references for end in (one.low, one.high))]
    log = "y" in plot.log
    if log:
        values = [value for value in values if value > 0] or [1, 10]
    elif plot.from_zero or not plot.references or not values:
        values = [0.0, *values]
    for most in (5, 3, 2):
        found = (log_marks if log else linear_marks)(min(values), max(values), most)
        scale = Scale(found[0], found[-1], *sides, log)
        marks = list(zip(found, mark_texts(plot, plot.y[0], found), strict=True))
        if fit(marks, scale, span, _BETWEEN_MARKS):
            break
    return scale, marks


def title_of(plot: Plot, width: float) -> list[str]:
    """The title of the axis in lines."""
    names, unit = ", ".join(map(plot.label, plot.y)), plot.common_unit
    # The parts of a stack have their names in the key.
    several = plot.stack and len(plot.y) > 1 and unit
    text = axis_title(plot, unit, "", "y") if several else axis_title(plot, names, unit, "y")
    return break_text(text, width / BOLD)


def draw_title(lines: Sequence[str], sides: Span, width: float, bottom: float) -> Iterator[str]:
    """The title of the axis, below the middle of it, or as near as it is not cut off."""
    half = max(map(text_width, lines)) / 2
    middle = coordinate(max(min(sum(sides) / 2, width - half), half))
    yield '<g class="mongo-chart__axis">'
    for number, line in enumerate(lines):
        place = f'x="{middle}" y="{coordinate(bottom + 36 + LINE * number)}" text-anchor="middle"'
        yield f'<text class="mongo-chart__name" {place}>{text_html(line)}</text>'
    yield "</g>"


def _place_labels(references: Sequence[Reference], scale: Scale, span: Span) -> list[Mark]:
    """Where the labels of references stand above them; none where they would touch one another."""
    found = [
        (middle_of(scale, one), one.label)
        for one in sorted(references)
        if one.label and has_place(scale, one.high)
    ]
    as_drawn = Scale(*span, *span)
    too_wide = any(text_width(text) * WIDEST > span[1] - span[0] for _, text in found)
    return [] if too_wide or not fit(found, as_drawn, span) else found


def _draw_labels(labels: Sequence[Mark], span: Span, bottom: float) -> Iterator[str]:
    for at, text in labels:
        place = f'x="{coordinate(within(span, at, text))}" y="{coordinate(bottom)}" text-anchor="middle"'
        yield f'<text class="mongo-chart__aside" {place}>{text_html(text)}</text>'


def draw_ground(plot: Plot, scale: Scale, marks: Sequence[Mark], rows: Rows, layout: Layout) -> Iterator[str]:
    """What stands behind names and values: bands, the grid, and lines unless bars would hide them."""
    yield from draw_bands(plot.references, scale, (rows.top, rows.bottom), upright=True)
    yield from _grid(scale, marks, rows, (0.0, layout.width))
    if not plot.from_zero:
        yield from draw_lines(plot.references, scale, (rows.top, rows.bottom), upright=True)


def draw_rows(plot: Plot, scale: Scale, rows: Rows, layout: Layout, *, told: bool) -> Iterator[str]:
    """The values, and the lines that stand in front of bars."""
    for row in rows.rows:
        yield from _draw_row(plot, scale, row, layout, told)
    if plot.from_zero:
        yield from draw_lines(plot.references, scale, (rows.top, rows.bottom), upright=True)


def _grid(scale: Scale, marks: Sequence[Mark], rows: Rows, drawing: Span) -> Iterator[str]:
    """Lines across, and below each its value, which the edge of a narrow drawing does not cut."""
    top, bottom = coordinate(rows.top), coordinate(rows.bottom)
    yield '<g class="mongo-chart__axis">'
    for value, text in marks:
        at = scale.at(value)
        yield f'<path d="M{coordinate(at)} {top}V{bottom}"/>'
        place = f'x="{coordinate(within(drawing, at, text))}" y="{coordinate(rows.bottom + 16)}"'
        yield f'<text {place} text-anchor="middle">{text_html(text)}</text>'
    yield "</g>"


def draw_names(rows: Rows, layout: Layout) -> Iterator[str]:
    """The names at the left, or above their bars."""
    at, anchor = ("0", "") if layout.above else (coordinate(layout.left - 10), ' text-anchor="end"')
    yield '<g class="mongo-chart__names">'
    for lines, first in rows.names:
        for number, line in enumerate(lines):
            place = f'x="{at}" y="{coordinate(first + LINE * number)}" dy=".32em"{anchor}'
            yield f"<text {place}>{text_html(cut(line, layout.name_room))}</text>"
    yield "</g>"


def _draw_row(plot: Plot, scale: Scale, row: Row, layout: Layout, told: bool) -> Iterator[str]:
    for count, part in enumerate(row.bar.parts, 1):
        look = " mongo-chart__parts" if plot.stack else ""
        yield f'<g class="{colour_class(part.number)}{look}">'
        yield from _draw_part(plot, scale, part, row.middle, told)
        if count == len(row.bar.parts):
            yield _value(row, layout)
        yield "</g>"


def _draw_part(plot: Plot, scale: Scale, part: Part, middle: float, told: bool) -> Iterator[str]:
    point = part.point
    tip = tip_html(plot, part.series, point) if told else ""
    if point.y is not None and plot.mark == "bar":
        foot = scale.start if scale.log else scale.at(max(scale.low, min(point.base, scale.high)))
        left, right = sorted((foot, scale.at(point.top)))
        yield bar_html(left, middle - 7, right - left, 14, tip)
        if plot.stack:
            yield from dress_part(part.number, point.y_text, Box(left, middle - 7, right - left, 14))
    if point.ends:
        low, high = (coordinate(scale.at(end)) for end in point.ends)
        ends = "".join(f"M{end} {coordinate(middle - 4)}v8" for end in (low, high))
        yield f'<path class="mongo-chart__range" d="M{low} {coordinate(middle)}H{high}{ends}"/>'
    if point.y is not None and plot.mark != "bar":
        place = f'd="{marker_path(part.number, scale.at(point.y), middle)}"'
        yield area_html("path", place, tip)


def _value(row: Row, layout: Layout) -> str:
    at, anchor = (layout.width, ' text-anchor="end"') if layout.values_above else (layout.right + 8, "")
    place = f'x="{coordinate(at)}" y="{coordinate(row.value_at)}" dy=".32em"{anchor}'
    return f'<text class="mongo-chart__value" {place}>{text_html(row.bar.text)}</text>'
