"""Arrays by position and as sets.

`$arrayElemAt`, `$concatArrays`, `$first`, `$in`, `$indexOfArray`, `$isArray`, `$last`, `$range`,
`$reverseArray`, `$size`, `$slice`, `$zip`; `$allElementsTrue`, `$anyElementTrue`, `$setDifference`,
`$setEquals`, `$setIntersection`, `$setIsSubset`, `$setUnion`. Equal values (1 and 1.0) are one element of a
set; unions and intersections are sorted.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    as_written,
    associative,
    check_named_arguments,
    compile_arguments,
    compile_expression,
    constant_arrays,
    fold,
    form,
    lazy,
    operator,
    placed,
)
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.limits import count_array, each, spend, watch_clock
from mongo_tables.aggregation.numbers import int32, position
from mongo_tables.aggregation.value_order import Key, key
from mongo_tables.aggregation.values import (
    MISSING,
    Document,
    Evaluate,
    is_nullish,
    mistyped,
    truthy,
)

# Bytes that a set needs for a value and its key.
_ENTRY = 150
# The bytes of a number, and of an array without its elements.
_NUMBER, _ROW = 40, 80
# The server allows 100 MiB for one $range, at 16 bytes a number.
_MOST_NUMBERS = (100 * 2**20 - 40) // 16


def _array(name: str, value: Any, code: int, what: str = "an array") -> list[Any]:
    if not isinstance(value, list):
        raise mistyped(f"{name} works on {what}, not on", value, code)
    return value


@operator("$arrayElemAt")
def _array_elem_at(value: Any, index: Any) -> Any:
    items = _array("$arrayElemAt", value, 28689)
    place = int32("the position of $arrayElemAt", index, 28690, 28691)
    return items[place] if -len(items) <= place < len(items) else MISSING


@operator("$first")
def _first(value: Any) -> Any:
    return _end("$first", value, 0)


@operator("$last")
def _last(value: Any) -> Any:
    return _end("$last", value, -1)


def _end(name: str, value: Any, place: int) -> Any:
    items = _array(name, value, 28689)
    return items[place] if items else MISSING


@associative("$concatArrays", commutative=False)
def _concat_arrays(values: Iterable[Any]) -> Any:
    joined: list[Any] = []
    for value in values:
        if is_nullish(value):
            return None
        items = _array("$concatArrays", value, 28664)
        count_array(len(joined) + len(items))
        joined += items
    return joined


@operator("$in")
def _in(value: Any, items: Any) -> bool:
    wanted = key(value)
    return any(key(item) == wanted for item in each(_array("$in", items, 40081)))


@lazy("$indexOfArray")
def _index_of_array(document: Document, array: Evaluate, wanted: Evaluate, *places: Evaluate) -> Any:
    value = array(document)
    if is_nullish(value):
        return None
    items = _array("$indexOfArray", value, 40090)
    sought = key(wanted(document))
    first, last = 0, len(items)
    spend(last)
    if places:
        first = position("the start of $indexOfArray", places[0](document))
    if len(places) > 1:
        last = min(position("the end of $indexOfArray", places[1](document)), last)
    return next((place for place in range(first, last) if key(items[place]) == sought), -1)


constant_arrays("$indexOfArray", 50809, 0, null=True)


operator("$isArray")(lambda value: isinstance(value, list))


@operator("$range")
def _range(start: Any, end: Any, step: Any = 1) -> list[int]:
    first = int32("the start of $range", start, 34443, 34444)
    last = int32("the end of $range", end, 34445, 34446)
    stride = int32("the step of $range", step, 34447, 34448)
    if not stride:
        raise AggregationError("the step of $range must not be 0", code=34449)
    numbers = range(first, last, stride)
    if len(numbers) > _MOST_NUMBERS:
        raise AggregationError(f"$range of {len(numbers)} numbers needs too much memory", code=146)
    count_array(len(numbers), _NUMBER)
    return list(numbers)


@operator("$reverseArray")
def _reverse_array(value: Any) -> Any:
    return _array("$reverseArray", value, 34435)[::-1]


@operator("$size")
def _size(value: Any) -> int:
    return len(_array("$size", value, 17124))


@lazy("$slice")
def _slice(document: Document, array: Evaluate, where: Evaluate, length: Evaluate | None = None) -> Any:
    value, start = array(document), where(document)
    if is_nullish(value) or is_nullish(start):
        return None
    items = _array("$slice", value, 28724)
    first = int32("the position of $slice", start, 28725, 28726)
    if length is None:
        return items[first:] if first < 0 else items[:first]
    limit = length(document)
    if is_nullish(limit):
        return None
    count = int32("the count of $slice", limit, 28727, 28728)
    if count < 1:
        raise AggregationError("the count of $slice with a position must be greater than 0", code=28729)
    first = max(first + len(items), 0) if first < 0 else first
    return items[first : first + count]


@form("$zip")
def _zip(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(argument, path)
    inputs = _compile_list(given["inputs"], scope, 34461)
    if not inputs:
        raise AggregationError("$zip needs at least one input", (*path, "inputs"), 34465)
    longest = given.get("useLongestLength", (False, path))
    if not isinstance(longest[0], bool):
        raise AggregationError("useLongestLength must be true or false", longest[1], 34463)
    defaults = _compile_list(given["defaults"], scope, 34462) if "defaults" in given else []
    if defaults and not longest[0]:
        raise AggregationError("defaults require useLongestLength: true", given["defaults"][1], 34466)
    if defaults and len(defaults) != len(inputs):
        raise AggregationError("there must be as many defaults as inputs", given["defaults"][1], 34467)
    return fold(_zipper(inputs, defaults, longest[0], path), (*inputs, *defaults), path)


def _compile_list(given: tuple[Any, Path], scope: Scope, code: int) -> list[Node]:
    items, path = given
    if not isinstance(items, list | tuple):
        raise AggregationError("$zip requires a list of expressions here", path, code)
    return [compile_expression(item, scope, (*path, index)) for index, item in enumerate(items)]


def _zipper(inputs: list[Node], defaults: list[Node], longest: bool, path: Path) -> Evaluate:
    reads, fills = [node.run for node in inputs], [node.run for node in defaults]

    def run(document: Document) -> Any:
        columns: list[list[Any]] = []
        for read in reads:
            column = read(document)
            if is_nullish(column):
                return None
            if not isinstance(column, list):
                raise mistyped("$zip works on arrays, not on", column, 34468, path)
            columns.append(column)
        lengths = [len(column) for column in columns]
        count_array(max(lengths) if longest else min(lengths), _ROW + 8 * len(columns))
        if not longest:
            return list(map(list, watch_clock(zip(*columns, strict=False), path)))
        fill = [read(document) for read in fills] or [None] * len(columns)
        rows = watch_clock(zip_longest(*columns, fillvalue=MISSING))
        padded = (
            [own if cell is MISSING else cell for cell, own in zip(row, fill, strict=True)] for row in rows
        )
        # The place of a missing default is omitted, as in the server's arrays.
        return [[cell for cell in row if cell is not MISSING] for row in padded]

    return run


# Sets.


def _distinct(values: list[Any]) -> dict[Key, Any]:
    """Return the values by key. Of equal values, the first is kept."""
    found: dict[Key, Any] = {}
    count_array(len(values), _ENTRY)
    for value in each(values):
        found.setdefault(key(value), value)
    return found


@operator("$allElementsTrue")
def _all_elements_true(value: Any) -> bool:
    return all(map(truthy, _array("$allElementsTrue", value, 17040, "arrays")))


@operator("$anyElementTrue")
def _any_element_true(value: Any) -> bool:
    return any(map(truthy, _array("$anyElementTrue", value, 17041, "arrays")))


@operator("$setDifference")
def _set_difference(left: Any, right: Any) -> Any:
    kept = _distinct(_array("$setDifference", left, 17048, "arrays"))
    taken = {key(value) for value in each(_array("$setDifference", right, 17049, "arrays"))}
    return [value for name, value in kept.items() if name not in taken]


@form("$setEquals")
def _set_equals(argument: Any, scope: Scope, path: Path) -> Node:
    """Compare all arguments with the first constant, or with the first argument if none is constant."""
    nodes = compile_arguments(argument, scope, path)
    base = 0 if as_written() else next((place for place, node in enumerate(nodes) if node.constant), 0)
    runs = [nodes[base].run, *(node.run for place, node in enumerate(nodes) if place != base)]

    def run(document: Document) -> bool:
        sets = (_distinct(_array("$setEquals", one(document), 17044, "arrays")).keys() for one in runs)
        first = next(sets)
        return all(one == first for one in sets)

    return fold(placed(run, path), nodes, path)


@operator("$setIsSubset")
def _set_is_subset(left: Any, right: Any) -> bool:
    inner = _distinct(_array("$setIsSubset", left, 17046, "arrays"))
    outer = _distinct(_array("$setIsSubset", right, 17042, "arrays"))
    return inner.keys() <= outer.keys()


constant_arrays("$setEquals", 5887502)
constant_arrays("$setIsSubset", 17311, 1)


@associative("$setUnion", commutative=True)
def _set_union(values: Iterable[Any]) -> Any:
    together: dict[Key, Any] = {}
    for value in values:
        if is_nullish(value):
            return None
        together = _distinct(_array("$setUnion", value, 17043, "arrays")) | together
    return [together[name] for name in sorted(together)]


@associative("$setIntersection", commutative=True)
def _set_intersection(values: Iterable[Any]) -> Any:
    common: dict[Key, Any] | None = None
    for value in values:
        if is_nullish(value):
            return None
        found = _distinct(_array("$setIntersection", value, 17047, "arrays"))
        if common is None:
            common = found
            continue
        # Of equal values, the value of the smaller set is kept, as on the server.
        small, large = (found, common) if len(common) > len(found) else (common, found)
        common = {name: one for name, one in small.items() if name in large}
    return [common[name] for name in sorted(common)] if common else []
