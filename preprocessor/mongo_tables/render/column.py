"""One column of a table: its header, its values, how they are aligned; and how a column is found in a row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.addresses import fill_template
from mongo_tables.directives.inline_markdown import Piece
from mongo_tables.render.values import raw_or_nothing

Align = Literal["left", "right", "center"]
_BLANKS: Final = re.compile(r"\s+")
_SLASH: Final = re.compile(r"\s*/\s*| per ")


class Column(NamedTuple):
    """One column: ``values`` as they came, ``texts`` as cells show them, unescaped; one of each per row.

    ``raws`` are the values as text with no format, "" for none: worked out once for cells, files and anchors.
    ``unit`` is what stands beside the header: "" where the header names it already, ``raw_unit`` that of the values as
    they came, where cells are in others. ``heading`` spans this header and those beside it that have the same.
    ``name`` is the author's name of the column; a column that compares has none. ``reason`` says why a value is not
    there. ``links`` has for each row the address that its cell leads to, "" for none; it is empty where none does.
    ``sign_meanings`` likewise has what the sign at the end of a cell means. ``notes`` stand under the table,
    ``for_files`` are columns that files alone have behind this one.

    Of inline Markdown there are ``pieces``: of the header, and ``marked`` for each row, () for a cell that has none.
    ``bar``: a bar shows how large each number is; ``scale``: "sequential" or "diverging" where shades do. ``fitted``:
    each cell ends with a unit of its own; ``ranged``: numbers have the range of their repeats behind them.
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
    raw_unit: str = ""
    heading: str = ""
    pieces: tuple[Piece, ...] = ()
    marked: tuple[tuple[Piece, ...], ...] = ()
    bar: bool = False
    scale: str = ""
    fitted: bool = False
    ranged: bool = False

    @property
    def full_header(self) -> str:
        """The header as one text, behind the heading that spans it."""
        return f"{self.heading}: {self.header}" if self.heading else self.header

    @property
    def shown_header(self) -> str:
        """The full header with the unit that stands beside it."""
        return with_unit(self.full_header, self.unit)

    @property
    def file_header(self) -> str:
        """The full header with the unit of the values as they came."""
        return with_unit(self.full_header, self.raw_unit or self.unit)

    @property
    def names(self) -> tuple[str, ...]:
        """What names each row: its raw text, of Markdown the text that is shown."""
        return self.texts if self.marked else self.raws

    @property
    def pieces_of_cells(self) -> tuple[tuple[Piece, ...], ...]:
        """The inline Markdown of each cell, () for none."""
        return self.marked or ((),) * len(self.values)


def column_value(row: Mapping[str, object], column: str) -> object:
    """The value of a column, or ``MISSING``.

    A field of exactly this name comes first; otherwise dots go down into sub-documents. As in an aggregation
    expression, a path through an array gives the array of the values found in its documents.
    """
    if column in row:
        return row[column]
    return _descend(row, column.split(".")) if "." in column else MISSING


def _descend(value: object, path: list[str]) -> object:
    for depth, name in enumerate(path):
        if isinstance(value, list):
            found = [_descend(item, path[depth:]) for item in value if isinstance(item, Mapping)]
            return [item for item in found if item is not MISSING]
        if not isinstance(value, Mapping) or name not in value:
            return MISSING
        value = value[name]
    return value


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


def address_in(template: str, row: Mapping[str, object]) -> str:
    """The address that a column's ``link`` makes of a row; "" for none, and for one that must not become a link."""
    return fill_template(template, lambda field: raw_or_nothing(column_value(row, field)))


def find_added_unit(header: str, unit: str) -> str:
    """The unit to show beside the header; "" where the header already ends with it, in brackets or without."""
    header, wanted = _plain(header), _plain(unit)
    return "" if header.endswith((f"({wanted})", f"[{wanted}]", f" {wanted}")) else unit


def with_unit(header: str, unit: str) -> str:
    """The header with its unit in brackets, where it has one that it does not name already."""
    added = find_added_unit(header, unit) if unit else ""
    return f"{header} ({added})" if added else header


def _plain(text: str) -> str:
    return _SLASH.sub("/", _BLANKS.sub(" ", text)).replace("( ", "(").replace(" )", ")").strip()
