"""The columns of a table: header, alignment and the values of every row, ready for any output format.

Programs write a mean with all the digits of a double, but readers need only a few. If a fraction of a column has many
digits, and the author sets none, all fractions are shown with ``FEW_DIGITS`` significant digits, or as per cent with
equally many decimals. In plain files, more than ``MOST_DIGITS`` digits are many; in fixture files and databases, whose
digits were chosen deliberately, more than ``MOST_AS_STORED``. This applies to tables, charts, sentences and messages.
Downloads have the raw values.

In tables of plain files, numbers that were all typed with the same few decimals keep them, and dates without a time are
shown as days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time
from decimal import Decimal
from typing import Final, TypeVar

from mongo_tables.aggregation.values import MISSING, is_number
from mongo_tables.directives.columns import ColumnFormat, Piece, plain_text, read_inline
from mongo_tables.directives.specs import ChartSpec, PipelineSpec, TableSpec
from mongo_tables.render.column import Align, Column, Rows, address_in, column_value, find_added_unit
from mongo_tables.render.comparison import with_comparisons, with_ratios
from mongo_tables.render.conclusions import conclusion_of, notes_on_references, words_of
from mongo_tables.render.markup import range_text
from mongo_tables.render.number_text import FEW_DIGITS, notation_of, rounds
from mongo_tables.render.values import (
    MOST_AS_STORED,
    MOST_DIGITS,
    cell_text,
    finite_decimal,
    format_value,
    have_more_digits,
    is_document,
    raw_or_nothing,
    visible,
)
from mongo_tables.results.model import PlainRows

_S = TypeVar("_S", bound=PipelineSpec)

_PLAIN: Final = ColumnFormat()
_DAY: Final = "%Y-%m-%d"
_MOST_DECIMALS: Final = 3
"""The largest number of decimals that people type. Up to this many decimals are kept, however many digits precede them.
"""
_ALIGNS: Final[Mapping[str, Align]] = {"left": "left", "right": "right", "center": "center"}


def columns_of(spec: TableSpec, rows: Rows) -> list[Column]:
    """Return the columns of a table in the author's order, and the columns that compare rows with the baseline."""
    headings: dict[str, str] = {}
    for group in spec.header_groups:
        for name in group.columns:
            headings.setdefault(name, group.text)
    columns = []
    for index, name in enumerate(spec.columns):
        columns.append(_column(spec, index, rows, headings.get(name, "")))
    return with_comparisons(spec, columns, rows) if spec.baseline else columns


def _column(spec: TableSpec, index: int, rows: Rows, heading: str) -> Column:
    name = spec.columns[index]
    written = spec.format.get(name)
    form = written or _PLAIN
    values = [column_value(row, name) for row in rows]
    present = [value for value in values if value is not MISSING and value is not None]
    are_numbers = all(map(is_number, present))
    compares = not are_numbers and any(map(is_document, present))
    concluded = list(map(conclusion_of, values)) if compares else []
    words: Sequence[str] = ()
    shown = values
    if compares and not form.markdown:
        # Words and ratios replace comparisons, which are documents and would take long to write.
        words = list(map(words_of, concluded))
        shown = [None if said else value for said, value in zip(words, values, strict=True)]
    raws = list(map(raw_or_nothing, shown))
    texts = raws
    if written is not None or len(present) < len(values):
        texts = [format_value(value, raw, written) for value, raw in zip(values, raws, strict=True)]
    marked: tuple[tuple[Piece, ...], ...] = ()
    if form.markdown:
        marked = tuple(read_inline(visible(value)) if isinstance(value, str) else () for value in values)
        texts = [plain_text(pieces) if pieces else text for pieces, text in zip(marked, texts, strict=True)]
    elif words:
        texts = [said or text for said, text in zip(words, texts, strict=True)]
    if name in spec.spread and not marked:
        texts = _with_ranges(texts, values, rows, spec.spread[name], written)
    links: tuple[str, ...] = ()
    if form.link:  # A placeholder for a missing value has no link.
        linked = [raw or is_document(value) for raw, value in zip(raws, values, strict=True)]
        links = tuple(
            address_in(form.link, row) if has else "" for has, row in zip(linked, rows, strict=True)
        )
    made = Column(
        header=spec.headers[index],
        unit=find_added_unit(spec.headers[index], form.unit) if form.unit else "",
        # Numbers are right-aligned so that digits line up. A column with a text is a text column.
        align=_ALIGNS.get(form.align or "") or ("right" if present and are_numbers else "left"),
        values=tuple(values),
        texts=tuple(texts),
        raws=tuple(raws),
        name=name,
        reason=form.reason or "",
        links=links,
        notes=notes_on_references(concluded) if compares else (),
        raw_unit=written.raw_unit if written else "",
        heading=heading,
        pieces=spec.pieces.get(("headers", index), ()),
        marked=marked,
        bar=form.bar,
        scale=form.scale or "",
        fitted=written is not None and notation_of(written).digits is not None,
        ranged=name in spec.spread,
    )
    if compares:
        return with_ratios(made, concluded)
    ends = []
    for end, field in zip(("from", "to"), spec.spread.get(name, ()), strict=False):
        found = tuple(column_value(row, field) for row in rows)
        their_raws = tuple(map(raw_or_nothing, found))
        ends.append(made._replace(header=f"{made.header}, {end}", values=found, raws=their_raws, name=field))
    return made._replace(for_files=tuple(ends)) if ends else made


