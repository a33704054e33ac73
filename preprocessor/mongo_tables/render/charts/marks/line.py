"""Lines through the values of each series, with gaps where a value is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mongo_tables.render.charts.axes import Axes
from mongo_tables.render.charts.elements import coordinate, dashed_class
from mongo_tables.render.charts.marks.dot import draw_markers, draw_ranges
from mongo_tables.render.charts.marks.mark import Mark
from mongo_tables.render.charts.plot import Series

_TOUCHING: Final = 11
"""The distance of two places below which markers would hide the line between them."""


def draw_lines(axes: Axes) -> Iterator[str]:
    """Yield the lines of all series with their markers and ranges."""
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{look_of_line(axes, index)}">'
        yield from draw_line(axes, series)
        yield from draw_ranges(axes, series)
        yield from draw_markers(axes, index, series)
        yield "</g>"


def look_of_line(axes: Axes, index: int) -> str:
    """Return the classes of a series: its colour, its dashes and, if its places are dense, no markers."""
    return dashed_class(index) + (" mongo-chart__dense" if _is_dense(axes) else "")


def _is_dense(axes: Axes) -> bool:
    return len(axes.data.x_values) - 1 > (axes.x.end - axes.x.start) / _TOUCHING


def draw_line(axes: Axes, series: Series) -> Iterator[str]:
    """Yield a line through each sequence of values, and a spot for a single value without a marker."""
    for run in series.runs():
        path = path_of(axes, ((one.x, one.top) for one in run))
        if len(run) > 1:
            yield f'<path class="mongo-chart__line" d="M{path}"/>'
        elif _is_dense(axes):
            yield f'<path class="mongo-chart__spot" d="M{path}h0.1"/>'


def path_of(axes: Axes, corners: Iterable[tuple[float, float]]) -> str:
    """Return the path through points that are given by their values on both axes."""
    return "L".join(f"{coordinate(axes.x.at(x))} {coordinate(axes.y.at(y))}" for x, y in corners)


MARK: Final = Mark(draw_lines, joined=True, has_ends=True)
