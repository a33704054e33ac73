"""Text on its way to a page: escaped for HTML, measured in columns, and what stands for no rows."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from unicodedata import combining, east_asian_width

from mongo_tables.render.values import visible

NO_ROWS: Final = "There are no results for this table yet."
# A currency may stand between the sign and the digits: -€5, -EUR 5.
_HYPHEN_OF_NUMBER: Final = r"(?<![^\s(–])-(?=[A-Z]{0,4}[^\s\w.(-]?\s?\.?\d|Infinity)"

_MARKUP: Final = frozenset("&<>\"'")


@lru_cache(maxsize=16_384)
def text_html(text: str) -> str:
    """Text as HTML that shows exactly this text, in an element or in a quoted attribute.

    Most of it stands on a page more than once: in a table, its chart, the runs behind it.
    """
    shown = visible(text)
    if _MARKUP.isdisjoint(shown):
        return shown
    from html import escape  # and with it the names of all characters; a check escapes nothing

    return escape(shown)


def lines_html(text: str) -> str:
    """Text as HTML that shows this text, its lines below each other."""
    shown = text_html(text)
    return shown.replace("\n", "<br>") if "\n" in shown else shown


def with_minus_signs(text: str) -> str:
    """Numbers in words with U+2212 before negative ones, as wide as the plus of their neighbours, in place of a hyphen.

    For pages alone: files and Markdown keep the hyphen, which other programs read as part of a number.
    """
    return re.sub(_HYPHEN_OF_NUMBER, "−", text) if "-" in text else text


def range_text(low: str, high: str) -> str:
    """Both ends of a range: ``0.9–1.25``; ``-5 to -3`` where a dash would stand beside a minus."""
    return f"{low} to {high}" if low.startswith("-") or high.startswith("-") else f"{low}–{high}"


def display_width(text: str) -> int:
    """How many columns of a fixed-width display the text takes: East Asian wide ones two, marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
