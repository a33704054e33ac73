"""Constants that cannot be computed, where the server computes them late or never."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mongo_tables.aggregation.compiler import Node, Scope, compile_expression
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.values import Document


def defer_failure(expression: Any, scope: Scope, path: Path) -> Node:
    """The expression's node; if a constant part cannot be computed, it fails when run, not when compiled."""
    try:
        return compile_expression(expression, scope, path)
    except AggregationError as error:
        if not error.constant:
            raise
        return Node(_Failing(error))


@dataclass(frozen=True, slots=True)
class _Failing:
    error: AggregationError

    def __call__(self, document: Document) -> Any:
        raise self.error


def alive(node: Node) -> Node:
    """The node, which is going to be computed: what ``defer_failure`` put off fails now."""
    if isinstance(node.run, _Failing):
        raise node.run.error
    return node
