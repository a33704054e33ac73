"""The columns of a table: header, alignment and the values of every row, ready for any output format.

Programs write a mean with all the digits of a double, while readers use only a few. If a column of a plain file has a
fraction of more than ``MOST_DIGITS`` significant digits and the author sets no digits, all its fractions are shown with
``FEW_DIGITS``: in tables, charts, sentences and messages alike. Downloads have the raw values. Fixture files and
databases hold deliberately chosen digits, which are shown up to ``MOST_AS_STORED``; more come from
arithmetic. Numbers of a CSV file that were typed with equally many decimals keep them, and days stay days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time
from itertools import product, repeat
from typing import Final, TypeVar

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.columns import ColumnFormat, Piece, plain_text, read_inline
from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec
from mongo_tables.render.column import Align, Column, address_in, column_value, find_added_unit
from mongo_tables.render.comparison import with_comparisons, with_ratios
from mongo_tables.render.conclusions import conclusion_in_words, notes_on_references
from mongo_tables.render.markup import range_text
from mongo_tables.render.number_text import notation_of, rounds
from mongo_tables.render.values import (
    MOST_AS_STORED,
    MOST_DIGITS,
    cell_text,
    finite_decimal,
    format_value,
    has_more_digits,
    is_document,
    is_number,
    raw_or_nothing,
    visible,
)
from mongo_tables.results.model import PlainRows

Rows = Sequence[Mapping[str, object]]
_S = TypeVar("_S", bound=PipelineSpec)

_PLAIN: Final = ColumnFormat()
_DAY: Final = "%Y-%m-%d"
_MOST_DECIMALS: Final = 3
"""The most decimals that people type, and that are kept however many digits precede them."""
_ALIGNS: Final[Mapping[str, Align]] = {"left": "left", "right": "right", "center": "center"}


def columns_of(spec: TableSpec, rows: Rows) -> list[Column]:
    """Return the columns of a table in the author's order, with those that compare rows with its baseline."""
    columns = [_column(spec, index, rows) for index in range(len(spec.columns))]
    return with_comparisons(spec, columns, rows) if spec.baseline else columns


def _column(spec: TableSpec, index: int, rows: Rows) -> Column:
    name, header = spec.columns[index], spec.headers[index]
    written = spec.format.get(name)
    form = written or _PLAIN
    values = tuple(map(column_value, rows, repeat(name)))
    raws = tuple(map(raw_or_nothing, values))
    present = [value for value in values if value is not None and value is not MISSING]
    # Numbers are right-aligned so that digits line up; one text makes the column a text column.
    natural: Align = "right" if present and all(map(is_number, present)) else "left"
    marked: tuple[tuple[Piece, ...], ...] = ()
    texts = list(map(format_value, values, raws, repeat(written)))
    if form.markdown:
        marked = tuple(read_inline(visible(value)) if isinstance(value, str) else () for value in values)
        texts = [plain_text(pieces) if pieces else text for pieces, text in zip(marked, texts, strict=True)]
    compares = any(map(is_document, values))
    if compares and not marked:
        texts = [conclusion_in_words(value) or text for value, text in zip(values, texts, strict=True)]
    if name in spec.spread and not marked:
        ends = [[column_value(row, end) for row in rows] for end in spec.spread[name][:2]]
        texts = _with_ranges(texts, values, ends, written)
    made = Column(
        header=header,
        unit=find_added_unit(header, form.unit) if form.unit else "",
        align=_ALIGNS.get(form.align or "") or natural,
        values=values,
        texts=tuple(texts),
        raws=raws,
        name=name,
        reason=form.reason or "",
        # A placeholder for a missing value has no link.
        links=tuple(address_in(form.link, row) if raw else "" for raw, row in zip(raws, rows, strict=True))
        if form.link
        else (),
        notes=notes_on_references(values) if compares else (),
        raw_unit=form.raw_unit,
        heading=next((one.text for one in spec.header_groups if name in one.columns), ""),
        pieces=spec.pieces.get(("headers", index), ()),
        marked=marked,
        bar=form.bar,
        scale=form.scale or "",
        fitted=notation_of(form).digits is not None,
        ranged=name in spec.spread,
    )
    return with_ratios(made) if compares else made


def _with_ranges(
    texts: Sequence[str],
    values: Sequence[object],
    ends: Sequence[Sequence[object]],
    form: ColumnFormat | None,
) -> list[str]:
    """Return the texts of numbers, each followed by the range of its repeats."""
    return [
        f"{text} ({range_text(cell_text(low, form), cell_text(high, form))})"
        if is_number(value) and finite_decimal(low) is not None and finite_decimal(high) is not None
        else text
        for text, value, low, high in zip(texts, values, *ends, strict=True)
    ]


# -- numbers without a format --


def with_few_digits(spec: _S, rows: Rows) -> _S:
    """Return a table or a chart with the formats that its rows need, or itself if it already has them."""
    forms = {**spec.format}
    for path, column in spec.shown_columns:
        if path[0] not in ("spread", "baseline", "format") and (
            form := fit_format(spec.format.get(column), spec, column, rows)
        ):
            forms[column] = form
    return replace(spec, format=forms) if forms != spec.format else spec


def _format_as_typed(form: ColumnFormat, spec: PipelineSpec, column: str, rows: Rows) -> ColumnFormat | None:
    """Return the format that shows days as days, and numbers with the decimals that they were typed with, if any."""
    if not isinstance(spec, TableSpec) or not isinstance(rows, PlainRows):
        return None  # An axis has its own notation.
    values = [
        value for row in rows if (value := column_value(row, column)) is not MISSING and value is not None
    ]
    if values and all(type(value) is datetime and value.time() == time() for value in values):
        return form._replace(date=_DAY)
    decimals = rows.decimals.get(column)
    if not decimals or form.cell_unit_key:
        return None
    if decimals > _MOST_DECIMALS and any(has_more_digits(value, MOST_DIGITS) for value in values):
        return None  # A program wrote them.
    if all(isinstance(value, int | float) and round(value, decimals) == value for value in values):
        return form._replace(decimals=decimals)
    return None


def fit_format(form: ColumnFormat | None, spec: PipelineSpec, column: str, rows: Rows) -> ColumnFormat | None:
    """Return the format of a column, given the author's format ``form``."""
    if form is not None and (rounds(form) or form.date):
        return form
    if as_typed := _format_as_typed(form or ColumnFormat(), spec, column, rows):
        return as_typed
    # A value and both ends of its range share a format.
    ranges = spec.spread if isinstance(spec, TableSpec | ChartSpec) else {}
    groups = [[shown, *fields[:2]] for shown, fields in ranges.items()] if ranges else ()
    together = next((group for group in groups if column in group), [column])
    most = MOST_DIGITS if isinstance(rows, PlainRows) else MOST_AS_STORED
    for name, row in product(together, rows):
        if has_more_digits(column_value(row, name), most):
            return (form or ColumnFormat())._replace(few_digits=True)
    return form
