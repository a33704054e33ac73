"""``check --numbers``: classify every number with a unit in the text of pages."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, takewhile
from math import isfinite
from random import Random
from typing import TYPE_CHECKING, Final, Literal, get_args

from mongo_tables.directives.column_format import convention_of
from mongo_tables.directives.specs import CheckSpec, PipelineSpec, QuotingSpec, Spec, ValueSpec
from mongo_tables.files.text import place_at
from mongo_tables.findings.rules import finding
from mongo_tables.lint.shape.units import Unit
from mongo_tables.site.markdown_figures import MarkdownContext
from mongo_tables.site.numbers.text import (
    BLANK,
    Heading,
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
from mongo_tables.site.written_tables import WrittenTable, read_cell

if TYPE_CHECKING:
    from mongo_tables.findings.finding import Finding
    from mongo_tables.site.numbers.text import Precision
    from mongo_tables.site.pages import AnswersByKey, Page, Tables


RULE = "MT324"
Class = Literal["bound", "found", "exempt", "open"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A typed number with its search context: its sentence, its offset there (``at``), and tables."""

    number: Number
    sentence: str
    at: int
    tables: NearTables

    @property
    def is_found(self) -> bool:
        """Return whether a table contains the number."""
        return is_found(self.number, self.sentence, self.tables)


@dataclass(frozen=True, slots=True)
class TextNumber:
    """A number of a page: ``bound`` by a comment, ``found`` in a table, ``exempt`` or ``open``."""

    file: str
    at: tuple[int, int]
    written: str
    kind: Class
    reason: str = ""
    candidate: Candidate | None = None


def classify_numbers(pages: Sequence[Page], tables: Tables, answers: AnswersByKey) -> list[TextNumber]:
    """Return the numbers of pages, in order. ``tables`` are the quotable tables, with rows in ``answers``."""
    return [one for page in pages for one in _PageNumbers(page, tables, answers).classify()]


def open_findings(numbers: Sequence[TextNumber]) -> list[Finding]:
    """Return a warning for each open number in a section that has a table."""
    return [
        finding(
            RULE,
            one.file,
            one.at,
            f"no cell of a table at hand is `{one.written}`",
            'write it by RESULT_VALUE, or give the reason: "ignore": {"MT324": "…"} in a table of the section',
        )
        for one in numbers
        if one.kind == "open" and one.candidate and one.candidate.tables.near
    ]


class _PageNumbers:
    def __init__(self, page: Page, tables: Tables, answers: AnswersByKey) -> None:
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
        candidate = Candidate(number, paragraph.words[start:end], number.start - start, tables)
        kind: Class = "found" if candidate.is_found else "exempt" if reason else "open"
        at = place_at(self.page.text, paragraph.start + number.start)
        written = " ".join(paragraph.text[number.start : number.end].replace(BLANK, " ").split())
        return TextNumber(self.page.file, at, written, kind, reason if kind == "exempt" else "", candidate)

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
                candidate = Candidate(number, sentence, number.start, tables) if number.has_unit else None
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
            self.read[id(spec)] = read_table(lines, self.notation)
        return self.read[id(spec)]


_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_TAG: Final = re.compile(r"<[^>]*>")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in a cell, with its position. ``units`` is empty if the table does not say one."""

    number: Number
    units: tuple[Unit, ...]
    row: int
    column: int
    is_first: bool

    @property
    def is_measure(self) -> bool:
        """Return whether cells of its column can be compared: no share, not 0, not the end of a range."""
        return self.is_first and self.number.value != 0 and all(unit.powers for unit in self.units)


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table, its headings, and for each row the names by which a sentence may refer to it.

    ``alike`` has the cells grouped by column and unit. ``naming`` is the number of columns that name rows.
    """

    cells: tuple[Cell, ...]
    alike: tuple[tuple[Cell, ...], ...]
    headings: tuple[Heading, ...]
    names: tuple[tuple[str, ...], ...]
    naming: int

    @property
    def nouns(self) -> frozenset[str]:
        """Return the nouns that its columns count."""
        return frozenset[str]().union(*(one.nouns for one in self.headings))

    def named_rows(self, words: str) -> frozenset[int]:
        """Return the rows that a sentence names. ``words`` is the normalized sentence between two blanks."""
        return frozenset(
            row for row, names in enumerate(self.names) if any(f" {one} " in words for one in names)
        )

    def named_columns(self, words: str) -> frozenset[int]:
        """Return the columns whose headers are in a sentence."""
        return frozenset(
            column for column, one in enumerate(self.headings) if one.words and f" {one.words} " in words
        )


