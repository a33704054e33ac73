"""Summaries of arrays or of several arguments, the first and last elements of arrays, and sorted arrays.

`$avg`, `$max`, `$min`, `$stdDevPop`, `$stdDevSamp`, `$sum`; `$median`, `$percentile`; `$firstN`, `$lastN`,
`$maxN`, `$minN`, `$sortArray`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mongo_tables.aggregation.accumulators.several import (
    STATES,
    compile_quantiles,
    count_of,
    quantiles,
)
from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    arguments,
    check_named_arguments,
    compile_arguments,
    compile_expression,
    defer_failure,
    flatten_associative,
    fold,
    form,
    placed,
)
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.limits import count_array, each, spend
from mongo_tables.aggregation.numbers import MixedSum, Spread, integral, rank
from mongo_tables.aggregation.value_order import Key, key, largest, smallest
from mongo_tables.aggregation.values import DOCUMENT, Document, is_nullish, mistyped

# The bytes of an element's key.
_ENTRY = 100
_SUMMARIES: dict[str, Callable[[Sequence[Any]], Any]] = {
    "$avg": lambda values: MixedSum(values).mean,
    "$max": largest,
    "$min": smallest,
    "$stdDevPop": lambda values: Spread(values).deviation(sample=False),
    "$stdDevSamp": lambda values: Spread(values).deviation(sample=True),
    "$sum": lambda values: MixedSum(values).value,
}


@form(*_SUMMARIES)
def _summary(argument: Any, scope: Scope, path: Path) -> Node:
    name = str(path[-1])
    summary = _SUMMARIES[name]
    several = len(arguments(argument, path)) != 1
    if several and name in ("$max", "$min", "$sum"):
        nodes = flatten_associative(
            lambda values: summary(list(values)), argument, scope, path, commutative=True, single=False
        )
    else:
        nodes = compile_arguments(argument, scope, path)
    runs = [node.run for node in nodes]

    def of_one(document: Document) -> Any:
        value = runs[0](document)
        return summary(value if isinstance(value, list) else (value,))

    return fold(
        (lambda document: summary([run(document) for run in runs])) if several else of_one, nodes, path
    )


@form("$median", "$percentile")
def _quantiles(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(argument, path)
    source, parts = compile_quantiles(given, scope)
    read = source.run

    def run(document: Document) -> Any:
        value = read(document)
        return quantiles(value if isinstance(value, list) else [value], parts)

    return fold(run, [source], path)


@form("$sortArray")
def _sort_array(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(argument, path)
    read = compile_expression(given["input"][0], scope, given["input"][1]).run
    order = _order(given["sortBy"][0], given["sortBy"][1])

    def run(document: Document) -> Any:
        value = read(document)
        if is_nullish(value):
            return None
        if not isinstance(value, list):
            raise mistyped("$sortArray works on an array, not on", value, 2942504, path)
        count_array(len(value), _ENTRY)
        spend(len(value), path)
        return order(value)

    # The server never computes `$sortArray` beforehand.
    return Node(run)


def _order(spec: Any, path: Path) -> Callable[[list[Any]], list[Any]]:
    """Return a function that sorts elements by their values or fields. Unlike ``$sort``, it compares arrays as a
    whole.
    """
    if not isinstance(spec, DOCUMENT):
        if not rank(spec) or integral(spec) not in (1, -1):
            message = "sortBy must be 1, -1 or a document of fields and directions"
            raise AggregationError(message, path, 2942507)
        return lambda items: sorted(items, key=key, reverse=integral(spec) == -1)
    if not spec:
        raise AggregationError("sortBy needs at least one field", path, 2942505)
    parts: list[tuple[list[str], bool]] = []
    for dotted, way in spec.items():
        names = dotted.split(".")
        if not all(names) or not rank(way) or integral(way) not in (1, -1):
            raise AggregationError("the directions of sortBy must be 1 or -1", (*path, dotted), 2942505)
        parts.append((names, integral(way) == -1))

    def order_items(items: list[Any]) -> list[Any]:
        for names, descending in reversed(parts):
            items = sorted(items, key=_key_of(names), reverse=descending)
        return items

    return order_items


def _key_of(names: list[str]) -> Callable[[Any], Key]:
    """Return a function from a value to the sort key of its field at the path ``names``. A missing field has the
    key of null.

    A number in the path is an array index.
    """

    def key_of(value: Any) -> Key:
        for position, name in enumerate(names):
            if isinstance(value, DOCUMENT):
                value = value.get(name)
            elif isinstance(value, list) and position and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                return key(None)
        return key(value)

    return key_of


@form(*STATES)
def _ends_of(argument: Any, scope: Scope, path: Path) -> Node:
    """Return a node that is never constant, because the server never computes these operators while it parses."""
    name = str(path[-1])
    given = check_named_arguments(argument, path)
    count = defer_failure(given["n"][0], scope, given["n"][1]).run
    source = defer_failure(given["input"][0], scope, given["input"][1]).run

    def run(document: Document) -> Any:
        n, value = count(document), source(document)
        number = count_of(name, n)
        if not isinstance(value, list):
            raise mistyped(f"{name} works on an array, not on", value, 5788200)
        state = STATES[name](number)
        for item in each(value):
            state.add(item)
        return state.result()

    return Node(placed(run, path))
