"""A chart over a horizontal axis: its title, a key where names have no place in the drawing, the drawing, its axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mongo_tables.render.chartaxes import MARGIN, Axes, turn_of, x_axis, y_marks
from mongo_tables.render.chartdata import Data, Plot
from mongo_tables.render.chartends import Ends, draw_ends
from mongo_tables.render.chartframe import (
    TITLES_END,
    draw_x_marks,
    draw_x_title,
    draw_y_marks,
    draw_y_title,
    x_title,
    y_title,
)
from mongo_tables.render.chartkey import KeyEntry, key_height, key_html, reference_entries, series_entries
from mongo_tables.render.chartparts import LINE, WIDTH, text_width
from mongo_tables.render.chartreference import draw_bands, draw_lines
from mongo_tables.render.chartscale import Scale
from mongo_tables.render.marks import mark_of

_HEIGHT: Final = 310
_HEIGHT_OF_NARROW: Final = 280
_LEAST_HEIGHT: Final = 200
_BELOW: Final = 52
"""What one line of names and the title of the horizontal axis take."""


def draw_vertically(plot: Plot, data: Data, width: int) -> tuple[float, list[str]]:
    """The height of the drawing, and its elements."""
    ends = Ends.of(plot, data, width)
    key = _key(plot, data, ends)
    title = y_title(plot, width)
    above = LINE * (len(title) - 1)
    top = TITLES_END + above + key_height(key, width)
    bottom = (_HEIGHT if width == WIDTH else max(_HEIGHT_OF_NARROW, top + _LEAST_HEIGHT)) + above
    axes, foot = _place_axes(plot, data, width, ends, (top, bottom - _BELOW))
    x_lines = x_title(plot, data, axes.x_marks, width)
    height = bottom + foot + LINE * (len(x_lines) - 1)
    elements = [
        '<g class="mongo-chart__axis">',
        *draw_y_marks(axes),
        *draw_x_marks(axes),
        *draw_y_title(title),
        *draw_x_title(x_lines, axes.sides, width, height),
        "</g>",
        *key_html(key, width, TITLES_END + above),
        *draw_within(axes),
        *draw_ends(axes, ends),
    ]
    return height, elements


def _key(plot: Plot, data: Data, ends: Ends) -> list[KeyEntry]:
    """What has no place at the ends."""
    series = series_entries(plot, data.series) if len(data.series) > 1 and not ends.names else []
    return series if ends.labels else [*series, *reference_entries(plot.references)]


def _place_axes(
    plot: Plot, data: Data, width: int, ends: Ends, heights: tuple[float, float]
) -> tuple[Axes, float]:
    """The axes, and the height that texts below take beyond one line."""
    marks = y_marks(plot, data.y_values)
    left = max(text_width(text) for _, text in marks) + 16
    span = (0.0, float(width))
    x, x_marks = x_axis(plot, data, (left, width - ends.margin), span)
    turn, foot = turn_of(data, x_marks, (x.end - x.start) / max(len(data.x_values), 1))
    y = Scale(marks[0][0], marks[-1][0], heights[1], heights[0], "y" in plot.log)
    margin = 0 if data.kind == "category" else MARGIN
    return Axes(plot, data, x, y, x_marks, marks, margin, span, turn, told=width == WIDTH), foot


def draw_within(axes: Axes) -> Iterator[str]:
    """What stands between the axes: a line is in front of what covers the ground, and behind what does not."""
    mark, references = mark_of(axes.plot), axes.plot.references
    lines = list(draw_lines(references, axes.y, axes.sides, upright=False))
    yield from draw_bands(references, axes.y, axes.sides, upright=False)
    if not axes.plot.from_zero:
        yield from lines
    yield from mark.draw(axes)
    if axes.plot.from_zero:
        yield from lines
    yield from mark.draw_in_front(axes)
