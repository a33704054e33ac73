"""A chart as inline SVG with lines, areas, bars or dots, coloured by the page.

Colours are classes with custom properties, so that one drawing serves light and dark pages. Each series has two
distinguishing features: its colour, and a dash, marker or pattern. Its name is at the end of its line, area or stack if
there is room, otherwise in a key. A linear vertical axis begins at zero. Dates are on a time axis to scale, also under
bars. Text is text, so that readers can search, select and print it. A screen reader gets one image with a name and a
description in words: what is on the axes, and what each series does.

Bars and dots whose names do not fit under the axis are drawn horizontally, with the names at the left.

Each chart is drawn twice, wide and narrow, because text that shrinks with a drawing is illegible on a phone. The style
sheet shows the one that fits; without a style sheet the wide one is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from mongo_tables.render.charts.elements import NARROW, WIDTH, coordinate
from mongo_tables.render.charts.horizontal import draw_horizontally
from mongo_tables.render.charts.legend import references_in_words
from mongo_tables.render.charts.marks import mark_of
from mongo_tables.render.charts.plot import Data, Panel, Plot
from mongo_tables.render.charts.series import panels_of
from mongo_tables.render.charts.vertical import draw_vertically, names_fit
from mongo_tables.render.markup import text_html

_LOG_AXES: Final = {
    "x": ", horizontal axis logarithmic",
    "y": ", vertical axis logarithmic",
    "xy": ", logarithmic axes",
}


class Drawing(NamedTuple):
    """A chart of one width: its name, its description in words, its height, and its elements."""

    name: str
    description: str
    width: int
    height: float
    elements: Sequence[str]


def draw_chart(plot: Plot, rows: Sequence[Mapping[str, object]], width: int = WIDTH) -> Drawing:
    """Return the drawing of a chart for a page of this width."""
    panels, draw = panels_of(plot, rows), draw_vertically
    if plot.horizontal or (mark_of(plot).draw_beside and not names_fit(plot, panels, width)):
        plot, draw = replace(plot, horizontal=True), draw_horizontally
        panels = panels_of(plot, rows)
    name = plot.name or plot.axes_in_words
    return Drawing(name, _describe(plot, panels), width, *draw(plot, panels, width))


def chart_html(plot: Plot, rows: Sequence[Mapping[str, object]]) -> str:
    """Return the wide and the narrow drawing in a box that is reachable by keyboard. Lines end in ``\\n``."""
    wide, narrow = draw_chart(plot, rows, WIDTH), draw_chart(plot, rows, NARROW)
    name = text_html(wide.name)
    # A style sheet overrides the attribute `display`.
    return "\n".join(
        (
            f'<div class="mongo-chart" role="group" tabindex="0" aria-label="{name}" data-search-exclude>',
            *_svg(wide, 'class="mongo-chart__wide"'),
            *_svg(narrow, 'class="mongo-chart__narrow" display="none"'),
            "</div>",
        )
    )


def _svg(drawing: Drawing, kind: str) -> Iterator[str]:
    """Yield the lines of one drawing, with its name and description.

    The name is not a ``<title>``, because browsers would show it in addition to the tooltip of a point.
    """
    box = f'viewBox="0 0 {drawing.width} {coordinate(drawing.height)}"'
    yield f'<svg {kind} {box} role="img" aria-label="{text_html(drawing.name)}">'
    yield f"<desc>{text_html(drawing.description)}</desc>"
    yield from drawing.elements
    yield "</svg>"


def _describe(plot: Plot, panels: Sequence[Panel]) -> str:
    """Return what is drawn, and the contents of each series or, of several panels, of each after its name."""
    introduction = _introduction(plot, [panel.data for panel in panels])
    told: Iterable[str] = _contents(plot, panels[0].data)
    if plot.facets:
        introduction += f", {len(panels)} panels by {plot.label(plot.facets)}"
        told = (f"{panel.name}: {'; '.join(_contents(plot, panel.data))}" for panel in panels)
    return ". ".join([introduction, *told]) + "."


def _introduction(plot: Plot, data: Sequence[Data]) -> str:
    """Return a sentence that says what is drawn, on which axes, and with which references."""
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

    Beside names it is every value, over names the least and the greatest, along an axis the first and the last.
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
