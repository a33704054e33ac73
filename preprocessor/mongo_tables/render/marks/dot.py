"""Dots: each value by itself, with its range."""

from __future__ import annotations

from collections.abc import Iterator

from mongo_tables.render.chartaxes import Axes
from mongo_tables.render.chartdata import Point, Series
from mongo_tables.render.chartparts import area_html, colour_class, coordinate, marker_path, tip_html


def draw_dots(axes: Axes) -> Iterator[str]:
    """The dots of all series."""
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{colour_class(index)} mongo-chart__d{index % 4}">'
        yield from draw_ranges(axes, series)
        yield from draw_markers(axes, index, series)
        yield "</g>"


def draw_markers(axes: Axes, index: int, series: Series) -> Iterator[str]:
    """The marker of each value."""
    for point in series.drawn:
        shape = marker_path(index, axes.x.at(point.x), axes.y.at(point.top))
        yield area_html("path", f'd="{shape}"', tip_html(axes.plot, series, point) if axes.told else "")


def draw_ranges(axes: Axes, series: Series) -> Iterator[str]:
    """The range of each value that has one."""
    for point in series.drawn:
        yield from draw_range(axes, point, axes.x.at(point.x))


def draw_range(axes: Axes, point: Point, x: float) -> Iterator[str]:
    """The range of a value, if any: a thin line with a short one across each of its ends."""
    if point.ends:
        low, high = (coordinate(axes.y.at(end)) for end in point.ends)
        left = coordinate(x - 3)
        path = f"M{left} {low}h6M{coordinate(x)} {low}V{high}M{left} {high}h6"
        yield f'<path class="mongo-chart__range" d="{path}"/>'
