"""Figures as words, for as long as search plugins read a page.

The search plugins of MkDocs and of Material parse the HTML of every page in Python, tag by tag and attribute by
attribute, to keep little more than its text. For a site of tables that costs more than making the tables. So they
are given the text: what they find in it is the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_HIDDEN: Final = " data-search-exclude>"
_BOX: Final = re.compile("<(/?)div\\b")
# Search engines keep paragraphs apart, and drop every other tag of a figure.
_TAG: Final = re.compile("<(?!/?p[ >])[^>]*>")
_GAP: Final = re.compile("\n{2,}")


def in_words(html: str, figures: Mapping[str, str]) -> str:
    """The page with the words of each figure between two of its tokens (``swap``) in the place of the figure.

    A figure that stands there otherwise than it was made stays as it is.
    """
    for token, figure in figures.items():
        before, found, after = html.partition(figure)
        html = f"{before}{token}{words_of(found)}{token}{after}" if found else html
    return html


def in_full(html: str, figures: Mapping[str, str]) -> str:
    """The page with the figures again, where ``in_words`` put their words."""
    for token, figure in figures.items():
        before, first, rest = html.partition(token)
        _, second, after = rest.partition(token)
        html = f"{before}{figure}{after}" if first and second else html
    return html


def words_of(figure: str) -> str:
    """The text of a figure in its paragraphs, without what search engines shall pass over."""
    return _GAP.sub("\n", _TAG.sub("", _shown(figure)))


def _shown(figure: str) -> str:
    pieces, done = [], 0
    while (mark := figure.find(_HIDDEN, done)) >= 0:
        start = figure.rfind("<div", done, mark)
        pieces.append(figure[done:start])
        done = _end_of_box(figure, start)
    return "".join([*pieces, figure[done:]])


def _end_of_box(html: str, start: int) -> int:
    """The offset behind the ``</div>`` that closes the ``<div>`` at ``start``."""
    depth = 0
    for tag in _BOX.finditer(html, start):
        depth += -1 if tag[1] else 1
        if not depth:
            return html.index(">", tag.end()) + 1
    return len(html)
