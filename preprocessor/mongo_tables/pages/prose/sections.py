"""The sections of a page that a sentence stands in, and the tables in them or that their comments quote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from mongo_tables.pages.prose.clauses import keep_code
from mongo_tables.pages.prose.numbers import LARGE
from mongo_tables.pages.prose.saidvalues import say_values
from mongo_tables.pages.prose.section import Section, read_section
from mongo_tables.pages.prose.topics import is_about_results, is_about_the_past
from mongo_tables.pages.prose.typedcells import Headers, group_rows
from mongo_tables.specs.model import PipelineSpec, QuotingSpec, Spec

if TYPE_CHECKING:
    from mongo_tables.pages.model import Answers, Page, Tables
    from mongo_tables.pages.prose.directions import Shown
    from mongo_tables.pages.prose.numbers import Figure
    from mongo_tables.pages.prose.paragraphs import Paragraph
    from mongo_tables.pages.prose.typedtables import TypedTable


class Sections:
    """The sections of a page, each read once, when it is asked for."""

    def __init__(self, page: Page, tables: Tables, answers: Answers, found: Sequence[Paragraph]) -> None:
        """``found``: the paragraphs of the page."""
        self._page, self._tables, self._answers = page, tables, answers
        self._typed_rows = [one for one in found if one.in_table]
        self._starts = sorted({one.sections[0][0] for one in found})
        self._spans: dict[tuple[int, int], Section | None] = {}
        self._read: dict[tuple[int, ...], Section] = {}

    @cached_property
    def headers(self) -> Headers:
        """What stands above the cells that somebody typed."""
        return Headers(self._page, self._typed_rows)

    @cached_property
    def _said(self) -> str:
        return say_values(self._page, self._tables, self._answers)

    def words(self, paragraph: Paragraph) -> str:
        """The text of a paragraph with its code and what its values say, as long as its prose."""
        return keep_code(self._said, paragraph)

    def at(self, span: tuple[int, int]) -> Section | None:
        """A section, from and to; None where it has no table with rows."""
        if span not in self._spans:
            shown = list_tables_within(span, self._page, self._tables, self._answers)
            self._spans[span] = self._read_once(shown) if shown else None
        return self._spans[span]

    def _read_once(self, shown: Shown) -> Section:
        """The section of some tables and charts; one around it often has no others."""
        key = tuple(id(spec) for spec, _ in shown)
        if key not in self._read:
            self._read[key] = read_section(shown)
        return self._read[key]

    def beside(self, paragraph: Paragraph) -> Section | None:
        """The smallest section around a paragraph that has tables.

        None where no section has one with rows, and where somebody typed a table into one that has none of ours: that
        speaks of it, but in paragraphs that quote another, and where it repeats one itself.
        """
        quotes = self.quotes(paragraph)
        for span in paragraph.sections:
            found = self.at(span)
            if found is not None and (quotes or self._has_own(span)):
                return found
            typed = self._typed_within(span)
            if typed and (quotes or not all(one.repeating for one in typed)):
                return None
            if found is not None:
                return found
        return None

    def is_typed_beside(self, figure: Figure, paragraph: Paragraph) -> bool:
        """Whether a table that somebody typed into the innermost section, which has none of ours, says a figure.

        A small number without a unit may be of anything beside ours too, as long as its column repeats none.
        """
        span = paragraph.sections[0]
        is_bare = paragraph.in_table and figure.unit is None and figure.high < LARGE
        if not is_bare and (self.quotes(paragraph) or self._has_own(span)):
            return False
        return any(one.adds(figure, paragraph.start + figure.start) for one in self._typed_within(span))

    def is_near(self, paragraph: Paragraph) -> bool:
        """Whether the innermost section around a paragraph has tables, be it one that somebody typed.

        Of that of the whole page what stands before the next heading: everything else is in it as well.
        """
        start, end = paragraph.sections[0]
        if len(paragraph.sections) <= 2 and end == len(self._page.text):
            end = next((one for one in self._starts if one > paragraph.start), end)
        return self.at((start, end)) is not None or bool(self._typed_within((start, end)))

    def is_about_results(self, paragraph: Paragraph) -> bool:
        """Whether a heading above a paragraph says that its section is about what was measured."""
        return any(is_about_results(self._heading(start)) for start, _ in paragraph.sections)

    def is_about_the_past(self, paragraph: Paragraph) -> bool:
        """Whether a paragraph says what older versions did, in a list of these without a table of its own."""
        if self.quotes(paragraph) or self.is_near(paragraph):
            return False
        return any(is_about_the_past(self._heading(start)) for start, _ in paragraph.sections)

    def list_ignored(self, paragraph: Paragraph, beside: Section) -> set[str]:
        """The rules that tables ignore in whose own section a paragraph stands."""
        around = {start for start, _ in paragraph.sections}
        own = {id(one) for one in self._page.specs}
        return {
            rule
            for spec, _ in beside.shown
            if id(spec) in own and self._last_heading(spec.comment.start) in around
            for rule in spec.ignore
        }

    def _last_heading(self, at: int) -> int:
        return max((one for one in self._starts if one <= at), default=0)

    def _heading(self, start: int) -> str:
        """The first line of a section."""
        return self._page.text[start : self._page.text.find("\n", start)] if start in self._starts else ""

    def quotes(self, paragraph: Paragraph) -> bool:
        """Whether a comment in a paragraph quotes a table."""
        specs = specs_within(self._page, paragraph.start, paragraph.end)
        return any(isinstance(one, QuotingSpec) for one in specs)

    def _typed_within(self, span: tuple[int, int]) -> list[TypedTable]:
        """The tables with a row in a section that somebody typed."""
        return [one for one in self._typed if any(span[0] <= row.start < span[1] for row in one.rows)]

    @cached_property
    def _typed(self) -> Sequence[TypedTable]:
        from mongo_tables.pages.prose.typedtables import TypedTable  # many pages have none

        ours = self.at((0, len(self._page.text))) if self._typed_rows else None
        if ours is None:
            return ()
        tables = group_rows(self._page, self._typed_rows)
        return [TypedTable(self._page, rows, self.headers, ours) for rows in tables]

    def _has_own(self, span: tuple[int, int]) -> bool:
        """Whether a table or a chart stands in a section."""
        return any(isinstance(one, PipelineSpec) for one in specs_within(self._page, *span))

    def around(self, paragraph: Paragraph) -> Iterator[Section]:
        """All sections around a paragraph that have tables, the innermost first."""
        yield from filter(None, map(self.at, paragraph.sections))


def specs_within(page: Page, start: int, end: int) -> list[Spec]:
    """The comments that begin between two offsets of a page."""
    return [spec for spec in page.specs if spec is not None and start <= spec.comment.start < end]


def list_tables_within(
    section: tuple[int, int], page: Page, tables: Tables, answers: Answers
) -> list[tuple[PipelineSpec, list[dict[str, object]]]]:
    """The tables and charts that stand in a section, from and to, or that its comments quote, with their rows."""
    own: dict[int, PipelineSpec] = {}
    for spec in specs_within(page, *section):
        table = tables.get(spec.table) if isinstance(spec, QuotingSpec) else spec
        if isinstance(table, PipelineSpec):
            own[id(table)] = table
    answered = ((spec, answers.get(spec.query.key)) for spec in own.values())
    return [(spec, rows) for spec, rows in answered if isinstance(rows, list) and rows]
