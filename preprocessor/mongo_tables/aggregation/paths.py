"""Dotted paths as expressions read them, and positions of changed fields.

Queries read paths differently (``query/``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from operator import itemgetter
from typing import Any

from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.values import DOCUMENT, MISSING, Document

Getter = Callable[[Any], Any]


def split(dotted: str, path: Path | None = None) -> tuple[str, ...]:
    """Return the parts of a dotted field path, which is at ``path`` in the pipeline.

    Raises:
        AggregationError: If the server refuses the path: it has an empty part, too many parts, a NUL character, or a
            part that starts with ``$``.

    Example:
        >>> split("a.b")
        ('a', 'b')
    """
    parts = tuple(dotted.split("."))
    for part in parts:
        if not part:
            code = 40352 if not dotted else 40353 if dotted.endswith(".") else 15998
            raise AggregationError(f"field path '{dotted}' has an empty part", path, code)
        if part.startswith("$"):
            raise AggregationError(f"field path part '{part}' must not start with '$'", path, 16410)
        if "\0" in part:
            raise AggregationError("a field path must not contain a NUL character", path, 16411)
    if len(parts) > 200:
        raise AggregationError("a field path must not have more than 200 parts", path, 5984700)
    return parts


def getter(parts: tuple[str, ...]) -> Getter:
    """Return a function from a value to its field at ``parts``, or MISSING.

    If an array is on the path, the function returns the list of this field of the array's documents. Other elements
    and documents without the field are omitted (the server's ExpressionFieldPath).

    Example:
        >>> getter(("a", "b"))({"a": [{"b": 1}, {"c": 2}, {"b": 3}]})
        [1, 3]
    """
    if len(parts) == 1:
        return _field(parts[0])
    if len(parts) == 2:
        return _field_of_field(*parts)
    head, rest = _field(parts[0]), _inside(getter(parts[1:]))
    return lambda value: rest(head(value))


def _field(name: str) -> Getter:
    def get(value: Any) -> Any:
        return value.get(name, MISSING)

    return get


def _field_of_field(first: str, second: str) -> Getter:
    take = itemgetter(second)

    def get(value: Any) -> Any:
        inner = value.get(first)
        if type(inner) is dict:
            return inner.get(second, MISSING)
        if type(inner) is list:
            # These are often measurement points, and nearly always all of them have the field.
            try:
                return list(map(take, inner))
            except (KeyError, TypeError):
                return [item[second] for item in inner if isinstance(item, DOCUMENT) and second in item]
        if inner is None:
            return MISSING
        return inner.get(second, MISSING) if isinstance(inner, DOCUMENT) else MISSING

    return get


def _inside(rest: Getter) -> Getter:
    """Return a function that applies ``rest`` to a document or to the documents of an array. Other values give
    MISSING.
    """

    def get(value: Any) -> Any:
        if isinstance(value, DOCUMENT):
            return rest(value)
        if isinstance(value, list):
            found = (rest(item) for item in value if isinstance(item, DOCUMENT))
            return [item for item in found if item is not MISSING]
        return MISSING

    return get


def of_variable(parts: tuple[str, ...]) -> Getter:
    """Return a function like ``getter`` for the value of a variable, which need not be a document."""
    if len(parts) > 1:
        return _inside(getter(parts))
    (name,) = parts
    slow = _inside(getter(parts))
    return lambda value: value.get(name, MISSING) if type(value) is dict else slow(value)


def of_elements(parts: tuple[str, ...]) -> Callable[[Sequence[Any]], list[Any]]:
    """Return a function from a list of values to the list of their fields at ``parts``. A field that a value lacks is
    MISSING.
    """
    get, take = of_variable(parts), itemgetter(parts[0])
    if len(parts) > 1:
        return lambda values: list(map(get, values))

    def read(values: Sequence[Any]) -> list[Any]:
        try:
            return list(map(take, values))
        except (KeyError, TypeError):
            return list(map(get, values))

    return read


def along(value: Any, parts: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """Follow ``parts`` through documents up to the first array.

    Return the array and the remaining parts or, without an array on the path, the value (or MISSING) and no parts.
    """
    for at, part in enumerate(parts):
        if type(value) is list:
            return value, parts[at:]
        if not isinstance(value, DOCUMENT):
            return MISSING, ()
        value = value.get(part, MISSING)
    return value, ()


# Documents that remember the places of removed fields. The server keeps the place of a field that a stage
# removed or computed as missing. When a later stage sets the field again, the field is in its old place, not
# at the end.


class OrderedDocument(dict[str, Any]):
    """A document that remembers the places of fields that were ``removed``.

    ``places`` has the names of all fields in order, as of the last removal. Removed fields have the value MISSING
    there. Fields that were added later follow them.
    """

    __slots__ = ("places", "removed")

    places: Document
    removed: Sequence[str]


def _ordered(fields: Mapping[str, Any], places: Document, removed: Sequence[str]) -> OrderedDocument:
    found = OrderedDocument(fields)
    found.places, found.removed = places, removed
    return found


def open_places(names: Set[str], document: Mapping[str, Any]) -> Document:
    """Return a copy of a document in which the fields ``names`` may be set.

    If one of these fields was removed, the copy has all removed fields in their old places, with the value MISSING.
    """
    if type(document) is not OrderedDocument:
        return {**document}
    if names.isdisjoint(document.removed):
        return _ordered(document, document.places, document.removed)
    return {**document.places, **document}


def close_places(document: Document) -> Document:
    """Return the document without its MISSING fields. It remembers their places. ``document`` may be changed."""
    removed = [name for name, value in document.items() if value is MISSING]
    return _remove(removed, document) if removed else document


def without(names: Iterable[str], document: Mapping[str, Any]) -> Document:
    """Return a copy of a document without the fields ``names``. The copy remembers their places."""
    found = open_places(frozenset(), document)
    removed = [name for name in names if name in found]
    for name in removed:
        found[name] = MISSING
    return _remove(removed, found) if removed else found


def _remove(names: Sequence[str], document: Document) -> Document:
    """Remove the MISSING fields ``names`` from a document, which may be changed."""
    if type(document) is OrderedDocument:
        found, found.places = document, {**document.places, **document}
        found.removed = [*found.removed, *names]
    else:
        found = _ordered(document, document, names)
    for name in names:
        del found[name]
    return found


# Nested fields, as `$unwind`, `$lookup` and `$graphLookup` set their results.


def with_nested(document: Mapping[str, Any], parts: tuple[str, ...], value: Any) -> Document:
    """Return a copy of ``document`` with ``value`` at the path. MISSING removes the field.

    Values on the path that are not documents (including arrays) are replaced by documents.
    """
    name, rest = parts[0], parts[1:]
    output = open_places({name}, document)
    if rest:
        inner = output.get(name)
        output[name] = with_nested(inner if isinstance(inner, DOCUMENT) else {}, rest, value)
    else:
        output[name] = value
    return close_places(output) if value is MISSING or type(output) is not type(document) else output


def with_nested_last(document: Mapping[str, Any], parts: tuple[str, ...], value: Any) -> Document:
    """Return a copy of ``document`` with ``value`` at the path.

    Unlike ``with_nested``, move the field and its parents to the ends of their documents.
    """
    name, rest = parts[0], parts[1:]
    output = {key: item for key, item in document.items() if key != name}
    inner = document.get(name) if rest else None
    output[name] = (
        with_nested_last(inner if isinstance(inner, DOCUMENT) else {}, rest, value) if rest else value
    )
    return output


def get_nested(document: Mapping[str, Any], parts: tuple[str, ...]) -> Any:
    """Return the value at a path, or MISSING. The path leads only through documents, not arrays."""
    value: Any = document
    for part in parts:
        if not isinstance(value, DOCUMENT):
            return MISSING
        value = value.get(part, MISSING)
    return value
