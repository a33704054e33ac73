"""What the tables of a section say: every number of their rows, with its unit and where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from mongo_tables.aggregation.values import MISSING
from mongo_tables.lint.numerals import read_numeral
from mongo_tables.pages.prose.columnnumbers import ColumnNumbers, Number, factors_between
from mongo_tables.pages.prose.documentunits import carried_unit, list_hidden
from mongo_tables.pages.prose.numbers import (
    LARGE,
    NUMBER,
    SHARES,
    Figure,
    Unit,
    header_unit,
    noun_in,
    read_number,
    unit_after,
    unit_of,
)
from mongo_tables.pages.prose.ratios import Compared, Concluded, Values, spans_of
from mongo_tables.render.column import column_value
from mongo_tables.render.conclusions import list_conclusions
from mongo_tables.render.values import is_number, raw_text
from mongo_tables.specs.model import TableSpec

if TYPE_CHECKING:
    from mongo_tables.specs.model import PipelineSpec

_IN_TEXT = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.,])\d+(?:\.\d+)?")
_SPREADS = re.compile(r"\b(?:std(?:ev|dev)?|sd|mad|sem|error|(?:\w+ )?deviation)\b|[±σ]", re.IGNORECASE)
"""What a column of deviations is called."""
_FAR = 3
"""What is that many times beyond all numbers is about something else, where no unit says what it is about."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All numbers of some tables by their columns, and what of them a sentence may compare."""

    columns: tuple[ColumnNumbers, ...]
    compared: tuple[Compared | Concluded, ...]
    sizes: tuple[Compared, ...] = ()
    """Columns of bytes and of what is counted, which a sentence compares where it speaks of these."""
    bounds: tuple[Number, ...] = ()
    """Numbers that statements of the paragraph hold rows against, with the units of their columns."""
    unseen: tuple[ColumnNumbers, ...] = ()
    """Numbers in fields that are not shown: nobody can look them up, and of what they are numbers nothing says."""
    fields: tuple[ColumnNumbers, ...] = ()
    """Numbers in fields of benchmarks that are not shown, and that have the unit of their documents."""
    quotes_factors: bool = False
    """Whether it is that of named rows which have a factor: then one is theirs where the sentence compares nothing."""

    @property
    def nouns(self) -> frozenset[str]:
        """What rows are counts of by the headers of their columns, as `tool` of Tools."""
        return frozenset(unit.kind for one in self.columns for unit in one.units if unit and unit.by_header)

    @property
    def has_shares(self) -> bool:
        """Whether a column is one of shares in per cent."""
        return any(unit is not None and unit.kind == "%" for one in self._shown() for unit in one.units)

    def read_rate(self, figure: Figure) -> Figure:
        """A large rate of what no column counts as a bare number, beside rates or numbers without a unit of its size.

        Words differ for the same thing: `documents per second` beside Decodes/s, `requests/s` beside Throughput.
        """
        unit = figure.unit
        is_rate = unit is not None and unit.kind.endswith("/s") and unit.kind != "byte/s"
        if unit is None or not is_rate or figure.high < LARGE or any(True for _ in self._of_unit(unit)):
            return figure
        bare = replace(figure, unit=None)
        rates = (one for one in self._shown() if any(not own or own.kind.endswith("/s") for own in one.units))
        return bare if Evidence(tuple(rates), ())._has_size_of(bare) else figure

    @property
    def has_spreads(self) -> bool:
        """Whether a column is one of deviations, by its name or header."""
        return any(
            _SPREADS.search(words)
            for one in self._shown()
            for words in (one.name, *(header for _, named, header in one.spec.headings if named == one.name))
        )

    def speaks_of(self, figure: Figure, *, nearby: bool = True, named: bool = False) -> bool:
        """Whether a figure could come from a column that is shown: one of its unit, else one of numbers of its size.

        A spelled figure is small, and of anything: it has to be of the size as well. So has one that stands in a
        section of its own, where the tables are not ``nearby``, and one of bytes or of what a header names, as long
        as no row or column is ``named`` beside it: READMEs speak of other bytes and seconds too. How far a figure
        spreads is of a column of deviations, if any.
        """
        if figure.is_spread and not self.has_spreads:
            return False
        unit, spelled = figure.unit, figure.low == figure.high
        if unit is None:
            return (nearby or named) and self._has_size_of(figure)
        if figure.may_compare:
            return self._speaks_of_share(figure, unit, anywhere=nearby or named)
        if unit.kind == "byte" and not named:
            return self._has_size_of(figure, same_factor=True)
        if nearby and not spelled and (named or not unit.by_header):
            return any(True for one in self._of_unit(unit) for _ in one.sizes(unit))
        return self._has_size_of(figure)

    def _speaks_of_share(self, figure: Figure, unit: Unit, *, anywhere: bool) -> bool:
        has_shares = any(True for _ in self._of_unit(unit))
        if anywhere or not has_shares:
            return bool(self.compared) or has_shares
        return self._has_size_of(figure)

    def _shown(self) -> Iterator[ColumnNumbers]:
        return (one for one in self.columns if one.name)

    def _of_unit(self, unit: Unit) -> Iterator[ColumnNumbers]:
        return (one for one in self._shown() if one.has_unit(unit))

    def _has_size_of(self, figure: Figure, *, same_factor: bool = False) -> bool:
        """Whether there are greater and smaller numbers of its unit, or hardly smaller and greater ones."""
        whole = figure.low == figure.high  # what was chosen, and nothing that was measured
        sizes = [
            size
            for one in self._shown()
            for size in one.sizes(figure.unit, whole=whole, same_factor=same_factor)
        ]
        return bool(sizes) and min(sizes) / _FAR <= figure.high and figure.low <= max(sizes) * _FAR

    def supports(self, figure: Figure, *, compares: bool = True, differs: bool = False) -> bool:
        """Whether a number, or for shares and factors the comparison of two, is what the figure says.

        Where a column has shares, a share is one of them, or a comparison where the sentence ``compares``. Both ends of
        a range are in one column. ``differs``: a share is a difference where it compares rows.
        """
        compares = compares or not (self.has_shares if figure.kind == "%" else self.quotes_factors)
        if figure.ends:
            return any(
                all(part._supports(end, compares, differs) for end in figure.ends) for part in self._columns()
            )
        return self._supports(figure, compares, differs)

    def _supports(self, figure: Figure, compares: bool, differs: bool) -> bool:
        is_share, only_shares = figure.may_compare, figure.kind == "%" and self.has_shares
        if any(
            one.has(figure, unitless=not is_share or (bool(one.name) and not only_shares))
            for one in self.columns
        ):
            return True
        if self.expects(figure) or self._is_unseen(figure):
            return True
        if not is_share:
            return False
        spans = spans_of(figure, differs=differs)
        if any(low <= bound.value <= high for bound in self.bounds for low, high in spans):
            return True
        return compares and any(one.has(spans) for one in self.compared)

    def expects(self, figure: Figure) -> bool:
        """Whether a statement of the paragraph holds rows against a figure."""
        return any(_is_said(figure, bound) for bound in self.bounds)

    def _is_unseen(self, figure: Figure) -> bool:
        """Whether a field that is not shown has a large figure without a unit, digit by digit: by chance none does."""
        if figure.unit is not None or not re.fullmatch(NUMBER, figure.written):
            return False
        return any(one.rows_with(read_number(figure.written)) for one in self.unseen)

    def _columns(self) -> Iterator[Evidence]:
        """The evidence of each column by itself, and what belongs to none."""
        for spec, name in dict.fromkeys((id(one.spec), one.name) for one in (*self.columns, *self.compared)):
            yield Evidence(
                tuple(one for one in self.columns if (id(one.spec), one.name) == (spec, name)),
                tuple(one for one in self.compared if (id(one.spec), one.name) == (spec, name)),
                bounds=self.bounds,
            )

    def has_counts(self, part: float, whole: float) -> bool:
        """Whether a row has both counts of which one is a part of the other."""
        parts, wholes = (
            {(id(one.spec), row) for one in self.columns for row in one.rows_with(value) if row >= 0}
            for value in (part, whole)
        )
        return not parts.isdisjoint(wholes)

    def expects_unit_of(self, figure: Figure) -> bool:
        """Whether a statement of the paragraph holds rows against something of the figure's unit."""
        return any(
            one.unit is not None and figure.unit is not None and one.unit.fits(figure.unit)
            for one in self.bounds
        )

    def cells_of(self, figure: Figure) -> list[Number]:
        """The numbers in cells of tables that a figure could be."""
        return [cell for one in self._shown() if isinstance(one.spec, TableSpec) for cell in one.find(figure)]

    def nearest(self, figure: Figure) -> Number | None:
        """The shown number that is nearest to a figure; of its unit where it has one."""
        found = filter(None, (one.nearest(figure) for one in self._shown()))
        return min(found, key=lambda one: one[0], default=(0, None))[1]


