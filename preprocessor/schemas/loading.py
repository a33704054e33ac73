"""The JSON Schemas that come with the program, by name."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parent
_COMMENTS: Final = _FOLDER / "comments"
_SUFFIX: Final = ".schema.json"


def names() -> list[str]:
    """The names of all schemas: those of comments (``table`` …), then ``pipeline``, ``result`` and others."""
    return [*comment_names(), *_names_in(_FOLDER)]


def comment_names() -> list[str]:
    """The names of the schemas that describe a comment, by which the comment itself is called: ``table`` …"""
    return _names_in(_COMMENTS)


def _names_in(folder: Path) -> list[str]:
    return sorted(file.name.removesuffix(_SUFFIX) for file in folder.glob(f"*{_SUFFIX}"))


@cache
def load(name: str) -> dict[str, Any]:
    """The schema of this name, read once; whoever gets it leaves it as it is. OSError for a name that none has."""
    folder = _COMMENTS if name in comment_names() else _FOLDER
    schema: dict[str, Any] = json.loads((folder / f"{name}{_SUFFIX}").read_text("utf-8"))
    return schema
