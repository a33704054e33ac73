"""A chart as inline SVG with lines, areas, bars or dots.

Colours are classes with custom properties, so that one drawing serves light and dark pages. Each series has a colour,
and a dash, a marker or a pattern as well. Its name is at the end of its line, area or stack if there is room, else in
a key. A linear axis of values includes zero by default. Dates are on a time axis to scale, also under bars. Texts are
SVG text, so that readers can search, select and print them. For a screen reader, a drawing is an image with a name and
a description in words.

Bars and dots whose names do not fit under the axis are drawn horizontally, with the names at the left.

Each chart is drawn twice, wide and narrow, because text that shrinks with a drawing is illegible on a phone. The style
sheet shows the drawing that fits. Without a style sheet, the wide one is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from mongo_tables.render.charts.elements import NARROW, WIDTH, coordinate
from mongo_tables.render.charts.horizontal import draw_horizontally
from mongo_tables.render.charts.legend import references_in_words
from mongo_tables.render.charts.marks import mark_of
from mongo_tables.render.charts.plot import Data, Panel, Plot
from mongo_tables.render.charts.series import panels_of
from mongo_tables.render.charts.vertical import draw_vertically, names_fit
from mongo_tables.render.column import Rows
from mongo_tables.render.markup import text_html

_LOG_AXES: Final = {
    "x": ", horizontal axis logarithmic",
    "y": ", vertical axis logarithmic",
    "xy": ", logarithmic axes",
}


class Drawing(NamedTuple):
    """A drawing of a chart, with its name and its description in words."""

    name: str
    description: str
    width: int
    height: float
    elements: Sequence[str]


def draw_chart(plot: Plot, rows: Rows, width: int = WIDTH) -> Drawing:
    """Return the drawing of a chart with this width."""
    panels, draw = panels_of(plot, rows), draw_vertically
    if plot.horizontal or (mark_of(plot).draw_beside and not names_fit(plot, panels, width)):
        plot, draw = replace(plot, horizontal=True), draw_horizontally
        panels = panels_of(plot, rows)
    name = plot.name or plot.axes_in_words
    return Drawing(name, _describe(plot, panels), width, *draw(plot, panels, width))


def chart_html(plot: Plot, rows: Rows) -> str:
    """Return the wide and the narrow drawing in a box that is reachable by keyboard."""
    wide, narrow = draw_chart(plot, rows, WIDTH), draw_chart(plot, rows, NARROW)
    name = text_html(wide.name)
    # The style sheet overrides the attribute `display`.
    return "\n".join(
        (
            f'<div class="mongo-chart" role="group" tabindex="0" aria-label="{name}" data-search-exclude>',
            *_svg(wide, 'class="mongo-chart__wide"'),
            *_svg(narrow, 'class="mongo-chart__narrow" display="none"'),
            "</div>",
        )
    )


def _svg(drawing: Drawing, kind: str) -> Iterator[str]:
    """Yield the lines of a drawing. Its name is no ``<title>``, which would be a tooltip of the whole drawing."""
    box = f'viewBox="0 0 {drawing.width} {coordinate(drawing.height)}"'
    yield f'<svg {kind} {box} role="img" aria-label="{text_html(drawing.name)}">'
    yield f"<desc>{text_html(drawing.description)}</desc>"
    yield from drawing.elements
    yield "</svg>"


def _describe(plot: Plot, panels: Sequence[Panel]) -> str:
    """Return the description of a chart: what it shows, and the contents of each series of each panel."""
    introduction = _introduction(plot, [panel.data for panel in panels])
    parts: Iterable[str] = _contents(plot, panels[0].data)
    if plot.facets:
        introduction += f", {len(panels)} panels by {plot.label(plot.facets)}"
        parts = (f"{panel.name}: {'; '.join(_contents(plot, panel.data))}" for panel in panels)
    return ". ".join([introduction, *parts]) + "."


def _introduction(plot: Plot, data: Sequence[Data]) -> str:
    """Return a sentence on the kind of the chart, its axes and its references."""
    kind = " ".join((*(["stacked"] if plot.stack else []), plot.mark, "chart"))
    references = "".join(f", with {one}" for one in references_in_words(plot))
    if plot.horizontal:
        scale = ", logarithmic" if "y" in plot.log else ""
        return f"Horizontal {kind} of {plot.axes_in_words}{scale}{references}"
    ranges = any(point.ends for one in data for series in one.series for point in series.drawn)
    beside = f"{', with ranges' if ranges else ''}{_LOG_AXES.get(plot.log, '')}"
    return f"{kind.capitalize()} of {plot.axes_in_words}{beside}{references}"


def _contents(plot: Plot, data: Data) -> Iterator[str]:
    """Yield a description of each series.

    For a horizontal chart, it has all values; for a chart over names, the least and the greatest value; for other
    charts, the first and the last value.
    """
    for series in data.series:
        if plot.horizontal:
            name = f", {series.name}" if len(data.series) > 1 else ""
            yield from (f"{point.x_text}{name}: {point.in_words}" for point in series.points)
        elif points := series.drawn:
            if data.kind == "category":
                points.sort(key=lambda point: point.y or 0.0)
            first, last = points[0], points[-1]
            begins, ends = (f"{point.in_words} at {point.x_text}" for point in (first, last))
            yield f"{series.name}: {begins}" if first is last else f"{series.name}: from {begins} to {ends}"
