"""The columns of a table: header, alignment and every row's values, ready to be written in any notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.column_format import ColumnFormat
from mongo_tables.directives.inline_markdown import Piece, plain_text, read_inline
from mongo_tables.render.celllinks import addresses_of
from mongo_tables.render.column import Align, Column, column_value
from mongo_tables.render.comparison import with_comparisons, with_ratios
from mongo_tables.render.conclusiontext import conclusion_in_words, notes_on_references
from mongo_tables.render.headers import find_added_unit
from mongo_tables.render.text import range_text
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
    if spec.baseline is None:
        return columns
    return with_comparisons(spec, columns, rows)


def _column(spec: TableSpec, index: int, rows: Rows) -> Column:
    name, header = spec.columns[index], spec.headers[index]
    form = spec.format.get(name) or _PLAIN
    values = tuple(column_value(row, name) for row in rows)
    raws = tuple(map(raw_or_nothing, values))
    marked = tuple(map(_marked, values)) if form.markdown else ()
    made = Column(
        header=header,
        unit=find_added_unit(header, form.unit) if form.unit else "",
        align=_ALIGNS.get(form.align or "") or _natural_align(values),
        values=values,
        texts=_marked_texts(marked, values, raws, form) if marked else _texts(spec, name, values, raws, rows),
        raws=raws,
        name=name,
        reason=form.reason or "",
        links=addresses_of(form.link, values, rows) if form.link else (),
        notes=notes_on_references(values),
        raw_unit=form.raw_unit,
        heading=next((one.text for one in spec.header_groups if name in one.columns), ""),
        pieces=spec.pieces.get(("headers", index), ()),
        marked=marked,
        bar=form.bar,
        scale=form.scale or "",
        fitted=bool(form.duration or form.bytes),
        ranged=name in spec.spread,
    )
    return with_ratios(made)


def _marked(value: object) -> tuple[Piece, ...]:
    return read_inline(visible(value)) if isinstance(value, str) else ()


def _marked_texts(
    marked: Sequence[tuple[Piece, ...]], values: Sequence[object], raws: Sequence[str], form: ColumnFormat
) -> tuple[str, ...]:
    """What is read of each text; other values as they are."""
    return tuple(
        plain_text(pieces) if pieces else format_value(value, raw, form)
        for pieces, value, raw in zip(marked, values, raws, strict=True)
    )


def _texts(
    spec: TableSpec,
    name: str,
    values: Sequence[object],
    raws: Sequence[str],
    rows: Rows,
) -> tuple[str, ...]:
    """What cells show: the value, and behind it the range of its repeats where the table has one.

    What a comparison concludes is written in words, as in a sentence.
    """
    form = spec.format.get(name)
    texts = [
        (conclusion_in_words(value) if is_document(value) else "") or format_value(value, raw, form)
        for value, raw in zip(values, raws, strict=True)
    ]
    if name not in spec.spread:
        return tuple(texts)
    ends = [[column_value(row, field) for row in rows] for field in spec.spread[name][:2]]
    return tuple(
        f"{text} ({range_text(cell_text(low, form), cell_text(high, form))})"
        if is_number(value) and finite_decimal(low) is not None and finite_decimal(high) is not None
        else text
        for text, value, low, high in zip(texts, values, *ends, strict=True)
    )


def _natural_align(values: Sequence[object]) -> Align:
    """Numbers to the right so that digits line up; one text among them makes the column text."""
    present = [value for value in values if value is not None and value is not MISSING]
    return "right" if present and all(map(is_number, present)) else "left"
