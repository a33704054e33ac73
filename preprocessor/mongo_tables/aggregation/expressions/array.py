"""Arrays by position: `$arrayElemAt`, `$concatArrays`, `$first`, `$in`, `$indexOfArray`, `$isArray`, `$last`, `$range`,
`$reverseArray`, `$size`, `$slice`, `$zip`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, repeat, zip_longest
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    check_named_arguments,
    compile_expression,
    constant_arrays,
    fold_constant,
    form,
    operator,
)
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.expressions.associative import associative
from mongo_tables.aggregation.expressions.lazy import lazy
from mongo_tables.aggregation.meter import count_array, each, spend, watch_clock
from mongo_tables.aggregation.numbers import integral, rank
from mongo_tables.aggregation.ordering import key
from mongo_tables.aggregation.values import (
    INT32_MAX,
    INT32_MIN,
    MISSING,
    Document,
    Evaluate,
    is_nullish,
    type_name,
)

# What fits into the server's 100 MiB for one $range, at 16 bytes a number.
_NUMBER = 40
# Bytes of an array beside its elements.
_ROW = 80
_MOST_NUMBERS = (100 * 2**20 - 40) // 16


def array_of(name: str, value: Any, code: int) -> list[Any]:
    """``value`` as the array it must be; raises AggregationError for anything else."""
    if not isinstance(value, list):
        raise AggregationError(f"{name} works on an array, not on {type_name(value)}", code=code)
    return value


def int32(name: str, value: Any, not_number: int, not_int32: int) -> int:
    """``value`` as the whole number of 32 bits it must be."""
    if not rank(value):
        raise AggregationError(f"{name} takes a number here, not {type_name(value)}", code=not_number)
    number = integral(value)
    if number is None or not INT32_MIN <= number <= INT32_MAX:
        raise AggregationError(f"{name} takes a whole number of 32 bits here, not {value}", code=not_int32)
    return number


@operator("$arrayElemAt")
def _array_elem_at(value: Any, index: Any) -> Any:
    if is_nullish(value) or is_nullish(index):
        return None
    items = array_of("$arrayElemAt", value, 28689)
    position = int32("$arrayElemAt", index, 28690, 28691)
    return items[position] if -len(items) <= position < len(items) else MISSING


@operator("$first")
def _first(value: Any) -> Any:
    if type(value) is list and value:
        return value[0]
    return None if is_nullish(value) else _end("$first", value, 0)


@operator("$last")
def _last(value: Any) -> Any:
    return None if is_nullish(value) else _end("$last", value, -1)


def _end(name: str, value: Any, position: int) -> Any:
    items = array_of(name, value, 28689)
    return items[position] if items else MISSING


@associative("$concatArrays", commutative=False)
def _concat_arrays(values: Iterable[Any]) -> Any:
    joined: list[Any] = []
    for value in values:
        if is_nullish(value):
            return None
        items = array_of("$concatArrays", value, 28664)
        count_array(len(joined) + len(items))
        joined += items
    return joined


@operator("$in")
def _in(value: Any, items: Any) -> bool:
    wanted = key(value)
    return any(key(item) == wanted for item in each(array_of("$in", items, 40081)))


@lazy("$indexOfArray")
def _index_of_array(document: Document, array: Evaluate, wanted: Evaluate, *places: Evaluate) -> Any:
    value = array(document)
    if is_nullish(value):
        return None
    items = array_of("$indexOfArray", value, 40090)
    sought = key(wanted(document))
    first, last = 0, len(items)
    spend(last)
    if places:
        first = _index(places[0](document))
    if len(places) > 1:
        last = min(_index(places[1](document)), last)
    return next((place for place in range(first, last) if key(items[place]) == sought), -1)


constant_arrays("$indexOfArray", 50809, 0, null=True)


def _index(value: Any) -> int:
    number = integral(value)
    if number is None or not INT32_MIN <= number <= INT32_MAX:
        raise AggregationError("$indexOfArray takes positions that are whole numbers of 32 bits", code=40096)
    if number < 0:
        raise AggregationError("$indexOfArray takes no negative positions", code=40097)
    return number


@operator("$isArray")
def _is_array(value: Any) -> bool:
    return isinstance(value, list)


@operator("$range")
def _range(start: Any, end: Any, step: Any = 1) -> list[int]:
    first = int32("$range", start, 34443, 34444)
    last = int32("$range", end, 34445, 34446)
    stride = int32("$range", step, 34447, 34448)
    if not stride:
        raise AggregationError("$range takes steps that are not 0", code=34449)
    numbers = range(first, last, stride)
    if len(numbers) > _MOST_NUMBERS:
        raise AggregationError(f"$range of {len(numbers)} numbers takes too much memory", code=146)
    count_array(len(numbers), _NUMBER)
    return list(numbers)


@operator("$reverseArray")
def _reverse_array(value: Any) -> Any:
    return None if is_nullish(value) else array_of("$reverseArray", value, 34435)[::-1]


@operator("$size")
def _size(value: Any) -> int:
    return len(array_of("$size", value, 17124))


@lazy("$slice")
def _slice(document: Document, array: Evaluate, position: Evaluate, length: Evaluate | None = None) -> Any:
    value, start = array(document), position(document)
    if is_nullish(value) or is_nullish(start):
        return None
    items = array_of("$slice", value, 28724)
    first = int32("$slice", start, 28725, 28726)
    if length is None:
        return items[first:] if first < 0 else items[:first]
    limit = length(document)
    if is_nullish(limit):
        return None
    count = int32("$slice", limit, 28727, 28728)
    if count < 1:
        raise AggregationError("$slice with a position takes a count greater than 0", code=28729)
    first = max(first + len(items), 0) if first < 0 else first
    return items[first : first + count]


@form("$zip")
def _zip(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments("$zip", argument, path)
    inputs = _compile_list(given["inputs"], scope, 34461)
    if not inputs:
        raise AggregationError("$zip needs at least one input", (*path, "inputs"), 34465)
    longest = given.get("useLongestLength", (False, path))
    if not isinstance(longest[0], bool):
        raise AggregationError("useLongestLength is true or false", longest[1], 34463)
    defaults = _compile_list(given["defaults"], scope, 34462) if "defaults" in given else []
    if defaults and not longest[0]:
        raise AggregationError(
            "defaults are of use only with useLongestLength: true", given["defaults"][1], 34466
        )
    if defaults and len(defaults) != len(inputs):
        raise AggregationError("defaults are as many as inputs", given["defaults"][1], 34467)
    run = _zipper([node.run for node in inputs], [node.run for node in defaults], longest[0], path)
    return fold_constant(Node(run, all(node.constant for node in (*inputs, *defaults))), path)


def _compile_list(given: tuple[Any, Path], scope: Scope, code: int) -> list[Node]:
    items, path = given
    if not isinstance(items, list | tuple):
        raise AggregationError("$zip takes a list of expressions here", path, code)
    return [compile_expression(item, scope, (*path, index)) for index, item in enumerate(items)]


def _zipper(inputs: list[Evaluate], defaults: list[Evaluate], longest: bool, path: Path) -> Evaluate:
    def run(document: Document) -> Any:
        columns: list[list[Any]] = []
        for read in inputs:
            column = read(document)
            if is_nullish(column):
                return None
            if not isinstance(column, list):
                raise AggregationError(f"$zip works on arrays, not on {type_name(column)}", path, 34468)
            columns.append(column)
        lengths = [len(column) for column in columns]
        count_array(max(lengths) if longest else min(lengths), _ROW + 8 * len(columns))
        if not longest:
            return list(map(list, watch_clock(zip(*columns, strict=False), path)))
        fill = [read(document) for read in defaults] or [None] * len(columns)
        return _pad_columns(columns, fill)

    return run


def _pad_columns(columns: list[list[Any]], fill: list[Any]) -> list[list[Any]]:
    rows: Iterable[tuple[Any, ...]]
    if MISSING not in fill:
        most = max(map(len, columns))
        filled = (
            chain(column, repeat(own, most - len(column))) for column, own in zip(columns, fill, strict=True)
        )
        return list(map(list, watch_clock(zip(*filled, strict=True))))
    rows = watch_clock(zip_longest(*columns, fillvalue=MISSING))
    padded = ([own if cell is MISSING else cell for cell, own in zip(row, fill, strict=True)] for row in rows)
    # A default that is missing leaves its place out, as the server's arrays do.
    return [[cell for cell in row if cell is not MISSING] for row in padded]
