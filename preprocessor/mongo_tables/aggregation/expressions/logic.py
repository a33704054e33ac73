"""Truth, comparison and choice; literals and types of values.

`$and`, `$or`, `$not`; `$cmp`, `$eq`, `$gt`, `$gte`, `$lt`, `$lte`, `$ne`; `$cond`, `$ifNull`, `$switch`;
`$literal`, `$rand`, `$type`, `$isNumber`, `$binarySize`, `$bsonSize`.
"""

from __future__ import annotations

import operator as compare_by
import random
from collections.abc import Callable, Mapping
from typing import Any

from bson import encode

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    alive,
    as_written,
    check_named_arguments,
    compile_arguments,
    compile_expression,
    constant,
    defer_failure,
    fold,
    form,
    operator,
)
from mongo_tables.aggregation.errors import AggregationError, Path, refuse_unknown
from mongo_tables.aggregation.query.conditions import equality
from mongo_tables.aggregation.value_order import PLAIN_NUMBERS, compare, key
from mongo_tables.aggregation.values import (
    MISSING,
    Document,
    Evaluate,
    binary_parts,
    is_nullish,
    is_number,
    mistyped,
    truthy,
    type_name,
)

_PARTS = ("if", "then", "else")


@form("$and", "$or")
def _until_decided(argument: Any, scope: Scope, path: Path) -> Node:
    """Compile ``$and`` or ``$or``, which stops at the first argument that decides the result.

    If a constant decides the result, the node is constant.
    """
    decisive = path[-1] == "$or"
    nodes = compile_arguments(argument, scope, path)
    known = [] if as_written() else [node for node in nodes if node.constant]
    if any(truthy(node.run({})) is decisive for node in known):
        return constant(decisive)
    runs, decided = [node.run for node in nodes if node not in known], not decisive
    if not runs:
        return constant(decided)

    def run(document: Document) -> bool:
        for part in runs:
            value = part(document)
            if value is decisive or (value is not decided and truthy(value) is decisive):
                return decisive
        return decided

    return Node(run)


@operator("$not")
def _not(value: Any) -> bool:
    return not truthy(value)


@operator("$cmp")
def _cmp(left: Any, right: Any) -> int:
    return compare(left, right)


@form("$eq", "$ne")
def _equality(argument: Any, scope: Scope, path: Path) -> Node:
    wanted = path[-1] == "$eq"
    left, right = nodes = compile_arguments(argument, scope, path)
    first, second = left.run, right.run
    if right.constant and (known := second({})) is not None:  # in a query, null equals missing
        same = equality(known)
        return fold(lambda document: same(first(document)) is wanted, nodes, path)

    def run(document: Document) -> bool:
        one, other = first(document), second(document)
        if one is None or other is None:
            return (one is other) is wanted
        return (key(one) == key(other)) is wanted

    return fold(run, nodes, path)


def _register_order(name: str, decide: Callable[[Any, Any], bool]) -> None:
    @form(name)
    def compile_order(argument: Any, scope: Scope, path: Path) -> Node:
        left, right = nodes = compile_arguments(argument, scope, path)
        first, second = left.run, right.run

        def run(document: Document) -> bool:
            one, other = first(document), second(document)
            kind = type(one)
            if (kind in PLAIN_NUMBERS and type(other) in PLAIN_NUMBERS and one == one and other == other) or (
                kind is str and type(other) is str
            ):
                return decide(one, other)
            try:
                return decide(key(one), key(other))
            except AggregationError as error:
                raise error.at(path) from None

        return fold(run, nodes, path)


_register_order("$gt", compare_by.gt)
_register_order("$gte", compare_by.ge)
_register_order("$lt", compare_by.lt)
_register_order("$lte", compare_by.le)


# Choices. Only the chosen branch is computed.


@form("$cond")
def _cond(argument: Any, scope: Scope, path: Path) -> Node:
    parts = [compile_expression(item, scope, where) for item, where in _cond_parts(argument, path)]
    condition, then, otherwise = parts
    if condition.constant:
        return then if truthy(condition.run({})) else otherwise
    decide, yes, no = condition.run, then.run, otherwise.run

    def run(document: Document) -> Any:
        decision = decide(document)
        if decision is True or (decision is not False and truthy(decision)):
            return yes(document)
        return no(document)

    return Node(run)


