"""Values as they stand: `$literal` (and its old name `$const`); `$rand`."""

from __future__ import annotations

import random
from typing import Any

from mongo_tables.aggregation.compiler import Node, Scope, constant, form
from mongo_tables.aggregation.errors import AggregationError, Path


@form("$literal", "$const")
def _literal(argument: Any, scope: Scope, path: Path) -> Node:
    return constant(argument)


@form("$rand")
def _rand(argument: Any, scope: Scope, path: Path) -> Node:
    """Numbers from 0 to 1, the same ones each time for the same seed."""
    if argument not in ({}, []):
        raise AggregationError("$rand takes no arguments", path, 3040501)
    source = random.Random(scope.context.seed)
    return Node(lambda _: source.random())
