"""Arrays by order, and their ends: `$sortArray`, `$firstN`, `$lastN`, `$maxN`, `$minN`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from preprocessor.aggregation import sorting
from preprocessor.aggregation.compiler import (
    Node,
    Scope,
    compile_expression,
    folded,
    form,
    named,
    named_arguments,
)
from preprocessor.aggregation.errors import AggregationError, Path
from preprocessor.aggregation.numbers import integral, rank
from preprocessor.aggregation.ordering import key
from preprocessor.aggregation.values import INT64_MAX, Document, is_nullish, type_name


@form("$sortArray")
def _sort_array(argument: Any, scope: Scope, path: Path) -> Node:
    given = named_arguments("$sortArray", argument, path)
    source = compile_expression(given["input"][0], scope, given["input"][1])
    order, read = _order(given["sortBy"][0], given["sortBy"][1]), source.run

    def run(document: Document) -> Any:
        value = read(document)
        if is_nullish(value):
            return None
        if not isinstance(value, list):
            raise AggregationError(f"$sortArray works on an array, not on {type_name(value)}", path, 2942504)
        return order(value)

    return folded(Node(run, constant=source.constant), path)


def _order(spec: Any, path: Path) -> Callable[[list[Any]], list[Any]]:
    if isinstance(spec, Mapping):
        return sorting.parse(spec, path, "sortBy").sorted
    if not rank(spec) or integral(spec) not in (1, -1):
        raise AggregationError("sortBy is 1, -1 or a document of fields and directions", path, 2942505)
    return lambda items: sorted(items, key=key, reverse=integral(spec) == -1)


def _ends(name: str, n: Any, value: Any) -> tuple[int, list[Any]]:
    if not rank(n):
        raise AggregationError(f"the n of {name} is a number, not {type_name(n)}", code=5787902)
    number = integral(n)
    if number is None or number > INT64_MAX:
        raise AggregationError(f"the n of {name} is a whole number, not {n}", code=5787903)
    if number < 1:
        raise AggregationError(f"the n of {name} is greater than 0", code=5787908)
    if not isinstance(value, list):
        raise AggregationError(f"{name} works on an array, not on {type_name(value)}", code=5788200)
    return number, value


@named("$firstN")
def _first_n(n: Any, value: Any) -> list[Any]:
    number, items = _ends("$firstN", n, value)
    return items[:number]


@named("$lastN")
def _last_n(n: Any, value: Any) -> list[Any]:
    number, items = _ends("$lastN", n, value)
    return items[-number:]


@named("$minN")
def _min_n(n: Any, value: Any) -> list[Any]:
    number, items = _ends("$minN", n, value)
    return sorted((item for item in items if item is not None), key=key)[:number]


@named("$maxN")
def _max_n(n: Any, value: Any) -> list[Any]:
    number, items = _ends("$maxN", n, value)
    return sorted((item for item in items if item is not None), key=key, reverse=True)[:number]
