"""What a figure stands in: its clause, and its sentence as far as the clause.

``prose`` is what paragraphs have of it, ``words`` has code as well, where names often stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from mongo_tables.pages.prose.numbers import MORE_OR_LESS, NUMBER, Figure, figures, read_number
from mongo_tables.pages.prose.numberwords import MEASURED
from mongo_tables.pages.prose.paragraphs import BLANK, Paragraph, find_clause_span, find_sentence_start

_NO_WORDS: Final = re.compile(
    r"<!--.*?-->|(?P<code>(?<!`)(`+)(?!`).+?(?<!`)\2(?!`))|(?<=\])(?:\([^)]*\)|\[[^\]]*\])", re.DOTALL
)
"""Comments and the targets of links; code is found lest it be taken for these."""
_COMPARING: Final = re.compile(
    rf"\b(?:than|compared|as\s(?:fast|slow|long|many|much|high|low)|{MORE_OR_LESS})\b|\bof\s{MEASURED}",
    re.IGNORECASE,
)
_MORE_BEHIND: Final = re.compile(rf"[\s{BLANK}]*(?:{MORE_OR_LESS})\b", re.IGNORECASE)
_CHANGES: Final = (
    "gain|los|cost|drop|fall|fell|ris|rose|grow|grew|shr[iau]nk|increas|decreas|improv|reduc|slow|speed"
)
_ROUGHLY: Final = r"(?:(?:about|around|roughly|nearly|almost|over|up to|at (?:least|most))\s+)?"
_CHANGE_BEFORE: Final = re.compile(
    rf"\b(?:by|(?:{_CHANGES})\w*)\s+(?:of\s+|by\s+)?{_ROUGHLY}$", re.IGNORECASE
)
_CHANGE_BEHIND: Final = re.compile(
    rf"[\s{BLANK}]*(?:of\s+)?(?:(?:speed|throughput|performance|latency)\s+)?(?:overhead|penalty|difference|(?:{_CHANGES})\w*)\b",
    re.IGNORECASE,
)
"""What makes a share a change from one row to another, right before and right behind it."""
_TIMES_WHAT: Final = re.compile(rf"[\s{BLANK}]+(?:the|its|their|that|those)\b", re.IGNORECASE)
_ASIDE: Final = re.compile(r"\s[–—-]\s")
_COUNTS: Final = re.compile(
    rf"(?<![\w.,/])({NUMBER})\s?(?:/|of|out of)\s?(?:the\s|all\s)?({NUMBER})(?![\w/]|[.,]\d)", re.IGNORECASE
)

_WORDS: Final = r"(?:[^,;:.]|\.(?=\S))"
_INTRODUCING: Final = re.compile(
    rf"[\s>{BLANK}`*_\[]*(?:(?:with|at|on|for|in|using|under|over)\s{_WORDS}*,|(?:`[^`]+`|[^\s,;:.]+)[*_\]]*:"
    rf"|(?:[-*+]|\d+[.)])\s{_WORDS}{{1,60}}:)[\s{BLANK}*_]*",
    re.IGNORECASE,
)
"""What a sentence begins with that belongs to the clause behind: `With 8 threads, alpha takes 5 ms`, `alpha: 5 ms`.

Of words before a colon one alone, or the head of a list item; others say something themselves.
"""
_BEHIND_STOP: Final = re.compile(rf"(?<=[.!?:;|])[\s{BLANK}]+$")
"""What a sentence ends with that belongs to the next: code at the beginning of that is blank in prose."""

WHEN: Final = (
    r"(?:(?:an?|the|its|on|in|at|when|if|for)\s+){0,2}"
    r"(?:warm|cold|hot|(?:un)?cached|mean|median|average|avg|min(?:imum)?|max(?:imum)?|best|worst|peak|p\d{2,3}(?:\.\d+)?)"
    r"(?:\s+(?:time|run|case|of|is))?"
)
"""What says which of the figures of one thing one is, and names no other."""
_WHEN: Final = re.compile(rf"\b{WHEN}\b", re.IGNORECASE)


class Clause(NamedTuple):
    """The clause of a figure, and the ``sentence`` up to its end; the figure is ``at`` in the words of the clause.

    ``differs``: right behind the figure it says how much more or less something is. ``header``: what stands above the
    cell of a typed row.
    """

    prose: str
    words: str
    sentence: str
    compares: bool
    at: int
    differs: bool = False
    header: str = ""

    def counts(self) -> Iterator[tuple[float, float]]:
        """The pairs of counts that it has: `9 / 12`, `9 of 12`."""
        for found in _COUNTS.finditer(self.prose):
            yield read_number(found[1]), read_number(found[2])


def keep_code(page: str, paragraph: Paragraph) -> str:
    """The text of a paragraph on one line with its code, as long as its prose."""
    text = page[paragraph.start : paragraph.end]
    shown = _NO_WORDS.sub(lambda found: found["code"] or BLANK * len(found[0]), text)
    return re.sub(r"[\r\n]", " ", shown)


def clause_of(figure: Figure, paragraph: Paragraph, words: str) -> Clause:
    """The clause in which a figure stands; ``words`` are those of its paragraph with code.

    A figure that has no words of its own belongs to what stands before it: `H6 (a scan), 0.3×`, `alpha takes 99 ms
    warm, 120 ms cold`. What introduces a sentence is among the words of its first clause.
    """
    text = paragraph.text
    start, end = find_clause_span(text, figure.start)
    sentence = find_sentence_start(text, figure.start)
    if not _has_words(words, start, end, figure):
        start = sentence
    first, last = with_code_before(text, start), with_code_before(text, end)
    begin = with_code_before(text, sentence)
    if _introduces(words[begin:first], figure):
        first = begin
    return Clause(
        text[start:end],
        words[first:last],
        words[begin:last],
        _compares(text, start, end, figure),
        figure.start - first,
        _differs(text, end, figure),
    )


def _introduces(words: str, figure: Figure) -> bool:
    """Whether words before a clause belong to it: they begin the sentence, and have no figure like its own."""
    return bool(_INTRODUCING.fullmatch(words)) and not any(one.is_like(figure) for one in figures(words))


def row_clause(figure: Figure, row: Paragraph, words: str, header: str) -> Clause:
    """What a figure stands in that is in a typed row; ``words`` are those of the row, and what else names the cell."""
    start, end = find_clause_span(row.text, figure.start)
    compares, differs = _compares(row.text, start, end, figure), _differs(row.text, end, figure)
    return Clause(row.text[start:end], words, words, compares, figure.start, differs, header)


def _has_words(words: str, start: int, end: int, figure: Figure) -> bool:
    behind = figure.start + len(figure.written)
    aside = _ASIDE.search(words, behind, end)
    beside = words[start : figure.start] + words[behind : aside.start() if aside else end]
    return any(map(str.isalpha, _WHEN.sub("", beside)))


def _compares(text: str, start: int, end: int, figure: Figure) -> bool:
    return bool(
        _COMPARING.search(text, start, end)
        or _CHANGE_BEFORE.search(text[start : figure.start])
        or _CHANGE_BEHIND.match(text, figure.start + len(figure.written), end)
        or (figure.kind == "times" and _TIMES_WHAT.match(text, figure.start + len(figure.written), end))
    )


def _differs(text: str, end: int, figure: Figure) -> bool:
    return bool(_MORE_BEHIND.match(text, figure.start + len(figure.written), end))


def with_code_before(text: str, at: int) -> int:
    """Where a sentence begins that ``at`` has without the code at its beginning."""
    found = _BEHIND_STOP.search(text, 0, at)
    return found.start() if found else at
