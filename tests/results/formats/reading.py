"""A text, or bytes, as a file that is read as pages read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from preprocessor.results.formats import HEAD, Format, find_format
from preprocessor.results.formats.model import SourceFile


def format_of(path: Path) -> Format | None:
    return find_format(path.name, SourceFile(path).head(HEAD))


def read(path: Path) -> list[dict[str, Any]]:
    """The documents of a file in the format that it is known for."""
    found = format_of(path)
    assert found is not None, path
    return [dict(one) for one in found.read(SourceFile(path))]  # type: ignore[arg-type]


def write(folder: Path, text: str, name: str = "bench.json") -> Path:
    path = folder / name
    path.write_text(text, "utf-8", newline="")
    return path
