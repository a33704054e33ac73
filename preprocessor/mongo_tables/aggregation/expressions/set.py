"""Arrays as sets: `$allElementsTrue`, `$anyElementTrue`, `$setDifference`, `$setEquals`, `$setIntersection`,
`$setIsSubset`, `$setUnion`. Equal values (1 and 1.0) are one element; unions and intersections come out in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    arguments,
    as_written,
    compile_expression,
    constant_arrays,
    fold_constant,
    form,
    operator,
)
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.expressions.associative import associative
from mongo_tables.aggregation.meter import count_array, each
from mongo_tables.aggregation.ordering import Key, key
from mongo_tables.aggregation.values import Document, is_nullish, truthy, type_name

# Bytes of a value of a set, with its key.
_ENTRY = 150


def _array(name: str, value: Any, code: int) -> list[Any]:
    if not isinstance(value, list):
        raise AggregationError(f"{name} works on arrays, not on {type_name(value)}", code=code)
    return value


def _distinct(values: list[Any]) -> dict[Key, Any]:
    """The values by key, the first of equals."""
    found: dict[Key, Any] = {}
    count_array(len(values), _ENTRY)
    for value in each(values):
        found.setdefault(key(value), value)
    return found


@operator("$allElementsTrue")
def _all_elements_true(value: Any) -> bool:
    return all(map(truthy, _array("$allElementsTrue", value, 17040)))


@operator("$anyElementTrue")
def _any_element_true(value: Any) -> bool:
    return any(map(truthy, _array("$anyElementTrue", value, 17041)))


@operator("$setDifference")
def _set_difference(left: Any, right: Any) -> Any:
    if is_nullish(left) or is_nullish(right):
        return None
    kept = _distinct(_array("$setDifference", left, 17048))
    taken = {key(value) for value in each(_array("$setDifference", right, 17049))}
    return [value for name, value in kept.items() if name not in taken]


@form("$setEquals")
def _set_equals(argument: Any, scope: Scope, path: Path) -> Node:
    """All arguments are compared with the first constant, or with the first argument if none is constant."""
    found = arguments("$setEquals", argument, path)
    nodes = [compile_expression(item, scope, where) for item, where in found]
    base = 0 if as_written() else next((place for place, node in enumerate(nodes) if node.constant), 0)
    runs = [nodes[base].run, *(node.run for place, node in enumerate(nodes) if place != base)]

    def run(document: Document) -> bool:
        try:
            sets = (_distinct(_array("$setEquals", one(document), 17044)).keys() for one in runs)
            first = next(sets)
            return all(one == first for one in sets)
        except AggregationError as error:
            raise error.at(path) from None

    return fold_constant(Node(run, constant=all(node.constant for node in nodes)), path)


@operator("$setIsSubset")
def _set_is_subset(left: Any, right: Any) -> bool:
    inner = _distinct(_array("$setIsSubset", left, 17046))
    outer = _distinct(_array("$setIsSubset", right, 17042))
    return inner.keys() <= outer.keys()


constant_arrays("$setEquals", 5887502)
constant_arrays("$setIsSubset", 17311, 1)


@associative("$setUnion", commutative=True)
def _set_union(values: Iterable[Any]) -> Any:
    together: dict[Key, Any] = {}
    for value in values:
        if is_nullish(value):
            return None
        together = _distinct(_array("$setUnion", value, 17043)) | together
    return [together[name] for name in sorted(together)]


@associative("$setIntersection", commutative=True)
def _set_intersection(values: Iterable[Any]) -> Any:
    common: dict[Key, Any] | None = None
    for value in values:
        if is_nullish(value):
            return None
        found = _distinct(_array("$setIntersection", value, 17047))
        if common is None:
            common = found
            continue
        # Of equal values it keeps those of the smaller set, as the server does.
        small, large = (found, common) if len(common) > len(found) else (common, found)
        common = {name: one for name, one in small.items() if name in large}
    return [common[name] for name in sorted(common)] if common else []