def _with_ranges(
    texts: Sequence[str],
    values: Sequence[object],
    rows: Rows,
    ends: Sequence[str],
    form: ColumnFormat | None,
) -> list[str]:
    """Return the texts of a column, in which the range of its repeats follows each number.

    ``ends`` are the fields of the lowest and the highest value.
    """
    ranged = []
    for text, value, row in zip(texts, values, rows, strict=True):
        low, high = column_value(row, ends[0]), column_value(row, ends[1])
        if is_number(value) and finite_decimal(low) is not None and finite_decimal(high) is not None:
            text = f"{text} ({range_text(cell_text(low, form), cell_text(high, form))})"
        ranged.append(text)
    return ranged


# -- numbers without a format --


def with_few_digits(spec: _S, rows: Rows) -> _S:
    """Return a table or a chart with the formats that its rows need, such as few digits for long fractions."""
    forms = {**spec.format}
    for path, column in spec.shown_columns:
        if path[0] not in ("spread", "baseline", "format") and (
            form := fit_format(spec.format.get(column), spec, column, rows)
        ):
            forms[column] = form
    return replace(spec, format=forms) if forms != spec.format else spec


def fit_format(form: ColumnFormat | None, spec: PipelineSpec, column: str, rows: Rows) -> ColumnFormat | None:
    """Return the format of a column: the author's ``form``. If it sets no digits, digits that suit the values are
    added.
    """
    if form is not None and (rounds(form) or form.date):
        return form
    plain = rows if isinstance(rows, PlainRows) else None
    most = MOST_AS_STORED if plain is None else MOST_DIGITS
    every = [column_value(row, column) for row in rows]
    has_more = have_more_digits(every, most)
    if plain is not None and isinstance(spec, TableSpec):  # The axes of charts have their own notation.
        values = [value for value in every if value is not MISSING and value is not None]
        if values and all(type(value) is datetime and value.time() == time() for value in values):
            return (form or _PLAIN)._replace(date=_DAY)
        decimals = plain.decimals.get(column)
        by_program = decimals and decimals > _MOST_DECIMALS and has_more
        if decimals and not by_program and not (form or _PLAIN).cell_unit_key:
            typed = all(
                isinstance(value, int | float) and round(value, decimals) == value for value in values
            )
            if typed:
                return (form or _PLAIN)._replace(decimals=decimals)
    # A value and both ends of its range share a format.
    ranges = spec.spread if isinstance(spec, TableSpec | ChartSpec) else {}
    for shown, fields in ranges.items():
        if not has_more and column in (group := (shown, *fields[:2])):
            has_more = have_more_digits((column_value(row, name) for name in group for row in rows), most)
            break
    if has_more and form is not None and form.percent:
        shares = [abs(one) for one in map(finite_decimal, every) if one] or [Decimal(1)]
        # Few digits of the largest share, and at least two of the smallest, unless that takes too many decimals.
        wanted, needed = FEW_DIGITS - 3 - max(shares).adjusted(), -1 - min(shares).adjusted()
        if needed <= max(wanted, _MOST_DECIMALS):
            return form._replace(decimals=max(wanted, needed, 0))
    return (form or _PLAIN)._replace(few_digits=True) if has_more else form
