"""Faults in the settings of a table that only show in its rows.

They are values that do not fit the format or the total of their column, unsafe link addresses, values outside their
range, and groups whose rows are not adjacent.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, Final

from mongo_tables.aggregation.values import MISSING, is_date, is_number
from mongo_tables.directives.addresses import fields_of
from mongo_tables.directives.columns import FOR_NUMBERS, ColumnFormat
from mongo_tables.render.column import Rows, address_in, column_value
from mongo_tables.render.values import cell_text, finite_decimal, raw_or_nothing, raw_text

if TYPE_CHECKING:
    from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec

SpecFault = tuple[tuple[str | int, ...], str, str]
"""The path of the setting in the comment, the message and the hint."""

_TO_TYPE: Final = 'convert it to a {0} in the pipeline, with {{"$to{1}": …}}, or remove the format'
_IN_MESSAGE: Final = 60
_ROUNDING: Final = Decimal("1e-9")
"""The relative tolerance at the ends of a range, because two ways to compute a double may differ in the last digit."""


def find_misfit(value: object, form: ColumnFormat) -> tuple[str, str, str] | None:
    """Return the key of the format that a value does not fit, a message and a hint, or None if the value fits.

    A text without a digit, such as ``n/a``, represents a missing value and fits every format.
    """
    if value is None or value is MISSING or (isinstance(value, str) and not any(map(str.isdigit, value))):
        return None
    key = next((key for key in FOR_NUMBERS if getattr(form, key)), "")
    if key and not is_number(value):
        return key, f"{_told(value)}, but `{key}` is for numbers", _TO_TYPE.format("number", "Double")
    if form.date and not is_date(value):
        return "date", f"{_told(value)}, which is not a date", _TO_TYPE.format("date", "Date")
    if form.bar and (finite_decimal(value) or 0) < 0:
        return "bar", f"{_told(value)}, but bars begin at 0", '"scale": "diverging" shades both sides of 0'
    return None


def _told(value: object) -> str:
    text = raw_text(value)
    text = text if len(text) <= _IN_MESSAGE else f"{text[:_IN_MESSAGE]}…"
    return f"the string “{text}”" if isinstance(value, str) else text


def format_faults(spec: PipelineSpec, rows: Rows) -> Iterator[SpecFault]:
    """Yield a fault for the first value of each column that does not fit the column's format."""
    for column, form in spec.format.items():
        for number, row in enumerate(rows, 1):
            if misfit := find_misfit(column_value(row, column), form):
                key, said, hint = misfit
                yield ("format", column, key), f"in row {number}, `{column}` is {said}", hint
                break


def total_faults(spec: TableSpec, rows: Rows) -> Iterator[SpecFault]:
    """Yield a fault for each total of values other than numbers: a sum would skip them without a message."""
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
        message = f"row {number} has {_told(value)} in `{column}`, which its total `{kind}` cannot include"
        yield ("totals", column), message, "choose the total `count`, or the total of another column"


def link_faults(spec: TableSpec, rows: Rows) -> Iterator[SpecFault]:
    """Yield a fault for the first address of each column that is unsafe as a link."""
    for column, form in spec.format.items():
        fields = fields_of(form.link) if form.link else []
        for number, row in enumerate(rows if form.link else (), 1):
            values = [column_value(row, field) for field in fields]
            if all(raw_or_nothing(value) for value in values) and not address_in(form.link or "", row):
                message = (
                    f"row {number} of `{column}` has no link, because {_told(values[0])} is unsafe as a link"
                )
                hint = "use an http, https, mailto or relative address without a password"
                yield ("format", column, "link"), message, hint
                break


def range_faults(spec: TableSpec | ChartSpec, rows: Rows) -> Iterator[SpecFault]:
    """Yield a fault for the first value of each column that is outside of its range."""
    for name, fields in spec.spread.items():
        for number, row in enumerate(rows, 1):
            value, low, high = (finite_decimal(column_value(row, each)) for each in (name, *fields[:2]))
            if value is None or low is None or high is None:
                continue
            off = abs(value) * _ROUNDING
            if not low - off <= value <= high + off:
                message = f"row {number} has {value} in `{name}`, outside its range from {low} to {high}"
                hint = "name the fields of its lowest and its highest value, in this order"
                yield ("spread", name), message, hint
                break


def group_faults(spec: TableSpec, column: str, rows: Rows) -> Iterator[SpecFault]:
    """Yield a fault for a group whose rows are not adjacent: readers would take one part for the whole group."""
    values = [column_value(row, column) for row in rows]
    seen: set[str] = set()
    for (_, raw), run in groupby(enumerate(values, 1), lambda one: (type(one[1]), raw_or_nothing(one[1]))):
        number, value = next(run)
        if raw in seen:
            text = cell_text(value, spec.form_of(column))
            message = f"the rows of {text} are not adjacent, so their heading is repeated at row {number}"
            yield ("group_rows",), message, f"sort the rows by `{column}`"
            return
        seen.add(raw)
