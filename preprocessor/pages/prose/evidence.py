"""What the tables of a section say: every number of their rows, with its unit and where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from preprocessor.aggregation.values import MISSING
from preprocessor.pages.prose.numbers import Figure, Unit, noun_in, unit_after, unit_of
from preprocessor.render.column import column_value
from preprocessor.render.conclusions import list_conclusions
from preprocessor.render.values import is_number, raw_text
from preprocessor.specs.model import TableSpec

if TYPE_CHECKING:
    from preprocessor.specs.model import PipelineSpec

_IN_TEXT = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.,])\d+(?:\.\d+)?")
_BYTE_STEPS = (2**10, 10**3)
"""What a step from bytes to KB, or from KB to MB, may be."""
_SHARES = ("%", "times")
"""The kinds of what may be the comparison of two rows."""
_FAR = 3
"""What is that many times beyond all numbers is about something else, where no unit says what it is about."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number that a table has: ``unit`` where its column names one, ``column`` and ``row`` where it is shown.

    A field that is not shown has no column, what belongs to no row the row -1.
    """

    value: float
    unit: Unit | None
    spec: PipelineSpec
    column: str = ""
    row: int = -1


class Compared(NamedTuple):
    """The numbers of a column that a sentence may compare, with their rows.

    ``of``: one of two compared rows is one of these; empty where all may be.
    """

    spec: PipelineSpec
    column: str
    values: tuple[tuple[int, float], ...]
    of: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Evidence:
    """All numbers of some tables, and the columns of numbers that a sentence may compare: each from top to bottom."""

    numbers: tuple[Number, ...]
    columns: tuple[Compared, ...]
    bounds: tuple[Number, ...] = ()
    """Numbers that statements of the paragraph hold rows against, with the units of their columns."""

    @property
    def nouns(self) -> frozenset[str]:
        """What rows are counts of by the headers of their columns, as `tool` of Tools."""
        return frozenset(one.unit.kind for one in self.numbers if one.unit and one.unit.by_header)

    @property
    def has_shares(self) -> bool:
        """Whether a column is one of shares in per cent."""
        return any(one.column and one.unit is not None and one.unit.kind == "%" for one in self.numbers)

    def speaks_of(self, figure: Figure, *, nearby: bool = True, named: bool = False) -> bool:
        """Whether a figure could come from a column that is shown: one of its unit, else one of numbers of its size.

        A spelled figure is small, and of anything: it has to be of the size as well. So has one that stands in a
        section of its own, where the tables are not ``nearby``, and one of bytes or of what a header names, as long
        as no row or column is ``named`` beside it: READMEs speak of other bytes and seconds too.
        """
        unit, spelled = figure.unit, figure.low == figure.high
        if unit is not None and unit.kind in _SHARES:
            return self._speaks_of_share(figure, anywhere=nearby or named)
        shown = [one for one in self.numbers if one.column and one.value > 0]
        if spelled:  # what was chosen, and nothing that was measured
            shown = [one for one in shown if float(one.value).is_integer()]
        if unit is None:
            return (nearby or named) and self._is_of_size(figure, shown)
        shown = [one for one in shown if one.unit is not None and one.unit.fits(unit)]
        if unit.kind == "byte" and not named:
            shown = [one for one in shown if one.unit is not None and one.unit.factor == unit.factor]
        elif nearby and not spelled and (named or not unit.by_header):
            return bool(shown)
        return self._is_of_size(figure, shown)

    def _speaks_of_share(self, figure: Figure, *, anywhere: bool) -> bool:
        assert figure.unit is not None
        shares = [
            one for one in self.numbers if one.column and one.unit is not None and one.unit.fits(figure.unit)
        ]
        if anywhere or not shares:
            return bool(self.columns) or bool(shares)
        return self._is_of_size(figure, [one for one in shares if one.value > 0])

    def _is_of_size(self, figure: Figure, shown: Sequence[Number]) -> bool:
        values = [value for one in shown for value in _in_unit_of(figure, one)]
        return bool(values) and min(values) / _FAR <= figure.high and figure.low <= max(values) * _FAR

    def supports(self, figure: Figure, *, compares: bool = True) -> bool:
        """Whether a number, or for shares and factors the comparison of two, is what the figure says.

        A field that is not shown has no unit, and a share that it happens to be says nothing. Where a column has
        shares, a share is one of them, or a comparison where the sentence ``compares``. Both ends of a range are in one
        column.
        """
        compares = compares or not self.has_shares
        if figure.ends:
            return any(all(part._supports(end, compares) for end in figure.ends) for part in self._columns())
        return self._supports(figure, compares)

    def _supports(self, figure: Figure, compares: bool) -> bool:
        kind = figure.unit.kind if figure.unit else ""
        only_shares = kind == "%" and self.has_shares
        numbers = [one for one in self.numbers if kind not in _SHARES or _may_be_share(one, only_shares)]
        if any(_within(figure, value) for one in numbers for value in _in_unit_of(figure, one)):
            return True
        if any(_within(figure, value) for bound in self.bounds for value in _in_unit_of(figure, bound)):
            return True
        if kind not in _SHARES:
            return False
        bounds = (one for bound in self.bounds for one in _shares(bound.value, kind))
        if any(_within(figure, one) for one in bounds):
            return True
        compared = self._compare_values(kind) if compares or kind == "times" else ()
        return any(_within(figure, one) for one in compared)

    def _columns(self) -> Iterator[Evidence]:
        """The evidence of each column by itself, and what belongs to none."""
        places = {(id(one.spec), one.column): None for one in self.numbers}
        places |= {(id(one.spec), one.column): None for one in self.columns}
        for spec, column in places:
            yield replace(
                self,
                numbers=tuple(one for one in self.numbers if (id(one.spec), one.column) == (spec, column)),
                columns=tuple(one for one in self.columns if (id(one.spec), one.column) == (spec, column)),
            )

    def has_counts(self, part: float, whole: float) -> bool:
        """Whether a row has both counts of which one is a part of the other."""
        rows = [
            {(id(one.spec), one.row) for one in self.numbers if one.value == value} for value in (part, whole)
        ]
        return any(row >= 0 for _, row in rows[0] & rows[1])

    def expects_unit_of(self, figure: Figure) -> bool:
        """Whether a statement of the paragraph holds rows against something of the figure's unit."""
        return any(
            one.unit is not None and figure.unit is not None and one.unit.fits(figure.unit)
            for one in self.bounds
        )

    def cells_of(self, figure: Figure) -> list[Number]:
        """The numbers in cells of tables that a figure could be."""
        return [
            one
            for one in self.numbers
            if one.column and isinstance(one.spec, TableSpec)
            if any(_within(figure, value) for value in _in_unit_of(figure, one))
        ]

    def nearest(self, figure: Figure) -> Number | None:
        """The shown number that is nearest to a figure; of its unit where it has one."""
        middle = (figure.low + figure.high) / 2
        shown = [one for one in self.numbers if one.column]
        if figure.unit is not None:
            shown = [one for one in shown if one.unit and one.unit.fits(figure.unit)]
        return min(shown, key=lambda one: _distance(figure, one, middle), default=None)

    def _compare_values(self, kind: str) -> Iterator[float]:
        for column in self.columns:
            for value, other in _pairs(column):
                yield from _shares(value / other, kind)


