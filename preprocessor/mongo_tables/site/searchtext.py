"""Figures as words, for as long as search plugins read a page.

The search plugins of MkDocs and of Material parse the HTML of every page in Python, tag by tag and attribute by
attribute, to keep little more than its text. For a site of tables that costs more than making the tables. So they
are given the text: what they find in it is the same, but for two things. A row is a paragraph, which is what they show
of a page beside its title; and it has its numbers without the marks between thousands as well, because a reader who
looks for 14,909 types 14909. The search of MkDocs drops every tag: where nothing else reads the page, it gets none.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

from mongo_tables.pages.placeholders import TOKEN
from mongo_tables.site.markdownreaders import MKDOCS_SEARCH

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

_WITHOUT_ROWS: Final = ("mongo_tables.site.", *MKDOCS_SEARCH)
"""Plugins that make nothing of paragraphs, by the modules of their classes."""
_BEGINNING: Final = 160
"""Characters by which figures are told apart: the anchor of a figure, the place of a fault, is among them."""
_ALIKE: Final = 8
"""Of figures that begin alike the first ones are tried: they stand in the page in the order in which they were made."""
_HIDDEN: Final = " data-search-exclude>"
_BOX: Final = re.compile("<(/?)div\\b")
# Search engines keep paragraphs apart, and drop every other tag of a figure.
_FIRST: Final = re.compile("<(?:figure|div)\\b")
_TAG: Final = re.compile("<(?!/?p[ >])[^>]*>")
_ANY_TAG: Final = re.compile("<[^>]*>")
_GAP: Final = re.compile("\n{2,}")
_ROW: Final = re.compile(r"<tr\b[^>]*>(.*?)</tr>", re.DOTALL)
_MARK: Final = "[,’\u00a0\u202f]"
_GROUPED: Final = re.compile(rf"(?<![\d.,])\d{{1,3}}(?:{_MARK}\d{{3}})+(?:\.\d+)?(?![\d,])")
_MARKS: Final = re.compile(_MARK)
_MAY_BE_GROUPED: Final = re.compile(rf"\d{_MARK}\d")


def rows_are_read(config: MkDocsConfig) -> bool:
    """Whether a plugin of the site may look for paragraphs in what it is given to search."""
    readers = (getattr(each, "__self__", None) for each in config.plugins.events["page_context"])
    return not all(f"{type(reader).__module__}.".startswith(_WITHOUT_ROWS) for reader in readers)


def in_words(html: str, figures: Mapping[str, str], words: Mapping[str, str]) -> str:
    """The page with the words of each figure between two of its tokens (``swap``) in the place of the figure.

    A figure that stands there otherwise than it was made stays as it is.
    """
    if not figures:
        return html
    pieces, done = list[str](), 0
    for token, start, figure in _find_figures(html, figures):
        pieces += [html[done:start], token, words[token], token]
        done = start + len(figure)
    return "".join([*pieces, html[done:]])


def _find_figures(html: str, figures: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    """Find each unchanged figure of the page, with its token and its offset, in the order of the page.

    The page is gone through once, however many figures there are: they are told apart by how they begin.
    """
    length = min(_BEGINNING, *map(len, figures.values()))
    waiting: dict[str, deque[tuple[str, str]]] = {}
    for token, figure in figures.items():
        waiting.setdefault(figure[:length], deque()).append((token, figure))
    done = 0
    for tag in _FIRST.finditer(html):
        start = tag.start()
        if start < done or not (same := waiting.get(html[start : start + length])):
            continue
        for number, (token, figure) in enumerate(islice(same, _ALIKE)):
            if html.startswith(figure, start):
                yield token, start, figure
                done = start + len(figure)
                del same[number]
                break


def with_words(html: str, words: Mapping[str, str]) -> str:
    """The page with the words of each figure between two of its tokens, where so far its token alone stands."""
    return TOKEN.sub(
        lambda token: f"{token[0]}{words[token[0]]}{token[0]}" if token[0] in words else token[0], html
    )


def in_full(html: str, figures: Mapping[str, str]) -> str:
    """The page with the figures again, where ``in_words`` put their words."""
    if not figures:
        return html
    pieces, done, opened = list[str](), 0, None
    for token in TOKEN.finditer(html):
        if opened is not None and opened[0] == token[0]:
            pieces += [html[done : opened.start()], figures[token[0]]]
            done, opened = token.end(), None
        elif token[0] in figures:
            opened = token
    return "".join([*pieces, html[done:]])


def search_words(figure: str, *, rows: bool) -> str:
    """What search plugins read of a figure; ``rows``: each row is a paragraph."""
    return words_of(figure) if rows else bare_words_of(figure)


def words_of(figure: str) -> str:
    """The text of a figure in paragraphs, one for each row, without what search engines shall pass over."""
    return _GAP.sub("\n", _TAG.sub("", _ROW.sub(_words_of_row, _remove_hidden(figure))))


def bare_words_of(figure: str) -> str:
    """The same text without a tag; what was a paragraph has a line break behind it."""
    text = _remove_hidden(figure)
    if _MAY_BE_GROUPED.search(text):
        text = _ROW.sub(_words_of_row, text)
    return _ANY_TAG.sub("", text.replace("</p>", "\n"))


def _words_of_row(row: re.Match[str]) -> str:
    """The cells of a row, and behind them its numbers as readers type them."""
    text = _TAG.sub("", row[1]).strip()
    plain = dict.fromkeys(_MARKS.sub("", number) for number in _GROUPED.findall(text))
    return f"<p>{' '.join([text, *plain])}</p>"


def _remove_hidden(figure: str) -> str:
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
