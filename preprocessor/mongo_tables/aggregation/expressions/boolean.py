"""Logic: `$and`, `$or`, `$not`. What follows a decisive argument is not computed."""

from __future__ import annotations

from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    arguments,
    as_written,
    compile_expression,
    constant,
    form,
    operator,
)
from mongo_tables.aggregation.errors import Path
from mongo_tables.aggregation.values import Document, truthy


@form("$and")
def _and(argument: Any, scope: Scope, path: Path) -> Node:
    return _until(False, argument, scope, path)


@form("$or")
def _or(argument: Any, scope: Scope, path: Path) -> Node:
    return _until(True, argument, scope, path)


def _until(decisive: bool, argument: Any, scope: Scope, path: Path) -> Node:
    """The node that stops at the first argument of truth ``decisive``; a constant of that truth decides at once."""
    found = arguments(str(path[-1]), argument, path)
    nodes = [compile_expression(item, scope, where) for item, where in found]
    known = [] if as_written() else [node for node in nodes if node.constant]
    if any(truthy(node.run({})) is decisive for node in known):
        return constant(decisive)
    runs = [node.run for node in nodes if node not in known]
    if not runs:
        return constant(not decisive)

    def run(document: Document) -> bool:
        for part in runs:
            if truthy(part(document)) is decisive:
                return decisive
        return not decisive

    return Node(run)


@operator("$not")
def _not(value: Any) -> bool:
    return not truthy(value)
