"""The columns of a table: header, alignment and every row's values, ready to be written in any notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from preprocessor.aggregation.values import MISSING
from preprocessor.render.headers import added_unit
from preprocessor.render.values import cell_text, formatted, is_number, raw_or_nothing

if TYPE_CHECKING:
    from preprocessor.specs import TableSpec

Align = Literal["left", "right", "center"]
_ALIGNS: Final[Mapping[str, Align]] = {"left": "left", "right": "right", "center": "center"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column: ``values`` as they came, ``texts`` as cells show them, unescaped; one of each per row.

    ``raws`` are the values as text with no format, "" for none: worked out once for cells, files and anchors.
    ``unit`` is what stands beside the header: "" where the header names it already.
    ``name`` is the author's name of the column; a column that compares has none. ``reason`` says why a value is not
    there. ``links`` has for each row the address that its cell leads to, "" for none; it is empty where none does.
    """

    header: str
    unit: str
    align: Align
    values: tuple[object, ...]
    texts: tuple[str, ...]
    raws: tuple[str, ...]
    name: str = ""
    reason: str = ""
    links: tuple[str, ...] = ()


def columns_of(spec: TableSpec, rows: Sequence[Mapping[str, object]]) -> list[Column]:
    """The columns of a table in the author's order, with those that compare rows with its baseline."""
    columns = [
        _column(spec, name, header, rows) for name, header in zip(spec.columns, spec.headers, strict=True)
    ]
    if spec.baseline is None:
        return columns
    from preprocessor.render.comparison import with_comparisons

    return with_comparisons(spec, columns, rows)


def _column(spec: TableSpec, name: str, header: str, rows: Sequence[Mapping[str, object]]) -> Column:
    form = spec.format.get(name)
    values = tuple(column_value(row, name) for row in rows)
    raws = tuple(map(raw_or_nothing, values))
    return Column(
        header=header,
        unit=added_unit(header, form.unit) if form and form.unit else "",
        align=_ALIGNS.get((form.align if form else None) or "") or _natural_align(values),
        values=values,
        texts=_texts(spec, name, values, raws, rows),
        raws=raws,
        name=name,
        reason=(form.reason or "") if form else "",
    )


def _texts(
    spec: TableSpec,
    name: str,
    values: Sequence[object],
    raws: Sequence[str],
    rows: Sequence[Mapping[str, object]],
) -> tuple[str, ...]:
    """What cells show: the value, and behind it the range of its repeats where the table has one."""
    form = spec.format.get(name)
    texts = [formatted(value, raw, form) for value, raw in zip(values, raws, strict=True)]
    if name not in spec.spread:
        return tuple(texts)
    ends = [[column_value(row, field) for row in rows] for field in spec.spread[name][:2]]
    return tuple(
        f"{text} ({cell_text(low, form)}–{cell_text(high, form)})"
        if is_number(value) and is_number(low) and is_number(high)
        else text
        for text, value, low, high in zip(texts, values, *ends, strict=True)
    )


def _natural_align(values: Sequence[object]) -> Align:
    """Numbers to the right so that digits line up; one text among them makes the column text."""
    present = [value for value in values if value is not None and value is not MISSING]
    return "right" if present and all(map(is_number, present)) else "left"


def column_value(row: Mapping[str, object], column: str) -> object:
    """The value of a column, or ``MISSING``.

    A field of exactly this name comes first; otherwise dots go down into sub-documents. As in an aggregation
    expression, a path through an array gives the array of the values found in its documents.
    """
    if column in row:
        return row[column]
    return _descend(row, column.split(".")) if "." in column else MISSING


def index_hint(column: str) -> str:
    """How to take an element of an array, where a path has a number for it; "" where it has none.

    A path has no places of arrays, as in an aggregation expression: a number in it is the name of a field.
    """
    path = column.split(".")
    at = next((at for at, part in enumerate(path[1:], 1) if part.isdigit()), 0)
    if not at:
        return ""
    element = f'{{"$arrayElemAt": ["${".".join(path[:at])}", {int(path[at])}]}}'
    rest = f"; of that, take `{'.'.join(path[at + 1 :])}`" if path[at + 1 :] else ""
    fault = "a number in a path does not select an element of an array"
    return f"{fault}: take the element in the pipeline, with {element}{rest}"


def _descend(value: object, path: list[str]) -> object:
    for depth, name in enumerate(path):
        if isinstance(value, list):
            found = [_descend(item, path[depth:]) for item in value if isinstance(item, Mapping)]
            return [item for item in found if item is not MISSING]
        if not isinstance(value, Mapping) or name not in value:
            return MISSING
        value = value[name]
    return value
