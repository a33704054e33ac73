"""`$sample`: a random choice, the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from mongo_tables.aggregation.compiler import Scope, Stage, stage
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.fields import Effect, Gives, Order, StageRecord
from mongo_tables.aggregation.meter import gather_within_limits
from mongo_tables.aggregation.numbers import is_nan, to_double
from mongo_tables.aggregation.values import Document, is_number

_SAMPLE = StageRecord(
    lambda _: Effect(),
    Gives.CHOSEN,
    lambda _: Order.CHANCE,
    single=lambda argument: argument.get("size") == 1,
)


@stage("$sample", record=_SAMPLE)
def sample(argument: Any, scope: Scope, path: Path) -> Stage:
    """``size`` documents in random order."""
    size = _size(argument, path)
    seed = scope.context.seed

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        rows = gather_within_limits(documents, path)
        return iter(Random(seed).sample(rows, min(size, len(rows))))

    return run


def _size(argument: Any, path: Path) -> int:
    if not isinstance(argument, Mapping):
        raise AggregationError("$sample takes a document with size", path, 28745)
    for name in argument:
        if name != "size":
            raise AggregationError(f"$sample has no option '{name}'", (*path, name), 28748)
    if "size" not in argument:
        raise AggregationError("$sample needs the option 'size'", path, 28749)
    value, where = argument["size"], (*path, "size")
    if not is_number(value) or is_nan(value):
        raise AggregationError("the size of $sample is a number", where, 28746)
    if not 0 <= to_double(value) < 2**63:
        raise AggregationError("the size of $sample must not be negative", where, 28747)
    return int(to_double(value))
