"""The text of a fixture file as BSON documents, with every fault in it.

A file is read by ``json``'s C scanner. What that cannot be trusted with (a key given twice, a number beyond a
double, too deep a nesting, any fault) is read again by ``preprocessor.jsontext``, which knows the place.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from preprocessor.jsontext.document import nearest
from preprocessor.jsontext.extended import WRAPPERS, decode
from preprocessor.jsontext.model import MAX_DEPTH
from preprocessor.jsontext.parsing import NotPlain, Parsed, constant, finite, members, parse
from preprocessor.results.model import Fault, ResultsError

FAULTS_SHOWN = 20
_LONG_DIGITS = 18
"""So many digits are an int64 whatever they are."""
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z", re.ASCII)
_Readers = Mapping[str, Callable[[Any], Any]]
"""The reader of a wrapper's content, by its key; it gives None where the content needs a closer look."""


def read(path: Path, content: bytes) -> tuple[list[bytes], list[Fault]]:
    """The file's documents as BSON, ``_id`` first as a server stores it, and all faults, both in order.

    Faults: text that is not UTF-8, not JSON or not Extended JSON, a key given twice in an object, a document
    without ``_id`` (a server would give it a random one). Where there are faults, documents are missing.
    """
    found: list[bytes] = []
    faults: list[Fault] = []
    for one in _parts(path, [content]):
        if isinstance(one, Fault):
            faults.append(one)
        else:
            found.append(one)
    return found, faults


def payload(path: Path, blocks: Iterable[bytes]) -> bytes:
    """The file's documents as BSON, end to end. ``blocks`` are its bytes, cut behind some ends of lines.

    Raises ``ResultsError`` that tells all faults, as ``read`` gives them.
    """
    written = io.BytesIO()
    faults: list[Fault] = []
    for one in _parts(path, blocks):
        if isinstance(one, Fault):
            faults.append(one)
        else:
            written.write(one)
    if faults:
        raise combine_faults(faults)
    return written.getvalue()


def _parts(path: Path, blocks: Iterable[bytes]) -> Iterator[bytes | Fault]:
    """The documents and the faults of a file, in order; behind bytes that are no text nothing is read."""
    if path.suffix == ".json":
        yield from _of_array(path, b"".join(blocks))
        return
    line, codec = 1, "utf-8-sig"
    for block in blocks:
        try:
            text = block.decode(codec)
        except UnicodeDecodeError as error:
            yield _no_text(path, line, block[: error.start])
            return
        for number, part in _lines(text, line):
            yield from _of_text(path, number, part, is_array=False)
        line, codec = line + text.count("\n"), "utf-8"


def _of_array(path: Path, content: bytes) -> Iterator[bytes | Fault]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield _no_text(path, 1, content[: error.start])
        return
    del content
    yield from _of_text(path, 1, text, is_array=True)


def _no_text(path: Path, line: int, before: bytes) -> Fault:
    above, column = _place(before.decode("utf-8", "replace"))
    return Fault(path, line + above - 1, column, "not UTF-8")


def _of_text(path: Path, line: int, text: str, *, is_array: bool) -> Iterator[bytes | Fault]:
    """The documents and the faults of a line, or of a whole array."""
    try:
        yield from _quick(text, is_array)
    except NotPlain:
        for one in _read_with_faults(text, is_array):
            if isinstance(one, bytes):
                yield one
                continue
            above, column = _place(text[: one.offset])
            yield Fault(path, line + above - 1, column, one.message, one.hint)


def place_of(path: Path, content: bytes, index: int) -> tuple[int, int]:
    """Line and column where the document of this index begins, in a file without faults."""
    text = content.decode("utf-8-sig")
    if path.suffix == ".json":
        return _place(text[: parse(text).positions[(index,)]])
    line, part = list(_lines(text))[index]
    return line, len(part) - len(part.lstrip()) + 1


def _lines(text: str, first: int = 1) -> Iterator[tuple[int, str]]:
    """Every line that is not blank, with its number; ``first`` is that of the first one."""
    return ((number, line) for number, line in enumerate(text.split("\n"), first) if line.strip())


def documents(path: Path, content: bytes) -> list[bytes]:
    """The file's documents as BSON. Raises ``ResultsError`` that tells all faults."""
    found, faults = read(path, content)
    if faults:
        raise combine_faults(faults)
    return found


def combine_faults(faults: Sequence[Fault]) -> ResultsError:
    """One error for all faults: a line each for the first ones, and how many more there are."""
    lines = [str(fault) for fault in faults[:FAULTS_SHOWN]]
    if more := max(0, len(faults) - FAULTS_SHOWN):
        lines.append(f"and {more} more")
    hints = dict.fromkeys(fault.hint for fault in faults if fault.hint)
    first = tuple(faults[:FAULTS_SHOWN])
    return ResultsError(
        "\n".join(lines), hint=next(iter(hints), ""), environment=True, faults=first, more=more
    )


class _Trouble(NamedTuple):
    offset: int
    message: str
    hint: str


def _quick(text: str, is_array: bool) -> list[bytes]:
    """The documents of a text that the fast reader handles. Raises ``NotPlain`` for any other."""
    try:
        value = _decoder().decode(text)
    except (ValueError, RecursionError):
        raise NotPlain from None
    if is_array and not isinstance(value, list):
        raise NotPlain
    found = [_encode(each) for each in (value if is_array else [value])]
    if any(map(_END_OF_INFINITY.search, found)):
        _FINITE.decode(text)
    return found


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
        if len(pairs) == 1:
            name, content = pairs[0]
            if name in readers and (read := readers[name](content)) is not None:
                return read
        return members(pairs)

    return json.JSONDecoder(object_pairs_hook=read_members, parse_constant=constant)


def _encode(value: Any) -> bytes:
    import bson

    if not isinstance(value, dict) or "_id" not in value:
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
    for key, inner in held.items() if type(held) is dict else enumerate(held):
        kind = type(inner)
        if kind is list or (kind is dict and WRAPPERS.isdisjoint(inner)):
            _resolve(inner, depth + 1)
        elif kind is dict:
            held[key] = _decode_extended(inner)


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


def _read_with_faults(text: str, is_array: bool) -> Iterator[bytes | _Trouble]:
    parsed = parse(text)
    if parsed.problems:
        yield from (_Trouble(one.offset, one.message, one.hint) for one in parsed.problems)
    elif not is_array:
        yield from _document(parsed, (), parsed.value)
    elif isinstance(parsed.value, list):
        for index, value in enumerate(parsed.value):
            yield from _document(parsed, (index,), value)
    else:
        yield _Trouble(0, "a .json fixture holds an array of documents", "one document a line: .jsonl")


def _document(parsed: Parsed, path: tuple[str | int, ...], value: Any) -> Iterator[bytes | _Trouble]:
    import bson

    at = parsed.positions[path]
    if not isinstance(value, dict) or "_id" not in value:
        what = "a document without _id" if isinstance(value, dict) else "not a document"
        yield _Trouble(at, what, 'every document needs an "_id", as on a server')
        return
    decoded, malformed = decode(value)
    for one in malformed:
        yield _Trouble(nearest(parsed.positions, (*path, *one.path)), one.message, one.hint)
    if malformed:
        return
    try:
        yield bson.encode(decoded)
    except (bson.errors.BSONError, UnicodeEncodeError) as error:
        yield _Trouble(at, f"not a BSON document: {error}", "")


def _place(before: str) -> tuple[int, int]:
    """Line and column of what comes after ``before``."""
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