def _is_said(figure: Figure, number: Number) -> bool:
    low, high = figure.span()
    return any(low <= number.value * one <= high for one in factors_between(number.unit, figure.unit))


def evidence(tables: Iterable[tuple[PipelineSpec, Sequence[Mapping[str, Any]]]]) -> Evidence:
    """What some tables and charts say with their rows."""
    columns: list[ColumnNumbers] = []
    compared: list[Compared | Concluded] = []
    sizes: list[Compared] = []
    unseen: list[ColumnNumbers] = []
    fields: list[ColumnNumbers] = []
    for spec, rows in tables:
        for name in dict.fromkeys(
            column for path, column in spec.shown_columns if path[0] not in ("baseline", "format")
        ):
            columns.append(ColumnNumbers(spec, name, tuple(_read_column(spec, name, rows))))
            if one := _read_compared(spec, name, rows):
                (compared if _is_compared(one.unit) else sizes).append(one)
        compared += _concluded(spec, rows)
        columns.append(ColumnNumbers(spec, "", tuple(_read_besides(spec, rows))))
        unseen.append(ColumnNumbers(spec, "", tuple(_read_unseen(spec, rows))))
        for field in list_hidden(spec, rows):
            fields.append(ColumnNumbers(spec, field, tuple(_read_column(spec, field, rows))))
    return Evidence(tuple(columns), tuple(compared), tuple(sizes), unseen=tuple(unseen), fields=tuple(fields))