def read_table(lines: Iterable[str], notation: Notation) -> Table:
    """Parse the lines of a Markdown table."""
    written = WrittenTable.of(lines)
    headings = tuple(read_heading(_plain(one)) for one in written.headers)
    rows = [[_plain(cell) for cell in row[: len(headings)]] for row in written.rows]
    nouns = frozenset[str]().union(*(one.nouns for one in headings))
    cells = tuple(
        Cell(number, number.units or headings[column].units, at, column, place == 0)
        for at, row in enumerate(rows)
        for column, text in enumerate(row)
        for place, number in enumerate(read_numbers(text, notation, nouns))
    )
    alike: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        alike.setdefault((cell.column, cell.units, cell.number.noun), []).append(cell)
    naming = _count_naming(rows)
    names = tuple(_names(row[:naming], written.headers) for row in rows)
    return Table(cells, tuple(map(tuple, alike.values())), headings, names, naming)


def _count_naming(rows: Sequence[Sequence[str]]) -> int:
    """Return how many columns name the rows: the first, and the following ones that contain words."""
    columns = list(zip(*rows, strict=False))
    texts = (any(_HAS_LETTER.search(cell) for cell in column) for column in columns[1:])
    return 1 + sum(takewhile(bool, texts))


def _plain(cell: str) -> str:
    """Return a cell's text as readers see it."""
    return _ESCAPE.sub(r"\1", _TAG.sub(" ", read_cell(cell))).replace("`", "").strip()


def _names(row: Sequence[str], headers: Sequence[str]) -> tuple[str, ...]:
    """Return a row's names: its texts, and numbers with unit or header, as ``16 threads`` or ``n 10``."""
    found: dict[str, None] = {}
    for text, header in zip(row, headers, strict=False):
        if _HAS_LETTER.search(text):
            found[normalized(text)] = None
        else:
            words = [*re.findall(r"[^\W\d_]+", header)]
            unit = header.rpartition("(")[2].rstrip(")") if header.endswith(")") else ""
            for word in filter(None, (unit, *words)):
                found[normalized(f"{text} {word}")] = None
                found[normalized(f"{word} {text}")] = None
                found[normalized(f"{text} {word.removesuffix('s')}")] = None
    return tuple(name for name in found if len(name) > 1)


_TELLING: Final = 3
"""Numbers with at least this many digits need no name in their sentence: chance matches are rare."""
_EXACT: Final = 1e-9
"""Relative rounding error of a conversion between doubles."""


@dataclass(frozen=True, slots=True)
class NearTables:
    """The tables that a number may come from: ``near`` ones, and ``others`` that its page shows or quotes.

    ``expected`` holds the numbers that statements of its paragraph compare rows with.
    """

    near: Sequence[Table]
    others: Sequence[Table] = ()
    expected: Sequence[float] = ()

    def __bool__(self) -> bool:
        return bool(self.near or self.others or self.expected)


def is_found(number: Number, sentence: str, tables: NearTables) -> bool:
    """Return whether a number matches a cell, two cells, or an expected number. ``sentence`` surrounds it."""
    words = f" {normalized(sentence)} "
    exact = number.precisions[0]
    factors = (1.0, *(1.0 / unit.factor for unit in number.units if number.is_ratio))
    if any(_is_within(number, exact, value * one) for value in tables.expected for one in factors):
        return True
    if any(_in_cell(number, words, table) for table in (*tables.near, *tables.others)):
        return True
    return number.is_ratio and any(_is_ratio(number, words, table) for table in tables.near)


def _in_cell(number: Number, words: str, table: Table) -> bool:
    cells = [
        (cell, precision)
        for cells in table.alike
        for factor in _factors(number, cells[0], table)
        for cell in cells
        for precision in number.precisions
        if _is_within(number, precision, cell.number.value * factor)
    ]
    if any(precision.digits >= _TELLING for _, precision in cells):
        return True
    if not cells:
        return False
    if (rows := table.named_rows(words)) or number.noun:
        return any(cell.row in rows for cell, _ in cells)
    columns = table.named_columns(words)
    return any(cell.column in columns for cell, _ in cells)


