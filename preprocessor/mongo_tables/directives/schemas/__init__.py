"""The JSON Schemas of the program, by name.

An object of a schema may have ``x-parts``, a list of file names in ``parts/``: the properties in these files precede
its own, or follow them if ``x-parts`` does. This avoids duplicates of properties that several kinds of comments share.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parent
_COMMENTS: Final = _FOLDER / "comments"
_PARTS: Final = _FOLDER / "parts"
_WITH_PARTS: Final = "x-parts"
_SUFFIX: Final = ".schema.json"


def names() -> list[str]:
    """Return the names of all schemas: those of comments (``table`` …), then ``pipeline``, ``result`` and others."""
    return [*comment_names(), *_names_in(_FOLDER)]


@cache
def comment_names() -> tuple[str, ...]:
    """Return the names of the schemas that describe a comment, which are also the kinds of comments: ``table`` …"""
    return _names_in(_COMMENTS)


def _names_in(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(file.name.removesuffix(_SUFFIX) for file in folder.glob(f"*{_SUFFIX}")))


@cache
def load(name: str) -> dict[str, Any]:
    """Return the schema of this name, read once. Callers must not change it. Raises OSError for an unknown name."""
    folder = _COMMENTS if name in comment_names() else _FOLDER
    text = (folder / f"{name}{_SUFFIX}").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text, object_hook=_with_parts if _WITH_PARTS in text else None)
    return schema


def _with_parts(node: dict[str, Any]) -> dict[str, Any]:
    """Return the object with the properties of its parts."""
    if not isinstance(node.get(_WITH_PARTS), list):
        return node
    shared = {key: about for part in node[_WITH_PARTS] for key, about in _part(part).items()}
    kept = {key: value for key, value in node.items() if key not in (_WITH_PARTS, "properties")}
    own, keys = node.get("properties", {}), list(node)
    if own and keys.index(_WITH_PARTS) > keys.index("properties"):
        return {**kept, "properties": {**own, **shared, **own}}
    return {**kept, "properties": {**shared, **own}}


@cache
def _part(name: str) -> dict[str, Any]:
    properties: dict[str, Any] = json.loads((_PARTS / f"{name}.json").read_text("utf-8"))
    return properties
