"""The look of figures: one style sheet for pages, of which a part dresses drawings wherever they stand."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

STYLE_SHEET_FILE: Final = Path(__file__).parent / "mongo-tables.css"
"""With the colours of Material for MkDocs and fallbacks for other themes."""

_DRAWINGS: Final = re.compile(r"/\* Drawings\b.*?\*/\n(.*?)/\* End of drawings\. \*/", re.DOTALL)
_COLOURS: Final = re.compile(r"--mongo-\d: #[0-9a-f]{6};")
_SERIES: Final = 6


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
