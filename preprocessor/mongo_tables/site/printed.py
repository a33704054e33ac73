"""All pages on one, by mkdocs-print-site: the anchors of figures as it writes the links that lead to them.

It puts the name of a page before every anchor that a link names, and before the ids of headings and items, but not
before those of figures and rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from mongo_tables.site.amending import without_numbers

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page as SitePage

_FIGURE: Final = re.compile('(<figure class="mongo-table" id=")([^"]+)(".*?</figure>)', re.DOTALL)
_ROW: Final = re.compile('(<tr[^>]*? id=")([^"]+)')


def lead_links_to_figures(pages: Iterable[SitePage]) -> None:
    """Name the anchors of figures, in the copies of pages that the plugin has taken, after their pages."""
    from mkdocs_print_site_plugin.urls import get_page_key

    for page in pages:
        copied: Any = page
        if isinstance(getattr(copied, "html", None), str):
            copied.html = _name_anchors(without_numbers(copied.html), get_page_key(page.url))


def _name_anchors(html: str, page: str) -> str:
    def name_figure(figure: re.Match[str]) -> str:
        rows = _ROW.sub(lambda row: f"{row[1]}{page}-{row[2]}", figure[3])
        return f"{figure[1]}{page}-{figure[2]}{rows}"

    return _FIGURE.sub(name_figure, html)
