"""CSV and TSV: the first line names the columns, each other line is a document.

https://www.rfc-editor.org/rfc/rfc4180 describes the format.

A column has the type that the author states. Otherwise it is ``number`` if every non-empty cell is a JSON number (RFC
8259, section 6), whole numbers within 64 bits; ``date`` if every non-empty cell is an ISO 8601 day, or day and time;
``text`` in all other cases. This depends on all cells of a column, so a file is read twice. An empty cell is a missing
field. Blanks around a cell, blank lines, and lines that begin with a sign that the author states are ignored. If the
author states that decimals have commas, semicolons may separate the cells.

A column of versions is text. Its numbers have different decimals, such as ``3.9`` and ``3.10``, and its name or place
suggests versions (``are_version_numbers``). The field ``_sort`` has its sort key. If all numbers of a column have the
same number of decimals, tables show this number of decimals.

The last line may lack its newline (RFC 4180, section 2), so a file that is cut off within its last cell is not
detected.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from mongo_tables.files.folders import shorten
from mongo_tables.findings.finding import did_you_mean
from mongo_tables.jsontext.extended import INT64
from mongo_tables.results.formats.model import (
    DATE,
    NUMBER,
    TEXT,
    TYPES,
    Document,
    SourceFile,
    field_names,
    find_repeated,
)
from mongo_tables.results.formats.raw_values import are_version_numbers, are_versions, version_key
from mongo_tables.results.row_names import ORDER

if TYPE_CHECKING:
    from _csv import Reader

    from mongo_tables.findings.finding import Finding

_INT64_DIGITS: Final = 19
_END: Final = "\0"
"""The sign after each cell of a joined column. One pattern matches all cells of the column, which is faster."""

# Groups are not possessive: before Python 3.11.5 a failing one keeps what it consumed, such as the point of "1.".
_WHOLE: Final = r"-?(?:0|[1-9]\d*+)"
_NUMBER: Final = rf"{_WHOLE}(?:\.\d++)?(?:[eE][+-]?\d++)?"
_DAY: Final = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_TIME: Final = r"(?:[01]\d|2[0-3]):[0-5]\d"
_ZONE: Final = r"(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)"
_DATE: Final = rf"{_DAY}(?:[T ]{_TIME}(?::[0-5]\d(?:\.\d++)?)?{_ZONE}?)?"


def _compile(cell: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{cell})?+{_END})*+", re.ASCII)


_WHOLES: Final = _compile(_WHOLE)
_PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {NUMBER: _compile(_NUMBER), DATE: _compile(_DATE)}


def _could_be(kind: str, cells: Sequence[str]) -> bool:
    """Return whether every non-empty cell can be of the type."""
    if kind == TEXT:
        return True
    joined = _join(cells)
    if _PATTERNS[kind].fullmatch(joined) is None or joined.count(_END) != len(cells):
        return False
    return kind == DATE or max(map(len, cells), default=0) < _INT64_DIGITS or all(map(_fits, cells))


def _fits(cell: str) -> bool:
    """Return False for a whole number beyond 64 bits, and True for any other number."""
    return not cell.lstrip("-").isdigit() or int(cell) in INT64


def _join(cells: Iterable[str]) -> str:
    return f"{_END.join(cells)}{_END}"


def _convert(kind: str, cells: Sequence[str]) -> Sequence[Any]:
    """Return the values of the cells of a column, with "" for each empty cell.

    Raises ``ValueError`` for a cell that looks like the type but is invalid, such as the 30th of February or a number
    beyond a double.
    """
    if kind == TEXT:
        return cells
    read: Callable[[str], Any] = _date
    if kind != DATE:
        read = int if _WHOLES.fullmatch(_join(cells)) else _number
    values = [cell and read(cell) for cell in cells] if "" in cells else [*map(read, cells)]
    if math.inf in values or -math.inf in values:
        raise ValueError("a number beyond a double")
    return values


def _number(cell: str) -> float:
    """Return a whole number as int and any other number as double, as in Extended JSON."""
    return float(cell) if "." in cell or "e" in cell or "E" in cell else int(cell)


def _date(cell: str) -> datetime:
    """Return a date in UTC, as naive datetime. A cell without a time zone is in UTC."""
    date = datetime.fromisoformat(cell)
    if date.tzinfo is None:
        return date
    try:
        return date.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError("a date beyond the years 1 to 9999") from None


_TABS: Final = frozenset((".tsv", ".tab"))
_SEPARATORS: Final = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
_AT_ONCE: Final = 2048
"""The number of rows that are converted together, column by column."""
_NO_TABLE: Final = ("{", "[{", "<!", "<?xml", "<html")
"""Beginnings of files that are not tables, whatever their names are."""

REMARK: Final = "comment"
"""The key for the sign with which remarks begin. It is written in place of the name of a column."""
DECIMAL: Final = "decimal"
"""The key for the decimal separator. Its only value is ``COMMA``. Without the key, the separator is a point."""
COMMA: Final = "comma"
_DECIMAL_COMMA: Final = re.compile(r"\A(-?\d+),(\d+(?:[eE][+-]?\d+)?)\Z", re.ASCII)
_MOST_REMARKS: Final = 100
_MOST_VERSIONS: Final = 200
"""A column of versions has at most this many distinct texts."""
_MOST_ODD: Final = 5
_ODD_SHARE: Final = 10
"""Cells that are not numbers are reported if they are few: up to ``_MOST_ODD``, and one cell in ``_ODD_SHARE``.

