"""Figures on other pages than their own: excerpts of blogs, feeds, the page for print.

They have no ids there, which their page has, and links that lead to that page or to its files. The page for print
takes all pages in, so that figures keep their ids, after the name of their page, and links stay within it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from posixpath import relpath
from typing import Final
from urllib.parse import urljoin, urlsplit

from mongo_tables.render.text import text_html

_ID: Final = re.compile('(<(?:figure|tr)[^>]*?) id="([^"]+)"')
_LINK: Final = re.compile('(<a\\b[^>]*? href=")([^"]+)(")')


def elsewhere(figure: str, home: str, here: str) -> str:
    """The figure of the page with the address ``home`` for the page with the address ``here``, both within the site."""
    return _with_links(_ID.sub(r"\1", figure), lambda address: _moved(address, home, here))


def in_feed(figure: str, home: str) -> str:
    """The figure of the page with the whole address ``home`` for a file that may be read anywhere."""
    return _with_links(_ID.sub(r"\1", figure), lambda address: urljoin(home, address))


def printed(figure: str, home: str, here: str, key: str) -> str:
    """The figure for the page for print, which names anchors after pages by ``key``."""

    def to(address: str) -> str:
        return f"#{key}-{address[1:]}" if address.startswith("#") else _moved(address, home, here)

    return _with_links(_ID.sub(rf'\1 id="{key}-\2"', figure), to)


def _with_links(figure: str, to: Callable[[str], str]) -> str:
    return _LINK.sub(lambda link: f"{link[1]}{text_html(to(unescape(link[2])))}{link[3]}", figure)


def _moved(address: str, home: str, here: str) -> str:
    """Rewrite an address relative to the page at ``home`` as one relative to the page at ``here``."""
    if urlsplit(address).scheme or address.startswith("/"):
        return address
    path, mark, anchor = urljoin(f"/{home}", address).partition("#")
    folder = f"/{here}" if here.endswith("/") or not here else f"/{here}".rpartition("/")[0]
    way = relpath(path, folder or "/")
    return f"{way}/{mark}{anchor}" if path.endswith("/") else f"{way}{mark}{anchor}"
