"""Areas between a line and zero or, if stacked, the line below. A band around the line shows ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from mongo_tables.render.charts.axes import Axes
from mongo_tables.render.charts.elements import coordinate, dashed_class
from mongo_tables.render.charts.marks.dot import draw_markers, draw_range
from mongo_tables.render.charts.marks.line import draw_line, look_of_line, path_of
from mongo_tables.render.charts.marks.mark import Mark
from mongo_tables.render.charts.plot import Data, Plot, Series
from mongo_tables.render.faults import SpecFault


def _draw_areas(axes: Axes) -> Iterator[str]:
    """Yield the areas of all series, then their lines with bands and markers on top."""
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{look_of_line(axes, index)}">'
        for run in series.runs():
            feet = (
                f"{coordinate(axes.x.at(one.x))} {coordinate(axes.y.foot(one.base))}" for one in reversed(run)
            )
            path = "L".join((path_of(axes, ((one.x, one.top) for one in run)), *feet))
            # A single value between two gaps has no width, and is drawn as a line.
            look = "mongo-chart__fill" if len(run) > 1 else "mongo-chart__line"
            yield f'<path class="{look}" d="M{path}z"/>'
        yield "</g>"
    for index, series in enumerate(axes.data.series):
        yield f'<g class="{look_of_line(axes, index)}">'
        yield from _draw_bands(axes, series)
        yield from draw_line(axes, series)
        yield from draw_markers(axes, index, series)
        yield "</g>"


def _draw_bands(axes: Axes, series: Series) -> Iterator[str]:
    for run in series.runs(ranged=True):
        if len(run) == 1:
            yield from draw_range(axes, run[0], axes.x.at(run[0].x))
            continue
        above = [(one.x, one.ends[1]) for one in run if one.ends]
        below = [(one.x, one.ends[0]) for one in reversed(run) if one.ends]
        yield f'<path class="mongo-chart__band" d="M{path_of(axes, [*above, *below])}z"/>'


def _sign(index: int, x: float, y: float) -> str:
    left, top = coordinate(x), coordinate(y - 9)
    fill = f'<path class="mongo-chart__fill" d="M{left} {top}h11v10h-11z"/>'
    line = f'<path class="mongo-chart__line" d="M{left} {top}h11"/>'
    return f'<g class="{dashed_class(index)}">{fill}{line}</g>'


def _find_faults(plot: Plot, drawn: Sequence[Data]) -> Iterator[SpecFault]:
    """Yield faults of areas that hide one another, that cannot begin at zero, or that have no base in a stack."""
    several = any(sum(bool(series.drawn) for series in data.series) > 1 for data in drawn)
    if several and not plot.stack:
        message = "areas of several series would hide one another"
        yield (*plot.place, "mark"), message, 'add "stack": true if they add up, or draw lines'
    if "y" in plot.log:
        message = "an area begins at zero, but a logarithmic axis has no zero"
        yield (*plot.place, "log"), message, "draw a line, or use a linear axis"
    if plot.stack:
        yield from _find_holes(plot, drawn)


def _find_holes(plot: Plot, drawn: Sequence[Data]) -> Iterator[SpecFault]:
    """Yield faults of areas without a base: a series below has no row at some place, or values have both signs."""
    for data in drawn:
        values = [point.y or 0.0 for series in data.series for point in series.drawn]
        if min(values, default=0.0) < 0 < max(values, default=0.0):
            message = "areas with values above and below zero cannot be stacked"
            yield (*plot.place, "mark"), message, 'draw "mark": "bar", which can be on both sides of zero'
        for series in data.series:
            hole = next((point.x_text for point in series.points if point.absent), "")
            if hole:
                called = f"{series.name} of {series.panel}" if series.panel else series.name
                message = f"{called} has no row at {hole}, so the areas above it have no base there"
                hint = "add a row with 0 or null in the pipeline, for example with $densify and $fill"
                yield (*plot.place, "stack"), message, hint
                return


_AREA: Final = Mark(
    _draw_areas, sign=_sign, from_zero=True, joined=True, has_ends=True, find_faults=_find_faults
)
MARK: Final = replace(_AREA, stacked=_AREA)
