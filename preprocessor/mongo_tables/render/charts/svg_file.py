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

from typing import TYPE_CHECKING, Final

from mongo_tables.render.charts.elements import coordinate
from mongo_tables.render.filemark import with_mark
from mongo_tables.render.stylesheet import read_drawing_look
from mongo_tables.render.text import text_html

if TYPE_CHECKING:
    from mongo_tables.render.charts.drawing import Drawing

_AROUND: Final = 12
"""Between the drawing and the edge of its ground."""
_LIGHT: Final = "--mongo-page: #ffffff; --mongo-line: #d1d9e0; color: #1f2328;"
_DARK: Final = "--mongo-page: #0d1117; --mongo-line: #3d444d; color: #f0f6fc;"
"""Ground, lines and ink as GitHub has them: a drawing looks like a part of its page there."""


def chart_file(drawing: Drawing) -> str:
    """The text of the file: the same drawing gives the same bytes. Lines end in ``\\n``, the last one too."""
    width, height = (coordinate(side + 2 * _AROUND) for side in (drawing.width, drawing.height))
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
    return with_mark("\n".join(lines))
