"""A chart as a separate SVG file with its own colours, for pages on code hosts.

The same file serves light and dark pages. It contains a media query, which browsers also evaluate in an ``<img>``, by
the ``color-scheme`` of the page or of the reader's system (https://www.w3.org/TR/mediaqueries-5/#prefers-color-scheme).
A ``<picture>`` of two files would follow GitHub's own setting only with a script of GitHub
(https://github.com/orgs/community/discussions/210469), and other hosts drop it. The drawing has its own background, so
that it is legible in either scheme on every page.

Style sheets of a page do not apply within an image, so the file contains the rules of our style sheet for drawings. The
digest in the first line shows whether the file was edited.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mongo_tables.directives.comments import digest
from mongo_tables.render.markup import text_html

if TYPE_CHECKING:
    from mongo_tables.render.charts.drawing import Drawing

STYLE_SHEET_FILE: Final = Path(__file__).parents[1] / "mongo-tables.css"
"""The style sheet of figures. It uses colours of Material for MkDocs, with fallbacks for other themes."""
_DRAWINGS: Final = re.compile(r"/\* Drawings\b.*?\*/\n(.*?)/\* End of drawings\. \*/", re.DOTALL)
_COLOURS: Final = re.compile(r"--mongo-\d: #[0-9a-f]{6};")
_SERIES: Final = 6
_MARK: Final = r"<!-- mongo-tables: drawing ([0-9a-f]{16}) -->\n"
_AROUND: Final = 12
"""The space between the drawing and the edge of its background."""
_LIGHT: Final = "--mongo-page: #ffffff; --mongo-line: #d1d9e0; color: #1f2328;"
_DARK: Final = "--mongo-page: #0d1117; --mongo-line: #3d444d; color: #f0f6fc;"
"""The background, line and text colours of GitHub in dark mode."""


def chart_file(drawing: Drawing) -> str:
    """Return the text of the SVG file of a drawing. All lines end in ``\\n``."""
    width, height = (f"{round(side + 2 * _AROUND, 1):g}" for side in (drawing.width, drawing.height))
    name, space = text_html(drawing.name), 'xmlns="http://www.w3.org/2000/svg"'
    box = f'width="{width}" height="{height}" viewBox="{-_AROUND} {-_AROUND} {width} {height}"'
    light, dark, rules = read_drawing_look()
    lines = [
        f'<svg class="mongo-chart" {space} {box} role="img" aria-label="{name}">',
        f"<desc>{text_html(drawing.description)}</desc>",
        "<style>",
        "svg { font: 13px system-ui, sans-serif; }",
        ".mongo-chart__ground { fill: var(--mongo-page); }",
        f"svg {{ {_LIGHT} {light} }}",
        f"@media (prefers-color-scheme: dark) {{ svg {{ {_DARK} {dark} }} }}",
        f"{rules}</style>",
        f'<rect class="mongo-chart__ground" x="{-_AROUND}" y="{-_AROUND}" width="{width}" height="{height}" rx="6"/>',
        *drawing.elements,
        "</svg>",
        "",
    ]
    text = "\n".join(lines)
    return f"<!-- mongo-tables: drawing {digest(text)} -->\n{text}"


def is_marked(text: str) -> bool:
    """Return whether this program wrote the file, which may have been edited since."""
    return re.match(_MARK, with_plain_ends(text)) is not None


def is_as_written(text: str) -> bool:
    """Return whether the file is as this program wrote it, apart from line ends."""
    plain = with_plain_ends(text)
    mark = re.match(_MARK, plain)
    return mark is not None and digest(plain[mark.end() :]) == mark[1]


def with_plain_ends(text: str) -> str:
    """Return the text with ``\\n`` as line ends, because Git may check files out with others."""
    return text.replace("\r\n", "\n")


@cache
def read_drawing_look() -> tuple[str, str, str]:
    """Return the light and the dark colours of series as custom properties, and the rules of drawings.

    The rules need an enclosing element with the class ``mongo-chart``, and the custom properties ``--mongo-page`` (for
    the background) and ``--mongo-line`` (for the grid).
    """
    text = STYLE_SHEET_FILE.read_text(encoding="utf-8")
    section = _DRAWINGS.search(text)
    assert section, "the style sheet has a section for drawings"
    colours = _COLOURS.findall(text)
    return " ".join(colours[:_SERIES]), " ".join(colours[_SERIES : 2 * _SERIES]), section[1]
