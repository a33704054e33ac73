"""Whether a plain file that nobody asks for could be read: who put it there shall know sooner than whoever uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mongo_tables.results.formats import HEAD, find_format
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.model import Fault, ResultsError
from mongo_tables.results.plaindocuments import read_documents

if TYPE_CHECKING:
    from mongo_tables.results.plainfiles import PlainFile


_JSON: Final = ("plainjson", "jsonlines")


def find_fault(plain: PlainFile) -> Fault | None:
    """The first fault of a file; None where it can be read."""
    try:
        if not _is_json(SourceFile(plain.path)):
            for _ in read_documents(plain).documents:
                pass
    except ResultsError as error:
        return error.faults[0] if error.faults else Fault(plain.path, 0, 0, error.message, error.hint)
    except OSError as error:
        return Fault(plain.path, 0, 0, f"cannot be read: {error.strerror or error}")
    return None


def _is_json(file: SourceFile) -> bool:
    """Whether a file of no tool's is a text of JSON, or one in each line: told ten times as fast as it is read."""
    found = find_format(file.path.name, file.head(HEAD))
    if found is None or found.module not in _JSON:
        return False
    try:
        for text in _texts(file):
            json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _texts(file: SourceFile) -> Iterator[str]:
    text = file.text()
    yield from (text,) if file.suffix == ".json" else filter(str.strip, text.split("\n"))
