"""JSON Lines (NDJSON): an object in each line, which is a document in MongoDB Extended JSON; https://jsonlines.org/."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mongo_tables.files.text import place_at
from mongo_tables.findings.finding import Complaint
from mongo_tables.results import extended_json
from mongo_tables.results.extended_json import Form
from mongo_tables.results.formats.model import Document, SourceFile
from mongo_tables.results.model import Fault, ResultsError, combine_faults

_FORM = Form(needs_id=False)


def read(file: SourceFile) -> Iterator[Document]:
    """The documents of the file. Raises ``ResultsError`` that tells every fault of it."""
    return read_lines(file, file.lines())


def read_lines(file: SourceFile, lines: Iterable[str]) -> Iterator[Document]:
    """The documents of the lines of a file. Raises ``ResultsError`` behind the last of them, for all faults."""
    troubles: list[tuple[str, int, Complaint[int]]] = []
    for number, line in enumerate(lines, 1):
        for one in extended_json.read(line, _FORM) if line.strip() else ():
            if isinstance(one, Complaint):
                troubles.append((line, number, one))
            else:
                yield one
    if troubles:
        raise combine_troubles(file, troubles)


def combine_troubles(file: SourceFile, troubles: Iterable[tuple[str, int, Complaint[int]]]) -> ResultsError:
    """The error for what is wrong with texts of a file, each with the number of the line where it begins."""
    faults: list[Fault] = []
    for text, first, one in troubles:
        line, column = place_at(text, one.at)
        faults.append(Fault(file.path, first + line - 1, column, one.message, one.hint))
    return combine_faults(faults)
