"""Loops over arrays and local names: `$filter`, `$map`, `$reduce`, `$let`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    check_named_arguments,
    check_user_variable,
    compile_expression,
    form,
)
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.limits import BLOCK, each, gather_within_limits, spend
from mongo_tables.aggregation.numbers import whole
from mongo_tables.aggregation.values import (
    MISSING,
    Document,
    is_nullish,
    mistyped,
    truthy,
)

Given = Mapping[str, tuple[Any, Path]]


def _part(given: Given, name: str, scope: Scope) -> Node:
    value, path = given[name]
    return compile_expression(value, scope, path)


def _loop_variable(given: Given) -> str:
    if "as" not in given:
        return "this"
    name, path = given["as"]
    if not isinstance(name, str):
        raise mistyped("'as' names a variable, so it must be a string, not", name, 9, path)
    check_user_variable(name, path)
    return name


def _items(name: str, value: Any, path: Path, code: int) -> list[Any] | None:
    """Return the array to loop over, or None for null and missing."""
    if type(value) is list:
        return value
    if is_nullish(value):
        return None
    raise mistyped(f"{name} works on an array, not on", value, code, path)


@form("$filter")
def _filter(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(argument, path)
    inner, (slot,) = scope.binding(_loop_variable(given))
    source, keep = _part(given, "input", scope).run, _part(given, "cond", inner).run
    limit = _part(given, "limit", scope).run if "limit" in given else None
    where = given["input"][1]

    def run(document: Document) -> list[Any] | None:
        items = _items("$filter", source(document), where, 28651)
        if not items:
            return items
        most = None if limit is None else _limit(limit(document), (*path, "limit"))
        kept = []
        for item in each(items, path):
            slot.value = item
            decision = keep(document)
            if decision is True or (decision is not False and truthy(decision)):
                kept.append(item)
                if most is not None and len(kept) == most:
                    break
        return kept

    return Node(run)


def _limit(value: Any, path: Path) -> int | None:
    if is_nullish(value):
        return None
    number = whole(value, bits=32)
    if number is None:
        raise AggregationError("the limit of $filter must be a whole number of 32 bits", path, 327391)
    if number < 1:
        raise AggregationError("the limit of $filter must be greater than 0", path, 327392)
    return number


@form("$map")
def _map(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(argument, path)
    inner, (slot,) = scope.binding(_loop_variable(given))
    source, change = _part(given, "input", scope).run, _part(given, "in", inner).run
    where = given["input"][1]

    def changed(items: list[Any], document: Document) -> Iterator[Any]:
        for item in items:
            slot.value = item
            value = change(document)
            yield None if value is MISSING else value

    def run(document: Document) -> list[Any] | None:
        items = _items("$map", source(document), where, 16883)
        if items is None:
            return None
        if len(items) > BLOCK:
            return gather_within_limits(changed(items, document), path)
        spend(len(items), path)
        return list(changed(items, document))

    return Node(run)


@form("$reduce")
def _reduce(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(argument, path)
    inner, (this, value) = scope.binding("this", "value")
    source, first = _part(given, "input", scope).run, _part(given, "initialValue", scope).run
    step = _part(given, "in", inner).run
    where = given["input"][1]

    def run(document: Document) -> Any:
        items = _items("$reduce", source(document), where, 40080)
        if items is None:
            return None
        total = first(document)
        for item in each(items, path):
            this.value = item
            value.value = total
            total = step(document)
        return total

    return Node(run)


@form("$let")
def _let(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(argument, path)
    bound, where = given["vars"]
    if not isinstance(bound, Mapping):
        raise AggregationError("the vars of $let must be a document of names and expressions", where, 10065)
    for name in bound:
        check_user_variable(name, (*where, name))
    runs = [compile_expression(item, scope, (*where, name)).run for name, item in bound.items()]
    inner, slots = scope.binding(*bound)
    result = _part(given, "in", inner)
    if not runs:
        return result
    pairs, body = list(zip(slots, runs, strict=True)), result.run

    def run(document: Document) -> Any:
        for slot, value in [(slot, run(document)) for slot, run in pairs]:
            slot.value = value
        return body(document)

    return Node(run)