For cells that stand for a missing number, such as ``NaN``, the limit is one cell in two.
"""
_NO_VALUE: Final = re.compile(
    r"[-+]?(?:nan|inf(?:inity)?|null|none|n/?a|-+|\d{19,})", re.IGNORECASE | re.ASCII
)
_RENAME: Final = "give each column a different name"


class _Chunk(NamedTuple):
    """Some rows, as columns of cells. ``first`` is the number of the first row. The row with the names has number 0."""

    first: int
    columns: Sequence[Sequence[str]]


class _Table:
    """The table of a file, with cells separated by commas, or by tabs if the suffix says so."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self._has_commas = file.types.get(DECIMAL) == COMMA
        self._separator = "\t" if file.suffix in _TABS else ","
        if self._has_commas and ";" in next(self._lines(), ""):
            self._separator = ";"

    def names(self) -> list[str]:
        """Return the names of the columns as field names. Raises ``ResultsError`` if the first line has none."""
        self._refuse_remarks()
        cells = next(self._rows(), [])
        self._refuse_foreign(cells)
        names = field_names(cells)
        if (repeated := find_repeated(names)) is not None:
            line, column = self.place_of(0, repeated)
            raise self.file.refuse(
                f"two columns are named `{shorten(names[repeated])}`", line, column, _RENAME
            )
        return names

    def chunks(self, width: int) -> Iterator[_Chunk]:
        """Yield the rows below the names. Raises ``ResultsError`` for a row without ``width`` cells."""
        rows = self._rows()
        next(rows, None)
        first = 1
        while some := list(islice(rows, _AT_ONCE)):
            for number, row in enumerate(some, first):
                if len(row) != width:
                    hint = "the file is cut off, or a cell that contains a separator is not in quotes"
                    message = f"{len(row)} cells, but the first line names {width} columns"
                    raise self.file.refuse(message, self.place_of(number, 0)[0], 1, hint)
            yield _Chunk(first, [[*map(str.strip, cells)] for cells in zip(*some, strict=True)])
            first += len(some)

    def with_points(self, chunk: _Chunk) -> _Chunk:
        """Return the rows with decimal points, if decimals have commas."""
        if not self._has_commas:
            return chunk
        columns = [[_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in cells] for cells in chunk.columns]
        return chunk._replace(columns=columns)

    def refuse_points(self, chunk: _Chunk, index: int) -> None:
        """Raise ``ResultsError`` for a number with a point, if decimals have commas."""
        points = (row for row, cell in enumerate(chunk.columns[index], chunk.first) if "." in cell)
        if self._has_commas and (row := next(points, None)) is not None:
            name = quote(self.names()[index], safe=" ")
            hint = f"remove separators of thousands, or declare the column as text: ?{DECIMAL}={COMMA}&{name}={TEXT}"
            message = "a number has a point, but decimals in this file have commas"
            raise self.file.refuse(message, *self.place_of(row, index), hint)

    def place_of(self, row: int, index: int) -> tuple[int, int]:
        """Return the line and column of a cell. This reads the file again."""
        lines: list[str] = []
        reader = self._reader(_into(lines, self._lines()))
        number = -1
        for cells in reader:
            number += bool(cells)
            if cells and number == row:
                break
            lines.clear()
        text = "".join(lines)
        before = [] if '"' in text else text.split(self._separator)[:index]
        return reader.line_num - len(lines) + 1, sum(len(cell) + 1 for cell in before) + 1

    def _lines(self) -> Iterator[str]:
        """Return the lines of the file, with blank lines in place of remarks."""
        sign = self.file.types.get(REMARK, "")
        if not sign or sign in TYPES:
            return self.file.lines()
        return ("\n" if line.startswith(sign) else line for line in self.file.lines())

    def _refuse_remarks(self) -> None:
        first = list(islice(self._lines(), _MOST_REMARKS))
        above = list(takewhile(lambda line: line.startswith("#"), first))
        widths = {line.count(self._separator) for line in (above[:1] + first[len(above) :][:1])}
        if above and (len(above) > 1 or len(widths) > 1):
            hint = f"append ?{REMARK}=# to the file's name to skip them"
            raise self.file.refuse("lines that begin with `#` precede the names of the columns", 1, 1, hint)

    def _rows(self) -> Iterator[list[str]]:
        reader = self._reader(self._lines())
        try:
            yield from filter(None, reader)
        except csv.Error as error:
            raise self.file.refuse(f"not {self._format}: {error}", self._broken_line(), 1) from None

    def _reader(self, lines: Iterator[str]) -> Reader:
        return csv.reader(lines, delimiter=self._separator, strict=True, skipinitialspace=True)

    def _broken_line(self) -> int:
        reader = self._reader(self._lines())
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
        """Raise ``ResultsError`` for a file that is not a table, has no names, or has other separators."""
        text = self._separator.join(names)
        if "\0" in text or text.lower().startswith(_NO_TABLE):
            raise self.file.refuse(f"not {self._format}: the first line names no columns", 1, 1)
        if all(name and _could_be(NUMBER, [name]) for name in names):
            hint = "insert a line with the names of the columns above it"
            raise self.file.refuse("the first line must name the columns, but has only numbers", 1, 1, hint)
        other = next((one for one in _SEPARATORS if len(names) == 1 and one in text), "")
        if other:
            found, needed = _SEPARATORS[other], _SEPARATORS[self._separator]
            hint = f"write {needed}"
            if other == "\t":
                hint += " between the cells, or name the file .tsv"
            elif other == ";":
                hint += f" and decimal points, or append ?{DECIMAL}={COMMA} to the file's name"
            raise self.file.refuse(f"cells are separated by {found}, not by {needed}", 1, 1, hint)


