"""Golden files: the rows of a pipeline in Extended JSON, one per line, in the form of fixture files.

The notation is that of ``extended_json``: as plain as possible, and each line decodes to the same values, types and
order of fields. If the pipeline does not decide the order of rows, they are sorted, because servers may differ in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

import bson

from mongo_tables.aggregation.fields import Order, record_of
from mongo_tables.aggregation.ordering import key
from mongo_tables.files import atomic
from mongo_tables.findings.finding import Complaint
from mongo_tables.results import extended_json
from mongo_tables.results.extended_json import Form
from mongo_tables.results.model import combine_faults, file_fault
from mongo_tables.results.testing.failures import read_text


def is_ordered(pipeline: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the pipeline decides the order of rows.

    It does if the last stage with an effect on the order sorts, or gives a single document.

    Documents come as they are stored, groups and unions in any order. ``pipeline`` has run without an error.
    """
    ordered = False
    for stage in pipeline:
        ((name, argument),) = stage.items()
        record = record_of(name)
        if record is None:
            continue
        if record.single(argument):
            ordered = True
        elif (order := record.order(argument)) is not Order.KEPT:
            ordered = order is Order.SORTED
    return ordered


_WRAPPED: Final = '{"":'
"""A row is written and read as the field of another document: PyMongo would move the ``_id`` of an outer one."""
_ANY_ROW: Final = Form(needs_id=False)


class Line(NamedTuple):
    """A row as text, and its line number if it was read from a file."""

    text: str
    number: int = 0


def write_lines(rows: Iterable[dict[str, Any]], *, ordered: bool) -> list[Line]:
    """Return the lines of rows, in their order if they are ``ordered``, else sorted by the rows' values."""
    return _put_in_order(((row, Line(_text_of(bson.encode({"": row})))) for row in rows), ordered)


def read_lines(path: Path, *, ordered: bool) -> list[Line]:
    """Return the lines of a golden file, each as ``write_lines`` would write it.

    Raises ``ResultsError`` for all faults. A row in another notation, with blanks or as canonical Extended JSON, is the
    same row.
    """
    found: list[tuple[dict[str, Any], Line]] = []
    faults = []
    for number, text in enumerate(read_text(path).split("\n"), 1):
        for one in _read_row(text) if text.strip() else ():
            if isinstance(one, Complaint):
                faults.append(file_fault(path, (number, one.at + 1), one.message, one.hint))
            else:
                found.append((one[""], Line(_text_of(bson.encode(one)), number)))
    if faults:
        raise combine_faults(faults)
    return _put_in_order(found, ordered)


def content_of(lines: Sequence[Line]) -> bytes:
    """Return the bytes of a golden file."""
    return "".join(f"{line.text}\n" for line in lines).encode()


def write(path: Path, content: bytes) -> None:
    """Write the bytes to a golden file if they differ, and create its folder if necessary. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        atomic.write(path, content)


def _put_in_order(found: Iterable[tuple[dict[str, Any], Line]], ordered: bool) -> list[Line]:
    # As a server sorts documents, equal ones by their text.
    lines = list(found) if ordered else sorted(found, key=lambda one: (key(one[0]), one[1].text))
    return [line for _, line in lines]


def _text_of(wrapped: bytes) -> str:
    return extended_json.write_line(wrapped)[len(_WRAPPED) : -1]


def _read_row(text: str) -> Iterator[dict[str, Any] | Complaint[int]]:
    """Yield the row of a line, which is parsed within another document, or its faults, located in the line itself."""
    faults = [one for one in extended_json.read(text, _ANY_ROW) if isinstance(one, Complaint)]
    yield from faults or extended_json.read(f"{_WRAPPED}{text}}}", _ANY_ROW)


_ROWS_SHOWN: Final = 10
_LONGEST: Final = 160
_NONE: Final = Line("")


def describe(golden: Sequence[Line], found: Sequence[Line]) -> list[str]:
    """Return the lines that describe all differences, or the first ones of many; empty if there are none.

    ``-`` marks the rows of the golden file, ``+`` the new ones.
    """
    told = list(_differences(golden, found))
    lines = [line for one in told[:_ROWS_SHOWN] for line in one]
    return [*lines, f"and {len(told) - _ROWS_SHOWN} more rows"] if len(told) > _ROWS_SHOWN else lines


def _differences(golden: Sequence[Line], found: Sequence[Line]) -> Iterator[list[str]]:
    """Yield the lines about each row that differs, or is on one side only."""
    texts = [line.text for line in golden], [line.text for line in found]
    for kind, start, end, begin, stop in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        there, here = islice(golden, start, end), islice(found, begin, stop)
        for number, (old, new) in enumerate(zip_longest(there, here, fillvalue=_NONE), begin + 1):
            yield _describe_row(old, new, number)


def _describe_row(old: Line, new: Line, number: int) -> list[str]:
    if not new.text:
        return [f"line {old.number} has a row that is not there now:", f"  - {_cut(old.text)}"]
    if not old.text:
        return [f"row {number} is new:", f"  + {_cut(new.text)}"]
    return [
        f"row {number}, line {old.number}:",
        *_describe_fields(json.loads(old.text), json.loads(new.text)),
    ]


def _describe_fields(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    differences = [
        f"  {sign} {path}: {_cut(_text(value))}"
        for path, pair in _fields(old, new, "")
        for sign, value in pair
    ]
    order = [
        f"  {sign} fields in this order: {_cut(', '.join(row))}" for sign, row in (("-", old), ("+", new))
    ]
    # If only a nested document has another order, both rows are shown whole.
    whole = [f"  {sign} {_cut(_text(row))}" for sign, row in (("-", old), ("+", new))]
    return differences or (order if list(old) != list(new) else whole)


_Pair = list[tuple[str, Any]]


def _fields(old: dict[str, Any], new: dict[str, Any], above: str) -> Iterator[tuple[str, _Pair]]:
    """Yield every field that differs, by its path, with both values; an array is one value."""
    for name in dict.fromkeys([*old, *new]):
        path = f"{above}{name}"
        pair: _Pair = [(sign, row[name]) for sign, row in (("-", old), ("+", new)) if name in row]
        values = [value for _, value in pair]
        if len(pair) == 2 and all(map(_is_document, values)):
            yield from _fields(values[0], values[1], f"{path}.")
        elif len(pair) == 1 or _text(values[0]) != _text(values[1]):
            yield path, pair


def _is_document(value: Any) -> bool:
    """Return whether a value is a document, not a wrapper of Extended JSON such as ``{"$numberLong": "5"}``."""
    return isinstance(value, dict) and not any(name.startswith("$") for name in value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