def _may_be_share(number: Number, only_shares: bool) -> bool:
    has_unit = number.unit is not None and not number.unit.by_header
    return has_unit or (bool(number.column) and not only_shares)


def _shares(ratio: float, kind: str) -> Iterator[float]:
    """What a ratio is called: as so many times, or as a share or a difference in percent."""
    if not ratio or not isfinite(1 / ratio):
        return  # Too far apart for a double, and for a sentence.
    if kind == "times":
        yield from (ratio, 1 / ratio)
    else:
        yield from (100 * ratio, 100 * abs(1 - ratio), 100 / ratio, 100 * abs(1 - 1 / ratio))


def evidence(tables: Iterable[tuple[PipelineSpec, Sequence[Mapping[str, Any]]]]) -> Evidence:
    """What some tables and charts say with their rows."""
    numbers: list[Number] = []
    columns: list[Compared] = []
    for spec, rows in tables:
        for name in (column for path, column in spec.shown_columns if path[0] not in ("baseline", "format")):
            found = list(_read_column(spec, name, rows))
            numbers += found
            if _is_compared(column_unit(spec, name)):
                values = ((row, _finite(column_value(document, name))) for row, document in enumerate(rows))
                finite = tuple((row, value) for row, value in values if value is not None)
                columns += [Compared(spec, name, finite)] if finite else []
        columns += _compared(spec, rows)
        numbers += _totals(spec, rows)
        numbers += _sums(spec, rows)
        numbers += _hidden(spec, rows)
        numbers += [Number(one, None, spec) for text in _words(spec) for one, _ in _numbers(text, None)]
    return Evidence(tuple(numbers), tuple(columns))


def _is_compared(unit: Unit | None) -> bool:
    return unit is None or unit.kind.endswith("/s") or unit.kind == "time"


def _read_column(spec: PipelineSpec, name: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Number]:
    """Every number of a column, with its unit."""
    unit, scale = number_unit(spec, name, rows), _scale_of(spec, name)
    for row, document in enumerate(rows):
        for one, own in _numbers(column_value(document, name), unit):
            yield Number(one * scale if own is unit and unit else one, own, spec, name, row)


def _hidden(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Number]:
    """The numbers in fields that are not shown."""
    shown = {column.split(".")[0] for _, column in spec.shown_columns}
    for row, document in enumerate(rows):
        for name, value in document.items():
            if name not in shown:
                yield from (Number(one, None, spec, row=row) for one in _find_numbers(value))


