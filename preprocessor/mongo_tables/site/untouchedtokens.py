"""A Markdown extension of the plugin's own: tokens are nothing that emphasis, links or code could stand in.

Python-Markdown keeps each piece of raw HTML aside and leaves a mark in a paragraph for it, in which it then looks for
every kind of inline markup, one after the other. On a page of tables that is a part of the conversion that one sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import HTML_PLACEHOLDER_RE, AtomicString

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown import Markdown

NAME: Final = __name__
"""What the extension is listed by."""
_BEFORE_INLINE: Final = 21


class UntouchedTokens(Extension):  # type: ignore[misc]
    """Has paragraphs that hold a piece of raw HTML and nothing else passed over."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register what marks them before inline markup is looked for."""
        md.treeprocessors.register(_Untouched(md), NAME, _BEFORE_INLINE)


class _Untouched(Treeprocessor):  # type: ignore[misc]
    def run(self, root: Element) -> None:
        for paragraph in root.iter("p"):
            if paragraph.text and HTML_PLACEHOLDER_RE.fullmatch(paragraph.text):
                paragraph.text = AtomicString(paragraph.text)


def makeExtension(**settings: object) -> UntouchedTokens:
    """The extension, as Python-Markdown asks for it by module name."""
    return UntouchedTokens(**settings)
