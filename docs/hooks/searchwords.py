"""Words by which pages are found though they do not use them (a MkDocs hook, see ``mkdocs.yml``).

They stand in the front matter of a page as ``keywords``. Material's ``tags`` would do the same, but outweigh every word
of the page, and are shown with each of its sections.
"""

from __future__ import annotations

from html import escape

from mkdocs.plugins import event_priority
from mkdocs.structure.pages import Page


@event_priority(50)
def on_page_context(context: dict[str, object], page: Page, **_: object) -> None:
    """Before search plugins read it, the page has the words behind its title, in a paragraph that is not shown."""
    words = page.meta.get("keywords")
    if words:
        hidden = f"</h1>\n<p hidden>Also found as: {escape(str(words))}.</p>"
        page.content = (page.content or "").replace("</h1>", hidden, 1)
