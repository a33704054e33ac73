"""Areas between a line and zero or, in a stack, the line below; the range of a single one is a band around its line."""

from __future__ import annotations

from collections.abc import Iterator

from mongo_tables.render.chartaxes import Axes
from mongo_tables.render.chartdata import Point, Series
from mongo_tables.render.chartparts import coordinate
from mongo_tables.render.marks.dot import draw_markers, draw_range
from mongo_tables.render.marks.line import draw_line, look_of_line, path_of, path_through


def draw_areas(axes: Axes) -> Iterator[str]:
    """The areas of all series, and over all of them their lines with bands and markers."""
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{look_of_line(axes, index)}">'
        yield from _draw_fills(axes, series)
        yield "</g>"
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{look_of_line(axes, index)}">'
        yield from _draw_bands(axes, series)
        yield from draw_line(axes, series)
        yield from draw_markers(axes, index, series)
        yield "</g>"


def _draw_fills(axes: Axes, series: Series) -> Iterator[str]:
    for run in series.runs():
        path = "L".join((path_through(axes, run), *(_foot(axes, one) for one in reversed(run))))
        # A value between two gaps has no width: a line stands for it.
        look = "mongo-chart__fill" if len(run) > 1 else "mongo-chart__line"
        yield f'<path class="{look}" d="M{path}z"/>'


def _draw_bands(axes: Axes, series: Series) -> Iterator[str]:
    for run in series.ranged_runs():
        if len(run) == 1:
            yield from draw_range(axes, run[0], axes.x.at(run[0].x))
            continue
        above = [(one.x, one.ends[1]) for one in run if one.ends]
        below = [(one.x, one.ends[0]) for one in reversed(run) if one.ends]
        yield f'<path class="mongo-chart__band" d="M{path_of(axes, [*above, *below])}z"/>'


def _foot(axes: Axes, point: Point) -> str:
    return f"{coordinate(axes.x.at(point.x))} {coordinate(axes.foot(point.base))}"
