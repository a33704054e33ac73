"""The marks of a chart: how values are drawn between axes. Each is a module, and a row of ``MARKS``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from mongo_tables.render.chartaxes import Axes
from mongo_tables.render.chartdata import Plot
from mongo_tables.render.marks.area import draw_areas
from mongo_tables.render.marks.bar import draw_bars, draw_values
from mongo_tables.render.marks.dot import draw_dots
from mongo_tables.render.marks.line import draw_lines
from mongo_tables.render.marks.stackedbar import draw_stacked_bars, draw_totals

_Draw = Callable[[Axes], Iterable[str]]


class ChartMark(NamedTuple):
    """How a mark is called in a description, what draws all values with it, and what stands in front of references."""

    called: str
    draw: _Draw
    draw_in_front: _Draw = lambda axes: ()


MARKS: Final[Mapping[tuple[str, bool], ChartMark]] = {
    ("line", False): ChartMark("Line chart", draw_lines),
    ("dot", False): ChartMark("Dot chart", draw_dots),
    ("bar", False): ChartMark("Bar chart", draw_bars, draw_values),
    ("bar", True): ChartMark("Stacked bar chart", draw_stacked_bars, draw_totals),
    ("area", False): ChartMark("Area chart", draw_areas),
    ("area", True): ChartMark("Stacked area chart", draw_areas),
}
"""By the mark and whether it is stacked."""


def mark_of(plot: Plot) -> ChartMark:
    """The mark of a plot; where it cannot be stacked, as if it had not been asked for."""
    return MARKS.get((plot.mark, plot.stack)) or MARKS[plot.mark, False]
