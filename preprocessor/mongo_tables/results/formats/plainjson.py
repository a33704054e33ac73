"""JSON: an array of objects, each a document; one object, which is one document; or an object in each line.

Documents are MongoDB Extended JSON, as in fixture files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from mongo_tables.findings.finding import Complaint
from mongo_tables.results import extended_json
from mongo_tables.results.extended_json import Form
from mongo_tables.results.formats.model import Document, SourceFile

_FEW: Final = 2
"""An object with fewer objects in it may be anything."""
_KEYED_HINT: Final = (
    "write a list of objects, each with its key as a field; one document alone stands in brackets: [{…}]"
)


def read(file: SourceFile) -> Iterator[Document]:
    """The documents of the file. Raises ``ResultsError`` that tells every fault of it."""
    text = file.text()
    start = text.lstrip()[:1]
    if start == "{" and _is_lines(text):
        from mongo_tables.results.formats.jsonlines import read_lines

        return read_lines(file, text.split("\n"))
    return _read_whole(file, text, Form(is_array=start == "[", needs_id=False))


def _is_lines(text: str) -> bool:
    """Whether the first line of text is an object of its own, with more behind it."""
    line, _, rest = text.lstrip().partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read_whole(file: SourceFile, text: str, form: Form) -> Iterator[Document]:
    found = list(extended_json.read(text, form))
    troubles = [(text, 1, one) for one in found if isinstance(one, Complaint)]
    if troubles:
        from mongo_tables.results.formats.jsonlines import combine_troubles

        raise combine_troubles(file, troubles)
    documents = [one for one in found if not isinstance(one, Complaint)]
    if not form.is_array and _is_keyed(documents[0]):
        raise file.refuse("an object of objects: is each of them a document?", 1, 1, _KEYED_HINT)
    return iter(documents)


def _is_keyed(document: Document) -> bool:
    """Whether all fields of a document are documents: it may be a list whose entries are found by a key."""
    return len(document) >= _FEW and set(map(type, document.values())) == {dict}
