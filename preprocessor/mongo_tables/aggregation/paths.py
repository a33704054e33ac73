"""Dotted paths into documents, as expressions read them (queries have their own rule, in ``query/``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.values import MISSING

Getter = Callable[[Any], Any]


def split(path: str) -> tuple[str, ...]:
    """The parts of a dotted field path.

    Raises AggregationError for what the server refuses: empty parts, parts that start with ``$``, NUL.
    """
    parts = tuple(path.split("."))
    for part in parts:
        if not part:
            code = 40352 if not path else 40353 if path.endswith(".") else 15998
            raise AggregationError(f"field path '{path}' has an empty part", code=code)
        if part.startswith("$"):
            raise AggregationError(f"field path part '{part}' must not start with '$'", code=16410)
        if "\0" in part:
            raise AggregationError("a field path must not hold a NUL character", code=16411)
    if len(parts) > 200:
        raise AggregationError("a field path must not have more than 200 parts", code=5984700)
    return parts


def getter(parts: tuple[str, ...]) -> Getter:
    """A function from a value to what ``parts`` lead to in it, MISSING when nothing is there.

    An array on the way is mapped over: of its elements only documents count, missing results are left out
    (the server's ExpressionFieldPath).
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
            # This is how measurement points are read: all of them have the field, nearly always.
            try:
                return list(map(take, inner))
            except (KeyError, TypeError):
                return [item[second] for item in inner if _is_document(item) and second in item]
        return inner.get(second, MISSING) if isinstance(inner, Mapping) else MISSING

    return get


def _is_document(value: Any) -> bool:
    # The first question settles nearly all calls; the second one alone is ten times slower.
    return type(value) is dict or isinstance(value, Mapping)


def _inside(rest: Getter) -> Getter:
    """``rest`` applied to a value that may be a document, an array of documents, or neither."""

    def get(value: Any) -> Any:
        if _is_document(value):
            return rest(value)
        if isinstance(value, list):
            found = (rest(item) for item in value if _is_document(item))
            return [item for item in found if item is not MISSING]
        return MISSING

    return get


def of_variable(parts: tuple[str, ...]) -> Getter:
    """Like ``getter``, for a variable's value, which need not be a document."""
    if len(parts) > 1:
        return _inside(getter(parts))
    (name,) = parts
    slow = _inside(getter(parts))
    return lambda value: value.get(name, MISSING) if type(value) is dict else slow(value)


def of_elements(parts: tuple[str, ...]) -> Callable[[Sequence[Any]], list[Any]]:
    """A function from values, which need not be documents, to what ``parts`` lead to in each; MISSING for nothing."""
    get, take = of_variable(parts), itemgetter(parts[0])
    if len(parts) > 1:
        return lambda values: list(map(get, values))

    def read(values: Sequence[Any]) -> list[Any]:
        try:
            return list(map(take, values))
        except (KeyError, TypeError):
            return list(map(get, values))

    return read
