"""The columns of a table: header, alignment and every row's values, ready to be written in any notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from preprocessor.aggregation.values import MISSING
from preprocessor.render.column import Align, Column, column_value
from preprocessor.render.comparison import with_comparisons
from preprocessor.render.conclusiontext import conclusion_in_words, note_on_reference
from preprocessor.render.headers import find_added_unit
from preprocessor.render.text import range_text
from preprocessor.render.values import cell_text, finite_decimal, format_value, is_number, raw_or_nothing

if TYPE_CHECKING:
    from preprocessor.specs.model import TableSpec

_ALIGNS: Final[Mapping[str, Align]] = {"left": "left", "right": "right", "center": "center"}


def columns_of(spec: TableSpec, rows: Sequence[Mapping[str, object]]) -> list[Column]:
    """The columns of a table in the author's order, with those that compare rows with its baseline."""
    columns = [
        _column(spec, name, header, rows) for name, header in zip(spec.columns, spec.headers, strict=True)
    ]
    if spec.baseline is None:
        return columns
    return with_comparisons(spec, columns, rows)


def _column(spec: TableSpec, name: str, header: str, rows: Sequence[Mapping[str, object]]) -> Column:
    form = spec.format.get(name)
    values = tuple(column_value(row, name) for row in rows)
    raws = tuple(map(raw_or_nothing, values))
    return Column(
        header=header,
        unit=find_added_unit(header, form.unit) if form and form.unit else "",
        align=_ALIGNS.get((form.align if form else None) or "") or _natural_align(values),
        values=values,
        texts=_texts(spec, name, values, raws, rows),
        raws=raws,
        name=name,
        reason=(form.reason or "") if form else "",
        notes=tuple(filter(None, map(note_on_reference, values))),
    )


def _texts(
    spec: TableSpec,
    name: str,
    values: Sequence[object],
    raws: Sequence[str],
    rows: Sequence[Mapping[str, object]],
) -> tuple[str, ...]:
    """What cells show: the value, and behind it the range of its repeats where the table has one.

    What a comparison concludes is written in words, as in a sentence.
    """
    form = spec.format.get(name)
    texts = [
        (conclusion_in_words(value) if isinstance(value, Mapping) else "") or format_value(value, raw, form)
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
