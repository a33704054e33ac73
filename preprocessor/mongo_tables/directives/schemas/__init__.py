"""The JSON Schemas of the program by name, and the fields of result documents with title, description and unit.

Kinds of comments share properties: an object of a schema may have ``x-parts``, a list of files in ``parts/``. The
properties in these files come before the object's own properties, or after them if ``x-parts`` comes after
``properties``.

The schema of results includes the parameters of experiments by a reference, ``fieldsOf``. Paths of fields are dotted
and ignore arrays, as in an aggregation expression.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

_FOLDER: Final = Path(__file__).parent
_OF_COMMENTS: Final = _FOLDER / "comments"
_PARTS: Final = _FOLDER / "parts"
_WITH_PARTS: Final = "x-parts"
_SUFFIX: Final = ".schema.json"


def _names_in(folder: Path) -> tuple[str, ...]:
    found = []
    for file in folder.glob(f"*{_SUFFIX}"):
        found.append(file.name.removesuffix(_SUFFIX))
    return tuple(sorted(found))


COMMENTS: Final = _names_in(_OF_COMMENTS)
"""The names of the schemas of comments. They are also the kinds of comments, such as ``table``."""


def names() -> list[str]:
    """Return the names of all schemas: those of comments, then ``pipeline``, ``result`` and others."""
    return [*COMMENTS, *_names_in(_FOLDER)]


@cache
def load(name: str) -> dict[str, Any]:
    """Return the schema of this name, which callers must not change. Raises OSError for an unknown name."""
    folder = _OF_COMMENTS if name in COMMENTS else _FOLDER
    text = (folder / f"{name}{_SUFFIX}").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text, object_hook=_with_parts if _WITH_PARTS in text else None)
    return schema


def _with_parts(node: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(node.get(_WITH_PARTS), list):
        return node
    shared: dict[str, Any] = {}
    for part in node[_WITH_PARTS]:
        shared |= _part(part)
    own, keys, whole = node.get("properties", {}), list(node), dict(node)
    del whole[_WITH_PARTS]
    whole.pop("properties", None)
    follow = own and keys.index(_WITH_PARTS) > keys.index("properties")
    whole["properties"] = {**own, **shared, **own} if follow else {**shared, **own}
    return whole


@cache
def _part(name: str) -> dict[str, Any]:
    properties: dict[str, Any] = json.loads((_PARTS / f"{name}.json").read_text("utf-8"))
    return properties


ANY_NAME: Final = "*"
"""The path component that stands for any name, such as the name of an index."""


class ResultField(NamedTuple):
    """One field of result documents. ``unit`` is ``1`` for a ratio or a plain count, and "" without a unit."""

    path: str
    title: str
    description: str
    unit: str


@cache
def fields(kind: str = "result") -> Mapping[str, ResultField]:
    """Return all fields of documents of a kind by path, in the order of the schema.

    Kinds are ``result``, ``published``, ``calibration`` and ``benchmark``. An inner document precedes its fields.
    """
    found: dict[str, ResultField] = {}
    for field in _inside(load(kind), (), kind):
        found.setdefault(field.path, field)
    return found


@lru_cache(maxsize=4096)
def field_at(path: str) -> ResultField | None:
    """Return the field at a path, or None if no schema describes it."""
    known = fields()
    parts = path.split(".")
    anywhere = (".".join((*parts[:at], ANY_NAME, *parts[at + 1 :])) for at in range(len(parts)))
    return next((known[name] for name in (path, *anywhere) if name in known), None)


def _inside(schema: Mapping[str, Any], path: tuple[str, ...], file: str) -> Iterator[ResultField]:
    """Yield the fields inside a part of the schema in ``file``."""
    for name, inner in schema.get("properties", {}).items():
        yield from _field(inner, (*path, name), file)
    if "fieldsOf" in schema:
        found, its = _follow_reference(schema["fieldsOf"], file)
        yield from _inside(found, path, its)
    for part in (schema.get("items"), *schema.get("anyOf", ())):
        if isinstance(part, Mapping):
            yield from _inside(part, path, file)
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield from _field(schema["additionalProperties"], (*path, ANY_NAME), file)


def _field(schema: Mapping[str, Any], path: tuple[str, ...], file: str) -> Iterator[ResultField]:
    if "$ref" in schema:
        schema, file = _follow_reference(schema["$ref"], file)
    yield ResultField(".".join(path), schema["title"], schema["description"], schema.get("unit", ""))
    yield from _inside(schema, path, file)


def _follow_reference(reference: str, file: str) -> tuple[Mapping[str, Any], str]:
    """Return the target of a reference such as ``NAME.schema.json#/a/b`` or ``#/a/b``, and the target's file."""
    named, _, pointer = reference.partition("#/")
    file = named.removesuffix(".schema.json") or file
    schema: Mapping[str, Any] = load(file)
    for part in pointer.split("/"):
        schema = schema[part]
    return schema, file
