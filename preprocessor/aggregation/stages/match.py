"""`$match`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from preprocessor.aggregation.compiler import Scope, Stage, stage
from preprocessor.aggregation.errors import AggregationError, Path
from preprocessor.aggregation.query.parser import compile_query
from preprocessor.aggregation.values import Document


@stage("$match")
def match(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents that meet a query."""
    if not isinstance(argument, Mapping):
        raise AggregationError("$match takes a query, which is a document", path, 15959)
    holds = compile_query(argument, scope, path)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return filter(holds, documents)

    return run
