"""Headings with a value in them, as the navigation repeats them.

A table of contents is made before the figures are there, and leaves out what is not text yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page as SitePage

_HEADING: Final = re.compile(
    r"<h[1-6]\b[^<>]*?\bid=\"([^\"]+)\"[^<>]*>((?:(?!<h[1-6]\b).)*?)</h[1-6]>", re.DOTALL
)
_VALUE: Final = '<span class="mongo-value"'
_PERMALINK: Final = re.compile(r"<a\b[^>]*class=\"headerlink\".*?</a>", re.DOTALL)
_VALUE_WHOLE: Final = re.compile(r"<span class=\"mongo-value\".*?</span>", re.DOTALL)
_TAG: Final = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Heading:
    """The text of a heading, as HTML without tags: ``whole``, and ``bare`` without its values."""

    whole: str
    bare: str


def headings_with_values(html: str) -> Mapping[str, Heading]:
    """Every heading that has a value in it, by its id."""
    if _VALUE not in html:
        return {}
    return {match[1]: _heading(match[2]) for match in _HEADING.finditer(html) if _VALUE in match[2]}


def _heading(html: str) -> Heading:
    html = _PERMALINK.sub("", html)
    return Heading(_text(html), _text(_VALUE_WHOLE.sub("", html)))


def _text(html: str) -> str:
    return " ".join(_TAG.sub("", html).split())


def repeat_headings(page: SitePage, html: str) -> None:
    """Put the values of headings into the table of contents and, where it comes from a heading, the title."""
    headings = headings_with_values(html)
    items = list(page.toc) if headings else []
    while items:
        item = items.pop()
        items += item.children
        if item.id in headings:
            before = {item.title, headings[item.id].bare}
            item.title = headings[item.id].whole
            if item.level == 1 and page.title in before:
                page.title = item.title
