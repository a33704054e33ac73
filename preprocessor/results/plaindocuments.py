"""The documents of a plain file as BSON, each with an ``_id``.

A document has the ``_id`` that stands in the file. Where no document of the file has one, each is given its number in
the file, as a server would give it a random one: by it a pipeline can keep the order of the file. Among the files of a
collection the number stands beside the name of the file: ``{"file": "0001.json", "number": 1}``.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import bson
import bson.errors

from preprocessor.files.text import leads_within
from preprocessor.results.formats import FORMATS, HEAD, Format, find_format
from preprocessor.results.formats.model import Document, SourceFile
from preprocessor.results.plainfiles import PlainFile
from preprocessor.results.rawdocuments import RawDocuments
from preprocessor.results.repeatedids import HINT, find_repeated_ids

_NAMED_ID = slice(5, 9)
"""Where the name of a document's first field stands: behind its length and the field's type."""
_ID = b"_id\0"
_INT32 = b"\x10"
_DOCUMENT = b"\x03"


def read_documents(plain: PlainFile) -> bytes:
    """The documents of a file, end to end. Raises ``ResultsError`` for one that cannot be read as it is."""
    file = SourceFile(plain.path, plain.types)
    if not leads_within(plain.path, plain.within):
        hint = "put the file itself there; a link may lead only to another file in the folder"
        raise file.refuse(f"a link leads out of the folder {plain.within}", hint=hint)
    try:
        documents = _find_format(file).read(file)
        return _with_ids(file, plain.name, (_encode(file, *each) for each in enumerate(documents, 1)))
    except OSError as error:
        raise file.refuse(f"cannot be read: {error.strerror or error}") from None


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


def _encode(file: SourceFile, number: int, document: Document) -> bytes:
    if isinstance(document, bytes):
        return document
    try:
        return bson.encode(document)
    except (bson.errors.BSONError, UnicodeEncodeError, OverflowError) as error:
        raise file.refuse(f"document {number} is not a BSON document: {error}") from None


def _with_ids(file: SourceFile, name: str, documents: Iterable[bytes]) -> bytes:
    """The documents, each with an ``_id``. Raises ``ResultsError`` where some have one and others not, or the same."""
    written = io.BytesIO()
    own = None
    for number, raw in enumerate(documents, 1):
        has_id = raw[_NAMED_ID] == _ID
        own = has_id if own is None else own
        if own != has_id:
            raise file.refuse(f"document {number} has {'an' if has_id else 'no'} _id, unlike those before it")
        written.write(raw if own else _put_id(raw, number, name))
    payload = written.getvalue()
    for number, first in find_repeated_ids(RawDocuments([payload])) if own else ():
        raise file.refuse(f"document {number + 1} has the _id of document {first + 1}", hint=HINT)
    return payload


def _put_id(raw: bytes, number: int, name: str) -> bytes:
    """The document with its number as ``_id``, in front of its fields."""
    value = number.to_bytes(4, "little")
    if name:
        value = bson.encode({"file": name, "number": number})
    key = (_DOCUMENT if name else _INT32) + _ID + value
    return (len(raw) + len(key)).to_bytes(4, "little") + key + raw[4:]
