"""One column of a table: its header, its values and their texts, and the value of a column in a row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from mongo_tables.aggregation.paths import Getter, getter
from mongo_tables.aggregation.values import MISSING
from mongo_tables.directives.addresses import fill_template
from mongo_tables.directives.columns import Piece, elements_by_key
from mongo_tables.render.values import raw_or_nothing

Align = Literal["left", "right", "center"]
Rows = Sequence[Mapping[str, Any]]
_BLANKS: Final = re.compile(r"\s+")
_SLASH: Final = re.compile(r"\s*/\s*| per ")


class Column(NamedTuple):
    """One column of a table.

    Attributes:
        header: The header, without its unit.
        unit: The unit to show after the header, "" if there is no unit or the header contains it.
        align: The alignment of the cells.
        values: The value of each row.
        texts: The unescaped text of each cell.
        raws: The text of each value without a format, "" for none.
        name: The author's name of the column, "" for a comparison with the baseline.
        reason: The author's reason why values are absent.
        links: The address that each cell links to, "" for none; empty if no cell has a link.
        sign_meanings: The meaning of the sign that each cell ends with, "" for none; empty if no cell has one.
        notes: The notes to print under the table.
        for_files: The columns that files have after this one.
        raw_unit: The unit of the raw values, if cells use another unit.
        heading: The heading above the header, which spans neighbours with the same heading.
        pieces: The inline Markdown of the header.
        marked: The inline Markdown of each cell, () for none; empty if the column has no Markdown.
        bar: Whether a bar shows the size of each number.
        scale: "sequential" or "diverging" if shades show the size of each number.
        fitted: Whether each cell ends with its own unit.
        ranged: Whether each number is followed by the range of its repeats.
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
        """The header, after its heading if it has one."""
        return f"{self.heading}: {self.header}" if self.heading else self.header

    @property
    def shown_header(self) -> str:
        """The full header, followed by its unit."""
        return with_unit(self.full_header, self.unit)

    @property
    def file_header(self) -> str:
        """The full header, followed by the unit of the raw values."""
        return with_unit(self.full_header, self.raw_unit or self.unit)

    @property
    def pieces_of_cells(self) -> tuple[tuple[Piece, ...], ...]:
        """The inline Markdown of each cell, () for none."""
        return self.marked or ((),) * len(self.values)


def column_value(row: Mapping[str, object], column: str) -> object:
    """Return the value of a column in a row, or ``MISSING``.

    If the row has no field of this name, dots separate the names of nested fields. As in an aggregation expression, a
    path through an array gives the array of the values in its documents.

    Example:
        >>> column_value({"a": [{"b": 1}, {"b": 2}]}, "a.b")
        [1, 2]
    """
    if column in row:
        return row[column]
    return _getter_of(column)(row) if "." in column else MISSING


@lru_cache(maxsize=1024)
def _getter_of(column: str) -> Getter:
    return getter(tuple(column.split(".")))


def index_hint(column: str, rows: Rows = ()) -> str:
    """Return a hint on how to select an array element, for a path with a number, or "" for other paths.

    As in an aggregation expression, a number in a path is a field name, not an array index. If one field names the
    elements in all ``rows``, the hint selects an element by its name, because the order of elements may differ from row
    to row.
    """
    path = column.split(".")
    at = next((at for at, part in enumerate(path[1:], 1) if part.isdigit()), 0)
    if not at:
        return ""
    whole, number, rest = ".".join(path[:at]), int(path[at]), ".".join(path[at + 1 :])
    fault = "a number in a path does not select an element of an array"
    if named := _find_name([column_value(row, whole) for row in rows], number):
        stage = elements_by_key(whole, named[0], rest)
        return f"{fault}: name the elements in the pipeline, with {stage}, and use `by.{named[1]}`"
    element = f'{{"$arrayElemAt": ["${whole}", {number}]}}'
    each = f'`"rows": "{whole}.*"` makes a row of each element'
    return (
        f"{fault}: {each}; or select one in the pipeline, with {element}{rest and f', and use its `{rest}`'}"
    )


def _find_name(lists: Sequence[Any], number: int) -> tuple[str, str] | None:
    """Return the field that names the elements of each list, and the name of element ``number``, or None."""
    filled = [one for one in lists if isinstance(one, list) and one and isinstance(one[0], dict)]
    for key in filled[0][0] if filled else ():
        names: list[list[Any]] = [
            [each.get(key) if isinstance(each, dict) else None for each in one] for one in filled
        ]
        texts = all(isinstance(name, str) and not {".", "$"} & set(name) for one in names for name in one)
        if texts and all(len(set(one)) == len(one) for one in names):
            return key, names[0][min(number, len(names[0]) - 1)]
    return None


def address_in(template: str, row: Mapping[str, object], value: str | None = None) -> str:
    """Return the address that a ``link`` template gives for a row, or "" if there is none or it is unsafe.

    ``value``, if given, replaces ``{value}``.
    """

    def text_of(field: str) -> str:
        return value if field == "value" and value else raw_or_nothing(column_value(row, field))

    return fill_template(template, text_of)


def find_added_unit(header: str, unit: str) -> str:
    """Return the unit to show after a header, or "" if the header already ends with it."""
    header, wanted = _plain(header), _plain(unit)
    return "" if header.endswith((f"({wanted})", f"[{wanted}]", f" {wanted}")) else unit


def with_unit(header: str, unit: str) -> str:
    """Return the header with its unit in brackets, or unchanged if there is no unit or the header ends with it.

    Example:
        >>> with_unit("Latency", "ms")
        'Latency (ms)'
        >>> with_unit("Latency (ms)", "ms")
        'Latency (ms)'
    """
    added = find_added_unit(header, unit) if unit else ""
    return f"{header} ({added})" if added else header


def _plain(text: str) -> str:
    return _SLASH.sub("/", _BLANKS.sub(" ", text)).replace("( ", "(").replace(" )", ")").strip()
