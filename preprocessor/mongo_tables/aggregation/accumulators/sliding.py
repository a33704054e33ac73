"""Accumulators as window functions: `$sum` … `$topN`, over the whole partition, growing or moving windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from mongo_tables.aggregation.accumulators.firstn import count_of
from mongo_tables.aggregation.accumulators.registry import compile_by_name
from mongo_tables.aggregation.accumulators.removable import (
    Kept,
    RemovableAverage,
    RemovableDeviation,
    RemovableSum,
    not_nullish,
)
from mongo_tables.aggregation.accumulators.windowregistry import (
    Removable,
    Results,
    Window,
    growing,
    sliding,
    window_function,
)
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.ordering import key
from mongo_tables.aggregation.values import MISSING, Document


def _present(value: Any) -> bool:
    return value is not MISSING


def _always(value: Any) -> bool:
    return True


def _null(value: Any) -> Any:
    return None if value is MISSING else value


def _least(values: list[Any]) -> Any:
    return min(values, key=key, default=None)


def _greatest(values: list[Any]) -> Any:
    # Of equals the one that came last: what stands last in the server's ordered set.
    return max(reversed(values), key=key, default=None)


def _sort_set(values: list[Any]) -> list[Any]:
    distinct: dict[Any, Any] = {}
    for value in values:
        distinct.setdefault(key(value), value)
    return [distinct[name] for name in sorted(distinct)]


_MOVING: dict[str, Callable[[], Removable]] = {
    "$sum": RemovableSum,
    "$avg": RemovableAverage,
    "$stdDevPop": lambda: RemovableDeviation(sample=False),
    "$stdDevSamp": lambda: RemovableDeviation(sample=True),
    "$count": RemovableSum,
    "$min": lambda: Kept(_least, not_nullish),
    "$max": lambda: Kept(_greatest, not_nullish),
    "$push": lambda: Kept(list, _present),
    "$addToSet": lambda: Kept(_sort_set, _present),
}


@window_function(*_MOVING)
def _unary(window: Window) -> Results:
    accumulator = compile_by_name(window.name, window.argument, window.scope, window.path)
    if window.bounds.unbounded_below:
        return growing(accumulator.evaluate, window.bounds, lambda: accumulator.start({}))
    return sliding(accumulator.evaluate, window.bounds, _MOVING[window.name])


Several = Callable[[list[Any], int], list[Any]]

_SEVERAL: dict[str, Several] = {
    "$firstN": lambda values, most: [_null(value) for value in values[:most]],
    "$lastN": lambda values, most: [_null(value) for value in values[-most:]],
    "$minN": lambda values, most: sorted(values, key=key)[:most],
    "$maxN": lambda values, most: sorted(values, key=key)[::-1][:most],
    "$topN": lambda pairs, most: _outputs(sorted(pairs, key=itemgetter(0))[:most]),
    "$bottomN": lambda pairs, most: _outputs(sorted(pairs, key=itemgetter(0))[-most:]),
}


def _outputs(pairs: list[Any]) -> list[Any]:
    return [output for _, output in pairs]


@window_function(*_SEVERAL, "$top", "$bottom")
def _several(window: Window) -> Results:
    accumulator = compile_by_name(window.name, window.argument, window.scope, window.path)
    if window.bounds.unbounded_below:
        return growing(accumulator.evaluate, window.bounds, lambda: accumulator.start({}))
    single = not window.name.endswith("N")
    most = 1 if single else _constant_count(window)
    several = _SEVERAL[f"{window.name}N" if single else window.name]
    keep = not_nullish if window.name in ("$minN", "$maxN") else _always

    def summarize(values: list[Any]) -> Any:
        found = several(values, most)
        return (found[0] if found else None) if single else found

    return sliding(accumulator.evaluate, window.bounds, lambda: Kept(summarize, keep))


def _constant_count(window: Window) -> int:
    argument = window.argument
    if not isinstance(argument, Mapping):
        raise AggregationError(f"{window.name} takes a document of named arguments", window.path, 5787900)
    return count_of(window.name, window.evaluate(argument["n"], "n")({}))


@window_function("$median", "$percentile", "$concatArrays", "$setUnion")
def _afresh(window: Window) -> Results:
    """Functions that are computed anew for every window."""
    accumulator = compile_by_name(window.name, window.argument, window.scope, window.path)

    def run(documents: Sequence[Document]) -> list[Any]:
        values = [accumulator.evaluate(document) for document in documents]
        results = []
        for ends in window.bounds.ends(documents):
            state = accumulator.start({})
            for value in values[ends[0] : ends[1] + 1] if ends else ():
                state.add(value)
            results.append(state.result())
        return results

    return run


@window_function("$first", "$last")
def _end(window: Window) -> Results:
    evaluate = window.evaluate(window.argument)
    side = 0 if window.name == "$first" else 1

    def run(documents: Sequence[Document]) -> list[Any]:
        return [
            None if ends is None else evaluate(documents[ends[side]])
            for ends in window.bounds.ends(documents)
        ]

    return run
