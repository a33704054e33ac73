"""`$sort`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mongo_tables.aggregation import sorting
from mongo_tables.aggregation.compiler import Scope, Stage, stage
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.fields import Effect, Gives, Order, StageRecord, split_path
from mongo_tables.aggregation.meter import admit_documents, gather_within_limits
from mongo_tables.aggregation.values import Document


def _effect(argument: Any) -> Effect:
    keys = (key for key, order in argument.items() if not isinstance(order, Mapping))  # a $meta is no field
    return Effect(reads=tuple(map(split_path, keys)))


_SORT = StageRecord(_effect, Gives.CHOSEN, lambda _: Order.SORTED, rank=1)


@stage("$sort", record=_SORT)
def sort(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents in the order of a pattern; what is equal keeps its order, unless a limit follows."""
    pattern = sorting.parse(argument, path)
    most = scope.most

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        try:
            if most:
                return iter(pattern.first(documents, most))
            return iter(pattern.sort(admit_documents(gather_within_limits(documents, path), path)))
        except AggregationError as error:
            raise error.at(path) from None

    return run