def _read_compared(spec: PipelineSpec, name: str, rows: Sequence[Mapping[str, Any]]) -> Compared | None:
    """The column with what a sentence may compare; None where it has no numbers, or shares and factors."""
    unit = measured_unit(spec, name, rows)
    values = ((row, _measured(column_value(document, name), unit)) for row, document in enumerate(rows))
    finite = tuple((row, value) for row, value in values if value is not None)
    is_ratio = unit is not None and unit.kind in (*SHARES, "IOPS")
    is_label = name == spec.shown_columns[0][1] and not (_is_compared(unit) or (unit and unit.kind == "byte"))
    return Compared(spec, name, Values(finite), unit) if finite and not is_ratio and not is_label else None


def _is_compared(unit: Unit | None) -> bool:
    """Whether a column is compared in whatever words, and not only where these are of sizes or counts."""
    return unit is None or unit.kind.endswith("/s") or unit.kind == "time"


def _read_column(spec: PipelineSpec, name: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Number]:
    """Every number of a column, with its unit."""
    unit, scale = number_unit(spec, name, rows), _scale_of(spec, name)
    for row, document in enumerate(rows):
        for one, own in _numbers(column_value(document, name), unit):
            yield Number(one * scale if own is unit and unit else one, own, spec, name, row)


def _read_besides(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Number]:
    """The numbers that stand in no column."""
    yield from _totals(spec, rows)
    yield from _sums(spec, rows)
    yield from (Number(one, own, spec) for text in _words(spec) for one, own in _numbers_in(text))
    for name in spec.columns if isinstance(spec, TableSpec) else ():
        unit = column_unit(spec, name)
        for row, document in enumerate(rows):
            value = column_value(document, name)
            if _measured(value, unit) is None:
                yield from (Number(one, own, spec, row=row) for one, own in _numbers_in(_text(value)))


def _read_unseen(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Number]:
    """The numbers in fields that are not shown."""
    shown = {column.split(".")[0] for _, column in spec.shown_columns}
    for row, document in enumerate(rows):
        for name, value in document.items():
            if name not in shown:
                yield from (Number(one, None, spec, row=row) for one in _find_numbers(value))


