"""What the sentences of a page are held against: the tables of the sections that they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from preprocessor.pages.prose.directions import SpeedRows, read_speeds
from preprocessor.pages.prose.evidence import Evidence, evidence
from preprocessor.pages.prose.naming import Named, TableNames, find_names, read_names
from preprocessor.specs.model import PipelineSpec, QuotingSpec, Spec

if TYPE_CHECKING:
    from preprocessor.pages.model import Answers, Page, Tables
    from preprocessor.pages.prose.directions import Shown
    from preprocessor.pages.prose.paragraphs import Paragraph


@dataclass(frozen=True)
class Section:
    """The tables and charts of a section with their rows, what they say, and the rules that one of them ignores.

    ``nouns`` are units by the headers of the tables, ``names`` what rows and columns are called.
    """

    shown: Shown
    evidence: Evidence
    nouns: frozenset[str]
    names: tuple[TableNames, ...]
    ignored: frozenset[str]

    @cached_property
    def speeds(self) -> Sequence[SpeedRows]:
        """The rows whose speeds sentences may compare by their names."""
        return tuple(read_speeds(self.shown))

    def find_names(self, text: str, *, loosely: bool = False) -> dict[int, Named]:
        """What a text names in each of the tables."""
        return find_names(text, self.names, self.nouns, loosely=loosely)


class Sections:
    """The sections of a page, each read once, when it is asked for."""

    def __init__(self, page: Page, tables: Tables, answers: Answers, written_tables: Sequence[int]) -> None:
        """``written_tables``: where rows of tables begin that somebody typed."""
        self._page, self._tables, self._answers = page, tables, answers
        self._written_tables = written_tables
        self._spans: dict[tuple[int, int], Section | None] = {}
        self._read: dict[tuple[int, ...], Section] = {}

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
            self._read[key] = _read_section(shown)
        return self._read[key]

    def beside(self, paragraph: Paragraph) -> Section | None:
        """The smallest section around a paragraph that has tables.

        None where no section has one with rows, and where somebody typed a table into one that has none of ours: that
        speaks of it, but in paragraphs that quote another.
        """
        quotes = any(
            isinstance(one, QuotingSpec) for one in specs_within(self._page, paragraph.start, paragraph.end)
        )
        for span in paragraph.sections:
            found = self.at(span)
            is_typed = any(span[0] <= one < span[1] for one in self._written_tables)
            if found is not None and (quotes or not is_typed or self._has_own(span)):
                return found
            if is_typed:
                return None
        return None

    def _has_own(self, span: tuple[int, int]) -> bool:
        """Whether a table or a chart stands in a section."""
        return any(isinstance(one, PipelineSpec) for one in specs_within(self._page, *span))

    def around(self, paragraph: Paragraph) -> Iterator[Section]:
        """All sections around a paragraph that have tables, the innermost first."""
        yield from filter(None, map(self.at, paragraph.sections))


def _read_section(shown: Shown) -> Section:
    ignored = frozenset(rule for spec, _ in shown for rule in spec.ignore)
    said = evidence(shown)
    return Section(tuple(shown), said, said.nouns, read_names(shown), ignored)


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
