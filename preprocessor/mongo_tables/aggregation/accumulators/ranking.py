"""`$rank`, `$denseRank`, `$documentNumber`, `$shift`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.accumulators.windowregistry import Results, Window, window_function
from mongo_tables.aggregation.compiler import compile_expression
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.numbers import integral
from mongo_tables.aggregation.ordering import key
from mongo_tables.aggregation.values import Document
from mongo_tables.aggregation.windows import Documents


@window_function("$rank", "$denseRank", "$documentNumber")
def _ranks(window: Window) -> Results:
    if window.written:
        raise AggregationError(f"{window.name} takes no window", window.path, 5371601)
    if window.argument != {}:
        raise AggregationError(f"{window.name} takes an empty document", window.path, 5371603)
    if window.sort is None or len(window.sort.parts) != 1:
        raise AggregationError(f"{window.name} needs a sortBy of one field", window.path, 5371602)
    value = paths.getter(window.sort.parts[0].path)

    def run(documents: Sequence[Document]) -> list[Any]:
        if window.name == "$documentNumber":
            return list(range(1, len(documents) + 1))
        keys = [key(value(document)) for document in documents]
        ranks: list[int] = []
        for place, own in enumerate(keys):
            if place and own == keys[place - 1]:
                ranks.append(ranks[-1])
            else:
                ranks.append(place + 1 if window.name == "$rank" or not ranks else ranks[-1] + 1)
        return ranks

    return run


@window_function("$shift")
def _shift(window: Window) -> Results:
    window.refuse_window()
    argument = window.argument
    if not isinstance(argument, Mapping) or not argument.keys() <= {"output", "by", "default"}:
        raise AggregationError("$shift takes 'output', 'by' and 'default'", window.path, 9)
    if "output" not in argument or "by" not in argument:
        raise AggregationError("$shift needs 'output' and 'by'", window.path, 9)
    if window.sort is None:
        raise AggregationError("$shift needs a sortBy", window.path, 9)
    by = integral(argument["by"])
    if by is None or not -(2**31) <= by < 2**31:
        raise AggregationError("'by' is a whole number of 32 bits", (*window.path, "by"), 9)
    default = compile_expression(argument.get("default"), window.scope, (*window.path, "default"))
    if not default.constant:
        raise AggregationError("'default' is a constant", (*window.path, "default"), 9)
    evaluate, otherwise = window.evaluate(argument["output"], "output"), default.run({})

    def run(documents: Sequence[Document]) -> list[Any]:
        ends = Documents(by, by).ends(documents)
        return [otherwise if found is None else evaluate(documents[found[0]]) for found in ends]

    return run
