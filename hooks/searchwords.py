"""What the search finds first (a MkDocs hook, see ``mkdocs.yml``).

``keywords`` in the front matter of a page are words by which it is found though it does not use them. Material's
``tags`` would do the same, but outweigh every word of the page, and are shown with each of its sections.
"""

from __future__ import annotations

from html import escape
from typing import Final

from mkdocs.plugins import event_priority
from mkdocs.structure.pages import Page

OF_THE_TOOL: Final = ("authors/", "reference/", "contributing/")
"""Folders of pages about the tool: a reader who asks for "trust" or "compare" wants results first."""
LESS: Final = 0.3


@event_priority(50)
def on_page_context(context: dict[str, object], page: Page, **_: object) -> None:
    """Give the page its weight and the words behind its title, in a paragraph that is not shown.

    Search plugins read the page afterwards.
    """
    if page.file.src_uri.startswith(OF_THE_TOOL):
        page.meta["search"] = {"boost": LESS}
    words = page.meta.get("keywords")
    if words:
        hidden = f"</h1>\n<p hidden>Related search terms: {escape(str(words))}.</p>"
        page.content = (page.content or "").replace("</h1>", hidden, 1)
