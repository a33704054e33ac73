"""The oracle: what Python-Markdown, set up as on a MkDocs site, makes of a page with placeholders in it."""

from __future__ import annotations

from html.parser import HTMLParser

import markdown

from mongo_tables.directives.comments import Scan

EXTENSIONS = [
    "admonition",
    "attr_list",
    "def_list",
    "footnotes",
    "md_in_html",
    "pymdownx.details",
    "pymdownx.superfences",
    "pymdownx.tabbed",
    "tables",
    "toc",
]
VOID = {"br", "hr", "img", "input", "link", "meta"}


def placeholder(number: int) -> str:
    return f"<!--mt-{number}-->"


def published(text: str, scan: Scan) -> str:
    """The page with its placeholders, and with nothing of the comments that were rejected."""
    spans = [(c.start, c.end, c.before + placeholder(i) + c.after) for i, c in enumerate(scan.comments)]
    spans += [(start, end, "<!-- rejected -->") for start, end in scan.rejected]
    page, at = "", 0
    for start, end, new in sorted(spans):
        page, at = page + text[at:start] + new, end
    return page + text[at:]


def convert(text: str) -> str:
    settings = {"pymdownx.tabbed": {"alternate_style": True}}
    return markdown.Markdown(extensions=EXTENSIONS, extension_configs=settings).convert(text)


class Reading(HTMLParser):
    """What a browser finds in HTML: the comments with the elements around them, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.around: list[str] = []
        self.comments: list[tuple[str, tuple[str, ...]]] = []
        self.shown: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.around.append(tag)

    def handle_endtag(self, tag):
        if tag in self.around:
            while self.around.pop() != tag:
                pass

    def handle_comment(self, data):
        self.comments.append((data, tuple(self.around)))

    def handle_data(self, data):
        if not {"script", "style"} & set(self.around):
            self.shown.append(data)

    @property
    def text(self) -> str:
        return "".join(self.shown)

    def live(self) -> dict[int, tuple[str, ...]]:
        """The placeholders that are HTML comments and stand where a table can be seen."""
        return {
            int(data.removeprefix("mt-")): around
            for data, around in self.comments
            if data.startswith("mt-") and not {"pre", "script", "style", "textarea"} & set(around)
        }
