"""What stands around the clause of a figure: its sentence, those beside it, what introduces it, and headings above.

A list item is introduced by the items that it is under and by the words above the list, as in `On Windows:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from preprocessor.pages.prose.clauses import keep_code, with_code_before
from preprocessor.pages.prose.paragraphs import BLANK, find_sentence_span

if TYPE_CHECKING:
    from preprocessor.pages.prose.clauses import Clause
    from preprocessor.pages.prose.numbers import Figure
    from preprocessor.pages.prose.paragraphs import Paragraph

_PART: Final = re.compile(r"(?<=[,;:])\s")
_ITEM: Final = re.compile(r"(?P<indent>[ \t>]*)(?:[-*+]|\d+[.)])[ \t]")
_INTRODUCING: Final = re.compile(r":[\s*_]*\Z")
_EMPHASISED: Final = re.compile(r"\s*(?P<sign>\*\*|__).+?(?P=sign)\s*", re.DOTALL)
_TITLE: Final = re.compile(r"#[ \t]")


class Around(NamedTuple):
    """The parts of a sentence before and behind its clause, the sentences of its paragraph, and what leads to it.

    ``ends``: what the sentence ends with. ``above`` are the headings of sections in which the table is not.
    """

    leading: Sequence[str] = ()
    trailing: Sequence[str] = ()
    ends: str = ""
    before: str = ""
    behind: str = ""
    introducing: Sequence[str] = ()
    above: Sequence[str] = ()


class Surroundings:
    """The paragraphs of a page, by which each is introduced."""

    def __init__(self, page: str, found: Sequence[Paragraph]) -> None:
        self._page, self._found = page, found
        self._number = {one.start: number for number, one in enumerate(found)}

    def around(self, figure: Figure, clause: Clause, paragraph: Paragraph, words: str, table: int) -> Around:
        """What stands around a figure; ``words`` are those of its paragraph, ``table`` is where the table begins."""
        above = [self._heading(start) for start in self._list_sections(paragraph, table)]
        introducing = [*self._list_introducing(paragraph)]
        if paragraph.in_table:
            return Around(introducing=introducing, above=above)
        first, (start, end) = figure.start - clause.at, find_sentence_span(paragraph.text, figure.start)
        start, end, last = (
            with_code_before(paragraph.text, start),
            with_code_before(paragraph.text, end),
            first + len(clause.words),
        )
        return Around(
            [one for one in _PART.split(words[start:first]) if one.strip()],
            [one for one in _PART.split(words[last:end].lstrip(",;: ")) if one.strip()],
            words[start:end].rstrip(f" *_{BLANK}")[-1:],
            words[:start],
            words[end:],
            introducing,
            above,
        )

    def headings_of(self, table: int) -> str:
        """The headings above a table, but for the title of the page."""
        starts = {start for one in self._found for start, end in one.sections if 0 < start <= table < end}
        return " ".join(self._heading(one) for one in starts if not _TITLE.match(self._page, one))

    def _list_sections(self, paragraph: Paragraph, table: int) -> Iterator[int]:
        for start, end in paragraph.sections:
            if not start <= table < end and start in self._number and start != paragraph.start:
                yield start

    def _heading(self, start: int) -> str:
        return keep_code(self._page, self._found[self._number[start]]) if start in self._number else ""

    def _list_introducing(self, paragraph: Paragraph) -> Iterator[str]:
        """The items that a paragraph is under, and the words above it that end with a colon, or are all emphasised."""
        item = _ITEM.match(self._page, paragraph.start)
        indent = len(item["indent"]) if item else 0
        for one in reversed(self._found[: self._number[paragraph.start]]):
            other = _ITEM.match(self._page, one.start)
            text = self._page[one.start : one.end]
            if one.sections != paragraph.sections or (one.in_table and not paragraph.in_table):
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
