"""Files of each format as their readers give them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mongo_tables.results.file_documents import read_plain
from mongo_tables.results.file_listing import ResultsFile
from mongo_tables.results.formats.model import SourceFile
from mongo_tables.results.model import ResultsError


def documents(path: Path, **types: str) -> list[dict[str, Any]]:
    """The documents of a file, without the numbers that they are given."""
    plain = ResultsFile(path, path.parent, "", types)
    found = read_plain(SourceFile(plain.path, plain.types, plain.read()), plain.name, "")[0]
    return [{name: value for name, value in document.items() if name != "_id"} for document in found]


def fault(path: Path, **types: str) -> str:
    """What is said of a file that cannot be read, and what to do, from its name on."""
    with pytest.raises(ResultsError) as caught:
        documents(path, **types)
    assert caught.value.environment
    said = caught.value.message.removeprefix(f"{path.parent}/")
    return f"{said} [{caught.value.hint}]" if caught.value.hint else said


def written(folder: Path, name: str, content: str | bytes) -> Path:
    """A file in a folder."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
