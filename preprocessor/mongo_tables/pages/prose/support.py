"""Whether the rows of a section, or of those around it, say a figure: what its clause names decides which count."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.pages.prose.arithmetic import exceeds_factor, is_difference, is_itself, is_sum, judge_bound
from mongo_tables.pages.prose.clauses import Clause
from mongo_tables.pages.prose.columnnumbers import ColumnNumbers, Number
from mongo_tables.pages.prose.evidence import Evidence
from mongo_tables.pages.prose.hiddenfields import name_hidden
from mongo_tables.pages.prose.naming import Named, TableNames, find_names
from mongo_tables.pages.prose.numbers import Figure, figures
from mongo_tables.pages.prose.pairs import Sides, pair_alike, read_sides
from mongo_tables.pages.prose.paragraphs import BLANK
from mongo_tables.pages.prose.ratios import Compared, Concluded
from mongo_tables.pages.prose.strangers import compares_stranger, find_strangers
from mongo_tables.pages.prose.subjects import comparing
from mongo_tables.pages.prose.wordorder import find_rows_meant
from mongo_tables.specs.model import TableSpec

if TYPE_CHECKING:
    from mongo_tables.pages.prose.section import Section


def narrow(known: Evidence, named: Mapping[int, Named], figure: Figure) -> Evidence:
    """What is left of some evidence for a figure whose clause names rows or columns of its tables.

    Of a table of which it names rows, these, in comparisons with any other, or with those that it says; of named
    columns those of the figure's unit, or those that are compared. Where a named row has such a number, tables of which
    nothing is named are left out. What a typed header names and no column shows is that field alone.
    """
    if any(one.field for one in named.values()):
        return _of_fields(known, named)
    rows_named = {
        key for key, one in named.items() if one.rows and _has_numbers(known, key, one.rows, figure)
    }
    columns = {key: _with_unit_of(known, key, one.columns, figure) for key, one in named.items()}
    compared = {
        key: {one.name for one in known.compared if id(one.spec) == key} & named[key].columns for key in named
    }
    if not rows_named and not any(columns.values()) and not any(compared.values()):
        return known

    def speaks(part: ColumnNumbers | Compared | Concluded) -> bool:
        return not rows_named or id(part.spec) in named

    def holds(part: ColumnNumbers) -> bool:
        own = columns.get(id(part.spec))
        return not own or not part.name or part.name in own

    def of_named(part: ColumnNumbers) -> ColumnNumbers:
        return part.of_rows(named[id(part.spec)].rows) if id(part.spec) in rows_named else part

    def compares(part: Compared | Concluded) -> bool:
        own = compared.get(id(part.spec))
        return speaks(part) and (not own or part.name in own)

    def compare_named(part: Compared | Concluded) -> Compared | Concluded:
        if id(part.spec) not in rows_named:
            return part
        one = named[id(part.spec)]
        return part.narrow(one.rows, one.pairs)

    numbers = tuple(of_named(one) for one in known.columns if speaks(one) and holds(one))
    return replace(
        known,
        columns=numbers,
        unseen=tuple(of_named(one) for one in known.unseen if speaks(one)),
        compared=tuple(compare_named(one) for one in known.compared if compares(one)),
        quotes_factors=any(_has_factors(one) for one in numbers if id(one.spec) in rows_named),
    )


def _of_fields(known: Evidence, named: Mapping[int, Named]) -> Evidence:
    """The numbers of the fields that are named, which have the unit of their documents, in the rows that are."""
    fields = (one for one in known.fields if id(one.spec) in named and named[id(one.spec)].field == one.name)
    numbers = ((one, named[id(one.spec)].rows) for one in fields)
    return Evidence(
        tuple(one.of_rows(rows) if rows else one for one, rows in numbers), (), bounds=known.bounds
    )


def _has_factors(column: ColumnNumbers) -> bool:
    return bool(column.name) and any(unit and unit.kind == "times" for unit in column.units)


def find_named(section: Section, clause: Clause, figure: Figure) -> dict[int, Named]:
    """What a clause names for a figure in each table of a section, and which of these rows it compares others with."""
    named = section.find_names(clause.words)
    strangers = find_strangers(clause.words, section.names, section.nouns)
    for table in section.names:
        meant = find_rows_meant(figure, clause, table, section.nouns, strangers)
        if meant is not None and (one := named.get(id(table.spec))):
            named[id(table.spec)] = _set_rows(one, meant & one.rows or meant, clause)
    for spec, rows in section.shown if clause.header and not figure.may_compare else ():
        if field := name_hidden(clause.header, spec, rows):
            named[id(spec)] = named.get(id(spec), Named())._replace(field=field, columns=frozenset())
    for sides in read_sides(figure, clause) if figure.may_compare else ():
        if paired := dict(_pair(section, sides, named)):
            return named | paired
    return named


def _pair(section: Section, sides: Sides, named: Mapping[int, Named]) -> Iterator[tuple[int, Named]]:
    """What is named in each table of which both sides of a comparison name rows; other names of its clause choose."""
    for table in section.names:
        key = id(table.spec)
        one = named.get(key, Named())
        of, against = (_rows_of_side(side, table, one, section.nouns) for side in sides)
        if pairs := pair_alike(table, of, against):
            yield key, one._replace(rows=of | against, pairs=pairs)


def _rows_of_side(text: str, table: TableNames, named: Named, nouns: Collection[str]) -> frozenset[int]:
    """The rows that one side of a comparison names, of those that its clause does if it can be.

    A setting may be that of another figure: `A is 3× faster than B for n = 10 and 2× for n = 100`.
    """
    rows = find_names(text, [table], nouns).get(id(table.spec), Named()).rows
    by_name = frozenset[int]().union(*(table.rows[name] for name in table.names.find(text, whole=True)))
    chosen = rows & named.rows or by_name & named.rows
    return chosen if chosen or named.by_order else rows


def _set_rows(one: Named, meant: frozenset[int], clause: Clause) -> Named:
    """The same with the rows that a figure is about by the order of words, be it none of those that are named.

    Beside the only row a column may be that of another figure: `alpha takes 98.7 ms on average and 120 ms cold`. Above
    a typed cell it is its own.
    """
    columns = frozenset[str]() if one.rows == meant and not clause.header else one.columns
    return one._replace(rows=meant, by_order=bool(meant), columns=columns)


def names_for(known: Evidence, named: Mapping[int, Named], figure: Figure) -> bool:
    """Whether a row is named that has a number of a figure's unit, or a column of that unit."""
    return any(
        _has_numbers(known, key, one.rows, figure)
        or (figure.unit is None and one.columns)
        or _with_unit_of(known, key, one.columns, figure)
        for key, one in named.items()
    )


