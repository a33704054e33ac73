"""A chart as an SVG file of its own, for pages that a code host shows: drawn wide, with its own colours.

One file serves light and dark by a media query inside it, which browsers evaluate in an ``<img>`` as well: by the
``color-scheme`` of the page around it, else by the reader's system
(https://www.w3.org/TR/mediaqueries-5/#prefers-color-scheme). The other way, a ``<picture>`` of two files, follows a
setting of GitHub's only where a script of GitHub's helps it (https://github.com/orgs/community/discussions/210469), and
other hosts drop it. Should a browser take the wrong one of the two, the drawing is legible all the same: it stands on a
ground of its own.

No script of a page reaches into an image, and no style sheet: its part about drawings is written into the file. The
digest in the first line tells whether somebody changed it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.directives.comments import digest
from mongo_tables.render.markup import text_html

if TYPE_CHECKING:
    from mongo_tables.render.charts.drawing import Drawing

STYLE_SHEET_FILE: Final = Path(__file__).parents[1] / "mongo-tables.css"
"""The look of figures, with the colours of Material for MkDocs and fallbacks for other themes."""
_DRAWINGS: Final = re.compile(r"/\* Drawings\b.*?\*/\n(.*?)/\* End of drawings\. \*/", re.DOTALL)
_COLOURS: Final = re.compile(r"--mongo-\d: #[0-9a-f]{6};")
_SERIES: Final = 6
_MARK: Final = r"<!-- mongo-tables: drawing ([0-9a-f]{16}) -->\n"
_AROUND: Final = 12
"""Between the drawing and the edge of its ground."""
_LIGHT: Final = "--mongo-page: #ffffff; --mongo-line: #d1d9e0; color: #1f2328;"
_DARK: Final = "--mongo-page: #0d1117; --mongo-line: #3d444d; color: #f0f6fc;"
"""Ground, lines and ink as GitHub has them: a drawing looks like a part of its page there."""


def chart_file(drawing: Drawing) -> str:
    """The text of the file: the same drawing gives the same bytes. Lines end in ``\\n``, the last one too."""
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
    """Whether a file is one that we wrote, whatever has become of it since."""
    return re.match(_MARK, with_plain_ends(text)) is not None


def is_as_written(text: str) -> bool:
    """Whether a file is one that we wrote and nobody has changed, but for its line ends."""
    plain = with_plain_ends(text)
    mark = re.match(_MARK, plain)
    return mark is not None and digest(plain[mark.end() :]) == mark[1]


def with_plain_ends(text: str) -> str:
    """The text with the line ends that we write: Git may check files out with others."""
    return text.replace("\r\n", "\n")


class DrawingLook(NamedTuple):
    """What dresses a drawing that no page does: colours of series as custom properties, and rules that go by them.

    The rules also go by ``--mongo-page`` and ``--mongo-line``, the ground and the lines of a grid, by ``currentColor``,
    and by an element of the class ``mongo-chart`` around all.
    """

    light: str
    dark: str
    rules: str


@cache
def read_drawing_look() -> DrawingLook:
    """The part of the style sheet that is about drawings."""
    text = STYLE_SHEET_FILE.read_text(encoding="utf-8")
    section = _DRAWINGS.search(text)
    assert section, "the style sheet has a section for drawings"
    colours = _COLOURS.findall(text)
    return DrawingLook(" ".join(colours[:_SERIES]), " ".join(colours[_SERIES : 2 * _SERIES]), section[1])