def _factors(number: Number, cell: Cell, table: Table) -> tuple[float, ...]:
    """Return the factors from a cell's unit, or that of similar cells, to the units of the text."""
    nouns = table.headings[cell.column].nouns
    if number.noun:
        return (1.0,) if number.noun == cell.number.noun or number.noun in nouns else ()
    if not cell.units:
        # A table without a unit may use that of the text, but a count is not a share.
        return () if cell.number.noun or (number.is_ratio and nouns) else (1.0,)
    pairs = ((one, own) for own in number.units for one in cell.units)
    return tuple(one.factor / own.factor for one, own in pairs if kind_of(one) == kind_of(own))


def _is_ratio(number: Number, words: str, table: Table) -> bool:
    """Return whether a number is the ratio of two cells of one column whose rows the sentence names.

    The column is a named one, or the first with a unit. A share may be a difference: 150 ms are 50 % more
    than 100 ms.
    """
    named = table.named_rows(words)
    cells = [cell for cell in table.cells if cell.row in named and cell.is_measure]
    first = min(
        ((not cell.units, cell.column) for cell in cells if cell.column >= table.naming), default=None
    )
    columns = table.named_columns(words) | ({first[1]} if first else set())
    cells = [cell for cell in cells if cell.column in columns]
    scale = number.units[0].factor
    for one, two in permutations(cells, 2):
        if one.column != two.column or one.row == two.row:
            continue
        ratio = _base_value(one) / _base_value(two)
        # Cells are rounded, so their ratio is inexact too.
        loss = ratio * sum(cell.number.precisions[0].half / cell.number.value for cell in (one, two))
        for value in (ratio, abs(1 - ratio)) if scale != 1 else (ratio,):
            if any(_is_within(number, each, value / scale, loss / scale) for each in number.precisions):
                return True
    return False


def _base_value(cell: Cell) -> float:
    return cell.number.value * (cell.units[0].factor if cell.units else 1.0)


def _is_within(number: Number, precision: Precision, value: float, loss: float = 0.0) -> bool:
    return isfinite(value) and abs(value - number.value) <= precision.half + loss + _EXACT * abs(value)


DRAWS: Final = 10


def report_lines(numbers: Sequence[TextNumber]) -> Iterator[str]:
    """Yield the open numbers, the counts of all classes, and the control."""
    for one in numbers:
        if one.kind == "open":
            yield f"{one.file}:{one.at[0]}:{one.at[1]}: open `{one.written}`"
    counts = ((sum(one.kind == kind for one in numbers), kind) for kind in get_args(Class))
    yield f"{len(numbers)} numbers: " + ", ".join(f"{count} {kind}" for count, kind in counts)
    yield f"control: {100 * control(numbers):.1f} % are found when each is replaced by another of as many digits"


def control(numbers: Sequence[TextNumber], draws: int = DRAWS) -> float:
    """Return the share of typed numbers that match by chance.

    Each number is replaced by another with the same number of digits; the result is the mean of ``draws``.
    Only numbers with a table at hand count, so that pages without one do not lower it. The draws are seeded.
    """
    tried = [one.candidate for one in numbers if one.candidate and one.candidate.tables]
    if not tried:
        return 0.0
    random = Random(0)
    return (
        sum(_with_other_digits(one, random).is_found for _ in range(draws) for one in tried)
        / draws
        / len(tried)
    )


def _with_other_digits(candidate: Candidate, random: Random) -> Candidate:
    """Return the candidate with another number of the same number of digits, also in its sentence."""
    number = candidate.number
    before = _to_int(number.written)
    written = number.written
    while before and written == number.written:
        written = _draw(number, random)
    value = number.value * _to_int(written) / before if before else number.value
    at = candidate.at + number.digits_at - number.start
    sentence = candidate.sentence[:at] + written + candidate.sentence[at + len(written) :]
    return replace(candidate, number=replace(number, written=written, value=value), sentence=sentence)


def _draw(number: Number, random: Random) -> str:
    """Return random digits. Leading zeros stay, and so do the rounded ones at the end of a whole number."""
    written = number.written
    digits = [at for at, one in enumerate(written) if one.isdigit()]
    first = next(at for at in digits if written[at] != "0")
    last = max(at for at in digits if written[at] != "0") if len(number.precisions) > 1 else digits[-1]
    drawn = list(written)
    for at in digits:
        if first <= at <= last:
            drawn[at] = random.choice("123456789" if at in (first, last) else "0123456789")
    return "".join(drawn)


def _to_int(written: str) -> int:
    return int("".join(filter(str.isdigit, written)))
