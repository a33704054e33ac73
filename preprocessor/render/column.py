"""One column of a table: its header, its values, how they are aligned; and how a column is found in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from preprocessor.aggregation.values import MISSING

Align = Literal["left", "right", "center"]


class Column(NamedTuple):
    """One column: ``values`` as they came, ``texts`` as cells show them, unescaped; one of each per row.

    ``raws`` are the values as text with no format, "" for none: worked out once for cells, files and anchors.
    ``unit`` is what stands beside the header: "" where the header names it already.
    ``name`` is the author's name of the column; a column that compares has none. ``reason`` says why a value is not
    there. ``links`` has for each row the address that its cell leads to, "" for none; it is empty where none does.
    ``sign_meanings`` likewise has what the sign at the end of a cell means. ``notes`` stand under the table,
    ``for_files`` are columns that files alone have behind this one.
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
    sign_meanings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    for_files: tuple[Column, ...] = ()


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
