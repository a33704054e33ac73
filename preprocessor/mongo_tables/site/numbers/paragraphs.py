"""The paragraphs of a page or another text, without markup and generated text, and the sentences in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from mongo_tables.directives.specs import PipelineSpec, ValueSpec
from mongo_tables.site.numbers.prose import BLANK, Span, blank, read_prose

if TYPE_CHECKING:
    from mongo_tables.site.numbers.text import Number
    from mongo_tables.site.pages import Page

_HIDDEN: Final = re.compile(
    r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*$|<!--.*?-->|\{\s*/\*.*?\*/\s*\}", re.DOTALL | re.MULTILINE
)
"""Front matter and comments."""
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
_SENTENCE_END: Final = re.compile(rf"[.!?][\s{BLANK}]+|[。！？]")
_FIGURE_TEXT: Final = re.compile(
    r'"(?:title|caption|slower|faster|no difference|not known)"[\s>]*:[\s>]*"((?:[^"\\]|\\.)*)"'
)
_BETWEEN_CELLS: Final = re.compile(r"(?<!\\)\|")
_DIGIT: Final = re.compile(r"\d")
_DEEPEST: Final = 6
_REACH: Final = 400


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text that begins at ``start`` in the page, without markup.

    ``words`` is the same text with its code, which may contain names. ``sections`` has the spans of the
    enclosing sections, innermost first; the section of the page's title is only included if it is the
    innermost. ``header`` is the first row of a typed table, for its other rows.
    """

    text: str
    words: str
    start: int
    sections: Sequence[Span]
    header: str = ""

    @property
    def end(self) -> int:
        """Return the offset of its end."""
        return self.start + len(self.text)

    def header_of(self, number: Number) -> str:
        """Return the header above a number that is the first one in a cell of a typed table, else ""."""
        before = _BETWEEN_CELLS.split(self.text[: number.start])
        headers = _BETWEEN_CELLS.split(self.header)
        # Both rows may begin with a bar or not.
        column = len(before) - (not before[0].strip()) - 1 + (not headers[0].strip())
        is_first = not _DIGIT.search(before[-1]) and column < len(headers)
        return headers[column].replace(BLANK, " ").strip() if is_first and self.header else ""

    def sentence_span(self, at: int) -> Span:
        """Return the span of the sentence around an offset in ``text``, up to ``_REACH`` characters away."""
        first, last = max(at - _REACH, 0), min(at + _REACH, len(self.text))
        start = max((one.end() for one in _SENTENCE_END.finditer(self.text, first, at)), default=first)
        found = _SENTENCE_END.search(self.text, at, last)
        return start, found.end() if found else last


def read_paragraphs(page: Page) -> list[Paragraph]:
    """Return the paragraphs of a page or another text, in order, without generated text."""
    prose = read_prose(page.file, page.text)
    if prose.spans is None:
        return list(_read_markdown(page, prose.shown))
    whole = [(0, len(page.text))]
    own = ((start, prose.shown[start:end]) for start, end in prose.spans)
    return [
        Paragraph(_without_markup(text), text, start, whole) for start, text in own if _DIGIT.search(text)
    ]


def _read_markdown(page: Page, text: str) -> Iterator[Paragraph]:
    from markdown_it import MarkdownIt

    hidden = [one.span() for one in _HIDDEN.finditer(text)]
    shown = blank(
        text, [*hidden, *((one.region.start, one.region.end) for one in page.comments if one.region)]
    )
    # markdown-it ends lines at fewer characters than Python.
    lines = shown.splitlines(keepends=True)
    starts = list(accumulate(map(len, lines), initial=0))
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    parsed = parser.parse("".join(f"{line.splitlines()[0]}\n" for line in lines))
    blocks = [(one.type, one.tag, one.map) for one in parsed if one.map]
    headings = [(int(tag[1]), starts[lines[0]]) for kind, tag, lines in blocks if kind == "heading_open"]
    tables = [lines for kind, _, lines in blocks if kind == "table_open"]
    rows = {starts[line]: starts[first] for first, last in tables for line in range(first + 1, last)}
    found = [
        (starts[first], shown[starts[first] : starts[min(last, len(starts) - 1)]])
        for kind, _, (first, last) in blocks
        if kind in _PARAGRAPHS and not _OPAQUE.match(shown, starts[first])
    ]
    found += [(start, text[start:end]) for start, end in _figure_texts(page)]
    for start, words in sorted(found):
        sections = list(_sections(start, headings, len(text)))
        header = shown[rows[start] :].partition("\n")[0] if start in rows else ""
        yield Paragraph(_without_markup(words), words, start, sections, _without_markup(header))


def _figure_texts(page: Page) -> Iterator[Span]:
    """Yield the spans of titles, captions and sentences in comments. A `title` in a pipeline is a field."""
    for spec in filter(None, page.specs):
        own = (spec.title, spec.caption) if isinstance(spec, PipelineSpec) else ()
        said = [text for one in spec.quotes if isinstance(one, ValueSpec) for text in one.say.values()]
        for found in _FIGURE_TEXT.finditer(page.text, spec.comment.start, spec.comment.end):
            if found[1] in (*own, *said):
                yield found.span(1)


def _without_markup(text: str) -> str:
    for pattern in (_CODE, _MARKUP):
        text = blank(text, (one.span() for one in pattern.finditer(text)))
    return text


def _sections(offset: int, headings: Sequence[tuple[int, int]], end: int) -> Iterator[Span]:
    """Yield the sections around an offset: each extends to the next heading of its level or above."""
    level = _DEEPEST + 1
    for number in range(len(headings) - 1, -1, -1):
        own, start = headings[number]
        if start > offset or own >= level or (own == 1 and level <= _DEEPEST):
            continue
        level = own
        yield start, next((at for other, at in headings[number + 1 :] if other <= own), end)
    if level > _DEEPEST:
        yield 0, end