def names_column(known: Evidence, named: Mapping[int, Named], figure: Figure) -> bool:
    """Whether a column of a figure's unit is named."""
    return any(_with_unit_of(known, key, one.columns, figure) for key, one in named.items())


def _has_numbers(known: Evidence, key: int, rows: frozenset[int], figure: Figure) -> bool:
    """Whether one of the rows has a number that the figure could be, or that could be compared."""
    unit = figure.unit
    if figure.may_compare and any(
        id(one.spec) == key and not rows.isdisjoint(one.rows) for one in known.compared
    ):
        return True
    parts = (one.of_rows(rows) for one in known.columns if id(one.spec) == key and one.name)
    return any(one.has_unit(unit) if unit is not None else one.units for one in parts)


def _with_unit_of(known: Evidence, key: int, columns: frozenset[str], figure: Figure) -> frozenset[str]:
    """Those of the columns that have the figure's unit, and the columns with the ends of their ranges."""
    if figure.unit is None or not columns:
        return frozenset()
    own = {
        one.name: one.spec
        for one in known.columns
        if id(one.spec) == key and one.name in columns and one.has_unit(figure.unit)
    }
    ends = {
        end
        for column, spec in own.items()
        if isinstance(spec, TableSpec)
        for end in spec.spread.get(column, ())[:2]
    }
    return frozenset({*own, *ends})


