"""Beginnings of pages on other pages: the excerpts of Material's blog, on its index, archives and categories.

An excerpt converts the Markdown of its post anew. It is given the Markdown with tokens, and gets the figures of the
post in their places: as they are, but without ids, which the page of the post has, and with links that lead there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import copy
from html import unescape
from posixpath import relpath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from mongo_tables.pages.placeholders import swap_tokens

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page as SitePage

_ID: Final = re.compile('(<(?:figure|tr)[^>]*?) id="[^"]+"')
_LINK: Final = re.compile('(<a\\b[^>]*? href=")([^"]+)(")')


def excerpt_of(page: SitePage) -> Any:
    """The excerpt that converts the page's Markdown once more; None without one."""
    excerpt = getattr(page, "excerpt", None)
    return excerpt if getattr(excerpt, "post", None) is page else None


def give_tokens(excerpt: Any, markdown: str) -> None:
    """Let an excerpt convert Markdown with tokens, while its page keeps the one that is read as text."""
    excerpt.post = copy(excerpt.post)
    excerpt.post.markdown = markdown


def elsewhere(figure: str, home: str, here: str) -> str:
    """The figure of the page with the address ``home`` as it stands on the one with the address ``here``."""

    from mongo_tables.render.text import text_html

    def move_link(link: re.Match[str]) -> str:
        return f"{link[1]}{text_html(_move_address(unescape(link[2]), home, here))}{link[3]}"

    return _LINK.sub(move_link, _ID.sub(r"\1", figure))


def _move_address(address: str, home: str, here: str) -> str:
    """Rewrite an address relative to the page at ``home`` as one relative to the page at ``here``."""
    if urlsplit(address).scheme or address.startswith("/"):
        return address
    path, mark, anchor = urljoin(f"/{home}", address).partition("#")
    folder = f"/{here}" if here.endswith("/") or not here else f"/{here}".rpartition("/")[0]
    way = relpath(path, folder or "/")
    return f"{way}/{mark}{anchor}" if path.endswith("/") else f"{way}{mark}{anchor}"


def fill_excerpt(html: str, figures: Mapping[str, str], home: str, here: str) -> str:
    """The HTML of an excerpt with the figures of its page."""
    present = {token: elsewhere(figure, home, here) for token, figure in figures.items() if token in html}
    return swap_tokens(html, present)[0] if present else html


def excerpts_in(context: Mapping[str, Any]) -> Iterable[Any]:
    """The excerpts that a template is given."""
    return [each for each in context.get("posts") or () if hasattr(each, "post") and hasattr(each, "content")]
