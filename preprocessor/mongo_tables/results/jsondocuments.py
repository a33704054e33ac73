"""A JSON text as BSON documents, with every fault in it.

It is read by ``json``'s C scanner. What that cannot be trusted with (a key given twice, a number beyond a double, too
deep a nesting, any fault) is read again by ``mongo_tables.jsontext``, which knows the place.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from mongo_tables.jsontext.document import nearest
from mongo_tables.jsontext.extended import WRAPPERS, decode
from mongo_tables.jsontext.model import MAX_DEPTH
from mongo_tables.jsontext.parsing import NotPlain, Parsed, constant, finite, parse

_LONG_DIGITS = 18
"""So many digits are an int64 whatever they are."""
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z", re.ASCII)
_Readers = Mapping[str, Callable[[Any], Any]]
"""The reader of a wrapper's content, by its key; it gives None where the content needs a closer look."""
_BLANKS = re.compile(r"[ \t\n\r]*")
_NEEDS_ID = 'every document needs an "_id", as on a server'


class Trouble(NamedTuple):
    """A fault of a text: ``offset`` in characters from 0, what it is, and what to do."""

    offset: int
    message: str
    hint: str


class Form(NamedTuple):
    """What a text is to be: one document, or an array of them; each with an ``_id``, or maybe without."""

    is_array: bool = False
    needs_id: bool = True


def read(text: str, form: Form) -> Iterator[bytes | Trouble]:
    """The documents of a text as BSON and its faults, in order. Where there are faults, documents are missing."""
    try:
        yield from _quick(text, form)
    except NotPlain:
        yield from _read_with_faults(text, form)


def _quick(text: str, form: Form) -> list[bytes]:
    """The documents of a text that the fast reader handles. Raises ``NotPlain`` for any other."""
    found = [_encode(each, form) for each in (_elements(text) if form.is_array else [_value(text)])]
    if any(map(_END_OF_INFINITY.search, found)):
        _FINITE.decode(text)
    return found


def _value(text: str) -> Any:
    try:
        return _decoder().decode(text)
    except (ValueError, RecursionError):
        raise NotPlain from None


def _elements(text: str) -> Iterator[Any]:
    """The elements of an array, one by one. Raises ``NotPlain`` where the text is none."""
    read = _decoder().raw_decode
    at = _skip_blanks(text, 0)
    if not text.startswith("[", at):
        raise NotPlain
    end = _skip_blanks(text, at + 1)
    more = not text.startswith("]", end)
    while more:
        try:
            value, end = read(text, _skip_blanks(text, at + 1))
        except (ValueError, RecursionError):
            raise NotPlain from None
        yield value
        at = end = _skip_blanks(text, end)
        more = text.startswith(",", at)
    if not text.startswith("]", end) or _skip_blanks(text, end + 1) < len(text):
        raise NotPlain


def _skip_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


# A number beyond a double is looked for only where an infinity may have come of it.
_FINITE = json.JSONDecoder(parse_float=finite)
_END_OF_INFINITY = re.compile(rb"\xf0[\x7f\xff]")
"""The last bytes of an infinite double, which is written with the lowest byte first."""


@cache
def _decoder() -> json.JSONDecoder:
    """Reads JSON, and the wrappers (``{"$date": …}``) that are nearly all of those in a result document.

    Others are left for ``_resolve``.
    """
    readers = _readers()

    def read_members(pairs: list[tuple[str, Any]]) -> Any:
        """An object, or the value that it stands for."""
        found = dict(pairs)
        if len(found) != len(pairs):
            raise NotPlain  # a key that is given twice
        if len(pairs) == 1:
            name, content = pairs[0]
            if name in readers and (read := readers[name](content)) is not None:
                return read
        return found

    return json.JSONDecoder(object_pairs_hook=read_members, parse_constant=constant)


def _encode(value: Any, form: Form) -> bytes:
    import bson

    if not isinstance(value, dict) or (form.needs_id and "_id" not in value):
        raise NotPlain
    _resolve(value, 1)
    try:
        return bson.encode(value)
    except (bson.errors.BSONError, UnicodeEncodeError, OverflowError):
        raise NotPlain from None


def _resolve(value: dict[str, Any] | list[Any], depth: int) -> None:
    """Replace the wrappers below ``value`` that are left, in place; plain values are already what they are.

    Nearly everything in a result document is a plain number: going only where objects are is what makes a
    first load quick.
    """
    if depth > MAX_DEPTH:
        raise NotPlain
    held: Any = value
    if depth < MAX_DEPTH and (_is_flat(held) if type(held) is list else _has_values_alone(held.values())):
        return
    for key, inner in held.items() if type(held) is dict else enumerate(held):
        kind = type(inner)
        if kind is list or (kind is dict and WRAPPERS.isdisjoint(inner)):
            _resolve(inner, depth + 1)
        elif kind is dict:
            held[key] = _decode_extended(inner)


_CONTAINERS = frozenset({dict, list})


def _is_flat(items: list[Any]) -> bool:
    """Whether these are values alone, or objects of values alone, as the points of a series are."""
    if set(map(type, items)) != {dict}:
        return _has_values_alone(items)
    values = chain.from_iterable(map(dict.values, items))
    return _has_values_alone(values) and WRAPPERS.isdisjoint(chain.from_iterable(items))


def _has_values_alone(items: Iterable[Any]) -> bool:
    return _CONTAINERS.isdisjoint(map(type, items))


@cache
def _readers() -> _Readers:
    from bson.int64 import Int64

    def long(text: Any) -> Any:
        """The number of a ``$numberLong`` of not too many digits."""
        plain = type(text) is str and len(text) <= _LONG_DIGITS and text.isdecimal() and text.isascii()
        return Int64(text) if plain else None

    return {"$numberLong": long, "$date": _date}


def _date(text: Any) -> datetime | None:
    """The date of a ``$date`` as MongoDB's tools write it."""
    plain = type(text) is str and _DATE.fullmatch(text)
    try:
        return datetime.fromisoformat(text[:-1]) if plain else None
    except ValueError:
        return None


def _decode_extended(value: Any) -> Any:
    try:
        decoded, malformed = decode(value)
    except RecursionError:
        raise NotPlain from None
    if malformed:
        raise NotPlain
    return decoded


def _read_with_faults(text: str, form: Form) -> Iterator[bytes | Trouble]:
    parsed = parse(text)
    if parsed.problems:
        yield from (Trouble(one.offset, one.message, one.hint) for one in parsed.problems)
    elif not form.is_array:
        yield from _document(parsed, (), parsed.value, form)
    elif isinstance(parsed.value, list):
        for index, value in enumerate(parsed.value):
            yield from _document(parsed, (index,), value, form)
    else:
        yield Trouble(0, "a .json fixture holds an array of documents", "one document a line: .jsonl")


def _document(
    parsed: Parsed, path: tuple[str | int, ...], value: Any, form: Form
) -> Iterator[bytes | Trouble]:
    import bson

    at = parsed.positions[path]
    if not isinstance(value, dict):
        yield Trouble(at, "not a document", _NEEDS_ID if form.needs_id else "a document is an object: {…}")
        return
    if form.needs_id and "_id" not in value:
        yield Trouble(at, "a document without _id", _NEEDS_ID)
        return
    decoded, malformed = decode(value)
    for one in malformed:
        yield Trouble(nearest(parsed.positions, (*path, *one.path)), one.message, one.hint)
    if malformed:
        return
    try:
        yield bson.encode(decoded)
    except (bson.errors.BSONError, UnicodeEncodeError) as error:
        yield Trouble(at, f"not a BSON document: {error}", "")
