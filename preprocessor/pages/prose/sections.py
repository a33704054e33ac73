"""What the sentences of a page are held against: the tables of the sections that they stand in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from preprocessor.pages.prose.clauses import Clause
from preprocessor.pages.prose.evidence import Compared, Evidence, Number, evidence
from preprocessor.pages.prose.naming import Named, TableNames, find_names, read_names
from preprocessor.pages.prose.numbers import Figure, figures
from preprocessor.specs.model import PipelineSpec, QuotingSpec, Spec, TableSpec

if TYPE_CHECKING:
    from preprocessor.pages.model import Answers, Page, Tables
    from preprocessor.pages.prose.directions import Shown
    from preprocessor.pages.prose.paragraphs import Paragraph


class Section(NamedTuple):
    """The tables and charts of a section with their rows, what they say, and the rules that one of them ignores."""

    shown: Shown
    evidence: Evidence
    names: tuple[TableNames, ...]
    ignored: frozenset[str]

    def find_names(self, text: str, *, loosely: bool = False) -> dict[int, Named]:
        """What a text names in each of the tables."""
        return find_names(text, self.names, self.evidence.nouns, loosely=loosely)


class Sections:
    """The sections of a page, each read once, when it is asked for."""

    def __init__(self, page: Page, tables: Tables, answers: Answers, written_tables: Sequence[int]) -> None:
        """``written_tables``: where rows of tables begin that somebody typed."""
        self._page, self._tables, self._answers = page, tables, answers
        self._written_tables = written_tables
        self._read: dict[tuple[int, int], Section | None] = {}

    def at(self, span: tuple[int, int]) -> Section | None:
        """A section, from and to; None where it has no table with rows."""
        if span not in self._read:
            shown = list_tables_within(span, self._page, self._tables, self._answers)
            self._read[span] = _read_section(shown) if shown else None
        return self._read[span]

    def beside(self, paragraph: Paragraph) -> Section | None:
        """The smallest section around a paragraph that has tables.

        None where no section has one with rows, and where somebody typed a table into a smaller one: that speaks of it.
        """
        for span in paragraph.sections:
            if (found := self.at(span)) is not None:
                return found
            start, end = span
            if any(start <= one < end for one in self._written_tables):
                return None
        return None

    def around(self, paragraph: Paragraph) -> Iterator[Section]:
        """All sections around a paragraph that have tables, the innermost first."""
        yield from filter(None, map(self.at, paragraph.sections))


def _read_section(shown: Shown) -> Section:
    ignored = frozenset(rule for spec, _ in shown for rule in spec.ignore)
    return Section(tuple(shown), evidence(shown), read_names(shown), ignored)


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


def narrow(known: Evidence, named: Mapping[int, Named], figure: Figure) -> Evidence:
    """What is left of some evidence for a figure whose clause names rows or columns of its tables.

    Of a table of which it names rows, these, in comparisons with any other; of named columns those of the figure's
    unit. Where a named row has such a number, tables of which nothing is named are left out.
    """
    rows_named = {
        key for key, one in named.items() if one.rows and _has_numbers(known, key, one.rows, figure)
    }
    columns = {key: _with_unit_of(known, key, one.columns, figure) for key, one in named.items()}

    def speaks(number: Number | Compared) -> bool:
        key = id(number.spec)
        return not rows_named or key in named

    def holds(number: Number) -> bool:
        key = id(number.spec)
        if key in rows_named and number.row >= 0 and number.row not in named[key].rows:
            return False
        return not columns.get(key) or not number.column or number.column in columns[key]

    compared = (
        one._replace(of=named[id(one.spec)].rows) if id(one.spec) in rows_named else one
        for one in known.columns
        if speaks(one)
    )
    return replace(
        known,
        numbers=tuple(one for one in known.numbers if speaks(one) and holds(one)),
        columns=tuple(compared),
    )


def names_for(known: Evidence, named: Mapping[int, Named], figure: Figure) -> bool:
    """Whether a row is named that has a number of a figure's unit, or a column of that unit."""
    return any(
        _has_numbers(known, key, one.rows, figure)
        or (figure.unit is None and one.columns)
        or _with_unit_of(known, key, one.columns, figure)
        for key, one in named.items()
    )


