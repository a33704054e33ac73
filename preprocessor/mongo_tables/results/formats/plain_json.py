"""JSON: an array of objects, one object, or an object in each line (JSON Lines). Each object is a document.

Documents are MongoDB Extended JSON, as in fixture files. https://jsonlines.org/ describes lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from mongo_tables.files.folders import place_at
from mongo_tables.findings.finding import Complaint
from mongo_tables.results.extended_json import read_documents
from mongo_tables.results.formats.model import Document, SourceFile
from mongo_tables.results.model import ResultsError

_Fault = tuple[str, int, Complaint[int]]
"""A text, the number of its first line in the file, and its fault."""


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the documents of the file. Raises ``ResultsError`` with the first fault."""
    if file.suffix != ".json":
        return _read_lines(file, file.lines())
    text = file.text()
    if text.lstrip()[:1] == "{" and _is_lines(text):
        return _read_lines(file, text.split("\n"))
    documents: list[Document] = []
    faults: list[_Fault] = []
    for one in read_documents(text, is_array=text.lstrip()[:1] == "[", needs_id=False):
        if isinstance(one, Complaint):
            faults.append((text, 1, one))
        else:
            documents.append(one)
    if faults:
        raise _combine(file, faults)
    return iter(documents)


def _is_lines(text: str) -> bool:
    """Return whether the first line is a complete object, and more text follows."""
    line, _, rest = text.lstrip().partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read_lines(file: SourceFile, lines: Iterable[str]) -> Iterator[Document]:
    """Yield the documents of the lines. After the last line, raise ``ResultsError`` if there was a fault."""
    faults: list[_Fault] = []
    for number, line in enumerate(lines, 1):
        for one in read_documents(line, needs_id=False) if line.strip() else ():
            if isinstance(one, Complaint):
                faults.append((line, number, one))
            else:
                yield one
    if faults:
        raise _combine(file, faults)


def _combine(file: SourceFile, faults: Sequence[_Fault]) -> ResultsError:
    """Return the error for the first fault. Its message has the number of the other faults."""
    (text, first, one), *others = faults
    line, column = place_at(text, one.at)
    kind = "like it" if all(other.message == one.message for _, _, other in others) else "faults"
    more = f", and {len(others)} more {kind}" if others else ""
    return file.refuse(f"{one.message}{more}", first + line - 1, column, one.hint)