def _cond_parts(argument: Any, path: Path) -> list[tuple[Any, Path]]:
    if not isinstance(argument, Mapping):
        found = list(argument) if isinstance(argument, list | tuple) else [argument]
        if len(found) != 3:
            raise AggregationError(f"$cond takes 3 arguments (if, then, else), not {len(found)}", path, 16020)
        return [(item, (*path, index)) for index, item in enumerate(found)]
    refuse_unknown(argument, _PARTS, "$cond has no argument", path, 17083)
    for code, name in enumerate(_PARTS, 17080):
        if name not in argument:
            raise AggregationError(f"$cond needs the argument '{name}'", path, code)
    return [(argument[name], (*path, name)) for name in _PARTS]


@form("$ifNull")
def _if_null(argument: Any, scope: Scope, path: Path) -> Node:
    tries: list[Node] = []
    *before, last = compile_arguments(argument, scope, path)
    for node in before:
        if not node.constant:
            tries.append(node)
        elif not is_nullish(node.run({})):  # later arguments are never needed
            last = node
            break
    if not tries:
        return last
    runs, final = [node.run for node in tries], last.run

    def run(document: Document) -> Any:
        for part in runs:
            value = part(document)
            if value is not None and value is not MISSING:
                return value
        return final(document)

    return Node(run)


@form("$switch")
def _switch(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(argument, path)
    branches = _branches(*given["branches"], scope)
    default = None
    if "default" in given:
        default = compile_expression(given["default"][0], scope, given["default"][1])
    live: list[tuple[Evaluate, Evaluate]] = []
    for case, then in branches:
        alive(case)
        if not case.constant:
            live.append((case.run, alive(then).run))
        elif truthy(case.run({})):
            default = alive(then)
            break
    if default is None and not live:
        raise AggregationError("no branch of this $switch can match, and it has no default", path, 40069)
    if not live and default is not None:
        return default
    otherwise = default and default.run

    def run(document: Document) -> Any:
        for case, then in live:
            decision = case(document)
            if decision is True or (decision is not False and truthy(decision)):
                return then(document)
        if otherwise is None:
            raise AggregationError("no branch of this $switch matched, and it has no default", path, 40066)
        return otherwise(document)

    return Node(run)


def _branches(listed: Any, path: Path, scope: Scope) -> list[tuple[Node, Node]]:
    if not isinstance(listed, list | tuple):
        raise AggregationError("the branches of $switch must be a list", path, 40061)
    if not listed:
        raise AggregationError("$switch needs at least one branch", path, 40068)
    found = []
    for index, item in enumerate(listed):
        where = (*path, index)
        if not isinstance(item, Mapping):
            raise AggregationError("a $switch branch must be a document with 'case' and 'then'", where, 40062)
        for name in item:
            if name not in ("case", "then"):
                raise AggregationError(f"a $switch branch has no '{name}'", (*where, name), 40063)
        for code, name in ((40067, "case"), (40068, "then")):
            if name not in item:
                raise AggregationError(f"a $switch branch needs '{name}'", where, code)
        case = defer_failure(item["case"], scope, (*where, "case"))
        found.append((case, defer_failure(item["then"], scope, (*where, "then"))))
    return found


# Literals, and types of values.


@form("$literal", "$const")
def _literal(argument: Any, scope: Scope, path: Path) -> Node:
    return constant(argument)


@form("$rand")
def _rand(argument: Any, scope: Scope, path: Path) -> Node:
    """Return random numbers from 0 to 1. Equal seeds give equal numbers."""
    if argument not in ({}, []):
        raise AggregationError("$rand does not accept arguments", path, 3040501)
    source = random.Random(scope.context.seed)
    return Node(lambda _: source.random())


operator("$type")(type_name)
operator("$isNumber")(is_number)


@operator("$binarySize")
def _binary_size(value: Any) -> int:
    if isinstance(value, str) and not hasattr(value, "scope"):
        return len(value.encode())
    if type_name(value) != "binData":
        raise mistyped("$binarySize works on strings and binData, not on", value, 51276)
    return len(binary_parts(value)[1])


@operator("$bsonSize")
def _bson_size(value: Any) -> int:
    if type_name(value) != "object":
        raise mistyped("$bsonSize works on documents, not on", value, 31393)
    return len(encode(value))