def _concluded(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> list[Concluded]:
    """Each ratio that a table shows beside its baseline, and each end of an interval."""
    field = (spec.baseline or {}).get("comparison") if isinstance(spec, TableSpec) else None
    found = tuple(
        (row, float(part))
        for row, one in enumerate(list_conclusions(field, rows) if field else ())
        if one is not None and one.ratio is not None
        for part in (one.ratio, *one.apart, *(one.interval or ()))
    )
    return [Concluded(spec, "", found)] if found else []


def _words(spec: PipelineSpec) -> Sequence[str]:
    """The headers of a table; its title and caption are prose themselves."""
    return spec.headers if isinstance(spec, TableSpec) else ()


def measured_unit(spec: PipelineSpec, column: str, rows: Sequence[Mapping[str, Any]]) -> Unit | None:
    """The unit of a column, or that of the documents that its rows are."""
    return column_unit(spec, column) or carried_unit(spec, column, rows)


def number_unit(spec: PipelineSpec, column: str, rows: Sequence[Mapping[str, Any]]) -> Unit | None:
    """The unit of a column or of its documents; else the noun of its header, as `tool` of Tools."""
    unit = measured_unit(spec, column, rows)
    if unit is not None or not isinstance(spec, TableSpec):
        return unit
    noun = noun_of(spec, column)
    is_counted = noun and all(_finite(column_value(row, column)) is not None for row in rows)
    return Unit(noun, by_header=True) if is_counted else None


def noun_of(table: TableSpec, column: str) -> str:
    """What the numbers of a column are counts of by its format, or else its header; "" where neither says it."""
    if column not in table.columns:
        return ""
    form = table.format.get(column)
    return noun_in((form and form.raw_unit) or table.headers[table.columns.index(column)])


def column_unit(spec: PipelineSpec, column: str) -> Unit | None:
    """The unit of a column: what its format says, else what its header or label does.

    The ends of a range have the unit of the column that they are of, a number of repeats has none.
    """
    if isinstance(spec, TableSpec) and column not in spec.columns:
        owners = (own for own, fields in spec.spread.items() if column in fields[:2])
        return next((column_unit(spec, own) for own in owners), None)
    form = spec.format.get(column)
    if form and (form.percent or form.raw_unit):
        return unit_of("%" if form.percent else form.raw_unit)
    return header_unit(next((words for _, named, words in spec.headings if named == column), column))


def _scale_of(spec: PipelineSpec, column: str) -> int:
    """How many of what a cell shows one of its value is: a ratio is shown in per cent."""
    form = spec.form_of(column) if isinstance(spec, TableSpec) else spec.format.get(column)
    return 100 if form and form.percent else 1


def _totals(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Number]:
    """The numbers in the rows of totals."""
    if not isinstance(spec, TableSpec) or not spec.totals:
        return
    from mongo_tables.render.columns import columns_of  # few tables have totals
    from mongo_tables.render.totals import total_rows

    for row in total_rows(spec, columns_of(spec, rows)):
        for name, total in row.cells.items():
            if (number := _finite(total.value)) is not None:
                yield Number(number * _scale_of(spec, name), column_unit(spec, name), spec)


def _sums(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Number]:
    """Of columns of counts that their header names, how many there are in all; of points and shares nobody asks it."""
    for name in spec.columns if isinstance(spec, TableSpec) else ():
        unit = number_unit(spec, name, rows)
        values = [_finite(column_value(row, name)) or 0.0 for row in rows]
        if unit is not None and unit.by_header and all(map(float.is_integer, values)):
            yield Number(sum(values), unit, spec)


def _numbers(value: object, unit: Unit | None) -> Iterator[tuple[float, Unit | None]]:
    """A number with its column's unit; of a text the shares, and the numbers of one that has no words."""
    if (number := _measured(value, unit)) is not None:
        yield number, unit
        return
    for one, own in _numbers_in(_text(value)):
        if own is None or own.kind == "%":
            yield one, own


def _numbers_in(text: str) -> Iterator[tuple[float, Unit | None]]:
    """The numbers of a text with their units; beside words one without a unit may be counted: `case 2`."""
    counted = Unit("") if any(map(str.isalpha, text)) else None
    for found in _IN_TEXT.finditer(text):
        own, _ = unit_after(text, found.end())
        yield float(found[0].replace(",", "")), own or counted


def _text(value: object) -> str:
    """The text of a cell that holds no number; "" where it holds nothing."""
    return "" if value is None or value is MISSING or _finite(value) is not None else raw_text(value)


def _find_numbers(value: object) -> Iterator[float]:
    if (number := _finite(value)) is not None:
        yield number
    elif isinstance(value, Mapping):
        yield from (one for part in value.values() for one in _find_numbers(part))


def _measured(value: object, unit: Unit | None) -> float | None:
    """The number of a cell, be it a text: one odd cell, as `n/a`, makes all of a CSV's column texts."""
    number = _finite(value)
    is_text = number is None and isinstance(value, str) and unit is not None and not unit.by_header
    return read_numeral(value) if is_text and isinstance(value, str) else number


def _finite(value: object) -> float | None:
    """A number that a sentence could quote."""
    number = float(raw_text(value)) if is_number(value) else nan
    return number if isfinite(number) else None
