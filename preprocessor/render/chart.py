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

from preprocessor.render.chartdata import Plot
from preprocessor.render.chartdescription import describe, describe_panels
from preprocessor.render.chartparts import NARROW, WIDTH, coordinate, summarise_axes
from preprocessor.render.chartseries import data_of, panels_of
from preprocessor.render.horizontalchart import draw_horizontally
from preprocessor.render.smallmultiples import draw_panels
from preprocessor.render.text import text_html
from preprocessor.render.verticalchart import draw_vertically

_Draw = Callable[[int], tuple[float, list[str]]]
"""Draws as wide as it is told; gives the height, and the elements."""


def chart_html(plot: Plot, rows: Sequence[Mapping[str, object]]) -> str:
    """The chart, wide and narrow, in a box that the keyboard reaches. Lines end in ``\\n``."""
    draw, description = _prepare(plot, rows)
    name = text_html(plot.name or summarise_axes(plot))
    told = name, text_html(description)
    return "\n".join(
        (
            f'<div class="mongo-chart" role="group" tabindex="0" aria-label="{name}" data-search-exclude>',
            *_svg(draw, WIDTH, told),
            *_svg(draw, NARROW, told),
            "</div>",
        )
    )


def _prepare(plot: Plot, rows: Sequence[Mapping[str, object]]) -> tuple[_Draw, str]:
    """What draws the chart, and what it shows in words."""
    if plot.facets:
        panels = panels_of(plot, rows)
        return partial(draw_panels, plot, panels), describe_panels(plot, panels)
    data = data_of(plot, rows)
    return partial(draw_horizontally if plot.horizontal else draw_vertically, plot, data), describe(
        plot, data
    )


def _svg(draw: _Draw, width: int, told: tuple[str, str]) -> Iterator[str]:
    """One drawing, with its name and description as HTML.

    The name is no ``<title>``, which browsers would show wherever the pointer rests, beside what a point tells.
    """
    height, drawn = draw(width)
    # A style sheet wins over the attribute.
    kind = 'class="mongo-chart__narrow" display="none"' if width < WIDTH else 'class="mongo-chart__wide"'
    yield f'<svg {kind} viewBox="0 0 {width} {coordinate(height)}" role="img" aria-label="{told[0]}">'
    yield f"<desc>{told[1]}</desc>"
    yield from drawn
    yield "</svg>"
