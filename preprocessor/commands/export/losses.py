"""What of some benchmarks another format cannot carry: found by reading back what was written in it."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from preprocessor.results.formats.model import SourceFile

Row = Mapping[str, Any]
Place = tuple[str, str, str]
"""Suite, name and measure."""
Reader = Callable[[SourceFile], Iterator[dict[str, Any]]]

_FOLLOWS: Final = frozenset({"tool", "_id"})
"""Fields that differ where nothing is lost: whose format it is, and what name and measure make."""


class Written(NamedTuple):
    """A text in another format, and where it has each of the rows; None for one that it does not have."""

    text: str
    places: Sequence[Place | None]


@dataclass(frozen=True, slots=True)
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
        if field not in _FOLLOWS and _plain(value) != _plain(back.get(field)):
            yield field


def _plain(value: Any) -> Any:
    """The value in a form in which equal ones are equal: dates without a zone, members in order of their names."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in sorted(value.items())}
    return value
