"""The documents of a plain file as BSON, each with an ``_id``.

A document has the ``_id`` that stands in the file. Where no document of the file has one, each is given its number in
the file, as a server would give it a random one: by it a pipeline can keep the order of the file. Among the files of a
collection the number stands beside the name of the file: ``{"file": "0001.json", "number": 1}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import bson
import bson.errors

from mongo_tables.files.text import leads_within
from mongo_tables.results.formats import FORMATS, HEAD, Format, find_format
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.plainfiles import PlainFile

_NAMED_ID = slice(5, 9)
"""Where the name of a document's first field stands: behind its length and the field's type."""
_ID = b"_id\0"
_INT32 = b"\x10"
_DOCUMENT = b"\x03"


class Reading(NamedTuple):
    """The documents of a file as they are read, and whether their ``_id`` stands in the file."""

    documents: Iterator[bytes]
    has_ids: bool


def read_documents(plain: PlainFile) -> Reading:
    """The documents of a file. Raises ``ResultsError``, now or while they come, where it cannot be read as it is."""
    refuse_outside(plain)
    file = SourceFile(plain.path, plain.types)
    encoded = _encode(file)
    first = next(encoded, None)
    if first is None:
        return Reading(iter(()), has_ids=False)
    has_ids = first[_NAMED_ID] == _ID
    return Reading(_with_ids(file, plain.name, chain([first], encoded), has_ids), has_ids)


def refuse_outside(plain: PlainFile) -> None:
    """Raise ``ResultsError`` for a file that leads, by links, out of the folder in which it may be."""
    if not leads_within(plain.path, plain.within):
        hint = "put the file itself there; a link may lead only to another file in the folder"
        file = SourceFile(plain.path, plain.types)
        raise file.refuse(f"a link leads out of the folder {plain.within}", hint=hint)


def _encode(file: SourceFile) -> Iterator[bytes]:
    """The documents of a file as BSON, as they stand in it."""
    number = 0
    try:
        for document in _find_format(file).read(file):
            number += 1
            yield document if isinstance(document, bytes) else bson.encode(document)
    except OSError as error:
        raise file.refuse(f"cannot be read: {error.strerror or error}") from None
    except (bson.errors.BSONError, UnicodeEncodeError, OverflowError) as error:
        raise file.refuse(f"document {number} is not a BSON document: {error}") from None


def _find_format(file: SourceFile) -> Format:
    """The format of a file. Raises ``ResultsError`` for what has none, and ``OSError`` as opening it does."""
    if not file.path.is_file():
        raise file.refuse("a folder, not a file" if file.path.is_dir() else _no_file(file.path))
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


def _no_file(path: Path) -> str:
    if path.is_symlink() and not path.exists():
        return f"a link to {path.readlink()}, where there is nothing"
    return "a pipe or a device, not a file" if path.exists() else "there is no such file"


def _with_ids(file: SourceFile, name: str, documents: Iterable[bytes], has_ids: bool) -> Iterator[bytes]:
    """The documents, each with an ``_id``. Raises ``ResultsError`` where some have one and others not."""
    for number, raw in enumerate(documents, 1):
        if (raw[_NAMED_ID] == _ID) != has_ids:
            raise file.refuse(
                f"document {number} has {'no' if has_ids else 'an'} _id, unlike those before it"
            )
        yield raw if has_ids else _put_id(raw, number, name)


def _put_id(raw: bytes, number: int, name: str) -> bytes:
    """The document with its number as ``_id``, in front of its fields."""
    field = _write_id(number, name)
    return (len(raw) + len(field)).to_bytes(4, "little") + field + raw[4:]


def _write_id(number: int, name: str) -> bytes:
    if not name:
        return _INT32 + _ID + number.to_bytes(4, "little")
    return _DOCUMENT + _ID + bson.encode({"file": name, "number": number})


def is_first_of(name: str, raw: bytes) -> bool:
    """Whether a document has the ``_id`` that is given to the first one of a file of this name."""
    return raw.startswith(_write_id(1, name), 4)
