"""Comparison: `$cmp`, `$eq`, `$gt`, `$gte`, `$lt`, `$lte`, `$ne`, over all types in the server's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    arguments,
    compile_expression,
    fold_constant,
    form,
    operator,
)
from mongo_tables.aggregation.errors import Path
from mongo_tables.aggregation.ordering import compare, key
from mongo_tables.aggregation.values import Document, Evaluate

_PLAIN = (str, float, int)


@operator("$cmp")
def _cmp(left: Any, right: Any) -> int:
    return compare(left, right)


def _equal(left: Any, right: Any) -> bool:
    kind = type(left)
    if kind is type(right) and kind in _PLAIN and left == left:
        return bool(left == right)
    if left is None:
        return right is None
    return key(left) == key(right)


@form("$eq", "$ne")
def _equality(argument: Any, scope: Scope, path: Path) -> Node:
    name = str(path[-1])
    nodes = [compile_expression(item, scope, where) for item, where in arguments(name, argument, path)]
    left, right = nodes
    if right.constant:
        run = _equals_constant(left.run, right.run({}), name == "$eq")
    elif left.constant:
        run = _equals_constant(right.run, left.run({}), name == "$eq")
    else:
        run = _equals(left.run, right.run, name == "$eq")
    return fold_constant(Node(run, constant=left.constant and right.constant), path)


def _equals(left: Evaluate, right: Evaluate, wanted: bool) -> Evaluate:
    return lambda document: _equal(left(document), right(document)) is wanted


def _equals_constant(read: Evaluate, value: Any, wanted: bool) -> Evaluate:
    """The comparison with a known value: strings and null, nearly all of them, need no look at types."""
    if value is None:
        return lambda document: (read(document) is None) is wanted
    if type(value) is str:

        def run(document: Document) -> bool:
            found = read(document)
            return (type(found) is str and found == value) is wanted

        return run
    known = key(value)
    return lambda document: (key(read(document)) == known) is wanted


def _register_order(name: str, decide: Callable[[Any, Any], bool]) -> None:
    def compare_values(left: Any, right: Any) -> bool:
        kind = type(left)
        if kind is type(right) and kind in _PLAIN and left == left and right == right:
            return decide(left, right)
        return decide(key(left), key(right))

    operator(name)(compare_values)


_register_order("$gt", lambda left, right: bool(left > right))
_register_order("$gte", lambda left, right: bool(left >= right))
_register_order("$lt", lambda left, right: bool(left < right))
_register_order("$lte", lambda left, right: bool(left <= right))
