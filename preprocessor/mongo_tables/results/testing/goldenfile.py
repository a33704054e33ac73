"""Golden files: the rows of a pipeline in Extended JSON, a line each, as fixture files have documents.

The notation is that of ``extended_json``: as plain as possible, and from each line come back the same values, types and
order of fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import bson

from mongo_tables.files import atomic
from mongo_tables.findings.finding import Complaint
from mongo_tables.results import extended_json
from mongo_tables.results.extended_json import Form
from mongo_tables.results.model import Fault, combine_faults
from mongo_tables.results.testing.roworder import row_key
from mongo_tables.results.testing.textfile import read_text

_WRAPPED: Final = '{"":'
"""A row is written and read as the field of another document: PyMongo would move the ``_id`` of an outer one."""
_ANY_ROW: Final = Form(needs_id=False)


class Line(NamedTuple):
    """A row as it is written, and the number of its line where it was read from a file."""

    text: str
    number: int = 0


def write_lines(rows: Iterable[dict[str, Any]], *, ordered: bool) -> list[Line]:
    """The lines of rows, in their order if they are ``ordered``, else in one that depends on nothing but the rows."""
    return _put_in_order(((row, Line(_text_of(bson.encode({"": row})))) for row in rows), ordered)


def read_lines(path: Path, *, ordered: bool) -> list[Line]:
    """The lines of a golden file, each written as ``write_lines`` would. Raises ``ResultsError`` for all its faults.

    What somebody wrote otherwise, with blanks or as canonical Extended JSON, is the same row.
    """
    found: list[tuple[dict[str, Any], Line]] = []
    faults: list[Fault] = []
    for number, text in enumerate(read_text(path).split("\n"), 1):
        for one in _read_row(text) if text.strip() else ():
            if isinstance(one, Complaint):
                faults.append(Fault(path, number, one.at + 1, one.message, one.hint))
            else:
                found.append((one[""], Line(_text_of(bson.encode(one)), number)))
    if faults:
        raise combine_faults(faults)
    return _put_in_order(found, ordered)


def content_of(lines: Sequence[Line]) -> bytes:
    """The bytes of a golden file."""
    return "".join(f"{line.text}\n" for line in lines).encode()


def write(path: Path, content: bytes) -> None:
    """Put the bytes into a golden file that has others, its folder made if need be. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        atomic.write(path, content)


def _put_in_order(found: Iterable[tuple[dict[str, Any], Line]], ordered: bool) -> list[Line]:
    lines = list(found) if ordered else sorted(found, key=lambda one: row_key(one[0], one[1].text))
    return [line for _, line in lines]


def _text_of(wrapped: bytes) -> str:
    return extended_json.write_line(wrapped)[len(_WRAPPED) : -1]


def _read_row(text: str) -> Iterator[dict[str, Any] | Complaint[int]]:
    """The row of a line, within another document, or its faults, which are looked for in the line by itself."""
    faults = [one for one in extended_json.read(text, _ANY_ROW) if isinstance(one, Complaint)]
    yield from faults or extended_json.read(f"{_WRAPPED}{text}}}", _ANY_ROW)
