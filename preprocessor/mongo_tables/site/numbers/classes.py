"""``check --numbers``: classify every number with a unit in the text of pages."""

from __future__ import annotations

from bisect import bisect_left
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations, takewhile
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal

from mongo_tables.directives.specs import CheckSpec, PipelineSpec, QuotingSpec, Spec, ValueSpec
from mongo_tables.files.folders import place_at
from mongo_tables.findings.rules import finding
from mongo_tables.site.markdown import MarkdownContext
from mongo_tables.site.numbers.prose import BLANK, NUMBER_MARK, language_of
from mongo_tables.site.numbers.tables import Cell, Table, read_table
from mongo_tables.site.numbers.text import (
    Notation,
    Number,
    Paragraph,
    kind_of,
    normalized,
    read_heading,
    read_numbers,
    read_paragraphs,
)
from mongo_tables.site.pages import tables_by_id
from mongo_tables.site.statements import find_numbers, value_text

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.numbers.text import Precision
    from mongo_tables.site.pages import AnswersByKey, Page, Tables


RULE = "MT324"
_HINT: Final = (
    'write it with RESULT_VALUE, or give the reason: "ignore": {"MT324": "…"} in a table of the section'
)
_HINT_ELSEWHERE: Final = "correct it, or give the reason in mongo-tables.toml: [[numbers.exempt]]"
Class = Literal["bound", "found", "exempt", "open"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A typed number with its search context: its sentence, its offset there (``at``), and tables.

    ``begin`` is the offset of the sentence in the text.
    """

    number: Number
    sentence: str
    at: int
    tables: NearTables
    begin: int = 0

    @property
    def is_found(self) -> bool:
        """Return whether a table contains the number."""
        return find_place(self.number, self.sentence, self.tables) is not None

    @property
    def offset(self) -> int:
        """Return the offset of the number in the text."""
        return self.begin + self.at


@dataclass(frozen=True, slots=True)
class TextNumber:
    """A number of a page: ``bound`` by a comment, ``found`` in a table, ``exempt`` or ``open``.

    ``where`` says in which cell it is.
    """

    file: str
    at: tuple[int, int]
    written: str
    kind: Class
    reason: str = ""
    candidate: Candidate | None = None
    where: str = ""


def classify_numbers(
    pages: Iterable[Page], tables: Tables, answers: AnswersByKey, results: Sequence[Table] = ()
) -> list[TextNumber]:
    """Return the numbers of pages, in order. ``tables`` are the quotable tables, with rows in ``answers``.

    Numbers of pages without tables are looked up in ``results``.
    """
    return [one for page in pages for one in _PageNumbers(page, tables, answers, results).classify()]


def open_findings(numbers: Iterable[TextNumber], *, all_open: bool = False) -> list[Finding]:
    """Return a warning for each open number in a section that has a table, or an error for each open number."""
    found = [
        finding(
            RULE,
            one.file,
            one.at,
            f"no cell of a table at hand is `{one.written}`",
            _HINT if one.candidate and one.candidate.tables.near else _HINT_ELSEWHERE,
        )
        for one in numbers
        if one.kind == "open" and one.candidate and (all_open or one.candidate.tables.near)
    ]
    return [one._replace(severity="error") for one in found] if all_open else found


class _PageNumbers:
    def __init__(self, page: Page, tables: Tables, answers: AnswersByKey, results: Sequence[Table]) -> None:
        self.page = page
        self.results = results
        self.tables = ChainMap(tables_by_id([page]), tables)  # type: ignore[arg-type]
        self.context = MarkdownContext(answers, self.tables)
        locale = next(
            (one.locale for spec in page.pipeline_specs for one in spec.format.values() if one.locale), None
        )
        self.notation = Notation.of(locale or language_of(page.file, page.text))
        self.read: dict[int, Table] = {}

    def classify(self) -> Iterator[TextNumber]:
        shown = self._shown(self.page.specs)
        results = () if shown else self.results
        nouns = frozenset[str]().union(*(one.nouns for one in (*shown, *results)))
        values = [spec for spec in self.page.specs if isinstance(spec, ValueSpec)]
        for paragraph in read_paragraphs(self.page):
            read = [
                one if one.has_unit else replace(one, units=read_heading(paragraph.header_of(one)).units)
                for one in read_numbers(paragraph.text, self.notation, nouns)
            ]
            held = {one.start for one in read if paragraph.text[one.start - 1 : one.start] == NUMBER_MARK}
            # The counter that an attribute belongs to begins at 0.
            numbers = [one for one in read if one.start in held or (one.has_unit and (one.value or not held))]
            inside = [spec for spec in values if paragraph.start <= spec.comment.start < paragraph.end]
            if not numbers and not inside:
                continue
            tables, reason = self._at_hand(paragraph, shown)
            tables = replace(tables, results=results)
            yield from (self._typed(paragraph, one, tables, reason) for one in numbers)
            for spec in inside:
                yield from self._bound(paragraph, spec, tables, nouns)

    def _at_hand(self, paragraph: Paragraph, shown: Sequence[Table]) -> tuple[NearTables, str]:
        """Return the tables that a paragraph's numbers may come from, and the reason if they are exempt."""
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
        return NearTables(own, others, expected), next(reasons, "")

    def _typed(self, paragraph: Paragraph, number: Number, tables: NearTables, reason: str) -> TextNumber:
        start, end = paragraph.sentence_span(number.start)
        begin = paragraph.start + start
        sentence = f"{paragraph.words[start:end]} {paragraph.header_of(number)}".rstrip(" ")
        candidate = Candidate(number, sentence, number.start - start, tables, begin)
        where = find_place(number, candidate.sentence, tables)
        kind: Class = "found" if where is not None else "exempt" if reason else "open"
        at = place_at(self.page.text, paragraph.start + number.start)
        written = " ".join(paragraph.text[number.start : number.end].replace(BLANK, " ").split())
        reason = reason if kind == "exempt" else ""
        return TextNumber(self.page.file, at, written, kind, reason, candidate, where or "")

    def _bound(
        self, paragraph: Paragraph, spec: ValueSpec, tables: NearTables, nouns: Collection[str]
    ) -> Iterator[TextNumber]:
        """Yield the numbers of a value, as if they were typed in place of its comment."""
        text = value_text(spec, self.tables, self.context.answers)
        first = spec.comment.start - paragraph.start
        start, end = paragraph.sentence_span(first)
        region = spec.comment.region
        behind = (region.end if region else spec.comment.end) - paragraph.start
        sentence = paragraph.words[start:first] + text + paragraph.words[behind : max(end, behind)]
        for number in read_numbers(sentence, self.notation, nouns):
            if first - start <= number.start < first - start + len(text):
                candidate = (
                    Candidate(number, sentence, number.start, tables, paragraph.start + start)
                    if number.has_unit
                    else None
                )
                at = spec.comment.line, spec.comment.column
                yield TextNumber(
                    self.page.file, at, sentence[number.start : number.end], "bound", "", candidate
                )

    def _specs_between(self, start: int, end: int) -> list[Spec]:
        return [spec for spec in self.page.specs if spec is not None and start <= spec.comment.start < end]

    def _shown(self, specs: Sequence[Spec | None]) -> list[Table]:
        """Return the tables and charts in ``specs``, and those that values and statements in it quote."""
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
            if not any(line.startswith("|") for line in lines):  # A written chart is a picture.
                lines = self.context.table_lines(spec, told=False)
            self.read[id(spec)] = read_table(lines, self.notation, spec.id or "")
        return self.read[id(spec)]


_MOST_NAMED: Final = 20
"""The most rows that a sentence compares: a name of more rows is no name."""
_EXACT: Final = 1e-9
"""Relative rounding error of a conversion between doubles."""


@dataclass(frozen=True, slots=True)
class NearTables:
    """The tables that a number may come from: ``near`` ones, and ``others`` that its page shows or quotes.

    ``expected`` holds the numbers that statements of its paragraph compare rows with. A text without tables
    has the collections of its ``results``.
    """

    near: Sequence[Table]
    others: Sequence[Table] = ()
    expected: Sequence[float] = ()
    results: Sequence[Table] = ()

    @property
    def all(self) -> tuple[Table, ...]:
        """Return all tables."""
        return (*self.near, *self.others, *self.results)

    def __bool__(self) -> bool:
        return bool(self.near or self.others or self.expected or self.results)


def find_place(number: Number, sentence: str, tables: NearTables) -> str | None:
    """Return where a number is found, or None. It is "" for a ratio, or a number that a statement expects."""
    words = f" {normalized(sentence)} "
    exact = number.precisions[0]
    factors = (1.0, *(1.0 / unit.factor for unit in number.units if number.is_ratio))
    if any(is_within(number, exact, value * one) for value in tables.expected for one in factors):
        return ""
    for table in tables.all:
        if cell := _find_cell(number, words, table):
            return f"{table.title}: row {cell.row + 1}, column `{table.labels[cell.column]}`".lstrip(": ")
    compared = (*tables.near, *tables.results) if number.is_ratio else ()
    return "" if any(_is_ratio(number, words, table) for table in compared) else None


def _find_cell(number: Number, words: str, table: Table) -> Cell | None:
    """Return the cell that a number rounds, or None. A short number needs a name in its sentence."""
    cells = [
        (cell, precision.digits)
        for cells in table.alike
        for factor in unit_factors(number, cells[0], table)
        for precision in number.precisions
        for cell in _cells_within(number, precision, cells, factor)
    ]
    if not cells:
        return None
    if number.noun and table.size == 1:
        return cells[0][0]
    if (rows := table.rows.find_any(words)) or number.noun:
        named = [cell for cell, _ in cells if cell.row in rows]
    else:
        columns = table.columns.find_any(words)
        named = [cell for cell, _ in cells if cell.column in columns]
    telling = (cell for cell, digits in cells if digits >= table.telling)
    return next(iter((*named, *telling)), None)


def _cells_within(
    number: Number, precision: Precision, cells: Sequence[Cell], factor: float
) -> Iterator[Cell]:
    """Yield the cells that a number rounds; they are sorted by value."""
    reach = 2 * (precision.half + _EXACT * number.value)
    first = bisect_left(cells, (number.value - reach) / factor, key=attrgetter("value"))
    near = takewhile(lambda cell: cell.value * factor <= number.value + reach, islice(cells, first, None))
    return (cell for cell in near if is_within(number, precision, cell.value * factor))


def unit_factors(number: Number, cell: Cell, table: Table) -> tuple[float, ...]:
    """Return the factors from a cell's unit, or that of similar cells, to the units of the text."""
    nouns = table.headings[cell.column].nouns
    if not number.has_unit:
        return (1.0,)
    if number.noun:
        return (1.0,) if number.noun == cell.number.noun or number.noun in nouns else ()
    if not cell.units:
        # A table without a unit may use that of the text, but a count is not a share.
        return () if cell.number.noun or (number.is_ratio and nouns) else (1.0,)
    pairs = ((one, own) for own in number.units for one in cell.units)
    return tuple(one.factor / own.factor for one, own in pairs if kind_of(one) == kind_of(own))


def _is_ratio(number: Number, words: str, table: Table) -> bool:
    """Return whether a number is the ratio of two cells of one column whose rows the sentence names.

    The columns are the named ones; if none is named, the first with a unit. A share may be a difference:
    150 ms are 50 % more than 100 ms.
    """
    named = table.rows.find_any(words)
    if len(named) > _MOST_NAMED:
        return False
    cells = [cell for cell in table.cells if cell.row in named and cell.is_measure]
    first = min(
        ((not cell.units, cell.column) for cell in cells if cell.column >= table.naming), default=None
    )
    columns = table.columns.find_any(words) & {cell.column for cell in cells} or ({first[1]} if first else ())
    cells = [cell for cell in cells if cell.column in columns]
    scale = number.units[0].factor
    for one, two in permutations(cells, 2):
        if one.column != two.column or one.row == two.row:
            continue
        ratio = _base_value(one) / _base_value(two)
        # Cells are rounded, so their ratio is inexact too.
        loss = ratio * sum(cell.number.precisions[0].half / cell.number.value for cell in (one, two))
        for value in (ratio, abs(1 - ratio)) if scale != 1 else (ratio,):
            if any(is_within(number, each, value / scale, loss / scale) for each in number.precisions):
                return True
    return False


def _base_value(cell: Cell) -> float:
    return cell.number.value * (cell.units[0].factor if cell.units else 1.0)


def is_within(number: Number, precision: Precision, value: float, loss: float = 0.0) -> bool:
    """Return whether a number rounds a value that is exact up to ``loss``."""
    return isfinite(value) and abs(value - number.value) <= precision.half + loss + _EXACT * abs(value)
