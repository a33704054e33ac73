"""Stages that select and order unchanged documents: `$match`, `$sort`, `$limit`, `$skip`, `$sample`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from random import Random
from typing import Any

from mongo_tables.aggregation import value_order
from mongo_tables.aggregation.compiler import Scope
from mongo_tables.aggregation.errors import AggregationError, Path, check_names
from mongo_tables.aggregation.fields import Effect, Gives, Order, StageRecord, paths_in_query, split_path
from mongo_tables.aggregation.limits import gather_within_limits
from mongo_tables.aggregation.numbers import integral, to_double
from mongo_tables.aggregation.pipelines import Stage, stage
from mongo_tables.aggregation.query.parser import compile_query
from mongo_tables.aggregation.values import INT64_MAX, Document, is_nan, is_number


def _names_one(condition: Any) -> bool:
    """Return whether a query selects at most one ``_id``."""
    wanted = condition.get("_id") if isinstance(condition, Mapping) else None
    if isinstance(wanted, Mapping):
        return "$eq" in wanted or (bool(wanted) and not any(str(key).startswith("$") for key in wanted))
    return wanted is not None


_MATCH = StageRecord(
    lambda query: Effect(tuple(paths_in_query(query))), Gives.CHOSEN, single=_names_one, rank=1, watched=True
)


@stage("$match", record=_MATCH)
def match(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the documents that match a query."""
    if not isinstance(argument, Mapping):
        raise AggregationError("$match requires a query document", path, 15959)
    return partial(filter, compile_query(argument, scope, path))


def _effect_of_sort(argument: Any) -> Effect:
    reads = []
    for name, order in argument.items():
        if not isinstance(order, Mapping):  # ``$meta`` is no field
            reads.append(split_path(name))
    return Effect(reads=tuple(reads))


@stage("$sort", record=StageRecord(_effect_of_sort, Gives.CHOSEN, Order.SORTED, rank=1))
def sort(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the documents in the order of a pattern. Equal documents keep their order, unless a limit follows."""
    pattern = value_order.parse(argument, path)
    most = scope.most

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        try:
            if most:
                return iter(pattern.first(documents, most))
            return iter(pattern.sort(gather_within_limits(documents, path)))
        except AggregationError as error:
            raise error.at(path) from None

    return run


_SKIP = StageRecord(lambda _: Effect(), Gives.BY_PLACE, rank=2, watched=True)


@stage("$limit", record=_SKIP._replace(single=lambda argument: argument == 1))
def limit(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return the first ``argument`` documents."""
    most = integral(argument)
    if most is None or not 1 <= most <= INT64_MAX:
        raise AggregationError("$limit requires a positive whole number", path, 15958)
    return lambda documents: islice(documents, most)


@stage("$skip", record=_SKIP)
def skip(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return all but the first ``argument`` documents."""
    first = integral(argument)
    if first is None or not 0 <= first <= INT64_MAX:
        raise AggregationError("$skip requires a non-negative whole number", path, 5107200)
    return lambda documents: islice(documents, first, None)


_SAMPLE = StageRecord(
    lambda _: Effect(),
    Gives.CHOSEN,
    Order.CHANCE,
    single=lambda argument: argument.get("size") == 1,
)


@stage("$sample", record=_SAMPLE)
def sample(argument: Any, scope: Scope, path: Path) -> Stage:
    """Return ``size`` documents in random order. Equal seeds give equal documents."""
    check_names(argument, ("size",), (), path, (28745, 28748, 28749), "a document with size")
    value, where = argument["size"], (*path, "size")
    if not is_number(value) or is_nan(value):
        raise AggregationError("the size of $sample must be a number", where, 28746)
    if not 0 <= to_double(value) < 2**63:
        raise AggregationError("the size of $sample must not be negative", where, 28747)
    size, seed = int(to_double(value)), scope.context.seed

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        rows = gather_within_limits(documents, path)
        return iter(Random(seed).sample(rows, min(size, len(rows))))

    return run
