"""The paragraphs of a page and the sections that they stand in; what is no prose is blanked, in place.

A heading, a row of a table that somebody wrote, and the title and caption of a figure are paragraphs of their own.
Offsets stay those of the page, so that what is found in a paragraph has its line and column. Comments, generated
regions, code, link targets, addresses, HTML tags and the signs of emphasis are no prose; the words between tags are,
for READMEs centre their headline in HTML. What Python-Markdown indents under an admonition or a tab is code to
CommonMark, and is not looked at.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

BLANK = "\ue000"
"""Stands for every character that is no prose: no blank, lest a comment on a line of its own end the paragraph."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NO_PROSE = re.compile(
    r"(?P<code>(?<!`)(`+)(?!`).+?(?<!`)\2(?!`))"
    r"|\]\([^)]*\)|\]\[[^\]]*\]"
    r"|(?:https?|mongodb(?:\+srv)?)://\S+"
    r"|<[/!a-zA-Z][^>]*>|&#?\w+;"
    r"|\*+(?=\S)|(?<=\S)\*+|(?<![\w\ue000])_+(?=\S)|(?<=[^\s_])_+(?!\w)"
    r"|^[ \t>]*(?:#{1,6}[ \t]+)?(?:\d+(?:\.\d+)*[.)]|[-*+])[ \t]",
    re.DOTALL | re.MULTILINE,
)
_PROSE = frozenset({"paragraph_open", "heading_open", "tr_open", "html_block"})
"""What opens a paragraph, a heading, and a row of a table; and HTML, which may be all of these."""
_NO_WORDS = re.compile(r"\s*<(?:script|style|pre|svg|textarea)\b", re.IGNORECASE)
"""How HTML begins that holds no sentences."""


_SENTENCE_END = re.compile(rf"[.!?:;][\s{BLANK}]+|\|[\s{BLANK}]*")
"""Or the border of a cell."""
_CLAUSE_END = re.compile(r"[,;]\s")
_FULL_STOP = re.compile(rf"[.!?][\s{BLANK}]+|\|[\s{BLANK}]*")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """``text`` begins at ``start`` in the page; ``sections`` are from-to offsets around it, the innermost first.

    ``in_table``: it is a row of a table that somebody wrote.
    """

    text: str
    start: int
    sections: tuple[tuple[int, int], ...]
    in_table: bool = False

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.start + len(self.text)


def paragraphs(
    page: str, generated: Sequence[tuple[int, int]] = (), captions: Sequence[tuple[int, int]] = ()
) -> list[Paragraph]:
    """The paragraphs of a page, in order.

    ``generated`` are offsets of text that a program wrote into it, ``captions`` those of texts within comments that
    readers see.
    """
    shown = _blank_out(page, [*_spans(_FRONT_MATTER, page), *_spans(_COMMENT, page), *generated])
    from markdown_it import MarkdownIt

    starts = list(accumulate((len(line) for line in shown.splitlines(keepends=True)), initial=0))
    tokens = MarkdownIt("commonmark").enable("table").disable("inline").parse(_newlines(shown))
    # A heading or a paragraph is told by what opens it; its lines are counted from 0.
    blocks = [(token.type, token.tag, token.map) for token in tokens if token.map]
    headings = [(int(tag[1]), starts[lines[0]]) for kind, tag, lines in blocks if kind == "heading_open"]
    texts = [
        (starts[first], shown[starts[first] : starts[min(last, len(starts) - 1)]], kind == "tr_open")
        for kind, _, (first, last) in blocks
        if kind in _PROSE and not _NO_WORDS.match(shown, starts[first])
    ]
    texts += [(start, page[start:end], False) for start, end in captions]
    return [
        Paragraph(
            _blank_out(text, _spans(_NO_PROSE, text)),
            start,
            tuple(_around(start, headings, len(page))),
            in_table,
        )
        for start, text, in_table in sorted(texts)
    ]


def split_sentences(text: str) -> list[tuple[int, int]]:
    """From and to of the sentences of a paragraph; what stands behind one, such as a comment, is its own."""
    ends = [0, *(one.end() for one in _SENTENCE_END.finditer(text)), len(text)]
    return [(start, end) for start, end in pairwise(ends) if start < end]


def find_clause_span(text: str, at: int) -> tuple[int, int]:
    """From and to of the part of a sentence that holds an offset, between commas and semicolons."""
    begin, end = next(one for one in split_sentences(text) if at < one[1])
    begin = max((one.end() for one in _CLAUSE_END.finditer(text, begin, at)), default=begin)
    found = _CLAUSE_END.search(text, at, end)
    return begin, found.start() if found else end


def find_sentence_start(text: str, at: int) -> int:
    """Where the sentence that holds an offset begins; a colon or a semicolon ends none."""
    return max((one.end() for one in _FULL_STOP.finditer(text, 0, at)), default=0)


def find_sentence_span(text: str, at: int) -> tuple[int, int]:
    """From and to of the sentence that holds an offset; a colon or a semicolon ends none."""
    found = _FULL_STOP.search(text, at)
    return find_sentence_start(text, at), found.end() if found else len(text)


def place(page: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, from 1."""
    starts = [0, *(one.end() for one in re.finditer(r"\r\n|\r|\n", page))]
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


def _newlines(text: str) -> str:
    """Lines as markdown-it counts them: what Python alone takes for a line's end must not be one."""
    return "".join(
        line.rstrip("\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029") + "\n" for line in text.splitlines()
    )


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (one.span() for one in pattern.finditer(text))


def _blank_out(text: str, spans: Sequence[tuple[int, int]] | Iterator[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + re.sub(r"[^\r\n]", BLANK, text[start:end]) + text[end:]
    return text


def _around(offset: int, headings: Sequence[tuple[int, int]], end: int) -> Iterator[tuple[int, int]]:
    """The sections that hold ``offset``: each goes from its heading to the next of its level or above."""
    level = 7
    for number in range(len(headings) - 1, -1, -1):
        own, start = headings[number]
        if start > offset or own >= level:
            continue
        level = own
        later = (begun for other, begun in headings[number + 1 :] if other <= own)
        yield start, next(later, end)
    yield 0, end
