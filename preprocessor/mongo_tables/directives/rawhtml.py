"""Raw HTML in Markdown: how far a block of it reaches, and which element a comment in it stands in.

Python-Markdown takes everything from a block-level tag at the margin to its end tag as it is, blank lines
too, unless the tag has the attribute ``markdown``
(https://python-markdown.github.io/extensions/md_in_html/).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

# https://github.com/Python-Markdown/markdown/blob/master/markdown/util.py, BLOCK_LEVEL_ELEMENTS, without hr.
_BLOCK_LEVEL = frozenset(
    """
    address article aside blockquote body canvas center colgroup dd details div dl dt fieldset
    figcaption figure footer form group h1 h2 h3 h4 h5 h6 header hgroup html iframe legend li main map
    math menu nav noscript object ol option output p pre progress script section style summary table
    tbody td textarea tfoot th thead tr ul video
    """.split()  # noqa: SIM905 - a list of fifty quoted names is harder to read
)
# Elements whose comments a browser shows as text, or keeps out of sight.
OPAQUE = frozenset({"pre", "script", "style", "textarea"})
# Elements in which nothing but their own end tag is markup.
_CDATA = frozenset({"script", "style"})
_LONGEST_TAG = 5000  # characters; what is longer is no tag
_PIECE = re.compile(
    r"<!--\ue000(?P<token>\d+)-->|</(?P<end>[a-zA-Z][^\s/>]*)[^>]*>"
    r"|<(?P<tag>[a-zA-Z][^\s/>]*)(?P<attributes>(?:\"[^\"]*\"|'[^']*'|[^'\"<>])*)>"
)
_MARGIN_TAG = re.compile(r" {0,3}<(?P<tag>[a-zA-Z][^\s/>]*)(?P<attributes>(?:\"[^\"]*\"|'[^']*'|[^'\"<>])*)>")
_MARGIN_TAG_NAME = re.compile(r" {0,3}</?([a-zA-Z][^\s/>]*)")
_MARKDOWN = re.compile(r"\smarkdown(?=[\s=/]|$)(?!=[\"']?0)")


class RawHtml:
    """The raw HTML that is open: its tags, outermost first; the opaque element in ordinary text, if any."""

    def __init__(self) -> None:
        self.stack: list[str] = []
        self.depth: Counter[str] = Counter()  # how many of each tag are in the stack
        self.opaque = ""
        self.unfinished = ""  # a start tag at the margin that goes on in the next line

    @property
    def inside(self) -> bool:
        """Whether the next line begins inside a raw block."""
        return bool(self.stack)

    def opens(self, text: str) -> bool:
        """Whether a line of Markdown begins a raw block."""
        match = _MARGIN_TAG.match(text)
        if match is None or match["tag"].lower() not in _BLOCK_LEVEL:
            return False
        return not match["attributes"].endswith("/") and not _MARKDOWN.search(match["attributes"])

    def join_start_tag(self, text: str) -> str:
        """Give a line, and before it those over which the start tag at its end is spread, as one line."""
        joined = f"{self.unfinished} {text}" if self.unfinished and text.strip() else text
        begun = not self.stack and self.divides(joined) and ">" not in joined
        self.unfinished = joined if begun and len(joined) < _LONGEST_TAG else ""
        return joined

    def divides(self, text: str) -> bool:
        """Whether a line of Markdown begins with a block-level tag at the margin, which ends all blocks."""
        match = _MARGIN_TAG_NAME.match(text)
        return match is not None and match[1].lower() in _BLOCK_LEVEL

    def read(self, text: str) -> Iterator[tuple[int, str, int]]:
        """Read a line of a raw block; give each comment's number, its opaque element, and where the block
        ended.

        That is an offset in ``text``, or -1 when the comment is inside the block.
        """
        ended_at = -1
        for piece in _PIECE.finditer(text):
            if piece["token"] is not None:
                yield int(piece["token"]), self._opaque_element(), ended_at
            elif piece["end"] is not None:
                self._end(piece["end"].lower())
            else:
                self._start(piece["tag"].lower(), piece["attributes"])
            if not self.stack and ended_at < 0:
                ended_at = piece.end()

    def follow(self, text: str) -> dict[int, str]:
        """Follow opaque elements through a line of ordinary Markdown; give the one around each comment, or
        ``""``.
        """
        around: dict[int, str] = {}
        for piece in _PIECE.finditer(text):
            if piece["token"] is not None:
                around[int(piece["token"])] = self.opaque
            elif self.opaque:
                self.opaque = "" if (piece["end"] or "").lower() == self.opaque else self.opaque
            elif (piece["tag"] or "").lower() in OPAQUE:
                self.opaque = piece["tag"].lower()
        return around

    def _opaque_element(self) -> str:
        return next((tag for tag in sorted(OPAQUE) if self.depth[tag]), "")

    def _start(self, tag: str, attributes: str) -> None:
        if attributes.endswith("/") or (self.stack and self.stack[-1] in _CDATA):
            return
        self.stack.append(tag)
        self.depth[tag] += 1

    def _end(self, tag: str) -> None:
        if not self.depth[tag] or (self.stack[-1] in _CDATA and self.stack[-1] != tag):
            return
        while (inner := self.stack.pop()) != tag:
            self.depth[inner] -= 1
        self.depth[tag] -= 1
