"""``check --numbers``: the class of every number with a unit in the text of pages."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mongo_tables.directives.column_format import convention_of
from mongo_tables.directives.specs import CheckSpec, PipelineSpec, QuotingSpec, Spec, ValueSpec
from mongo_tables.files.text import place_at
from mongo_tables.findings.rules import finding
from mongo_tables.site.markdowntext import MarkdownContext
from mongo_tables.site.model import tables_by_id
from mongo_tables.site.numbers.matching import Tables, is_found
from mongo_tables.site.numbers.tables import Table, read_table
from mongo_tables.site.numbers.text import BLANK, Paragraph, read_paragraphs
from mongo_tables.site.numbers.tokens import Notation, Number, read_numbers
from mongo_tables.site.statements import find_numbers, value_text

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.model import Answers, Page
    from mongo_tables.site.model import Tables as TablesById

RULE = "MT324"
Class = Literal["bound", "found", "exempt", "open"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A typed number as it is searched for: in its sentence, where it begins at ``at``, and in tables."""

    number: Number
    sentence: str
    at: int
    tables: Tables

    @property
    def is_found(self) -> bool:
        """Whether a table has it."""
        return is_found(self.number, self.sentence, self.tables)


@dataclass(frozen=True, slots=True)
class TextNumber:
    """A number of a page: ``bound`` by a comment, ``found`` in a table, ``exempt`` for a reason, or ``open``."""

    file: str
    at: tuple[int, int]
    written: str
    kind: Class
    reason: str = ""
    candidate: Candidate | None = None


def classify_numbers(pages: Sequence[Page], tables: TablesById, answers: Answers) -> list[TextNumber]:
    """The numbers of pages, in order. ``tables`` are those that comments may name, with their rows in ``answers``."""
    return [one for page in pages for one in _PageNumbers(page, tables, answers).classify()]


def open_findings(numbers: Sequence[TextNumber]) -> list[Finding]:
    """A warning for each open number in a section that has a table."""
    return [
        finding(
            RULE,
            one.file,
            one.at,
            f"no cell of a table at hand is `{one.written}`",
            'write it by RESULT_VALUE, or say why it is right: "ignore": {"MT324": "…"} in a table of the section',
        )
        for one in numbers
        if one.kind == "open" and one.candidate and one.candidate.tables.near
    ]


class _PageNumbers:
    def __init__(self, page: Page, tables: TablesById, answers: Answers) -> None:
        self.page = page
        self.tables = ChainMap(tables_by_id([page]), tables)  # type: ignore[arg-type]
        self.context = MarkdownContext(answers, self.tables)
        locale = next(
            (one.locale for spec in page.pipeline_specs for one in spec.format.values() if one.locale), None
        )
        convention = convention_of(locale)
        self.notation = Notation(convention.group, convention.decimal)
        self.read: dict[int, Table] = {}

    def classify(self) -> Iterator[TextNumber]:
        shown = self._shown(self.page.specs)
        nouns = frozenset[str]().union(*(one.nouns for one in shown))
        values = [spec for spec in self.page.specs if isinstance(spec, ValueSpec)]
        for paragraph in read_paragraphs(self.page):
            numbers = [one for one in read_numbers(paragraph.text, self.notation, nouns) if one.has_unit]
            inside = [spec for spec in values if paragraph.start <= spec.comment.start < paragraph.end]
            if not numbers and not inside:
                continue
            tables, reason = self._at_hand(paragraph, shown)
            yield from (self._typed(paragraph, one, tables, reason) for one in numbers)
            for spec in inside:
                yield from self._bound(paragraph, spec, tables, nouns)

    def _at_hand(self, paragraph: Paragraph, shown: Sequence[Table]) -> tuple[Tables, str]:
        """The tables that numbers of a paragraph may come from, and the reason why they need not."""
        around = (self._specs_between(*span) for span in paragraph.sections)
        near = next((specs for specs in around if self._shown(specs)), [])
        inside = self._specs_between(paragraph.start, paragraph.end)
        own = self._shown(near)
        known = {id(one) for one in own}
        others = [one for one in shown if id(one) not in known]
        checks = (spec for spec in inside if isinstance(spec, CheckSpec))
        expected = [float(one) for spec in checks for one in find_numbers(spec.expect)]
        reasons = (
            spec.ignore[RULE]
            for spec in (*near, *inside)
            if RULE in spec.ignore and (spec in inside or isinstance(spec, PipelineSpec))
        )
        return Tables(own, others, expected), next(reasons, "")

    def _typed(self, paragraph: Paragraph, number: Number, tables: Tables, reason: str) -> TextNumber:
        start, end = paragraph.sentence_span(number.start)
        candidate = Candidate(number, paragraph.words[start:end], number.start - start, tables)
        kind: Class = "found" if candidate.is_found else "exempt" if reason else "open"
        at = place_at(self.page.text, paragraph.start + number.start)
        written = " ".join(paragraph.text[number.start : number.end].replace(BLANK, " ").split())
        return TextNumber(self.page.file, at, written, kind, reason if kind == "exempt" else "", candidate)

    def _bound(
        self, paragraph: Paragraph, spec: ValueSpec, tables: Tables, nouns: Collection[str]
    ) -> Iterator[TextNumber]:
        """The numbers of a value, as if they were typed in the place of its comment."""
        text = value_text(spec, self.tables, self.context.answers)
        first = spec.comment.start - paragraph.start
        start, end = paragraph.sentence_span(first)
        region = spec.comment.region
        behind = (region.end if region else spec.comment.end) - paragraph.start
        sentence = paragraph.words[start:first] + text + paragraph.words[behind : max(end, behind)]
        for number in read_numbers(sentence, self.notation, nouns):
            if first - start <= number.start < first - start + len(text):
                candidate = Candidate(number, sentence, number.start, tables) if number.has_unit else None
                at = spec.comment.line, spec.comment.column
                yield TextNumber(
                    self.page.file, at, sentence[number.start : number.end], "bound", "", candidate
                )

    def _specs_between(self, start: int, end: int) -> list[Spec]:
        return [spec for spec in self.page.specs if spec is not None and start <= spec.comment.start < end]

    def _shown(self, specs: Sequence[Spec | None]) -> list[Table]:
        """The tables and charts among comments, and those that values and statements among them name."""
        found: dict[int, PipelineSpec] = {}
        for spec in specs:
            one = self.tables.get(spec.table) if isinstance(spec, QuotingSpec) else spec
            if isinstance(one, PipelineSpec) and isinstance(self.context.answers.get(one.query.key), list):
                found[id(one)] = one
        return [self._read(one) for one in found.values()]

    def _read(self, spec: PipelineSpec) -> Table:
        if id(spec) not in self.read:
            region = spec.comment.region if spec.file == self.page.file else None
            lines = region.inner.strip("\n").split("\n") if region else []
            if not any(line.startswith("|") for line in lines):  # A chart is a picture there.
                lines = self.context.table_lines(spec, told=False)
            self.read[id(spec)] = read_table(lines, self.notation)
        return self.read[id(spec)]
