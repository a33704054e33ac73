"""Values that the format of their column, or its total, is not for; and addresses that must not become links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mongo_tables.aggregation.values import MISSING, is_date
from mongo_tables.directives.addresses import fields_of
from mongo_tables.directives.column_format import ColumnFormat
from mongo_tables.render.celllinks import address_in
from mongo_tables.render.column import column_value
from mongo_tables.render.fault import Fault
from mongo_tables.render.values import finite_decimal, is_number, raw_text

if TYPE_CHECKING:
    from mongo_tables.directives.specs import PipelineSpec, TableSpec

Rows = Sequence[Mapping[str, object]]

_OF_NUMBERS = ("percent", "currency", "duration", "bytes", "significant", "bar", "scale")
_TO_NUMBER = 'make it a number in the pipeline, with {"$toDouble": …}, or leave the format out'
_TO_DATE = 'make it a date in the pipeline, with {"$toDate": …}, or leave the format out'
_IN_MESSAGE = 60


def find_misfit(value: object, form: ColumnFormat) -> tuple[str, str, str] | None:
    """What of the format a value is not for: its key, what the value is, and a hint; a text without a digit is fine.

    Such a text, as ``n/a``, stands for no value.
    """
    if _stands_for_nothing(value):
        return None
    key = next((key for key in _OF_NUMBERS if getattr(form, key)), "")
    if key and not is_number(value):
        return key, f"{_told(value)}, and `{key}` is for numbers", _TO_NUMBER
    if form.date and not is_date(value):
        return "date", f"{_told(value)}, which is no date", _TO_DATE
    if form.bar and (finite_decimal(value) or 0) < 0:
        return "bar", f"{_told(value)}, and bars begin at 0", '"scale": "diverging" shades both sides of 0'
    return None


def _stands_for_nothing(value: object) -> bool:
    if isinstance(value, str):
        return not any(map(str.isdigit, value))
    return value is None or value is MISSING


def format_faults(spec: PipelineSpec, rows: Rows) -> Iterator[Fault]:
    """The first value of each column that its format is not for."""
    for column, form in spec.format.items():
        for number, row in enumerate(rows, 1):
            if misfit := find_misfit(column_value(row, column), form):
                key, said, hint = misfit
                yield ("format", column, key), f"row {number} has in `{column}` {said}", hint
                break


def _told(value: object) -> str:
    text = raw_text(value)
    text = text if len(text) <= _IN_MESSAGE else f"{text[:_IN_MESSAGE]}…"
    return f"the text “{text}”" if isinstance(value, str) else text


def total_faults(spec: TableSpec, rows: Rows) -> Iterator[Fault]:
    """Totals of values that have none: of texts a sum would be 0, and the least one an accident of their types."""
    for column, kind in spec.totals.items():
        if kind == "count":
            continue
        values = [column_value(row, column) for row in rows]
        kinds = {_kind(value) for value in values} - {""}
        if kinds <= {"number"} or (kind in ("min", "max") and kinds <= {"date"}):
            continue
        number, value = next(
            (number, value) for number, value in enumerate(values, 1) if _kind(value) not in ("", "number")
        )
        message = f"row {number} has {_told(value)} in `{column}`, which has no place in its {kind}"
        yield ("totals", column), message, "total another column, or `count` its values"


def _kind(value: object) -> str:
    if value is None or value is MISSING:
        return ""
    return "number" if is_number(value) else "date" if is_date(value) else "other"


def link_faults(spec: TableSpec, rows: Rows) -> Iterator[Fault]:
    """The first address of each column that must not become a link."""
    for column, form in spec.format.items():
        if not form.link:
            continue
        fields = fields_of(form.link)
        for number, row in enumerate(rows, 1):
            texts = [column_value(row, field) for field in fields]
            if all(map(_says_something, texts)) and not address_in(form.link, row):
                message = f"row {number} of `{column}` has no link: {_told(texts[0])} makes no address that may be one"
                hint = "http, https and mailto addresses and relative ones are linked, without a password in them"
                yield ("format", column, "link"), message, hint
                break


def _says_something(value: object) -> bool:
    return value is not None and value is not MISSING and value != ""
