"""The text of a fixture file as documents, with every fault in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mongo_tables.files.text import place_at
from mongo_tables.findings.finding import Complaint
from mongo_tables.jsontext.reader import parse
from mongo_tables.results import extended_json
from mongo_tables.results.extended_json import Form
from mongo_tables.results.model import Fault, combine_faults


def read(path: Path, content: bytes) -> tuple[list[dict[str, Any]], list[Fault]]:
    """The file's documents, ``_id`` first as a server stores it, and all faults, both in order.

    Faults: text that is not UTF-8, not JSON or not Extended JSON, a key given twice in an object, a document
    without ``_id`` (a server would give it a random one). Where there are faults, documents are missing.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig", "replace")
        return [], [Fault(path, *place_at(before, len(before)), "not UTF-8")]
    found: list[dict[str, Any]] = []
    faults: list[Fault] = []
    parts = [(1, text)] if path.suffix == ".json" else _lines(text)
    form = Form(is_array=path.suffix == ".json")
    for line, part in parts:
        for one in extended_json.read(part, form):
            if isinstance(one, Complaint):
                above, column = place_at(part, one.at)
                faults.append(Fault(path, line + above - 1, column, one.message, one.hint))
            else:
                found.append(one)
    return found, faults


def place_of(path: Path, content: bytes, index: int) -> tuple[int, int]:
    """Line and column where the document of this index begins, in a file without faults."""
    text = content.decode("utf-8-sig")
    if path.suffix == ".json":
        return place_at(text, parse(text).positions[(index,)])
    line, part = list(_lines(text))[index]
    return line, len(part) - len(part.lstrip()) + 1


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Every line that is not blank, with its number."""
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def documents(path: Path, content: bytes) -> list[dict[str, Any]]:
    """The file's documents. Raises ``ResultsError`` that tells all faults."""
    found, faults = read(path, content)
    if faults:
        raise combine_faults(faults)
    return found
