"""`$linearFill` and `$locf`: values for documents that have none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mongo_tables.aggregation import paths
from mongo_tables.aggregation.accumulators.windowregistry import Results, Window, window_function
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.expressions.arithmetic import add, divide, multiply, subtract
from mongo_tables.aggregation.numbers import rank
from mongo_tables.aggregation.ordering import key
from mongo_tables.aggregation.values import Document, is_date, is_nullish, type_name

_TYPE_MISMATCH = 14


@window_function("$locf")
def _locf(window: Window) -> Results:
    window.refuse_window()
    evaluate = window.evaluate(window.argument)

    def run(documents: Sequence[Document]) -> list[Any]:
        known: Any = None
        results = []
        for document in documents:
            value = evaluate(document)
            known = known if is_nullish(value) else value
            results.append(known)
        return results

    return run


@window_function("$linearFill")
def _linear_fill(window: Window) -> Results:
    window.refuse_window()
    if window.sort is None or len(window.sort.parts) != 1:
        raise AggregationError("$linearFill needs a sortBy of one field", window.path, 605001)
    evaluate, place = window.evaluate(window.argument), paths.getter(window.sort.parts[0].path)

    def run(documents: Sequence[Document]) -> list[Any]:
        places = [place(document) for document in documents]
        values = [evaluate(document) for document in documents]
        _check(places, values)
        return _interpolate(places, values)

    return run


def _check(places: Sequence[Any], values: Sequence[Any]) -> None:
    for index, (place, value) in enumerate(zip(places, values, strict=True)):
        if not rank(value) and not is_nullish(value):
            raise AggregationError(f"$linearFill fills numbers, not {type_name(value)}", code=_TYPE_MISMATCH)
        if not rank(place) and not is_date(place):
            message = f"$linearFill sorts by numbers or dates, not {type_name(place)}"
            raise AggregationError(message, code=_TYPE_MISMATCH)
        if not index:
            continue
        if key(place) == key(places[index - 1]):
            raise AggregationError("$linearFill takes no two documents of the same sort value", code=6050106)
        if is_date(place) != is_date(places[index - 1]):
            raise AggregationError("$linearFill sorts by numbers or by dates, not both", code=_TYPE_MISMATCH)


def _interpolate(places: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    known = [index for index, value in enumerate(values) if not is_nullish(value)]
    filled = [None if is_nullish(value) else value for value in values]
    for left, right in pairwise(known):
        slope_run = subtract(places[right], places[left])
        for index in range(left + 1, right):
            slope = divide(subtract(values[right], values[left]), slope_run)
            step = multiply((subtract(places[index], places[left]), slope))
            filled[index] = add((values[left], step))
    return filled
