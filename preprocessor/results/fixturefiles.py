"""Fixture files on disk: which there are, and their text as BSON documents.

A collection is a folder. In it, each line of a ``*.jsonl`` file is one document in Extended JSON v2
(relaxed or canonical); a ``*.json`` file is an array of documents. The collection's order is that of the
file names, then that within the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from preprocessor.results import ResultsError

_PULL_HINT = (
    "name another folder or a mongodb:// URI as the results source, or fill it with `mongo-tables pull`"
)

SUFFIXES = (".jsonl", ".json")


def collection_names(folder: Path) -> tuple[str, ...]:
    """Names of the collections in a fixture folder, sorted; a folder that begins with a dot is none."""
    try:
        return tuple(sorted(p.name for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")))
    except FileNotFoundError:
        raise _unusable(f"there is no fixture folder {folder}", _PULL_HINT) from None
    except OSError as error:
        raise _unusable(f"the fixture folder {folder} cannot be read: {error.strerror}") from None


def files_of(folder: Path, collection: str) -> list[Path]:
    """The fixture files of a collection in their order; none for an unknown collection."""
    place = folder / collection
    if collection not in collection_names(folder):
        return []
    found = (
        p for p in place.iterdir() if p.suffix in SUFFIXES and not p.name.startswith(".") and p.is_file()
    )
    return sorted(found, key=lambda path: path.name)


def read(path: Path) -> bytes:
    """The bytes of a fixture file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unusable(f"{path}: cannot be read: {error.strerror}") from None


def documents(path: Path, content: bytes) -> Iterator[bytes]:
    """The file's documents as BSON, ``_id`` first as a server stores it.

    Raises ``ResultsError`` with file, line and column for text that is not UTF-8 or not Extended JSON, and
    for a document without ``_id``: a server would give it a random one.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        above, column = _place(content[: error.start].decode("utf-8", "replace"), error.start)
        raise _unusable(f"{path}:{above}:{column}: not UTF-8") from None
    if path.suffix == ".json":
        parsed = _parse(path, text, 1)
        if not isinstance(parsed, list):
            raise _unusable(
                f"{path}:1:1: a .json fixture holds an array of documents", "one document a line: .jsonl"
            )
        yield from (_bson(path, 1, value) for value in parsed)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _bson(path, number, _parse(path, line, number))


def _parse(path: Path, text: str, line: int) -> Any:
    try:
        return json.loads(text, parse_constant=_not_json)
    except json.JSONDecodeError as error:
        above, column = _place(text, error.pos)
        raise _unusable(f"{path}:{line + above - 1}:{column}: not JSON: {error.msg}") from None
    except (_NotJson, RecursionError) as error:
        raise _unusable(f"{path}:{line}:1: not JSON: {error}", 'write {"$numberDouble": "NaN"}') from None


class _NotJson(ValueError):
    """A token that Python's parser takes though JSON has no such thing."""


def _not_json(token: str) -> NoReturn:
    raise _NotJson(f"{token} is no JSON value")


def _bson(path: Path, line: int, value: Any) -> bytes:
    import bson

    if not isinstance(value, dict) or "_id" not in value:
        what = "a document without _id" if isinstance(value, dict) else "not a document"
        raise _unusable(f"{path}:{line}:1: {what}", 'every document needs an "_id", as on a server')
    _resolve(path, line, value)
    try:
        return bson.encode(value)
    except OverflowError:  # an integer beyond 64 bits is a double, says the specification
        return bson.encode(_extended(path, line, value))
    except (bson.errors.BSONError, UnicodeEncodeError) as error:
        raise _unusable(f"{path}:{line}:1: not a BSON document: {error}") from None


def _resolve(path: Path, line: int, value: dict[str, Any] | list[Any]) -> None:
    """Replace the wrappers (``{"$date": …}``) below ``value`` in place; plain values are already what they
    are.

    Nearly everything in a result document is a plain number: going only where objects are is what makes a
    first load quick.
    """
    held: Any = value
    for key, inner in held.items() if isinstance(held, dict) else enumerate(held):
        kind = type(inner)
        if kind is dict:
            if any(name[:1] == "$" for name in inner):
                held[key] = _extended(path, line, inner)
            else:
                _resolve(path, line, inner)
        elif kind is list:
            _resolve(path, line, inner)


def _extended(path: Path, line: int, value: Any) -> Any:
    from preprocessor.extjson import decode

    decoded, malformed = decode(value)
    for fault in malformed:
        raise _unusable(f"{path}:{line}:1: {fault.message}", fault.hint)
    return decoded


def _place(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _unusable(message: str, hint: str = "") -> ResultsError:
    return ResultsError(message, hint=hint, environment=True)