_DENIED: Final = re.compile(rf"\bnot\s(?:the\s|an?\s|about\s)?[\s{BLANK}*_]*\Z", re.IGNORECASE)
"""What says that a figure is none: `not 3x, but 2x`."""
_BASELINE: Final = re.compile(r"\bbaseline\b", re.IGNORECASE)


class Beside(NamedTuple):
    """The section beside a figure, its evidence with what statements of the paragraph expect, and what is named."""

    section: Section
    known: Evidence
    named: Mapping[int, Named]


def is_supported(figure: Figure, clause: Clause, beside: Beside, around: Iterator[Section]) -> bool:
    """Whether the rows say a figure.

    What is named in the clause, or where it names nothing in the sentence before it, may also stand in a table of a
    section around.
    """
    section, known, named = beside
    if _DENIED.search(clause.words[: clause.at]) or (
        figure.may_compare and compares_stranger(figure, clause, section.names, section.nouns)
    ):
        return True
    if any(one.field for one in named.values()) and not _of_fields(known, named).columns:
        return True  # It is of something else, of which no document says anything.
    is_held, rate = is_of_named(named, clause, figure, section.nouns), known.read_rate(figure)
    kept = judge_bound(rate, clause, known, named if is_held else {})
    if kept is not None and not known.expects(figure):
        return kept
    meant = narrow(known, named, rate) if is_held else known
    if meant.supports(rate, compares=clause.compares, differs=clause.differs):
        return True
    if (
        is_itself(figure, clause)
        or exceeds_factor(figure, meant)
        or any(said(figure, clause, known, named) for said in (is_difference, is_sum))
    ):
        return True
    but = section if any(one.rows for one in named.values()) else None
    return any(_supports_named(figure, clause, one, but=but) for one in around)


def find_nearest(figure: Figure, known: Evidence, named: Mapping[int, Named]) -> Number | None:
    """The shown number nearest to a figure, of the rows that are named; None where these have none of its unit."""
    found = narrow(known, named, figure).nearest(figure)
    rows = named[id(found.spec)].rows if found and id(found.spec) in named else frozenset()
    return None if found and rows and found.row not in rows else found


def is_of_named(named: Mapping[int, Named], clause: Clause, figure: Figure, nouns: Collection[str]) -> bool:
    """Whether a clause has no more figures of one unit than it names cells, and speaks of no baseline beside these.

    `4,200 inserts/s with one thread and 41,821 with sixteen`: of which of them the one thread speaks, nobody can tell.
    Factors compare a row that is named with others.
    """
    if any(one.by_order for one in named.values()):
        return True
    if figure.kind == "times":
        return True
    if _BASELINE.search(clause.prose):
        return False
    of_unit = [one for one in figures(clause.prose, nouns) if one.is_like(figure) and not one.is_spread]
    cells = max((max(len(one.rows), 1) * max(len(one.columns), 1) for one in named.values()), default=1)
    return len(of_unit) <= cells


def _supports_named(figure: Figure, clause: Clause, section: Section, *, but: Section | None) -> bool:
    if _supports_counts(figure, clause, section.evidence):
        return True
    if section is but:
        return False
    for named in (
        find_named(section, clause, figure),
        section.find_names(clause.words, loosely=True),
        section.find_names(clause.sentence),
    ):
        rows_named = {key: one for key, one in named.items() if one.rows}
        if rows_named:
            known, rate = comparing(section.evidence, rows_named, clause), section.evidence.read_rate(figure)
            return narrow(known, rows_named, rate).supports(
                rate, compares=clause.compares, differs=clause.differs
            )
    return False


def _supports_counts(figure: Figure, clause: Clause, known: Evidence) -> bool:
    """Whether a share is that of two counts of its clause that one row has: `9 / 12 (75 %)`."""
    return figure.kind == "%" and any(
        part <= whole and figure.low <= 100 * part / whole <= figure.high and known.has_counts(part, whole)
        for part, whole in clause.counts()
        if whole
    )