def _has_numbers(known: Evidence, key: int, rows: frozenset[int], figure: Figure) -> bool:
    """Whether one of the rows has a number that the figure could be, or that could be compared."""
    unit = figure.unit
    compared = (
        {row for row, _ in one.values}
        for one in known.columns
        if id(one.spec) == key and unit is not None and unit.kind in ("%", "times")
    )
    if any(rows & found for found in compared):
        return True
    return any(
        id(one.spec) == key
        and one.column
        and one.row in rows
        and (unit is None or (one.unit is not None and one.unit.fits(unit)))
        for one in known.numbers
    )


def _with_unit_of(known: Evidence, key: int, columns: frozenset[str], figure: Figure) -> frozenset[str]:
    """Those of the columns that have the figure's unit, and the columns with the ends of their ranges."""
    if figure.unit is None or not columns:
        return frozenset()
    own = {
        one.column: one.spec
        for one in known.numbers
        if id(one.spec) == key
        and one.column in columns
        and one.unit is not None
        and one.unit.fits(figure.unit)
    }
    ends = {
        end
        for column, spec in own.items()
        if isinstance(spec, TableSpec)
        for end in spec.spread.get(column, ())[:2]
    }
    return frozenset({*own, *ends})


def is_supported(
    figure: Figure, clause: Clause, beside: Section, around: Iterator[Section], known: Evidence
) -> bool:
    """Whether the rows say a figure.

    ``known`` is the evidence of the section beside it, with what statements of the paragraph expect. What is named in
    the clause, or where it names nothing in the sentence before it, may also stand in a table of a section around.
    """
    named = beside.find_names(clause.words)
    is_about = _names_for_each(named, clause, figure, beside.evidence.nouns)
    if (narrow(known, named, figure) if is_about else known).supports(figure, compares=clause.compares):
        return True
    return any(
        _supports_named(figure, clause, section, but=beside if _names_rows(named) else None)
        for section in around
    )


def _names_for_each(
    named: Mapping[int, Named], clause: Clause, figure: Figure, nouns: Collection[str]
) -> bool:
    """Whether a clause has no more figures of one unit than it names cells: `4,200 inserts/s, and 41,821 with sixteen`.

    Of which of them a single name speaks, nobody can tell. Factors compare a row that is named with others.
    """
    if figure.unit is not None and figure.unit.kind == "times":
        return True
    of_unit = [one for one in figures(clause.prose, nouns) if one.unit == figure.unit]
    cells = max((max(len(one.rows), 1) * max(len(one.columns), 1) for one in named.values()), default=1)
    return len(of_unit) <= cells


def _names_rows(named: Mapping[int, Named]) -> bool:
    return any(one.rows for one in named.values())


def _supports_named(figure: Figure, clause: Clause, section: Section, *, but: Section | None) -> bool:
    if section is but:
        return False
    if _supports_counts(figure, clause, section.evidence):
        return True
    for text, loosely in ((clause.words, False), (clause.words, True), (clause.sentence, False)):
        named = {key: one for key, one in section.find_names(text, loosely=loosely).items() if one.rows}
        if named:
            return narrow(section.evidence, named, figure).supports(figure, compares=clause.compares)
    return False


def _supports_counts(figure: Figure, clause: Clause, known: Evidence) -> bool:
    """Whether a share is that of two counts of its clause that one row has: `9 / 12 (75 %)`."""
    return (
        figure.unit is not None
        and figure.unit.kind == "%"
        and any(
            part <= whole
            and figure.low <= 100 * part / whole <= figure.high
            and known.has_counts(part, whole)
            for part, whole in clause.counts()
            if whole
        )
    )
