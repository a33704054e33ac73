"""Files as pages read them. ``python -m tests.results.formats.reading FILE`` prints the documents of a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bson

from mongo_tables.results.extended_json import write_line
from mongo_tables.results.formats import Format, find_format
from mongo_tables.results.formats.model import SourceFile


def format_of(path: Path) -> Format | None:
    return find_format(SourceFile(path))


def read(path: Path) -> list[dict[str, Any]]:
    """The documents of a file in the format that it is known for."""
    found = format_of(path)
    assert found is not None, path
    return [dict(one) for one in found.read(SourceFile(path))]  # type: ignore[arg-type]


def lines_of(path: Path) -> str:
    """The documents of a file as a fixture file has them."""
    return "".join(f"{write_line(bson.encode(one))}\n" for one in read(path))


def write(folder: Path, text: str, name: str = "bench.json") -> Path:
    path = folder / name
    path.write_text(text, "utf-8", newline="")
    return path


if __name__ == "__main__":
    print(lines_of(Path(sys.argv[1])), end="")
