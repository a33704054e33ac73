"""Dots with the ranges of their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mongo_tables.render.charts.axes import Axes, Scale
from mongo_tables.render.charts.elements import coordinate, dashed_class, draw_area, marker_path, tip_html
from mongo_tables.render.charts.marks.mark import Mark
from mongo_tables.render.charts.plot import PlotPoint, Series


def draw_dots(axes: Axes) -> Iterator[str]:
    """Yield the dots of all series with their ranges."""
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{dashed_class(index)}">'
        yield from draw_ranges(axes, series)
        yield from draw_markers(axes, index, series)
        yield "</g>"


def draw_markers(axes: Axes, index: int, series: Series) -> Iterator[str]:
    """Yield the marker of each value."""
    for point in series.drawn:
        shape = "".join(marker_path(index, axes.x.at(point.x), axes.y.at(each)) for each in point.marked)
        yield draw_area("path", f'd="{shape}"', tip_html(axes.plot, series, point) if axes.tips else "")


def draw_ranges(axes: Axes, series: Series) -> Iterator[str]:
    """Yield the range of each value that has one."""
    for point in series.drawn:
        yield from draw_range(axes, point, axes.x.at(point.x))


def draw_range(axes: Axes, point: PlotPoint, x: float) -> Iterator[str]:
    """Yield the range of a value, if it has one, as a thin line with a short line across each end."""
    if point.ends:
        low, high = (coordinate(axes.y.at(end)) for end in point.ends)
        left = coordinate(x - 3)
        path = f"M{left} {low}h6M{coordinate(x)} {low}V{high}M{left} {high}h6"
        yield f'<path class="mongo-chart__range" d="{path}"/>'


def draw_range_beside(point: PlotPoint, scale: Scale, middle: float) -> Iterator[str]:
    """Yield the range of a value, if it has one, along a horizontal axis."""
    if point.ends:
        low, high = (coordinate(scale.at(end)) for end in point.ends)
        ends = "".join(f"M{end} {coordinate(middle - 4)}v8" for end in (low, high))
        yield f'<path class="mongo-chart__range" d="M{low} {coordinate(middle)}H{high}{ends}"/>'


def _draw_beside(index: int, point: PlotPoint, scale: Scale, middle: float, tip: str) -> Iterator[str]:
    yield from draw_range_beside(point, scale, middle)
    if point.y is not None:
        shape = "".join(marker_path(index, scale.at(each), middle) for each in point.marked)
        yield draw_area("path", f'd="{shape}"', tip)


MARK: Final = Mark(draw_dots, draw_beside=_draw_beside, repeats=True)
