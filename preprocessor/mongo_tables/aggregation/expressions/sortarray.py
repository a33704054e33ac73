"""Arrays by order, and their ends: `$sortArray`, `$firstN`, `$lastN`, `$maxN`, `$minN`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mongo_tables.aggregation.accumulators.firstn import Extremes, count_of
from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    check_named_arguments,
    compile_expression,
    form,
)
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.expressions.deferred import defer_failure
from mongo_tables.aggregation.meter import count_array, each, spend
from mongo_tables.aggregation.numbers import integral, rank
from mongo_tables.aggregation.ordering import Key, key
from mongo_tables.aggregation.values import Document, is_nullish, type_name

# Bytes of an element's key.
_ENTRY = 100


@form("$sortArray")
def _sort_array(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments("$sortArray", argument, path)
    source = compile_expression(given["input"][0], scope, given["input"][1])
    order, read = _order(given["sortBy"][0], given["sortBy"][1]), source.run

    def run(document: Document) -> Any:
        value = read(document)
        if is_nullish(value):
            return None
        if not isinstance(value, list):
            raise AggregationError(f"$sortArray works on an array, not on {type_name(value)}", path, 2942504)
        count_array(len(value), _ENTRY)
        spend(len(value), path)
        return order(value)

    # The server does not compute it beforehand, whatever it sorts.
    return Node(run)


def _order(spec: Any, path: Path) -> Callable[[list[Any]], list[Any]]:
    if isinstance(spec, Mapping):
        return _by_fields(spec, path)
    if not rank(spec) or integral(spec) not in (1, -1):
        raise AggregationError("sortBy is 1, -1 or a document of fields and directions", path, 2942507)
    return lambda items: sorted(items, key=key, reverse=integral(spec) == -1)


def _by_fields(spec: Mapping[str, Any], path: Path) -> Callable[[list[Any]], list[Any]]:
    """Sorts by fields of the elements; unlike `$sort`, an array is compared as a whole."""
    if not spec:
        raise AggregationError("sortBy needs at least one field", path, 2942505)
    parts: list[tuple[list[str], bool]] = []
    for dotted, way in spec.items():
        names = dotted.split(".")
        if not all(names) or not rank(way) or integral(way) not in (1, -1):
            raise AggregationError("sortBy takes fields with 1 or -1", (*path, dotted), 2942505)
        parts.append((names, integral(way) == -1))

    def order_items(items: list[Any]) -> list[Any]:
        for names, descending in reversed(parts):
            items = sorted(items, key=_key_of(names), reverse=descending)
        return items

    return order_items


def _key_of(names: list[str]) -> Callable[[Any], Key]:
    return lambda item: key(_along(item, names))


def _along(value: Any, names: list[str]) -> Any:
    """What the names lead to, a number being a place in an array; null when there is nothing."""
    for position, name in enumerate(names):
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and position and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _ends(name: str, n: Any, value: Any) -> tuple[int, list[Any]]:
    number = count_of(name, n)
    if not isinstance(value, list):
        raise AggregationError(f"{name} works on an array, not on {type_name(value)}", code=5788200)
    return number, value


_ENDS: dict[str, Callable[[int, list[Any]], list[Any]]] = {
    "$firstN": lambda number, items: items[:number],
    "$lastN": lambda number, items: items[-number:],
    "$minN": lambda number, items: _extremes(number, items, least=True),
    "$maxN": lambda number, items: _extremes(number, items, least=False)[::-1],
}


@form(*_ENDS)
def _ends_of(argument: Any, scope: Scope, path: Path) -> Node:
    """Never a constant, even of one: the server does not compute these while it parses."""
    name = str(path[-1])
    given = check_named_arguments(name, argument, path)
    count = defer_failure(given["n"][0], scope, given["n"][1]).run
    source = defer_failure(given["input"][0], scope, given["input"][1]).run
    pick = _ENDS[name]

    def run(document: Document) -> list[Any]:
        try:
            return pick(*_ends(name, count(document), source(document)))
        except AggregationError as error:
            raise error.at(path) from None

    return Node(run)


def _extremes(number: int, items: list[Any], *, least: bool) -> list[Any]:
    found = Extremes(number, least=least)
    for item in each(items):
        if item is not None:
            found.put(key(item), item)
    return found.values()
