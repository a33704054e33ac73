"""`$match`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mongo_tables.aggregation.compiler import Scope, Stage, stage
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.fields import Effect, Gives, StageRecord, paths_in_query
from mongo_tables.aggregation.query.parser import compile_query
from mongo_tables.aggregation.values import Document


def _effect(argument: Any) -> Effect:
    return Effect(reads=tuple(paths_in_query(argument)))


def _names_one(condition: Any) -> bool:
    """Whether a query asks for one ``_id``."""
    wanted = condition.get("_id") if isinstance(condition, Mapping) else None
    if isinstance(wanted, Mapping):
        return "$eq" in wanted or (bool(wanted) and not any(str(key).startswith("$") for key in wanted))
    return wanted is not None


_MATCH = StageRecord(_effect, Gives.CHOSEN, single=_names_one, rank=1)


@stage("$match", record=_MATCH)
def match(argument: Any, scope: Scope, path: Path) -> Stage:
    """The documents that meet a query."""
    if not isinstance(argument, Mapping):
        raise AggregationError("$match takes a query, which is a document", path, 15959)
    holds = compile_query(argument, scope, path)

    def run(documents: Iterator[Document]) -> Iterator[Document]:
        return filter(holds, documents)

    return run
