"""Operators whose arguments the server regroups before it computes: `$add`, `$multiply`, `$concatArrays`, `$setUnion` …

The regrouping shows: sums of doubles depend on their order, and a constant that cannot be computed fails at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    arguments,
    as_written,
    compile_expression,
    constant,
    fold_constant,
    form,
)
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.values import Document

Combine = Callable[[Iterable[Any]], Any]


def associative(name: str, *, commutative: bool) -> Callable[[Combine], Combine]:
    """Registers a function of the argument values for an operator that the server regroups.

    The values are computed as the function asks for them: what it never reaches cannot fail.
    """

    def register(combine: Combine) -> Combine:
        @form(name)
        def compile_(argument: Any, scope: Scope, path: Path) -> Node:
            nodes = flatten_associative(name, combine, argument, scope, path, commutative=commutative)
            return _combine_nodes(combine, nodes, path)

        return combine

    return register


def flatten_associative(
    name: str,
    combine: Combine,
    argument: Any,
    scope: Scope,
    path: Path,
    *,
    commutative: bool,
    single: bool = True,
) -> list[Node]:
    """The arguments as the server regroups them (its ExpressionNary::optimize).

    Nested uses of the operator are flattened (those with one argument only if ``single``), neighbouring constants
    are combined into one; a ``commutative`` operator takes all constants together, last.
    """

    def flat(given: Any, where: Path) -> list[Node]:
        found: list[Node] = []
        for item, place in arguments(name, given, where):
            if not (isinstance(item, Mapping) and len(item) == 1 and name in item) or (
                not single and len(arguments(name, item[name], (*place, name))) == 1
            ):
                found.append(compile_expression(item, scope, place))
            else:
                found += group(item[name], (*place, name)) or [constant(combine([]))]
        return found

    def group(given: Any, where: Path) -> list[Node]:
        grouped: list[Node] = []
        constants: list[Node] = []
        for node in flat(given, where):
            if node.constant:
                constants.append(node)
                continue
            if not commutative:
                grouped += _one_constant(combine, constants, where)
                constants = []
            grouped.append(node)
        return grouped + _one_constant(combine, constants, where)

    if as_written():
        return [compile_expression(item, scope, place) for item, place in arguments(name, argument, path)]
    return group(argument, path)


def _one_constant(combine: Combine, nodes: list[Node], path: Path) -> list[Node]:
    return [_combine_nodes(combine, nodes, path)] if len(nodes) > 1 else nodes


def _combine_nodes(combine: Combine, nodes: list[Node], path: Path) -> Node:
    runs = [node.run for node in nodes]

    def run(document: Document) -> Any:
        try:
            return combine(run(document) for run in runs)
        except AggregationError as error:
            raise error.at(path) from None

    return fold_constant(Node(run, constant=all(node.constant for node in nodes)), path)
