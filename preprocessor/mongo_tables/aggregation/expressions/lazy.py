"""Operators that read their arguments one after the other and may stop early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mongo_tables.aggregation.compiler import Node, Scope, arguments, compile_expression, fold_constant, form
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.values import Document

Lazy = Callable[..., Any]


def lazy(name: str) -> Callable[[Lazy], Lazy]:
    """Registers a function ``(document, *arguments)`` whose arguments are functions of the document."""

    def register(function: Lazy) -> Lazy:
        @form(name)
        def compile_(argument: Any, scope: Scope, path: Path) -> Node:
            nodes = [
                compile_expression(item, scope, where) for item, where in arguments(name, argument, path)
            ]
            runs = [node.run for node in nodes]

            def run(document: Document) -> Any:
                try:
                    return function(document, *runs)
                except AggregationError as error:
                    raise error.at(path) from None

            return fold_constant(Node(run, constant=all(node.constant for node in nodes)), path)

        return function

    return register
