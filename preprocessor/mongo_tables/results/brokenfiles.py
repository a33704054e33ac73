"""Whether a plain file that no comment uses could be read: its author shall know before somebody uses it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from mongo_tables.results.formats import HEAD, find_format
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.model import Fault, ResultsError
from mongo_tables.results.plaindocuments import read_documents, read_file

if TYPE_CHECKING:
    from mongo_tables.results.plainfiles import PlainFile


_JSON: Final = ("plainjson", "jsonlines")


def find_fault(plain: PlainFile, most: int) -> Fault | None:
    """The first fault of a file; None where it can be read, or has ``most`` bytes or more."""
    try:
        content = read_file(plain)
        if len(content) < most and not _is_json(SourceFile(plain.path, plain.types, content)):
            read_documents(plain, content)
    except ResultsError as error:
        return error.faults[0] if error.faults else Fault(plain.path, 0, 0, error.message, error.hint)
    return None


def _is_json(file: SourceFile) -> bool:
    """Whether a file of no tool's is a text of JSON, or one in each line: much quicker than to read its documents."""
    found = find_format(file.path.name, file.head(HEAD))
    if found is None or found.module not in _JSON:
        return False
    try:
        text = file.text()
        for one in (text,) if file.suffix == ".json" else filter(str.strip, text.split("\n")):
            json.loads(one)
    except (ResultsError, ValueError, RecursionError):
        return False
    return True