def _into(kept: list[str], lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        kept.append(line)
        yield line


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the documents of the file.

    Raises ``ResultsError`` if a line has more or fewer cells than the first line, or if a cell is not of the stated
    type of its column.
    """
    table = _Table(file)
    names = table.names()
    columns = _settle_columns(table, names)
    file.decimals.update(
        {name: one.decimals for name, one in zip(names, columns, strict=True) if one.decimals}
    )
    versions = [
        name for name, one in zip(names, columns, strict=True) if one.is_version and ORDER not in names
    ]
    for written in table.chunks(len(names)):
        chunk, values = table.with_points(written), []
        for index, column in enumerate(columns):
            if column.kind == NUMBER:
                table.refuse_points(written, index)
            try:
                values.append(
                    _convert(column.kind, (written if column.kind == TEXT else chunk).columns[index])
                )
            except ValueError:
                raise _refuse_cell(table, chunk, index, column.kind) from None
        rows = (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))
        if any("" in cells for cells in chunk.columns):
            rows = ({name: value for name, value in row.items() if value != ""} for row in rows)
        if versions:
            rows = (
                {**row, ORDER: {name: version_key(row[name]) for name in versions if name in row}}
                for row in rows
            )
        yield from rows


class _Column(NamedTuple):
    """The type of a column, the number of decimals that all of its numbers have, and whether it has versions."""

    kind: str
    decimals: int = 0
    is_version: bool = False


class _Notation:
    """The texts of a column with their counts, unless there are too many, and the number of decimals."""

    def __init__(self) -> None:
        self.texts: Counter[str] | None = Counter()
        self.decimals: int | None = None

    def add(self, cells: Sequence[str]) -> None:
        if self.texts is not None:
            self.texts.update(cells)
            if len(self.texts) > _MOST_VERSIONS:
                self.texts = None
        if self.decimals is None and (first := next(filter(None, cells), "")):
            self.decimals = len(first.partition(".")[2])
        if self.decimals and not _decimals_pattern(self.decimals).fullmatch(_join(cells)):
            self.decimals = 0

    def settle(self, name: str, kinds: Sequence[str], stated: str, names: Sequence[str]) -> _Column:
        counts = {text: count for text, count in (self.texts or {}).items() if text}
        texts, repeated = counts.keys(), min(counts.values(), default=0) > 1
        if kinds[0] == NUMBER and not stated and are_version_numbers(name, texts, names, repeated=repeated):
            return _Column(TEXT, is_version=True)
        if kinds[0] == TEXT:
            return _Column(TEXT, is_version=bool(texts) and are_versions(texts))
        return _Column(kinds[0], self.decimals or 0 if kinds[0] == NUMBER else 0)


@cache
def _decimals_pattern(count: int) -> re.Pattern[str]:
    return _compile(rf"-?\d++\.\d{{{count}}}")


def _settle_columns(table: _Table, names: Sequence[str]) -> list[_Column]:
    """Return the type of each column: the stated type, or the first type that fits all cells.

    Raises ``ResultsError`` for a missing column, and for a cell that is not of the stated type.
    """
    stated = {name: kind for name, kind in table.file.types.items() if kind in TYPES}
    for name in stated:
        if name not in names:
            hint = did_you_mean(name, names) or f"there are {shorten(', '.join(names))}"
            raise table.file.refuse(
                f"the type of the column `{name}` is stated, but there is no such column", 1, 1, hint
            )
    possible = [[stated[name]] if name in stated else list(TYPES) for name in names]
    notations = [_Notation() for _ in names]
    strays = [_Strays() for _ in names]
    for chunk in map(table.with_points, table.chunks(len(names))):
        for index, cells in enumerate(chunk.columns):
            kinds = possible[index] = [kind for kind in possible[index] if _could_be(kind, cells)]
            if not kinds:
                raise _refuse_cell(table, chunk, index, stated[names[index]])
            notations[index].add(cells)
            strays[index].add(cells, chunk.first, NUMBER in kinds)
    for index, (name, kinds, found) in enumerate(zip(names, possible, strays, strict=True)):
        if kinds[0] == TEXT and name not in stated and found.are_few:
            table.file.notes.extend(_note_stray(table, name, index, found))
    return [
        one.settle(name, kinds, stated.get(name, ""), names)
        for one, kinds, name in zip(notations, possible, names, strict=True)
    ]


class _Strays:
    """The rows in which a column has a cell that is neither empty nor a number. Only the first rows are stored."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.first = ""
        self.have_commas = True
        self._numbers = 0

    def add(self, cells: Sequence[str], first: int, are_numbers: bool) -> None:
        """Add cells, the first of which is in row ``first``. ``are_numbers`` is true if no cell so far is a stray."""
        if len(self.rows) > _MOST_ODD:
            return
        if are_numbers or _could_be(NUMBER, cells):
            self._numbers += len(cells) - cells.count("")
            return
        for row, cell in enumerate(cells, first):
            if not cell or _could_be(NUMBER, [cell]):
                self._numbers += bool(cell)
                continue
            self.first = self.first or cell
            self.have_commas = self.have_commas and _DECIMAL_COMMA.fullmatch(cell) is not None
            self.rows.append(row)
            if len(self.rows) > _MOST_ODD:
                return

    @property
    def are_few(self) -> bool:
        count = len(self.rows)
        share = 2 if _NO_VALUE.fullmatch(self.first) else _ODD_SHARE
        few = 0 < count <= _MOST_ODD and count * share <= count + self._numbers
        return few or (count > 0 and self.have_commas)


def _note_stray(table: _Table, name: str, index: int, found: _Strays) -> Sequence[Finding]:
    """Return the note on the first cell that makes a column text although most of its cells are numbers."""
    line, column = table.place_of(found.rows[0], index)
    more = len(found.rows) - 1
    others = f", nor {'is' if more == 1 else 'are'} {more} more" if more else ""
    message = f"`{shorten(found.first)}` is not a number of 64 bits{others}, so the column `{shorten(name)}` is text"
    hint = "correct the cell or leave it empty"
    if found.have_commas:
        message = f"`{shorten(found.first)}` has a comma, so the column `{shorten(name)}` is text"
        hint = f"write decimal points and no separators of thousands, or append ?{DECIMAL}={COMMA} to the file's name"
    hint += f"; append ?{quote(name, safe=' ')}={TEXT} to the file's name to keep the text"
    return table.file.refuse(message, line, column, hint).findings


def _refuse_cell(table: _Table, chunk: _Chunk, index: int, kind: str) -> Exception:
    """Return the error for the first cell of a column that is not of its type."""
    cells = chunk.columns[index]
    row = next(row for row, cell in enumerate(cells) if not _is_of(kind, cell))
    name = quote(table.names()[index], safe=" ")
    hint = f"correct it, or append ?{name}={TEXT} to the file's name to read the column as text"
    line, column = table.place_of(chunk.first + row, index)
    cell = shorten(cells[row])
    written = kind == NUMBER and re.fullmatch(_NUMBER, cells[row], re.ASCII)
    too_big = written and not (_fits(cells[row]) and math.isfinite(float(cells[row])))
    message = f"the number `{cell}` is too big" if too_big else f"`{cell}` is not a {kind}"
    return table.file.refuse(message, line, column, hint)


def _is_of(kind: str, cell: str) -> bool:
    if not _could_be(kind, [cell]):
        return False
    try:
        _convert(kind, [cell])
    except ValueError:
        return False
    return True
