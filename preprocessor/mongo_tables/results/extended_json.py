"""MongoDB Extended JSON: texts to documents, with every fault, and documents to lines of text.

Python's ``json`` parses a text quickly, and one walk converts its values to BSON. A text with a repeated key, a number
beyond a double, too deep nesting or any fault is parsed again by ``mongo_tables.jsontext``, which knows positions.

``write_line`` writes a line that decodes to the same bytes, in the plainest form. An int32 is a whole number without a
point. A double always has a point or an exponent (``1.0``). An int64 is a plain number if it is too large for an int32,
and ``{"$numberLong": "5"}`` otherwise. A date from 1970 to 9999 is ISO text in UTC, any other date is in milliseconds.
All other types have the wrapper of the specification:
https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import bson
from bson import json_util
from bson.code import Code
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.datetime_ms import DatetimeMS
from bson.dbref import DBRef
from bson.int64 import Int64

from mongo_tables.findings.finding import Complaint
from mongo_tables.jsontext import MAX_DEPTH
from mongo_tables.jsontext.extended import INT32, INT64, WRAPPERS, decode
from mongo_tables.jsontext.reader import NotPlain, Parsed, constant, members, nearest, parse
from mongo_tables.results.rows import through_bson

Document = dict[str, Any]

_INFINITE: Final = float("inf")
_LONG_DIGITS: Final = 18
"""A whole number with this many digits always fits into 64 bits."""
_DATE_SIGNS: Final = ("-", "-", "T", ":", ":", "Z")
"""The characters between the digits of a date that MongoDB's tools write."""
_ODD_ESCAPES: Final = re.compile(r"\\u(?:[dD][89a-fA-F]|0000|003[aA])")
"""Escapes that the fast parser does not handle.

These are half a surrogate pair, which is not valid UTF-8; NUL, which ends a name in BSON; and a colon, because colons
are counted to find repeated keys.
"""
_NEEDS_ID: Final = 'every document needs an "_id", as on a server'


_SCANNER: Final = json.JSONDecoder(parse_constant=constant)
_STRICT_SCANNER: Final = json.JSONDecoder(object_pairs_hook=members, parse_constant=constant)


def read_documents(
    text: str, *, is_array: bool = False, needs_id: bool = True
) -> Iterable[Document | Complaint[int]]:
    """Return the documents of a text and its faults, in order. If there are faults, some documents are missing.

    The text is one document or, if ``is_array``, an array of documents. With ``needs_id``, a document without ``_id``
    is a fault.
    """
    try:
        if "\\u" in text and _ODD_ESCAPES.search(text):
            raise NotPlain
        value = _SCANNER.decode(text)
        documents: list[Document] = value if is_array else [value]
        if type(documents) is not list or not set(map(type, documents)) <= {dict}:
            raise NotPlain
        colons = 0
        for number, one in enumerate(documents):
            colons += _settle(one, 1 + is_array)
            if "_id" in one:
                if next(iter(one)) != "_id":
                    documents[number] = {"_id": one.pop("_id"), **one}
            elif needs_id:
                raise NotPlain
        if colons != text.count(":"):
            _STRICT_SCANNER.decode(text)
        return documents
    except (NotPlain, ValueError, RecursionError):
        return _read_carefully(text, is_array, needs_id)


# -- texts without faults --


def _settle(held: Any, depth: int) -> int:
    """Convert the values in an object or a list to BSON, in place.

    Return the number of colons that the text must have: one for each key, plus the colons within string values. If the
    text has more, a key is repeated or has a colon. Raises ``NotPlain`` for a value that needs the careful parser.
    """
    if depth > MAX_DEPTH:
        raise NotPlain
    colons, items = (len(held), held.items()) if type(held) is dict else (0, enumerate(held))
    for key, value in items:
        kind = type(value)
        if kind is int:
            if value not in INT32:
                if value not in INT64:
                    raise NotPlain  # The careful parser keeps the digits, or refuses the number.
                held[key] = Int64(value)
        elif kind is str:
            colons += value.count(":")
        elif kind is float:
            if value == _INFINITE or value == -_INFINITE:
                raise NotPlain
        elif kind is dict:
            if WRAPPERS.isdisjoint(value):
                colons += _settle(value, depth + 1)
            else:
                held[key], more = _unwrap(value)
                colons += more
        elif kind is list:
            colons += _settle(value, depth + 1)
    return colons


def _count_colons(value: Any) -> int:
    kind = type(value)
    if kind is str:
        found: int = value.count(":")
        return found
    if kind is dict:
        return len(value) + sum(map(_count_colons, value.values()))
    return sum(map(_count_colons, value)) if kind is list else 0


