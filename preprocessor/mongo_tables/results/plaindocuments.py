"""The documents of a plain file, each with an ``_id``.

A document has the ``_id`` that the file gives it. Where no document of the file has one, each gets its number in the
file, as a server would give it a random one: by it a pipeline can keep the order of the file. Among the files of a
collection the name of the file is part of it: ``{"file": "0001.json", "number": 1}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import Any, Final, NamedTuple, overload

import bson
import bson.errors
from bson.int64 import Int64

from mongo_tables.aggregation.join_index import Collection as Joined
from mongo_tables.files.text import leads_within
from mongo_tables.results.formats import FORMATS, HEAD, Format, find_format
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.limits import OPTIONS
from mongo_tables.results.plainfiles import PlainFile

Document = dict[str, Any]

LARGE: Final = 2**20
"""Documents of a file of at least so many bytes are held as rows, which take a third of the memory."""
_SAME: Final = frozenset({str, float, bool, NoneType, Int64})
"""Types whose values BSON holds as they are."""
_INT32: Final = range(-(2**31), 2**31)
_MOST_TEXTS: Final = 100_000


def read_file(plain: PlainFile) -> bytes:
    """The bytes of a file. Raises ``ResultsError`` where it is none, or leads by links out of its folder."""
    file = SourceFile(plain.path, plain.types)
    if not leads_within(plain.path, plain.within):
        hint = "put the file itself there; a link may lead only to another file in the folder"
        raise file.refuse(f"a link leads out of the folder {plain.within}", hint=hint)
    if not file.path.is_file():
        raise file.refuse("a folder, not a file" if file.path.is_dir() else _no_file(file.path))
    try:
        return file.content
    except OSError as error:
        raise file.refuse(f"cannot be read: {error.strerror or error}") from None


def _no_file(path: Path) -> str:
    if path.is_symlink() and not path.exists():
        return f"a link to {path.readlink()}, where there is nothing"
    return "a pipe or a device, not a file" if path.exists() else "there is no such file"


class Reading(NamedTuple):
    """The documents of a file, and whether the file gives them their ``_id``."""

    documents: Sequence[Document]
    has_ids: bool


def read_documents(plain: PlainFile, content: bytes) -> Reading:
    """The documents of a file with these bytes. Raises ``ResultsError`` where they cannot be read."""
    file = SourceFile(plain.path, plain.types, content)
    decoded = _decode(file)
    first = next(decoded, None)
    if first is None:
        return Reading(Joined(()), has_ids=False)
    has_ids = "_id" in first
    documents = _number(file, plain.name, chain([first], decoded), has_ids)
    return Reading(Joined(documents) if len(content) < LARGE else RowTable(documents), has_ids)


def _number(file: SourceFile, name: str, documents: Iterable[Document], has_ids: bool) -> Iterator[Document]:
    """The documents, each with an ``_id``. Raises ``ResultsError`` where some have one and others not."""
    for number, document in enumerate(documents, 1):
        if ("_id" in document) != has_ids:
            raise file.refuse(
                f"document {number} has {'no' if has_ids else 'an'} _id, unlike those before it"
            )
        given = {"file": name, "number": number} if name else number
        yield _put_id_first(document) if has_ids else {"_id": given, **document}


def _put_id_first(document: Document) -> Document:
    return document if next(iter(document)) == "_id" else {"_id": document["_id"], **document}


def _decode(file: SourceFile) -> Iterator[Document]:
    """The documents of a file, with the values that ``bson.decode`` gives."""
    number = 0
    try:
        for document in _find_format(file).read(file):
            number += 1
            yield _as_of_bson(document)
    except OSError as error:
        raise file.refuse(f"cannot be read: {error.strerror or error}") from None
    except (bson.errors.BSONError, UnicodeEncodeError, OverflowError) as error:
        raise file.refuse(f"document {number} is not a BSON document: {error}") from None


def _as_of_bson(document: Mapping[str, Any]) -> Document:
    """The document as BSON gives it back. Raises as ``bson.encode`` does."""
    if all(
        type(value) in _SAME
        or (type(value) is int and value in _INT32)
        or (type(value) is datetime and not value.microsecond % 1000 and value.tzinfo is None)
        for value in document.values()
    ) and not any("\0" in name for name in document):
        return dict(document)
    decoded: Document = bson.decode(bson.encode(document), OPTIONS)
    return decoded


def _find_format(file: SourceFile) -> Format:
    """The format of a file. Raises ``ResultsError`` for what has none, and ``OSError`` as unpacking it does."""
    head = file.head(HEAD)
    if not head.strip():
        raise file.refuse("the file is empty")
    found = find_format(file.path.name, head)
    if found is None:
        raise file.refuse(
            "in no format that is read", hint=f"these are read: {', '.join(one.name for one in FORMATS)}"
        )
    if file.types and not found.has_text:
        hint = "convert it in the pipeline, with $toString, $toDouble or $toDate"
        raise file.refuse(f"{found.name} says the types of its values itself", hint=hint)
    return found


class RowTable(Sequence[Document]):
    """Documents that are held as rows of values, and made when they are asked for.

    Documents with the same fields, one after the other, share the names of these; equal texts and dates are one object.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._names: list[tuple[str, ...]] = []
        known: dict[Any, Any] = {}
        layouts: dict[tuple[str, ...], tuple[str, ...]] = {}
        for document in documents:
            if len(known) > _MOST_TEXTS:
                known.clear()
            names = tuple(document)
            self._names.append(layouts.setdefault(names, names))
            self._rows.append(
                tuple(
                    known.setdefault(value, value) if type(value) in (str, datetime) else value
                    for value in document.values()
                )
            )

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Document]:
        for names, row in zip(self._names, self._rows, strict=True):
            yield dict(zip(names, row, strict=True))

    @overload
    def __getitem__(self, number: int) -> Document: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Document]: ...

    def __getitem__(self, number: int | slice) -> Document | Sequence[Document]:
        if isinstance(number, slice):
            return [self[index] for index in range(*number.indices(len(self)))]
        return dict(zip(self._names[number], self._rows[number], strict=True))
