"""Below each figure of the gallery the comment that makes it, folded (a MkDocs hook)."""

from __future__ import annotations

import textwrap
from typing import Final

from mkdocs.plugins import event_priority
from mkdocs.structure.pages import Page

from mongo_tables.directives.page_scan import find

PAGE: Final = "authors/gallery.md"
FIGURES: Final = ("MONGO_CHART", "MONGO_TABLE")
FOLD: Final = '\n\n??? example "The comment of this figure"\n\n'


# Before the plugin, which puts figures in place of comments.
@event_priority(100)
def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Shows on the gallery's page how each figure was made; other pages stay as they are."""
    return with_comments(markdown) if page.file.src_uri == PAGE else markdown


def with_comments(text: str) -> str:
    """The page, with the text of each figure's comment in a fold below it."""
    shown, end = [], 0
    for one in find(text, PAGE).comments:
        if one.keyword in FIGURES:
            block = f"```markdown\n{text[one.start : one.end]}\n```"
            shown += [text[end : one.end], FOLD, textwrap.indent(block, "    ", lambda _: True)]
            end = one.end
    return "".join([*shown, text[end:]])
