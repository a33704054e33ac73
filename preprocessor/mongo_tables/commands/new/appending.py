"""A comment at the end of a page: which keyword suits the page, and the page with the comment."""

from __future__ import annotations

from typing import NamedTuple

from mongo_tables.directives.keywords import keyword_like
from mongo_tables.directives.page_scan import find
from mongo_tables.site.markdown import newline_of


class Appended(NamedTuple):
    """A page with a block at its end, and the line, from 1, on which the block begins."""

    text: str
    line: int


def table_keyword(page: str) -> str:
    """The keyword of a new table on a page: it begins as those do that are there already."""
    written = find(page, "").comments
    return keyword_like(written[0].keyword if written else "", "table")


def append_block(page: str, block: str) -> Appended:
    """The page with the block behind a blank line; its line ends are those of the page."""
    newline = newline_of(page)
    ended = not page or page.endswith(newline)
    blank = "" if not page or page.endswith(newline * 2) else newline if ended else newline * 2
    above = page + blank
    whole = above + block.replace("\n", newline) + newline
    return Appended(whole, whole.count(newline, 0, len(above)) + 1)