def _unwrap(value: Document) -> tuple[Any, int]:
    """Return the value of a wrapper such as ``{"$date": …}``, and the number of colons in its text."""
    if "$date" in value and (date := _read_date(value)) is not None:
        return date, 3
    if "$numberLong" in value and (long := _read_long(value)) is not None:
        return long, 1
    decoded, malformed = decode(value)
    if malformed:
        raise NotPlain
    try:
        return through_bson({"": decoded})[""], _count_colons(value)
    except (bson.errors.BSONError, UnicodeEncodeError, OverflowError):
        raise NotPlain from None


def _read_long(value: Document) -> Any:
    """Return the value of ``$numberLong``, or None if it needs the careful parser."""
    text = value["$numberLong"]
    plain = type(text) is str and len(text) <= _LONG_DIGITS and text.isdecimal() and text.isascii()
    return Int64(text) if plain and len(value) == 1 else None


def _read_date(value: Document) -> datetime | None:
    """Parse a ``$date`` as MongoDB's tools write it (``2026-01-31T12:00:00.000Z``).

    Return None for any other form.
    """
    text = value["$date"]
    if (
        type(text) is not str
        or len(value) > 1
        or not (len(text) == 20 or (len(text) == 24 and text[19] == "."))
    ):
        return None
    if (text[4], text[7], text[10], text[13], text[16], text[-1]) != _DATE_SIGNS:
        return None
    try:
        return datetime.fromisoformat(text[:-1])
    except ValueError:
        return None


# -- all other texts --


def _read_carefully(text: str, is_array: bool, needs_id: bool) -> Iterator[Document | Complaint[int]]:
    parsed = parse(text)
    if parsed.problems:
        yield from parsed.problems
    elif not is_array:
        yield from _read_document(parsed, (), parsed.value, needs_id)
    elif isinstance(parsed.value, list):
        for index, value in enumerate(parsed.value):
            yield from _read_document(parsed, (index,), value, needs_id)
    else:
        yield Complaint(
            "a fixture file .json must contain an array of documents",
            "name it .jsonl if each line is a document",
            0,
        )


def _read_document(
    parsed: Parsed, path: tuple[str | int, ...], value: Any, needs_id: bool
) -> Iterator[Document | Complaint[int]]:
    at = parsed.positions[path]
    if not isinstance(value, dict):
        yield Complaint("not a document", _NEEDS_ID if needs_id else "a document is an object, {…}", at)
        return
    if needs_id and "_id" not in value:
        yield Complaint("a document without _id", _NEEDS_ID, at)
        return
    decoded, malformed = decode(value)
    for one in malformed:
        yield Complaint(one.message, one.hint, nearest(parsed.positions, (*path, *one.at)))
    if malformed:
        return
    try:
        yield through_bson(decoded)
    except (bson.errors.BSONError, UnicodeEncodeError) as error:
        yield Complaint(f"not a BSON document: {error}", "", at)


# -- documents to lines --

# Dates are decoded to milliseconds, because Python's datetime does not cover the range of a BSON date.
_EXACT: CodecOptions[dict[str, Any]] = CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_MS)
_EPOCH = datetime(1970, 1, 1)
_YEAR_10000 = 253_402_300_800_000


def write_line(raw: bytes) -> str:
    """Return a BSON document as one line of JSON, without a newline."""
    return json.dumps(
        _plain(bson.decode(raw, _EXACT)), ensure_ascii=False, separators=(",", ":"), default=_canonical
    )


def write_value(value: Any) -> str:
    """Return a value that BSON can store as Extended JSON on one line."""
    # The value is a field of a document, because PyMongo would move the ``_id`` of an outer document.
    return write_line(bson.encode({"": value}))[len('{"":') : -1]


def _plain(value: Any) -> Any:
    write = _WRITERS.get(type(value))
    return value if write is None else write(value)


def _double(value: float) -> Any:
    if math.isfinite(value):
        return value
    return {"$numberDouble": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}


def _date(value: DatetimeMS) -> Any:
    millis = int(value)
    if not 0 <= millis < _YEAR_10000:
        return {"$date": {"$numberLong": str(millis)}}
    text = (_EPOCH + timedelta(milliseconds=millis)).isoformat(
        timespec="milliseconds" if millis % 1000 else "seconds"
    )
    return {"$date": f"{text}Z"}


_canonical = partial(json_util.default, json_options=json_util.CANONICAL_JSON_OPTIONS)

_WRITERS: dict[type, Callable[[Any], Any]] = {
    dict: lambda value: {key: _plain(inner) for key, inner in value.items()},
    list: lambda value: [_plain(inner) for inner in value],
    float: _double,
    Int64: lambda value: int(value) if int(value) not in INT32 else {"$numberLong": str(value)},
    DatetimeMS: _date,
    Code: _canonical,  # a subclass of str
    DBRef: lambda value: _plain(dict(value.as_doc())),
}
"""Functions that convert values of a type for JSON. Values of other types are written in canonical form."""
