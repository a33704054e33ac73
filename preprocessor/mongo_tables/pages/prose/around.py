"""What stands around the clause of a figure: its sentence, those beside it, what introduces it, and headings above.

A list item is introduced by the items that it is under and by the words above the list, as in `On Windows:`. Words
right above a list, a typed table or a paragraph stand before it too, as far as they say what is there: `All figures
below are from May.`
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.pages.prose.clauses import keep_code, with_code_before
from mongo_tables.pages.prose.paragraphs import BLANK, find_sentence_span

if TYPE_CHECKING:
    from mongo_tables.pages.model import Page
    from mongo_tables.pages.prose.clauses import Clause
    from mongo_tables.pages.prose.numbers import Figure
    from mongo_tables.pages.prose.paragraphs import Paragraph
    from mongo_tables.specs.model import TableSpec

_PART: Final = re.compile(r"(?<=[,;:])\s")
_ITEM: Final = re.compile(r"(?P<indent>[ \t>]*)(?:[-*+]|\d+[.)])[ \t]")
_INTRODUCING: Final = re.compile(r":[\s*_]*\Z")
_EMPHASISED: Final = re.compile(
    r"\s*(?:(?P<sign>\*\*|__).+?(?P=sign)|<(?P<tag>b|strong)>.+?</(?P=tag)>)\s*", re.DOTALL | re.IGNORECASE
)
_QUOTATION: Final = re.compile(r"[ \t]*>")
_TITLE: Final = re.compile(r"#[ \t]")
_HTML_HEADING: Final = re.compile(
    r"<(?P<tag>h[1-6]|summary)\b[^>]*>(?P<words>.*?)</(?P=tag)>", re.IGNORECASE | re.DOTALL
)
_CLOSED: Final = re.compile(r"</details\b", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^>]*>")
SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")
_NUMBERS: Final = "numbers|figures|results|values|times|timings|measurements|benchmarks|tables?|lists?"
AHEAD: Final = (
    rf"\b(?:{_NUMBERS}|all|everything)\s(?:\w+\s){{0,2}}below\b|\bbelow\s(?:are|is)\b"
    rf"|\bfollowing\s(?:\w+\s)?(?:{_NUMBERS}|are)\b|\bthan (?:this|these)\b"
)
"""What a sentence has that says what stands behind it."""
_LEADING: Final = re.compile(
    rf"{AHEAD}|\A\W*(?:these|those)\b|\b(?:measured|timed|benchmarked|we (?:have )?(?:tested|ran))\b"
    r"|\b(?:here (?:are|is)|what follows|as follows)\b",
    re.IGNORECASE,
)
"""The same, or how that came about."""


class Around(NamedTuple):
    """The parts of a sentence before and behind its clause, the sentences of its paragraph, and what leads to it.

    ``ends``: what the sentence ends with. ``next`` is the sentence behind it, ``behind`` are those after that.
    ``above`` are the headings of sections in which the table is not. ``is_quotation``: they stand in a block quotation,
    and the table does not.
    """

    leading: Sequence[str] = ()
    trailing: Sequence[str] = ()
    ends: str = ""
    before: str = ""
    next: str = ""
    behind: str = ""
    introducing: Sequence[str] = ()
    above: Sequence[str] = ()
    is_quotation: bool = False


class _HtmlHeading(NamedTuple):
    """The words of a heading or a summary in HTML, and from and to of what is below it."""

    words: str
    start: int
    end: int


class Surroundings:
    """The paragraphs of a page, and what stands around each figure of them."""

    def __init__(self, page: Page, found: Sequence[Paragraph]) -> None:
        self._page, self._found = page.text, found
        self._headings: dict[int, str] = {}
        self._tables = {id(spec): spec.comment.start for spec in page.specs if spec}
        self._number = {one.start: number for number, one in enumerate(found)}
        self._html_headings = [*_list_html_headings(page.text, found)]

    def around(
        self, figure: Figure, clause: Clause, paragraph: Paragraph, words: str, table: TableSpec
    ) -> Around:
        """What stands around a figure that the ``table`` has; ``words`` are those of its paragraph."""
        leading_to = Around(
            introducing=[*self._list_introducing(paragraph)],
            above=[*self._list_headings(figure, paragraph, self._place(table))],
            is_quotation=self._is_quoted(paragraph.start) and not self._is_quoted(self._line_of(table)),
            before=self._read_above(paragraph),
        )
        if paragraph.in_table:
            return leading_to
        first, text = figure.start - clause.at, paragraph.text
        start, end = (with_code_before(text, at) for at in find_sentence_span(text, figure.start))
        following = find_sentence_span(text, end)[1] if end < len(words) else end
        return leading_to._replace(
            leading=_split_parts(words[start:first]),
            trailing=_split_parts(words[first + len(clause.words) : end].lstrip(",;: ")),
            ends=words[start:end].rstrip(f" *_{BLANK}")[-1:],
            before=f"{leading_to.before} {words[:start]}",
            next=words[end:following],
            behind=words[following:],
        )

    def headings_of(self, table: TableSpec) -> str:
        """The headings above a table of the page, but for the title of that."""
        at = self._place(table)
        if at not in self._headings:
            starts = {start for one in self._found for start, end in one.sections if 0 < start <= at < end}
            words = (self._heading(one) for one in starts if not _TITLE.match(self._page, one))
            self._headings[at] = " ".join(words)
        return self._headings[at]

    def is_nearest(self, paragraph: Paragraph, table: TableSpec, others: Sequence[TableSpec]) -> bool:
        """Whether the smallest section around a paragraph with any of these tables has none of the ``others``."""
        own, places = self._place(table), [self._place(one) for one in (table, *others)]
        for start, end in paragraph.sections:
            if within := [one for one in places if start <= one < end]:
                return within == [own]
        return False

    def _place(self, table: TableSpec) -> int:
        """Where a table begins; -1 where it is on another page."""
        return self._tables.get(id(table), -1)

    def _is_quoted(self, line: int) -> bool:
        return _QUOTATION.match(self._page, line) is not None

    def _line_of(self, table: TableSpec) -> int:
        """Where the line begins that a table begins on."""
        return self._page.rfind("\n", 0, max(self._place(table), 0)) + 1

    def _list_headings(self, figure: Figure, paragraph: Paragraph, table: int) -> Iterator[str]:
        """The headings above a figure that are not above the table."""
        for start, end in paragraph.sections:
            if not start <= table < end and start in self._number and start != paragraph.start:
                yield self._heading(start)
        for one in self._html_headings:
            if one.start <= paragraph.start + figure.start < one.end and not one.start <= table < one.end:
                yield one.words

    def _heading(self, start: int) -> str:
        """The heading that begins there."""
        return keep_code(self._page, self._found[self._number[start]]) if start in self._number else ""

    def _read_above(self, paragraph: Paragraph) -> str:
        """The words right above a list, a typed table or a paragraph; "" where there are none.

        Of those above a paragraph the sentences that lead to it: others need not be about it.
        """
        is_item = self._is_item(paragraph)
        for one in self._list_before(paragraph):
            if _is_heading(one):
                return ""
            is_skipped = one.in_table if paragraph.in_table else is_item and self._is_item(one)
            if is_skipped:
                continue
            if one.in_table:
                return ""
            words = keep_code(self._page, one)
            is_led = is_item or paragraph.in_table
            return words if is_led else " ".join(filter(_LEADING.search, SENTENCE_END.split(words)))
        return ""

    def _list_before(self, paragraph: Paragraph) -> Iterator[Paragraph]:
        """The paragraphs before one in its section, the nearest first."""
        before = reversed(self._found[: self._number[paragraph.start]])
        return takewhile(lambda one: one.sections == paragraph.sections, before)

    def _is_item(self, paragraph: Paragraph) -> bool:
        return _ITEM.match(self._page, paragraph.start) is not None

    def _list_introducing(self, paragraph: Paragraph) -> Iterator[str]:
        """The items that a paragraph is under, and the words above it that end with a colon, or are all emphasised."""
        item = _ITEM.match(self._page, paragraph.start)
        indent = len(item["indent"]) if item else 0
        for one in self._list_before(paragraph):
            other = _ITEM.match(self._page, one.start)
            text = self._page[one.start : one.end]
            if one.in_table and not paragraph.in_table:
                return
            if one.in_table:
                continue
            if other is None:
                if _INTRODUCING.search(text.rstrip()) or _EMPHASISED.fullmatch(text):
                    yield keep_code(self._page, one)
                return
            if item is None or paragraph.in_table:
                return
            if len(other["indent"]) < indent:
                indent = len(other["indent"])
                yield keep_code(self._page, one)


def _list_html_headings(page: str, found: Sequence[Paragraph]) -> Iterator[_HtmlHeading]:
    headings = [one.start for one in found if _is_heading(one)]
    for block in (one for one in found if page.startswith("<", one.start)):
        for one in _HTML_HEADING.finditer(page, block.start, block.end):
            end = _find_end(page, one["tag"].lower(), one.end(), headings)
            yield _HtmlHeading(_TAG.sub("", one["words"]), one.end(), end)


def _find_end(page: str, tag: str, at: int, headings: Sequence[int]) -> int:
    """A summary reaches to the end of its details, a heading to the next of its level or above, in HTML or Markdown."""
    if tag == "summary":
        closed = _CLOSED.search(page, at)
        return closed.start() if closed else len(page)
    level = int(tag[1])
    other = re.compile(rf"<h[1-{level}]\b", re.IGNORECASE).search(page, at)
    below = re.compile(rf"#{{{level + 1},}}")
    marked = (one for one in headings if one > at and not below.match(page, one))
    return min(next(marked, len(page)), other.start() if other else len(page))


def _is_heading(paragraph: Paragraph) -> bool:
    """Whether a section begins with a paragraph; that of the whole page begins with any."""
    return len(paragraph.sections) > 1 and paragraph.sections[0][0] == paragraph.start


def _split_parts(text: str) -> list[str]:
    """What stands between the commas, semicolons and colons of a sentence."""
    return [one for one in _PART.split(text) if one.strip()]
