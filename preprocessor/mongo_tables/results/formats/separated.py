"""CSV and TSV: a document for each line below the first, which names the columns; https://www.rfc-editor.org/rfc/rfc4180.

Cells are text. Their types are those that the author states, else those of the rule in ``formats.celltypes``, which
looks at all cells of a column: so a file is read twice. An empty cell is a field that the document does not have.

The last line may lack its end (RFC 4180, section 2), so a file that is cut off within its last cell cannot be known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from mongo_tables.files.text import shorten
from mongo_tables.findings.nearest import did_you_mean
from mongo_tables.results.formats.celltypes import convert, could_be, is_too_big
from mongo_tables.results.formats.model import TEXT, TYPES, Document, SourceFile
from mongo_tables.results.formats.tabletext import Chunk, TableText


def read(file: SourceFile) -> Iterator[Document]:
    """The documents of the file. Raises ``ResultsError`` at a line that is not like the first, and at a cell that
    is not of the type that its author states for the column.
    """
    table = TableText(file)
    names = table.names()
    types = _settle_types(table, names)
    for chunk in table.chunks(len(names)):
        columns = [_convert(table, chunk, *each) for each in enumerate(types)]
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
        if any("" in cells for cells in chunk.columns):
            rows = ({name: value for name, value in row.items() if value != ""} for row in rows)
        yield from rows


def _settle_types(table: TableText, names: Sequence[str]) -> list[str]:
    """The type of each column: the stated one, else the first that all its cells could be of."""
    stated = _stated_types(table.file, names)
    possible = [[stated[name]] if name in stated else list(TYPES) for name in names]
    for chunk in table.chunks(len(names)):
        for index, cells in enumerate(chunk.columns):
            kinds = possible[index] = [kind for kind in possible[index] if could_be(kind, cells)]
            if not kinds:
                raise _refuse_cell(table, chunk, index, stated[names[index]])
    return [kinds[0] for kinds in possible]


def _stated_types(file: SourceFile, names: Sequence[str]) -> Mapping[str, str]:
    """The types that the author states. Raises ``ResultsError`` for a column that is not there."""
    for name in file.types:
        if name not in names:
            hint = did_you_mean(name, names) or f"there are {shorten(', '.join(names))}"
            raise file.refuse(f"no column `{name}`, whose type is stated", 1, 1, hint)
    return file.types


def _convert(table: TableText, chunk: Chunk, index: int, kind: str) -> Sequence[Any]:
    try:
        return convert(kind, chunk.columns[index])
    except ValueError:
        raise _refuse_cell(table, chunk, index, kind) from None


def _refuse_cell(table: TableText, chunk: Chunk, index: int, kind: str) -> Exception:
    """The error at the first cell of a column that is not of its type."""
    cells = chunk.columns[index]
    row = next(row for row, cell in enumerate(cells) if not _is_of(kind, cell))
    name = quote(table.names()[index], safe=" ")
    hint = f"mend it, or say that the column is text: ?{name}={TEXT} behind the file's name"
    line, column = table.place_of(chunk.first + row, index)
    cell = shorten(cells[row])
    message = f"the number `{cell}` is too big" if is_too_big(kind, cells[row]) else f"`{cell}` is no {kind}"
    return table.file.refuse(message, line, column, hint)


def _is_of(kind: str, cell: str) -> bool:
    if not could_be(kind, [cell]):
        return False
    try:
        convert(kind, [cell])
    except ValueError:
        return False
    return True
