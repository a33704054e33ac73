"""Text on its way to a page: escaped for HTML, measured in columns, and what stands for no rows."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Final
from unicodedata import combining, east_asian_width

from preprocessor.render.values import visible

if TYPE_CHECKING:
    pass
if TYPE_CHECKING:
    pass


NO_ROWS: Final = "There are no results for this table yet."


@lru_cache(maxsize=16_384)
def text_html(text: str) -> str:
    """Text as HTML that shows exactly this text, in an element or in a quoted attribute.

    Most of it stands on a page more than once: in a table, its chart, the runs behind it.
    """
    return escape(visible(text))


def display_width(text: str) -> int:
    """How many columns of a fixed-width display the text takes: East Asian wide ones two, marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
