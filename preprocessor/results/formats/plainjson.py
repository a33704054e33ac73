"""JSON: a list of objects, each a document; one object, which is one document; or an object in each line.

Values are MongoDB Extended JSON, as in fixture files.
"""

from __future__ import annotations

from collections.abc import Iterator

from preprocessor.results.formats.jsonfile import parse_file
from preprocessor.results.formats.model import Document, SourceFile


def read(file: SourceFile) -> Iterator[Document]:
    """The documents of the file. Raises ``ResultsError`` for one that holds none."""
    parsed = parse_file(file)
    yield from parsed.value if isinstance(parsed.value, list) else [parsed.value]
