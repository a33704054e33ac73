"""The types of columns whose file has text alone: the rule by which cells are numbers, dates or text.

A column is ``number`` where every cell that is not empty is a number as JSON writes one (RFC 8259, section 6), whole
ones within 64 bits; ``date`` where each is a day, or a day and a time, as ISO 8601 writes it; ``text`` otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from mongo_tables.results.formats.model import DATE, NUMBER, TEXT

_INT64: Final = range(-(2**63), 2**63)
_INT64_DIGITS: Final = 19
_END: Final = "\0"
"""It ends each cell where a whole column is held against a pattern at once, which is what makes that quick."""

# Groups are not possessive: before Python 3.11.5 one that fails keeps what it took so far, as the point of "1.".
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


def could_be(kind: str, cells: Sequence[str]) -> bool:
    """Whether every cell that is not empty is of the type."""
    if kind == TEXT:
        return True
    joined = _join(cells)
    if _PATTERNS[kind].fullmatch(joined) is None or joined.count(_END) != len(cells):
        return False
    return kind == DATE or max(map(len, cells), default=0) < _INT64_DIGITS or all(map(_fits, cells))


def is_too_big(kind: str, cell: str) -> bool:
    """Whether a cell is written as a number, and is beyond what numbers here hold."""
    written = kind == NUMBER and re.fullmatch(_NUMBER, cell, re.ASCII)
    return bool(written) and not (_fits(cell) and math.isfinite(float(cell)))


def _fits(cell: str) -> bool:
    """Whether a number is none that is whole and beyond 64 bits, whose digits would be lost."""
    return not cell.lstrip("-").isdigit() or int(cell) in _INT64


def _join(cells: Iterable[str]) -> str:
    return f"{_END.join(cells)}{_END}"


def convert(kind: str, cells: Sequence[str]) -> Sequence[Any]:
    """The values of the cells of a column, "" for each that is empty.

    Raises ``ValueError`` for a cell that looks like the type and is none: the 30th of February, a number beyond a
    double.
    """
    if kind == TEXT:
        return cells
    read = _reader_of(kind, cells)
    values = [cell and read(cell) for cell in cells] if "" in cells else [*map(read, cells)]
    if math.inf in values or -math.inf in values:
        raise ValueError("a number beyond a double")
    return values


def _reader_of(kind: str, cells: Sequence[str]) -> Callable[[str], Any]:
    if kind == DATE:
        return _date
    return int if _WHOLES.fullmatch(_join(cells)) else _number


def _number(cell: str) -> float:
    """A double, but of a whole number the whole number, as in Extended JSON."""
    return float(cell) if "." in cell or "e" in cell or "E" in cell else int(cell)


def _date(cell: str) -> datetime:
    """The date in UTC, without its zone; a cell without a zone is in UTC."""
    date = datetime.fromisoformat(cell)
    if date.tzinfo is None:
        return date
    try:
        return date.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError("a date beyond the years 1 to 9999") from None
