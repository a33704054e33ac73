"""The paragraphs of a page with the sections around them; markup is blanked in place.

Offsets stay those of the page. Headings, rows of typed tables, and the titles and captions of figures are paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mongo_tables.site.model import Page

BLANK: Final = "\ue000"
"""Takes the place of each character of markup. A blank would end the paragraph at a comment on its own line."""

_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE: Final = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_MARKUP: Final = re.compile(
    r"\]\([^)]*\)|\]\[[^\]]*\]|\{[:#.][^}\n]*\}"
    r"|(?:https?|mongodb(?:\+srv)?)://\S+"
    r"|<[/!a-zA-Z][^>]*>"
    r"|\*+(?=\S)|(?<=\S)\*+|(?<!\w)_+(?=\S)|(?<=[^\s_])_+(?!\w)"
    r"|^[ \t>]*(?:#{1,6}[ \t]+)?(?:\d+(?:\.\d+)*[.)]|[-*+])[ \t]",
    re.MULTILINE,
)
_PARAGRAPHS: Final = frozenset({"paragraph_open", "heading_open", "tr_open", "html_block"})
_OPAQUE: Final = re.compile(r"\s*<(?:script|style|pre|svg|textarea)\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(rf"[.!?][\s{BLANK}]+")
_FIGURE_TEXT: Final = re.compile(r'"(?:title|caption)"[\s>]*:[\s>]*"((?:[^"\\]|\\.)*)"')

_DEEPEST: Final = 6
_REACH: Final = 400

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text that begins at ``start`` in the page, without markup.

    ``words`` is the same with its code, for the names in it. ``sections`` are the spans of the sections around it, the
    innermost first; that of the page's title only where it is the innermost.
    """

    text: str
    words: str
    start: int
    sections: tuple[Span, ...]

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.start + len(self.text)

    def sentence_span(self, at: int) -> Span:
        """Start and end of the sentence around an offset in ``text``, at most ``_REACH`` characters away."""
        first, last = max(at - _REACH, 0), min(at + _REACH, len(self.text))
        start = max((one.end() for one in _SENTENCE_END.finditer(self.text, first, at)), default=first)
        found = _SENTENCE_END.search(self.text, at, last)
        return start, found.end() if found else last


def read_paragraphs(page: Page) -> list[Paragraph]:
    """The paragraphs of a page, in order; what a program wrote into it is none."""
    from markdown_it import MarkdownIt

    text = page.text
    hidden = [*_spans(_FRONT_MATTER, text), *_spans(_COMMENT, text)]
    hidden += [(one.region.start, one.region.end) for one in page.comments if one.region]
    shown = _blank(text, hidden)
    starts = list(accumulate((len(line) for line in shown.splitlines(keepends=True)), initial=0))
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    blocks = [(one.type, one.tag, one.map) for one in parser.parse(_with_plain_ends(shown)) if one.map]
    headings = [(int(tag[1]), starts[lines[0]]) for kind, tag, lines in blocks if kind == "heading_open"]
    spans = [
        (starts[first], starts[min(last, len(starts) - 1)])
        for kind, _, (first, last) in blocks
        if kind in _PARAGRAPHS and not _OPAQUE.match(shown, starts[first])
    ]
    found = [(start, shown[start:end]) for start, end in spans]
    found += [(start, text[start:end]) for start, end in _figure_texts(page)]
    return [
        Paragraph(_without_markup(own), own, start, tuple(_sections(start, headings, len(text))))
        for start, own in sorted(found)
    ]


def _figure_texts(page: Page) -> Iterator[Span]:
    """Where titles and captions are in comments; in a pipeline a `title` is a field."""
    for spec in page.pipeline_specs:
        for found in _FIGURE_TEXT.finditer(page.text, spec.comment.start, spec.comment.end):
            if found[1] in (spec.title, spec.caption):
                yield found.span(1)


def _without_markup(text: str) -> str:
    return _blank(_blank(text, _spans(_CODE, text)), _spans(_MARKUP, text))


def _with_plain_ends(text: str) -> str:
    """Lines as markdown-it counts them, which does not end one at all characters where Python does."""
    ends = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    return "".join(f"{line.rstrip(ends)}\n" for line in text.splitlines())


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    return (one.span() for one in pattern.finditer(text))


def _blank(text: str, spans: Iterable[Span]) -> str:
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [text[at:start], re.sub(r"[^\r\n]", BLANK, text[max(at, start) : end])]
        at = max(at, end)
    return "".join([*pieces, text[at:]])


def _sections(offset: int, headings: Sequence[tuple[int, int]], end: int) -> Iterator[Span]:
    """The sections around an offset: each goes from its heading to the next of its level or above."""
    level = _DEEPEST + 1
    for number in range(len(headings) - 1, -1, -1):
        own, start = headings[number]
        if start > offset or own >= level or (own == 1 and level <= _DEEPEST):
            continue
        level = own
        yield start, next((at for other, at in headings[number + 1 :] if other <= own), end)
    if level > _DEEPEST:
        yield 0, end
