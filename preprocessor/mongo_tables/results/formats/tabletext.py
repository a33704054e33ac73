"""A text of lines whose cells stand between commas or tabs: its columns' names, its cells, and where each of them is.

Blanks around a cell are not part of it, and blank lines are no rows.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from mongo_tables.files.text import shorten
from mongo_tables.results.formats.celltypes import could_be
from mongo_tables.results.formats.columnnames import field_names, find_repeated
from mongo_tables.results.formats.model import NUMBER, SourceFile
from mongo_tables.results.model import ResultsError

if TYPE_CHECKING:
    from _csv import Reader

_TABS: Final = frozenset((".tsv", ".tab"))
_SEPARATORS: Final = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
_AT_ONCE: Final = 2048
"""Rows that are looked at together, column by column."""
_NO_TABLE: Final = ("{", "[{", "<!", "<?xml", "<html")
"""How files begin that are none, whatever their names say."""

_RENAME: Final = "give each column a name of its own"


class Chunk(NamedTuple):
    """Some rows, as columns of cells; ``first`` is the number of the first one, the row below the names being 1."""

    first: int
    columns: Sequence[Sequence[str]]


class TableText:
    """The table of a file of cells between commas; between tabs where its name says so."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self._separator = "\t" if file.suffix in _TABS else ","

    def names(self) -> list[str]:
        """The names of the columns, as fields have them. Raises ``ResultsError`` where the first line has none."""
        cells = next(self._rows(), [])
        self._refuse_foreign(cells)
        names = field_names(cells)
        if (repeated := find_repeated(names)) is not None:
            line, column = self.place_of(0, repeated)
            raise self.file.refuse(
                f"two columns are named `{shorten(names[repeated])}`", line, column, _RENAME
            )
        return names

    def chunks(self, width: int) -> Iterator[Chunk]:
        """The rows below the names. Raises ``ResultsError`` for one that has not ``width`` cells."""
        rows = self._rows()
        next(rows, None)
        first = 1
        while some := list(islice(rows, _AT_ONCE)):
            for number, row in enumerate(some, first):
                if len(row) != width:
                    raise self._ragged(number, len(row), width)
            yield Chunk(first, [[*map(str.strip, cells)] for cells in zip(*some, strict=True)])
            first += len(some)

    def place_of(self, row: int, index: int) -> tuple[int, int]:
        """Line and column of a cell; row 0 are the names. The file is read once more for it."""
        lines: list[str] = []
        reader = self._reader(_into(lines, self.file.lines()))
        number = -1
        for cells in reader:
            number += bool(cells)
            if cells and number == row:
                break
            lines.clear()
        text = "".join(lines)
        before = [] if '"' in text else text.split(self._separator)[:index]
        return reader.line_num - len(lines) + 1, sum(len(cell) + 1 for cell in before) + 1

    def _rows(self) -> Iterator[list[str]]:
        reader = self._reader(self.file.lines())
        try:
            yield from filter(None, reader)
        except csv.Error as error:
            raise self.file.refuse(f"not {self._format}: {error}", self._broken_line(), 1) from None

    def _reader(self, lines: Iterator[str]) -> Reader:
        return csv.reader(lines, delimiter=self._separator, strict=True, skipinitialspace=True)

    def _broken_line(self) -> int:
        """The line where the row begins that cannot be read."""
        reader = self._reader(self.file.lines())
        line = 1
        try:
            for _ in reader:
                line = reader.line_num + 1
        except csv.Error:
            pass
        return line

    @property
    def _format(self) -> str:
        return "TSV" if self._separator == "\t" else "CSV"

    def _refuse_foreign(self, names: Sequence[str]) -> None:
        """Raise ``ResultsError`` for what is no table with a line of names, or one with other separators."""
        text = self._separator.join(names)
        if "\0" in text or text.lower().startswith(_NO_TABLE):
            raise self.file.refuse(f"not {self._format}: the first line names no columns", 1, 1)
        if all(name and could_be(NUMBER, [name]) for name in names):
            hint = "put a line with the names of the columns above it"
            raise self.file.refuse("the first line names the columns, and has numbers alone", 1, 1, hint)
        other = next((one for one in _SEPARATORS if len(names) == 1 and one in text), "")
        if other:
            found, needed = _SEPARATORS[other], _SEPARATORS[self._separator]
            hint = (
                f"write {needed} between the cells, or name the file .tsv"
                if other == "\t"
                else f"write {needed}"
            )
            raise self.file.refuse(f"cells are separated by {found}, not by {needed}", 1, 1, hint)

    def _ragged(self, row: int, cells: int, width: int) -> ResultsError:
        hint = "the file is cut off, or a cell with a separator in it is not in quotes"
        message = f"{cells} cells, where the first line names {width} columns"
        return self.file.refuse(message, self.place_of(row, 0)[0], 1, hint)


def _into(kept: list[str], lines: Iterator[str]) -> Iterator[str]:
    """The lines as they are, each put into the list, too."""
    for line in lines:
        kept.append(line)
        yield line
