"""A chart as an SVG file of its own, for pages that a code host shows: drawn wide, with its own colours.

One file serves light and dark by a media query inside it, which browsers evaluate in an ``<img>`` as well: by the
``color-scheme`` of the page around it, else by the reader's system
(https://www.w3.org/TR/mediaqueries-5/#prefers-color-scheme). The other way, a ``<picture>`` of two files, follows a
setting of GitHub's only where a script of GitHub's helps it (https://github.com/orgs/community/discussions/210469), and
other hosts drop it. Should a browser take the wrong one of the two, the drawing is legible all the same: it stands on a
ground of its own.

No script of a page reaches into an image, and no style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from preprocessor.render.chartparts import coordinate
from preprocessor.render.filemark import with_mark
from preprocessor.render.text import text_html

if TYPE_CHECKING:
    from preprocessor.render.chart import Drawing

_AROUND: Final = 12
"""Between the drawing and the edge of its ground."""

LIGHT: Final = ("#3f51b5", "#b7410e", "#00695c", "#8e24aa", "#5d4037", "#546e7a")
DARK: Final = ("#9fa8ff", "#ffa04d", "#4db6ac", "#ce93d8", "#d7ccc8", "#90a4ae")
"""The colours of series, as on a site: contrast with the ground is 4.5 or more for each."""

_STYLE: Final = """\
svg { font: 13px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.mongo-chart__ground { fill: var(--mongo-page); }
text { fill: var(--mongo-ink); }
.mongo-chart__axis path { fill: none; stroke: var(--mongo-line); stroke-width: 1; }
.mongo-chart__axis text { opacity: 0.75; }
.mongo-chart__axis .mongo-chart__name { font-weight: 600; opacity: 1; }
.mongo-chart__line { fill: none; stroke: var(--mongo-c); stroke-width: 2; stroke-linejoin: round; }
.mongo-chart__range { fill: none; stroke: var(--mongo-c); stroke-width: 1.2; opacity: 0.8; }
rect ~ .mongo-chart__range { stroke: var(--mongo-ink); opacity: 1; }
.mongo-chart__area { fill: var(--mongo-c); }
.mongo-chart__reference { fill: none; stroke: var(--mongo-ink); stroke-dasharray: 3 3; opacity: 0.7; }
.mongo-chart__label { fill: var(--mongo-c, var(--mongo-ink)); font-weight: 600; }
.mongo-chart__d1 .mongo-chart__line { stroke-dasharray: 7 4; }
.mongo-chart__d2 .mongo-chart__line { stroke-dasharray: 2 3; }
.mongo-chart__d3 .mongo-chart__line { stroke-dasharray: 9 3 2 3; }"""


def chart_file(drawing: Drawing) -> str:
    """The text of the file: the same drawing gives the same bytes. Lines end in ``\\n``, the last one too."""
    width, height = (coordinate(side + 2 * _AROUND) for side in (drawing.width, drawing.height))
    name, space = text_html(drawing.name), 'xmlns="http://www.w3.org/2000/svg"'
    box = f'width="{width}" height="{height}" viewBox="{-_AROUND} {-_AROUND} {width} {height}"'
    lines = [
        f'<svg {space} {box} role="img" aria-label="{name}">',
        f"<desc>{text_html(drawing.description)}</desc>",
        "<style>",
        *_colours("#ffffff", "#1f2328", "#d1d9e0", LIGHT),
        "@media (prefers-color-scheme: dark) {",
        *_colours("#0d1117", "#f0f6fc", "#3d444d", DARK),
        "}",
        _STYLE,
        *(
            f".mongo-chart__s{number} {{ --mongo-c: var(--mongo-{number + 1}); }}"
            for number in range(len(LIGHT))
        ),
        "</style>",
        f'<rect class="mongo-chart__ground" x="{-_AROUND}" y="{-_AROUND}" width="{width}" height="{height}" rx="6"/>',
        *drawing.elements,
        "</svg>",
        "",
    ]
    return with_mark("\n".join(lines))


def _colours(page: str, ink: str, line: str, series: Sequence[str]) -> Sequence[str]:
    """What the style goes by, as custom properties: GitHub's own ground, ink and borders, and those of series."""
    own = "; ".join(f"--mongo-{number}: {colour}" for number, colour in enumerate(series, 1))
    return [f"svg {{ --mongo-page: {page}; --mongo-ink: {ink}; --mongo-line: {line}; {own}; }}"]
