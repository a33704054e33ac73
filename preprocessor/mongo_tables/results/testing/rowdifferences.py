"""How rows differ from those of a golden file, for people: row by row, field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from typing import Any, Final

from mongo_tables.results.testing.goldenfile import Line

_ROWS_SHOWN: Final = 10
_LONGEST: Final = 160
_NONE: Final = Line("")


def describe(golden: Sequence[Line], found: Sequence[Line]) -> list[str]:
    """The lines that tell every difference, of many rows the first ones; none where there is no difference.

    ``-`` stands before what the golden file has, ``+`` before what there is now.
    """
    told = list(_differences(golden, found))
    lines = [line for one in told[:_ROWS_SHOWN] for line in one]
    return [*lines, f"and {len(told) - _ROWS_SHOWN} more rows"] if len(told) > _ROWS_SHOWN else lines


def _differences(golden: Sequence[Line], found: Sequence[Line]) -> Iterator[list[str]]:
    """The lines about each row that is another one, or on one side only."""
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
    return differences or (order if list(old) != list(new) else _describe_inner_order(old, new))


def _describe_inner_order(old: Any, new: Any) -> list[str]:
    """Both rows whole: their fields have the same values, and somewhere inside another order."""
    return [f"  {sign} {_cut(_text(row))}" for sign, row in (("-", old), ("+", new))]


_Pair = list[tuple[str, Any]]


def _fields(old: dict[str, Any], new: dict[str, Any], above: str) -> Iterator[tuple[str, _Pair]]:
    """Every field that differs, by its path, with its values; an array is one value."""
    for name in dict.fromkeys([*old, *new]):
        path = f"{above}{name}"
        pair: _Pair = [(sign, row[name]) for sign, row in (("-", old), ("+", new)) if name in row]
        values = [value for _, value in pair]
        if len(pair) == 2 and all(map(_is_document, values)):
            yield from _fields(values[0], values[1], f"{path}.")
        elif len(pair) == 1 or _text(values[0]) != _text(values[1]):
            yield path, pair


def _is_document(value: Any) -> bool:
    """Whether a value is a document, and not one of Extended JSON's, such as ``{"$numberLong": "5"}``."""
    return isinstance(value, dict) and not any(name.startswith("$") for name in value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
