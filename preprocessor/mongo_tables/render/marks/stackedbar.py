"""Bars on one another: at each place one bar, a part of it for each series, with what all come to above."""

from __future__ import annotations

from collections.abc import Iterator

from mongo_tables.render.chartaxes import Axes
from mongo_tables.render.chartdata import Point, Series
from mongo_tables.render.chartparts import (
    bar_html,
    colour_class,
    text_width,
    tip_html,
    value_html,
)
from mongo_tables.render.chartstripes import Box, dress_part
from mongo_tables.render.marks.bar import MOST_WITH_VALUES, width_of_bars

_LEAST_WIDTH = 6
"""Of a bar between whose parts the ground can be seen."""
_BETWEEN = 8
"""Two sums beside one another."""


def draw_stacked_bars(axes: Axes) -> Iterator[str]:
    """The parts of all bars."""
    width = width_of_bars(axes, 1)
    with_values = len(axes.data.x_values) <= MOST_WITH_VALUES
    look = " mongo-chart__parts" if width >= _LEAST_WIDTH else ""
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{colour_class(index)}{look}">'
        for point in series.drawn:
            yield from _draw_part(axes, (index, series), point, width, with_values)
        yield "</g>"


def _draw_part(
    axes: Axes, of: tuple[int, Series], point: Point, width: float, with_value: bool
) -> Iterator[str]:
    index, series = of
    middle = axes.x.at(point.x)
    top, bottom = sorted((axes.y.at(point.top), axes.foot(point.base)))
    beside = min(1, width / 8)
    tip = tip_html(axes.plot, series, point) if axes.told else ""
    box = Box(middle - width / 2 + beside, top, width - 2 * beside, bottom - top)
    yield bar_html(*box, tip)
    yield from dress_part(index, point.y_text if with_value else "", box)


def draw_totals(axes: Axes) -> Iterator[str]:
    """What the parts of each bar come to, at its end, where it is known; of all of them, or of none."""
    if len(axes.data.x_values) > MOST_WITH_VALUES:
        return
    ends: dict[float, Point] = {}
    for series in axes.data.series:
        ends |= {point.x: point for point in series.drawn if point.total}
    if max((text_width(point.total) for point in ends.values()), default=0) > axes.band - _BETWEEN:
        return
    for point in ends.values():
        at = axes.y.at(point.top)
        yield value_html(point.total, axes.x.at(point.x), at - 5 if point.top >= 0 else at + 13)
