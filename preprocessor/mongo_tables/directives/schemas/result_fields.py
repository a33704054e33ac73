"""What the fields of a result document mean: title, description and unit, from the JSON Schema of such documents.

Parameters of an experiment are described once, in the schema of experiments; where a result repeats them, its
schema says so by ``fieldsOf``. A path is dotted and goes through arrays as through documents, as in an
aggregation expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from mongo_tables.directives.schemas import load

ANY_NAME: Final = "*"
"""The part of a path where fields have names that no schema knows, such as those of indexes."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: ``unit`` is empty where there is none, and ``1`` for a ratio or a plain count."""

    path: str
    title: str
    description: str
    unit: str


@cache
def fields(kind: str = "result") -> Mapping[str, Field]:
    """All fields of a document of this kind by path, in the order of its schema.

    Kinds are ``result``, ``published``, ``calibration`` and ``benchmark``.
    A document comes before the fields in it.
    """
    found: dict[str, Field] = {}
    for field in _inside(load(kind), (), kind):
        found.setdefault(field.path, field)
    return found


@lru_cache(maxsize=4096)
def field_at(path: str) -> Field | None:
    """The field at a path, or None when no schema describes it."""
    known = fields()
    parts = path.split(".")
    anywhere = (".".join((*parts[:at], ANY_NAME, *parts[at + 1 :])) for at in range(len(parts)))
    return next((known[name] for name in (path, *anywhere) if name in known), None)


def _inside(schema: Mapping[str, Any], path: tuple[str, ...], file: str) -> Iterator[Field]:
    """The fields of a document that the schema in that file describes."""
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


def _field(schema: Mapping[str, Any], path: tuple[str, ...], file: str) -> Iterator[Field]:
    if "$ref" in schema:
        schema, file = _follow_reference(schema["$ref"], file)
    yield Field(".".join(path), schema["title"], schema["description"], schema.get("unit", ""))
    yield from _inside(schema, path, file)


def _follow_reference(reference: str, file: str) -> tuple[Mapping[str, Any], str]:
    """What ``NAME.schema.json#/a/b``, or ``#/a/b`` in the same file, leads to, and the file that it is in."""
    named, _, pointer = reference.partition("#/")
    file = named.removesuffix(".schema.json") or file
    schema: Mapping[str, Any] = load(file)
    for part in pointer.split("/"):
        schema = schema[part]
    return schema, file
