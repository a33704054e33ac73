"""The columns of a table: header, alignment and every row's values, ready to be written in any notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.column_format import ColumnFormat
from mongo_tables.directives.inline_markdown import Piece, plain_text, read_inline
from mongo_tables.render.column import Align, Column, address_in, column_value, find_added_unit
from mongo_tables.render.comparison import with_comparisons, with_ratios
from mongo_tables.render.conclusions import conclusion_in_words, notes_on_references
from mongo_tables.render.markup import range_text
from mongo_tables.render.values import (
    cell_text,
    finite_decimal,
    format_value,
    is_document,
    is_number,
    raw_or_nothing,
    visible,
)

if TYPE_CHECKING:
    from mongo_tables.directives.specs import TableSpec

Rows = Sequence[Mapping[str, object]]

_PLAIN: Final = ColumnFormat()
_ALIGNS: Final[Mapping[str, Align]] = {"left": "left", "right": "right", "center": "center"}


def columns_of(spec: TableSpec, rows: Rows) -> list[Column]:
    """The columns of a table in the author's order, with those that compare rows with its baseline."""
    columns = [_column(spec, index, rows) for index in range(len(spec.columns))]
    return with_comparisons(spec, columns, rows) if spec.baseline else columns


def _column(spec: TableSpec, index: int, rows: Rows) -> Column:
    name, header = spec.columns[index], spec.headers[index]
    written = spec.format.get(name)
    form = written or _PLAIN
    values = tuple(column_value(row, name) for row in rows)
    raws = tuple(map(raw_or_nothing, values))
    present = [value for value in values if value is not None and value is not MISSING]
    # Numbers to the right so that digits line up; one text among them makes the column text.
    natural: Align = "right" if present and all(map(is_number, present)) else "left"
    marked: tuple[tuple[Piece, ...], ...] = ()
    texts = [format_value(value, raw, written) for value, raw in zip(values, raws, strict=True)]
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
        # What stands for no value leads nowhere.
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
        fitted=form.notation.fits,
        ranged=name in spec.spread,
    )
    return with_ratios(made) if compares else made


def _with_ranges(
    texts: Sequence[str],
    values: Sequence[object],
    ends: Sequence[Sequence[object]],
    form: ColumnFormat | None,
) -> list[str]:
    """The texts of numbers, each with the range of its repeats behind it."""
    return [
        f"{text} ({range_text(cell_text(low, form), cell_text(high, form))})"
        if is_number(value) and finite_decimal(low) is not None and finite_decimal(high) is not None
        else text
        for text, value, low, high in zip(texts, values, *ends, strict=True)
    ]
