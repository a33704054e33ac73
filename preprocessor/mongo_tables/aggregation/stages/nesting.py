"""Setting a field deep in a document, as `$unwind`, `$lookup` and `$graphLookup` set their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mongo_tables.aggregation.fieldorder import OrderedDocument, close_places, open_places
from mongo_tables.aggregation.values import MISSING, Document


def with_nested(document: Mapping[str, Any], parts: tuple[str, ...], value: Any) -> Document:
    """A copy of ``document`` with ``value`` at the path; MISSING removes what is there.

    What stands on the way and is no document (an array, too) is replaced by one.
    """
    name, rest = parts[0], parts[1:]
    output = open_places(document)
    if rest:
        inner = output.get(name)
        output[name] = with_nested(inner if isinstance(inner, Mapping) else {}, rest, value)
    else:
        output[name] = value
    return close_places(output) if value is MISSING or type(document) is OrderedDocument else output


def with_nested_last(document: Mapping[str, Any], parts: tuple[str, ...], value: Any) -> Document:
    """Like ``with_nested``, but the field, and those above it, move to the end of their documents."""
    name, rest = parts[0], parts[1:]
    output = {key: item for key, item in document.items() if key != name}
    inner = document.get(name) if rest else None
    output[name] = (
        with_nested_last(inner if isinstance(inner, Mapping) else {}, rest, value) if rest else value
    )
    return output


def get_nested(document: Mapping[str, Any], parts: tuple[str, ...]) -> Any:
    """The value at a path through documents only, else MISSING."""
    value: Any = document
    for part in parts:
        if not isinstance(value, Mapping):
            return MISSING
        value = value.get(part, MISSING)
    return value
