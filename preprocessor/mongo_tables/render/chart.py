"""A chart as inline SVG: lines, areas, bars or dots, drawn by hand and coloured by the page.

Colours are classes with custom properties, so that one drawing serves a light and a dark page. A series is
told by two things: colour and dash, marker or pattern; its name stands at the end of a line, an area or a stack where
there is room, else in a key. A vertical axis that is linear begins at zero. Dates stand on a time axis, to scale, under
bars too. Text is text: it can be searched, selected and printed. To a screen reader the drawing is one image with a
name and a description.

Each chart is drawn twice, wide and narrow, for text that shrinks with a drawing cannot be read on a phone. The style
sheet shows the one that fits; where there is none, it is the wide one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from mongo_tables.render.chartdata import Plot
from mongo_tables.render.chartdescription import describe, describe_panels
from mongo_tables.render.chartparts import NARROW, WIDTH, coordinate, summarise_axes
from mongo_tables.render.chartseries import data_of, panels_of
from mongo_tables.render.horizontalchart import draw_horizontally
from mongo_tables.render.smallmultiples import draw_panels
from mongo_tables.render.text import text_html
from mongo_tables.render.verticalchart import draw_vertically


class Drawing(NamedTuple):
    """A chart of one width: its name, its description in words, its height, and its elements."""

    name: str
    description: str
    width: int
    height: float
    elements: Sequence[str]


def draw_chart(plot: Plot, rows: Sequence[Mapping[str, object]], width: int = WIDTH) -> Drawing:
    """The chart as it is drawn on a page that has room for this width."""
    return _prepare(plot, rows)(width)


def chart_html(plot: Plot, rows: Sequence[Mapping[str, object]]) -> str:
    """The chart, wide and narrow, in a box that the keyboard reaches. Lines end in ``\\n``."""
    draw = _prepare(plot, rows)
    wide, narrow = draw(WIDTH), draw(NARROW)
    name = text_html(wide.name)
    # A style sheet wins over the attribute `display`.
    return "\n".join(
        (
            f'<div class="mongo-chart" role="group" tabindex="0" aria-label="{name}" data-search-exclude>',
            *_svg(wide, 'class="mongo-chart__wide"'),
            *_svg(narrow, 'class="mongo-chart__narrow" display="none"'),
            "</div>",
        )
    )


def _prepare(plot: Plot, rows: Sequence[Mapping[str, object]]) -> Callable[[int], Drawing]:
    """What draws the chart as wide as it is told."""
    if plot.facets:
        panels = panels_of(plot, rows)
        drawn, description = partial(draw_panels, plot, panels), describe_panels(plot, panels)
    else:
        data = data_of(plot, rows)
        way = draw_horizontally if plot.horizontal else draw_vertically
        drawn, description = partial(way, plot, data), describe(plot, data)
    name = plot.name or summarise_axes(plot)
    return lambda width: Drawing(name, description, width, *drawn(width))


def _svg(drawing: Drawing, kind: str) -> Iterator[str]:
    """One drawing, with its name and description.

    The name is no ``<title>``, which browsers would show wherever the pointer rests, beside what a point tells.
    """
    box = f'viewBox="0 0 {drawing.width} {coordinate(drawing.height)}"'
    yield f'<svg {kind} {box} role="img" aria-label="{text_html(drawing.name)}">'
    yield f"<desc>{text_html(drawing.description)}</desc>"
    yield from drawing.elements
    yield "</svg>"