def _compared(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Compared]:
    """Each ratio that a table shows beside its baseline, and each end of an interval, with the 1 of the baseline."""
    field = (spec.baseline or {}).get("comparison") if isinstance(spec, TableSpec) else None
    for row, one in enumerate(list_conclusions(field, rows) if field else ()):
        if one is not None and one.ratio is not None:
            for part in (one.ratio, *one.apart, *(one.interval or ())):
                yield Compared(spec, "", ((row, float(part)), (row, 1.0)))


def _words(spec: PipelineSpec) -> Sequence[str]:
    """The headers of a table; its title and caption are prose themselves."""
    return spec.headers if isinstance(spec, TableSpec) else ()


def number_unit(spec: PipelineSpec, column: str, rows: Sequence[Mapping[str, Any]]) -> Unit | None:
    """The unit of a column's numbers; of whole numbers without one the noun of its header, as `tool` of Tools."""
    unit = column_unit(spec, column)
    if unit is not None or not isinstance(spec, TableSpec) or column not in spec.columns:
        return unit
    noun = noun_in(spec.headers[spec.columns.index(column)])
    values = [_finite(column_value(row, column)) for row in rows]
    if noun and all(value is not None and value.is_integer() for value in values):
        return Unit(noun, by_header=True)
    return None


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
    return unit_of(next((words for _, named, words in spec.headings if named == column), column))


def _scale_of(spec: PipelineSpec, column: str) -> int:
    """How many of what a cell shows one of its value is: a ratio is shown in per cent."""
    form = spec.form_of(column) if isinstance(spec, TableSpec) else spec.format.get(column)
    return 100 if form and form.percent else 1


def _totals(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Number]:
    """The numbers in the rows of totals."""
    if not isinstance(spec, TableSpec) or not spec.totals:
        return
    from preprocessor.render.columns import columns_of  # few tables have totals
    from preprocessor.render.totals import total_rows

    for row in total_rows(spec, columns_of(spec, rows)):
        for name, total in row.cells.items():
            if (number := _finite(total.value)) is not None:
                yield Number(number * _scale_of(spec, name), column_unit(spec, name), spec)


def _sums(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Number]:
    """Of columns of counts that their header names, how many there are in all."""
    for name in spec.columns if isinstance(spec, TableSpec) else ():
        unit = number_unit(spec, name, rows)
        if unit is not None and unit.by_header:
            yield Number(sum(_finite(column_value(row, name)) or 0.0 for row in rows), unit, spec)


def _numbers(value: object, unit: Unit | None) -> Iterator[tuple[float, Unit | None]]:
    """A number with its column's unit; the numbers in a text with their own, or none."""
    if (number := _finite(value)) is not None:
        yield number, unit
    elif value is not None and value is not MISSING:
        text = raw_text(value)
        for found in _IN_TEXT.finditer(text):
            own, _ = unit_after(text, found.end())
            yield float(found[0].replace(",", "")), own if own is not None and own.kind == "%" else None


def _find_numbers(value: object) -> Iterator[float]:
    if (number := _finite(value)) is not None:
        yield number
    elif isinstance(value, Mapping):
        yield from (one for part in value.values() for one in _find_numbers(part))


def _finite(value: object) -> float | None:
    """A number that a sentence could quote."""
    number = float(raw_text(value)) if is_number(value) else nan
    return number if isfinite(number) else None


def _in_unit_of(figure: Figure, number: Number) -> Iterator[float]:
    """The number in the unit that the figure is written in; none where they are of different kinds.

    Bytes are compared in steps of 1024 and of 1000, for prose and tables often differ in that.
    """
    if figure.unit is None or number.unit is None or (number.unit.by_header and not figure.unit.by_header):
        yield number.value
    elif number.unit.fits(figure.unit):
        factor = number.unit.factor / figure.unit.factor
        yield number.value * factor
        if number.unit.kind.startswith("byte"):
            yield from (
                number.value * one for one in _byte_factors(number.unit, figure.unit) if one != factor
            )


def _byte_factors(one: Unit, other: Unit) -> Iterator[float]:
    """How many of another unit of bytes one is, each written in steps of 1024 or of 1000."""
    for own in _BYTE_STEPS:
        for others in _BYTE_STEPS:
            yield own**one.steps / others**other.steps


def _within(figure: Figure, value: float) -> bool:
    low, high = figure.span()
    return low <= value <= high


def _distance(figure: Figure, number: Number, middle: float) -> float:
    return min((abs(value - middle) for value in _in_unit_of(figure, number)), default=float("inf"))


def _pairs(column: Compared) -> Iterator[tuple[float, float]]:
    """Two values of a column that a sentence would compare.

    Of all rows: with the first, the one before, the least and the most. Of rows that are named: with any other.
    """
    values = [value for _, value in column.values]
    ends = (values[0], min(values), max(values))
    for number, (row, value) in enumerate(column.values):
        others = (
            values if row in column.of else () if column.of else (*ends, *values[max(number - 1, 0) : number])
        )
        for other in others:
            if value and other and value != other:
                yield value, other
