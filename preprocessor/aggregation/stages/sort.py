"""`$sort`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from preprocessor.aggregation import sorting
from preprocessor.aggregation.compiler import Scope, Stage, stage
from preprocessor.aggregation.errors import AggregationError, Path
from preprocessor.aggregation.meter import admit_documents, gather_within_limits
from preprocessor.aggregation.values import Document


@stage("$sort")
def sort(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents in the order of a pattern; what is equal keeps its order, unless a limit follows."""
    pattern = sorting.parse(argument, path)
    most = scope.most

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        try:
            if most:
                return iter(pattern.first(documents, most))
            return iter(pattern.sorted(admit_documents(gather_within_limits(documents, path), path)))
        except AggregationError as error:
            raise error.at(path) from None

    return run
