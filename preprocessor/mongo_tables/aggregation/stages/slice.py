"""`$limit` and `$skip`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from mongo_tables.aggregation.compiler import Scope, Stage, stage
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.fields import Effect, Gives, StageRecord
from mongo_tables.aggregation.numbers import integral
from mongo_tables.aggregation.values import INT64_MAX, Document


def _count(name: str, argument: Any, path: Path, least: int, code: int) -> int:
    number = integral(argument)
    if number is None or not least <= number <= INT64_MAX:
        what = "positive" if least else "non-negative"
        raise AggregationError(f"{name} takes a {what} whole number", path, code)
    return number


_SKIP = StageRecord(lambda _: Effect(), Gives.BY_PLACE, rank=2)
_LIMIT = _SKIP._replace(single=lambda argument: argument == 1)


@stage("$limit", record=_LIMIT)
def limit(argument: Any, scope: Scope, path: Path) -> Stage:
    """The first ``argument`` documents."""
    most = _count("$limit", argument, path, 1, 15958)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return islice(documents, most)

    return run


@stage("$skip", record=_SKIP)
def skip(argument: Any, scope: Scope, path: Path) -> Stage:
    """All but the first ``argument`` documents."""
    first = _count("$skip", argument, path, 0, 5107200)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return islice(documents, first, None)

    return run
