"""`$median` and `$percentile` of an array's numbers, or of one number."""

from __future__ import annotations

from typing import Any

from mongo_tables.aggregation.compiler import (
    Node,
    Scope,
    check_named_arguments,
    compile_expression,
    fold_constant,
    form,
)
from mongo_tables.aggregation.errors import Path
from mongo_tables.aggregation.percentiles import at, check_method, numbers_of, parts_of
from mongo_tables.aggregation.values import Document


@form("$median", "$percentile")
def _quantiles(argument: Any, scope: Scope, path: Path) -> Node:
    given = check_named_arguments(str(path[-1]), argument, path)
    check_method(given)
    parts = parts_of(given, scope) if "p" in given else None
    source = compile_expression(given["input"][0], scope, given["input"][1])
    read = source.run

    def run(document: Document) -> Any:
        value = read(document)
        ordered = numbers_of(value if isinstance(value, list) else [value])
        if parts is None:
            return at(ordered, 0.5)
        return [at(ordered, part) for part in parts]

    return fold_constant(Node(run, constant=source.constant), path)
