"""What the tables of a section say: every number of their rows, with its unit and where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from preprocessor.aggregation.values import MISSING
from preprocessor.pages.prose.numbers import Figure, Unit, unit_of
from preprocessor.render.column import column_value
from preprocessor.render.conclusions import list_conclusions
from preprocessor.render.values import is_number, raw_text
from preprocessor.specs.model import TableSpec

if TYPE_CHECKING:
    from preprocessor.specs.model import PipelineSpec

_IN_TEXT = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.,])\d+(?:\.\d+)?")
_BYTE_STEPS = 1.024
_SHARES = ("%", "times")
"""The kinds of what may be the comparison of two rows."""
_FAR = 3
"""What is that many times beyond all numbers is about something else, where no unit says what it is about."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number that a table has: ``unit`` where its column names one, ``column`` and ``row`` where it is shown."""

    value: float
    unit: Unit | None
    spec: PipelineSpec
    column: str = ""
    row: int = -1


@dataclass(frozen=True, slots=True)
class Evidence:
    """All numbers of some tables, and the columns of numbers that a sentence may compare: each from top to bottom."""

    numbers: tuple[Number, ...]
    columns: tuple[tuple[float, ...], ...]
    bounds: tuple[Number, ...] = ()
    """Numbers that statements of the paragraph hold rows against, with the units of their columns."""

    def speaks_of(self, figure: Figure, *, nearby: bool = True) -> bool:
        """Whether a figure could come from a column that is shown: one of its unit, else one of numbers of its size.

        A spelled figure is small, and of anything: it has to be of the size as well. So has one that stands in a
        section of its own, where the tables are not ``nearby``: READMEs speak of other bytes and seconds too.
        """
        if figure.unit is not None and figure.unit.kind in _SHARES:
            return bool(self.columns) or any(
                one.column and one.unit is not None and one.unit.fits(figure.unit) for one in self.numbers
            )
        shown = [one for one in self.numbers if one.column and one.value > 0]
        spelled = figure.low == figure.high
        if spelled:  # what was chosen, and nothing that was measured
            shown = [one for one in shown if float(one.value).is_integer()]
        if figure.unit is not None:
            shown = [one for one in shown if one.unit is not None and one.unit.fits(figure.unit)]
        values = [value for one in shown for value in _in_unit_of(figure, one)]
        if nearby and figure.unit is not None and not spelled:
            return bool(values)
        return bool(values) and min(values) / _FAR <= figure.high and figure.low <= max(values) * _FAR

    def supports(self, figure: Figure) -> bool:
        """Whether a number, or for shares and factors the comparison of two, is what the figure says.

        A field that is not shown has no unit, and a share that it happens to be says nothing.
        """
        kind = figure.unit.kind if figure.unit else ""
        numbers = [one for one in self.numbers if one.column or one.unit or kind not in _SHARES]
        if any(_within(figure, value) for one in numbers for value in _in_unit_of(figure, one)):
            return True
        if any(_within(figure, value) for bound in self.bounds for value in _in_unit_of(figure, bound)):
            return True
        if kind not in _SHARES:
            return False
        bounds = (one for bound in self.bounds for one in _shares(bound.value, kind))
        return any(_within(figure, one) for one in (*self._compare_values(kind), *bounds))

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
    columns: list[tuple[float, ...]] = []
    for spec, rows in tables:
        for name in (column for path, column in spec.shown_columns if path[0] not in ("baseline", "format")):
            unit, scale = column_unit(spec, name), _scale_of(spec, name)
            values = [column_value(row, name) for row in rows]
            for row, value in enumerate(values):
                found = _numbers(value, unit)
                numbers += [Number(one * scale if own else one, own, spec, name, row) for one, own in found]
            if unit is None or unit.kind.endswith("/s") or unit.kind == "time":
                columns.append(tuple(one for one in map(_finite, values) if one is not None))
        columns += _compared(spec, rows)
        numbers += _totals(spec, rows)
        shown = {column.split(".")[0] for _, column in spec.shown_columns}
        hidden = [value for row in rows for name, value in row.items() if name not in shown]
        numbers += [Number(one, None, spec) for value in hidden for one in _find_numbers(value)]
        numbers += [Number(one, None, spec) for text in _words(spec) for one, _ in _numbers(text, None)]
    return Evidence(tuple(numbers), tuple(column for column in columns if column))


def _compared(spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, float]]:
    """Each ratio that a table shows beside its baseline, and each end of an interval, with the 1 of the baseline."""
    field = (spec.baseline or {}).get("comparison") if isinstance(spec, TableSpec) else None
    for one in list_conclusions(field, rows) if field else ():
        if one is not None and one.ratio is not None:
            yield from ((float(part), 1.0) for part in (one.ratio, *one.apart, *(one.interval or ())))


def _words(spec: PipelineSpec) -> Sequence[str]:
    """The headers of a table; its title and caption are prose themselves."""
    return spec.headers if isinstance(spec, TableSpec) else ()


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


def _numbers(value: object, unit: Unit | None) -> Iterator[tuple[float, Unit | None]]:
    """A number with its column's unit; the numbers in a text with none."""
    if (number := _finite(value)) is not None:
        yield number, unit
    elif value is not None and value is not MISSING:
        yield from ((float(one.replace(",", "")), None) for one in _IN_TEXT.findall(raw_text(value)))


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
    if figure.unit is None or number.unit is None:
        yield number.value
    elif number.unit.fits(figure.unit):
        factor = number.unit.factor / figure.unit.factor
        yield number.value * factor
        if number.unit.kind.startswith("byte"):
            yield from (number.value * factor * _BYTE_STEPS, number.value * factor / _BYTE_STEPS)


def _within(figure: Figure, value: float) -> bool:
    return figure.low <= value <= figure.high


def _distance(figure: Figure, number: Number, middle: float) -> float:
    return min((abs(value - middle) for value in _in_unit_of(figure, number)), default=float("inf"))


def _pairs(column: tuple[float, ...]) -> Iterator[tuple[float, float]]:
    """Two values of a column that a sentence would compare: with the first, the one before, the least and the most."""
    ends = (column[0], min(column), max(column))
    for number, value in enumerate(column):
        for other in (*ends, *column[max(number - 1, 0) : number]):
            if value and other and value != other:
                yield value, other
