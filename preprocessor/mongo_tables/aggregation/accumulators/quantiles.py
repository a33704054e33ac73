"""`$median` and `$percentile` as accumulators."""

from __future__ import annotations

from typing import Any

from mongo_tables.aggregation.accumulators.firstn import check_arguments
from mongo_tables.aggregation.accumulators.registry import Accumulator, form
from mongo_tables.aggregation.compiler import Scope, compile_expression
from mongo_tables.aggregation.errors import Path
from mongo_tables.aggregation.percentiles import at, check_method, numbers_of, parts_of


class _Percentiles:
    def __init__(self, parts: list[float] | None) -> None:
        self._parts = parts
        self._values: list[Any] = []
        self.add = self._values.append

    def result(self) -> Any:
        ordered = numbers_of(self._values)
        if self._parts is None:
            return at(ordered, 0.5)
        return [at(ordered, part) for part in self._parts]


@form("$median", "$percentile")
def _quantiles(argument: Any, scope: Scope, path: Path) -> Accumulator:
    name = str(path[-1])
    given = {key: (value, (*path, key)) for key, value in check_arguments(name, argument, path).items()}
    check_method(given)
    parts = parts_of(given, scope) if name == "$percentile" else None
    evaluate = compile_expression(given["input"][0], scope, given["input"][1]).run
    return Accumulator(evaluate, lambda _: _Percentiles(parts))
