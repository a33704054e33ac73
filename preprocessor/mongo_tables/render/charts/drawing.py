"""A chart as inline SVG with lines, areas, bars or dots, coloured by the page.

Colours are classes with custom properties, so that one drawing serves light and dark pages. Each series has two
distinguishing features: its colour, and a dash, marker or pattern. Its name is at the end of its line, area or stack if
there is room, otherwise in a key. A linear vertical axis begins at zero. Dates are on a time axis to scale, also under
bars. Text is text, so that readers can search, select and print it. A screen reader gets one image with a name and a
description in words: what is on the axes, and what each series does.

Each chart is drawn twice, wide and narrow, because text that shrinks with a drawing is illegible on a phone. The style
sheet shows the one that fits; without a style sheet the wide one is shown.

A chart as a separate SVG file with its own colours, for pages that a code host shows; drawn wide.

One file serves light and dark by a media query inside it, which browsers also evaluate in an ``<img>``: by the
``color-scheme`` of the surrounding page, else by the reader's system
(https://www.w3.org/TR/mediaqueries-5/#prefers-color-scheme). The alternative, a ``<picture>`` of two files, follows
GitHub's own setting only with the help of a GitHub script (https://github.com/orgs/community/discussions/210469), and
other hosts drop it. If a browser picks the wrong scheme, the drawing is still legible, because it has its own
background.

A page's scripts and style sheets do not reach into an image, so the file contains the drawing part of the style sheet.
The digest in the first line shows whether the file was edited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from mongo_tables.directives.comments import digest
from mongo_tables.render.charts.elements import NARROW, WIDTH, coordinate
from mongo_tables.render.charts.horizontal import draw_horizontally
from mongo_tables.render.charts.legend import references_in_words
from mongo_tables.render.charts.plot import Data, Panel, Plot
from mongo_tables.render.charts.series import panels_of
from mongo_tables.render.charts.vertical import draw_vertically
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
    return _prepare(plot, rows)(width)


def chart_html(plot: Plot, rows: Sequence[Mapping[str, object]]) -> str:
    """Return the wide and the narrow drawing in a box that is reachable by keyboard. Lines end in ``\\n``."""
    draw = _prepare(plot, rows)
    wide, narrow = draw(WIDTH), draw(NARROW)
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


def _prepare(plot: Plot, rows: Sequence[Mapping[str, object]]) -> Callable[[int], Drawing]:
    """Return a function that draws the chart at a given width."""
    panels = panels_of(plot, rows)
    draw = draw_horizontally if plot.horizontal else draw_vertically
    description = _describe(plot, panels)
    name = plot.name or plot.axes_in_words
    return lambda width: Drawing(name, description, width, *draw(plot, panels, width))


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
    in_zone = any(one.kind == "time" for one in data) and plot.timezone
    beside = f"{', with ranges' if ranges else ''}{_LOG_AXES.get(plot.log, '')}"
    zone = f", dates in {plot.timezone}" if in_zone else ""
    return f"{kind.capitalize()} of {plot.axes_in_words}{beside}{zone}{references}"


def _contents(plot: Plot, data: Data) -> Iterator[str]:
    """Yield a description of each series: the value of each name or, along an axis, the first and the last value."""
    for series in data.series:
        if plot.horizontal:
            name = f", {series.name}" if len(data.series) > 1 else ""
            yield from (f"{point.x_text}{name}: {point.in_words}" for point in series.points)
        elif series.drawn:
            first, last = series.drawn[0], series.drawn[-1]
            begins, ends = (f"{point.in_words} at {point.x_text}" for point in (first, last))
            yield f"{series.name}: {begins}" if first is last else f"{series.name}: from {begins} to {ends}"


STYLE_SHEET_FILE: Final = Path(__file__).parents[1] / "mongo-tables.css"
"""The style of figures, with the colours of Material for MkDocs and fallbacks for other themes."""
_DRAWINGS: Final = re.compile(r"/\* Drawings\b.*?\*/\n(.*?)/\* End of drawings\. \*/", re.DOTALL)
_COLOURS: Final = re.compile(r"--mongo-\d: #[0-9a-f]{6};")
_SERIES: Final = 6
_MARK: Final = r"<!-- mongo-tables: drawing ([0-9a-f]{16}) -->\n"
_AROUND: Final = 12
"""The space between the drawing and the edge of its background."""
_LIGHT: Final = "--mongo-page: #ffffff; --mongo-line: #d1d9e0; color: #1f2328;"
_DARK: Final = "--mongo-page: #0d1117; --mongo-line: #3d444d; color: #f0f6fc;"
"""GitHub's background, line and text colours in dark mode, so that a drawing looks like part of its page."""


def chart_file(drawing: Drawing) -> str:
    """Return the text of the file. The same drawing gives the same bytes. Every line ends in ``\\n``."""
    width, height = (f"{round(side + 2 * _AROUND, 1):g}" for side in (drawing.width, drawing.height))
    name, space = text_html(drawing.name), 'xmlns="http://www.w3.org/2000/svg"'
    box = f'width="{width}" height="{height}" viewBox="{-_AROUND} {-_AROUND} {width} {height}"'
    look = read_drawing_look()
    lines = [
        f'<svg class="mongo-chart" {space} {box} role="img" aria-label="{name}">',
        f"<desc>{text_html(drawing.description)}</desc>",
        "<style>",
        "svg { font: 13px system-ui, sans-serif; }",
        ".mongo-chart__ground { fill: var(--mongo-page); }",
        f"svg {{ {_LIGHT} {look.light} }}",
        f"@media (prefers-color-scheme: dark) {{ svg {{ {_DARK} {look.dark} }} }}",
        f"{look.rules}</style>",
        f'<rect class="mongo-chart__ground" x="{-_AROUND}" y="{-_AROUND}" width="{width}" height="{height}" rx="6"/>',
        *drawing.elements,
        "</svg>",
        "",
    ]
    text = "\n".join(lines)
    return f"<!-- mongo-tables: drawing {digest(text)} -->\n{text}"


def is_marked(text: str) -> bool:
    """Return whether this program wrote the file, even if it was edited since."""
    return re.match(_MARK, with_plain_ends(text)) is not None


def is_as_written(text: str) -> bool:
    """Return whether this program wrote the file and it is unchanged, apart from line ends."""
    plain = with_plain_ends(text)
    mark = re.match(_MARK, plain)
    return mark is not None and digest(plain[mark.end() :]) == mark[1]


def with_plain_ends(text: str) -> str:
    """Return the text with ``\\n`` line ends, because Git may check files out with others."""
    return text.replace("\r\n", "\n")


class DrawingLook(NamedTuple):
    """The style of a drawing outside a page: series colours as custom properties, and the rules that use them.

    The rules also use ``--mongo-page`` and ``--mongo-line`` (background and grid lines), ``currentColor``, and an
    enclosing element of the class ``mongo-chart``.
    """

    light: str
    dark: str
    rules: str


@cache
def read_drawing_look() -> DrawingLook:
    """Return the part of the style sheet that applies to drawings."""
    text = STYLE_SHEET_FILE.read_text(encoding="utf-8")
    section = _DRAWINGS.search(text)
    assert section, "the style sheet has a section for drawings"
    colours = _COLOURS.findall(text)
    return DrawingLook(" ".join(colours[:_SERIES]), " ".join(colours[_SERIES : 2 * _SERIES]), section[1])
