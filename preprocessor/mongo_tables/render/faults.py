"""Faults in the settings of a table that its rows reveal.

These are values that do not fit the format or the total of their column, unsafe link addresses, values outside their
range, and groups whose rows are not consecutive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, Final

from mongo_tables.aggregation.values import MISSING, is_date, is_number
from mongo_tables.directives.addresses import fields_of
from mongo_tables.directives.columns import FOR_NUMBERS, ColumnFormat
from mongo_tables.render.column import address_in, column_value
from mongo_tables.render.values import cell_text, finite_decimal, raw_or_nothing, raw_text

if TYPE_CHECKING:
    from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec

SpecFault = tuple[tuple[str | int, ...], str, str]
"""Path of the setting in the comment, message and hint."""
Rows = Sequence[Mapping[str, object]]

_TO_TYPE: Final = 'make it a {0} in the pipeline, with {{"$to{1}": …}}, or leave the format out'
_IN_MESSAGE: Final = 60
_ROUNDING: Final = Decimal("1e-9")
"""The relative tolerance of a value outside its range: two ways to compute a double differ in the last digit."""


def find_misfit(value: object, form: ColumnFormat) -> tuple[str, str, str] | None:
    """Return the format key that a value does not fit, with a description of the value and a hint, or None otherwise.

    A text without a digit, such as ``n/a``, is valid, because it represents a missing value.
    """
    if value is None or value is MISSING or (isinstance(value, str) and not any(map(str.isdigit, value))):
        return None
    key = next((key for key in FOR_NUMBERS if getattr(form, key)), "")
    if key and not is_number(value):
        return key, f"{_told(value)}, and `{key}` is for numbers", _TO_TYPE.format("number", "Double")
    if form.date and not is_date(value):
        return "date", f"{_told(value)}, which is not a date", _TO_TYPE.format("date", "Date")
    if form.bar and (finite_decimal(value) or 0) < 0:
        return "bar", f"{_told(value)}, and bars begin at 0", '"scale": "diverging" shades both sides of 0'
    return None


def _told(value: object) -> str:
    text = raw_text(value)
    text = text if len(text) <= _IN_MESSAGE else f"{text[:_IN_MESSAGE]}…"
    return f"the string “{text}”" if isinstance(value, str) else text


def format_faults(spec: PipelineSpec, rows: Rows) -> Iterator[SpecFault]:
    """Yield a fault for the first value of each column that does not fit its format."""
    for column, form in spec.format.items():
        for number, row in enumerate(rows, 1):
            if misfit := find_misfit(column_value(row, column), form):
                key, said, hint = misfit
                yield ("format", column, key), f"in row {number}, `{column}` is {said}", hint
                break


def total_faults(spec: TableSpec, rows: Rows) -> Iterator[SpecFault]:
    """Yield faults for totals over texts: their sum would be 0, and their minimum an accident of type order."""
    for column, kind in spec.totals.items():
        if kind == "count":
            continue
        values = [column_value(row, column) for row in rows]
        present = [
            (number, one) for number, one in enumerate(values, 1) if one is not None and one is not MISSING
        ]
        wrong = [(number, one) for number, one in present if not is_number(one)]
        of_dates = len(wrong) == len(present) and all(is_date(one) for _, one in wrong)
        if not wrong or (kind in ("min", "max") and of_dates):
            continue
        number, value = wrong[0]
        message = f"row {number} has {_told(value)} in `{column}`, which has no place in its {kind}"
        yield ("totals", column), message, "total another column, or `count` its values"


def link_faults(spec: TableSpec, rows: Rows) -> Iterator[SpecFault]:
    """Yield a fault for the first unsafe link address of each column."""
    for column, form in spec.format.items():
        fields = fields_of(form.link) if form.link else []
        for number, row in enumerate(rows if form.link else (), 1):
            values = [column_value(row, field) for field in fields]
            if all(raw_or_nothing(value) for value in values) and not address_in(form.link or "", row):
                message = f"row {number} of `{column}` has no link: {_told(values[0])} must not become a link"
                hint = "only http, https, mailto and relative addresses without a password become links"
                yield ("format", column, "link"), message, hint
                break


def range_faults(spec: TableSpec | ChartSpec, rows: Rows) -> Iterator[SpecFault]:
    """Yield a fault for the first value of each column that lies outside the range shown with it."""
    for name, fields in spec.spread.items():
        for number, row in enumerate(rows, 1):
            value, low, high = (finite_decimal(column_value(row, each)) for each in (name, *fields[:2]))
            if value is None or low is None or high is None:
                continue
            off = abs(value) * _ROUNDING
            if not low - off <= value <= high + off:
                message = f"row {number} has {value} in `{name}`, outside its range from {low} to {high}"
                hint = (
                    "name the fields of the lowest and the highest value of the same measure, in this order"
                )
                yield ("spread", name), message, hint
                break


def group_faults(spec: TableSpec, column: str, rows: Rows) -> Iterator[SpecFault]:
    """Yield faults for groups whose rows are not consecutive: readers would take each part for the whole group."""
    values = [column_value(row, column) for row in rows]
    seen: set[str] = set()
    for (_, raw), run in groupby(enumerate(values, 1), lambda one: (type(one[1]), raw_or_nothing(one[1]))):
        number, value = next(run)
        if raw in seen:
            text = cell_text(value, spec.form_of(column))
            message = (
                f"the rows of {text} are not adjacent: from row {number} on they get the same heading again"
            )
            yield ("group_rows",), message, f"sort by `{column}` first"
            return
        seen.add(raw)
