"""Choices: `$cond`, `$ifNull`, `$switch`. Only the branch that is chosen is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    arguments,
    check_named_arguments,
    compile_expression,
    constant,
    form,
)
from mongo_tables.aggregation.errors import AggregationError, Path, refuse_unknown
from mongo_tables.aggregation.expressions.deferred import alive, defer_failure
from mongo_tables.aggregation.values import Document, Evaluate, is_nullish, truthy

_PARTS = ("if", "then", "else")


@form("$cond")
def _cond(argument: Any, scope: Scope, path: Path) -> Node:
    parts = [compile_expression(item, scope, where) for item, where in _cond_parts(argument, path)]
    condition, then, otherwise = parts
    if condition.constant:
        return then if truthy(condition.run({})) else otherwise
    decide, yes, no = condition.run, then.run, otherwise.run
    return Node(lambda document: yes(document) if truthy(decide(document)) else no(document))


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
    nodes = [compile_expression(item, scope, where) for item, where in arguments("$ifNull", argument, path)]
    *tries, last = _drop_needless(nodes)
    if not tries:
        return last
    runs, final = [node.run for node in tries], last.run

    def run(document: Document) -> Any:
        for part in runs:
            value = part(document)
            if not is_nullish(value):
                return value
        return final(document)

    return Node(run)


def _drop_needless(nodes: list[Node]) -> list[Node]:
    """The arguments without constant nulls (but for the last) and without what follows a constant."""
    found: list[Node] = []
    for node in nodes[:-1]:
        if not node.constant:
            found.append(node)
        elif not is_nullish(node.run({})):
            return [*found, node]
    return [*found, nodes[-1]]


@form("$switch")
def _switch(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments("$switch", argument, path)
    branches = _branches(given["branches"], scope)
    default = compile_expression(*_with_scope(given["default"], scope)) if "default" in given else None
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
    return Node(_chooser(live, default, path))


def _with_scope(given: tuple[Any, Path], scope: Scope) -> tuple[Any, Scope, Path]:
    return given[0], scope, given[1]


def _branches(given: tuple[Any, Path], scope: Scope) -> list[tuple[Node, Node]]:
    listed, path = given
    if not isinstance(listed, list | tuple):
        raise AggregationError("$switch takes its branches as a list", path, 40061)
    if not listed:
        raise AggregationError("$switch needs at least one branch", path, 40068)
    return [_branch(item, scope, (*path, index)) for index, item in enumerate(listed)]


def _branch(item: Any, scope: Scope, path: Path) -> tuple[Node, Node]:
    if not isinstance(item, Mapping):
        raise AggregationError("a $switch branch is a document with 'case' and 'then'", path, 40062)
    for name in item:
        if name not in ("case", "then"):
            raise AggregationError(f"a $switch branch has no '{name}'", (*path, name), 40063)
    for code, name in ((40067, "case"), (40068, "then")):
        if name not in item:
            raise AggregationError(f"a $switch branch needs '{name}'", path, code)
    return (
        defer_failure(item["case"], scope, (*path, "case")),
        defer_failure(item["then"], scope, (*path, "then")),
    )


def _chooser(live: list[tuple[Evaluate, Evaluate]], default: Node | None, path: Path) -> Evaluate:
    otherwise = (default or constant(None)).run

    def run(document: Document) -> Any:
        for case, then in live:
            if truthy(case(document)):
                return then(document)
        if default is None:
            raise AggregationError("no branch of this $switch matched, and it has no default", path, 40066)
        return otherwise(document)

    return run
