"""Dotted paths in queries: which values of a document a condition is tried on.

An array on the way is gone through: into its documents, and to one element where the path has its place
(``a.0``). An array at the end stands for its elements and for itself. This is not how expressions read paths.
Source: https://www.mongodb.com/docs/manual/tutorial/query-arrays/
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mongo_tables.aggregation.values import MISSING

Predicate = Callable[[Any], bool]
Parts = tuple[str, ...]


def anywhere(parts: Parts, test: Predicate, *, elements: bool = True) -> Predicate:
    """Whether ``test`` holds for any value that ``parts`` lead to in a document.

    A path that leads nowhere is tried once with MISSING, except through an array without documents,
    where it is not tried at all. ``elements`` false: an array at the end stands for itself only.
    """
    if len(parts) == 1:
        return _of_field(parts[0], test, elements)

    def holds(document: Any) -> bool:
        value = document
        for index, part in enumerate(parts):
            if type(value) is dict:
                value = value.get(part, MISSING)
            elif type(value) is list:
                return any(map(test, _through(value, parts, index, elements)))
            elif isinstance(value, Mapping):
                value = value.get(part, MISSING)
            else:
                return test(MISSING)
        if elements and type(value) is list:
            return any(map(test, value)) or test(value)
        return test(value)

    return holds


def _of_field(name: str, test: Predicate, elements: bool) -> Predicate:
    def holds(document: Any) -> bool:
        value = document.get(name, MISSING)
        if elements and type(value) is list:
            return any(map(test, value)) or test(value)
        return test(value)

    return holds


def _through(array: list[Any], parts: Parts, index: int, elements: bool) -> Iterator[Any]:
    """The values that the parts from ``index`` on lead to from an array on the way."""
    # A path that ends in a dot ends at the array.
    if index == len(parts) or parts[index:] == ("",):
        if elements:
            yield from array
        yield array
        return
    part, last = parts[index], index + 1 == len(parts)
    for place, item in enumerate(array):
        inner = isinstance(item, Mapping)
        if inner:
            yield from _into(item, parts, index, elements)
        if part == str(place):
            if last:
                yield item
            elif inner:
                yield from _into(item, parts, index + 1, elements)
            elif type(item) is list:
                yield from _through(item, parts, index + 1, elements)


def _into(value: Any, parts: Parts, index: int, elements: bool) -> Iterator[Any]:
    for at in range(index, len(parts)):
        if not isinstance(value, Mapping):
            yield MISSING
            return
        value = value.get(parts[at], MISSING)
        if type(value) is list:
            yield from _through(value, parts, at + 1, elements)
            return
    yield value


def every_value(document: Mapping[str, Any], parts: Parts) -> Iterator[Any]:
    """All the values that a condition on the path is tried on."""
    return _into(document, parts, 0, True)
