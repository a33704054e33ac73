"""What of some benchmarks another format cannot carry: found by reading back what was written in it."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isclose
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from mongo_tables.results.formats.model import SourceFile

Row = Mapping[str, Any]
Place = tuple[str, str, str]
"""Suite, name and measure."""
Reader = Callable[[SourceFile], Iterator[dict[str, Any]]]

_ROUNDING: Final = 1e-15
_FOLLOWS: Final = frozenset({"tool", "_id", "benchmark"})
"""Fields that differ where nothing is lost: whose format it is, and what name and measure make."""


class Written(NamedTuple):
    """A text in another format, and where it has each of the rows; None for one that it does not have."""

    text: str
    places: Sequence[Place | None]


class _Text(SourceFile):
    """A text as a file to read."""

    content: bytes = b""

    def open(self) -> IO[bytes]:
        """The text as bytes."""
        return io.BytesIO(self.content)


def read_back(text: str, read: Reader) -> list[dict[str, Any]]:
    """The documents that are in a text; none in one without a result."""
    return list(read(_Text(Path("export"), content=text.encode()))) if text.strip() else []


def list_losses(rows: Sequence[Row], written: Written, back: Sequence[Row]) -> Iterator[str]:
    """A line for each field that did not come back as it was, with the number of documents of which it is."""
    found = {(one["_id"]["testname"], one["_id"]["name"], one["_id"]["metric"]): one for one in back}
    lost: Counter[str] = Counter()
    for row, place in zip(rows, written.places, strict=True):
        if place is None:
            lost["the whole document: it has no value"] += 1
        else:
            lost.update(_list_differing(row, found[place]))
    for field, count in lost.items():
        yield f"not in this format: {field} ({count} of {len(rows)} documents)"


def _list_differing(row: Row, back: Row) -> Iterator[str]:
    for field, value in row.items():
        if field not in _FOLLOWS and not _is_same(value, back.get(field)):
            yield field


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal: dates with and without a zone, numbers up to what a double keeps of a unit."""
    if isinstance(one, datetime) and isinstance(other, datetime):
        return _in_utc(one) == _in_utc(other)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return isclose(one, other, rel_tol=_ROUNDING)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    return bool(one == other)


def _in_utc(date: datetime) -> datetime:
    return date.astimezone(UTC).replace(tzinfo=None) if date.tzinfo else date
