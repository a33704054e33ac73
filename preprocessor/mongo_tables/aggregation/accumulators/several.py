"""Accumulators of several values, or with their own sort order.

`$firstN`, `$lastN`, `$maxN`, `$minN`, `$top`, `$bottom`, `$topN`, `$bottomN`; `$median` and `$percentile`.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/percentile/ . The rank of the percentile p is
    ``ceil(p * count)``, counted from 1. The server's approximation (t-digest) gives the same result as long as each
    number has its own centroid. Groups in tables of results are small enough for that.
"""

from __future__ import annotations

import math
from bisect import insort_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from mongo_tables.aggregation import catalogue, paths, value_order
from mongo_tables.aggregation.accumulators.basic import Accumulator, Keeping, State, form
from mongo_tables.aggregation.compiler import Node, Scope, compile_expression, placed
from mongo_tables.aggregation.errors import AggregationError, Path, check_names
from mongo_tables.aggregation.numbers import integral, rank, to_double
from mongo_tables.aggregation.value_order import key
from mongo_tables.aggregation.values import (
    INT64_MAX,
    MISSING,
    Document,
    Evaluate,
    is_nullish,
    mistyped,
)


def _check_arguments(argument: Any, path: Path) -> Mapping[str, Any]:
    """Return the named arguments of an accumulator after checking their names against the catalogue."""
    name = str(path[-1])
    entry = catalogue.find("accumulator", name) or catalogue.get("window", name)
    codes, form = (5787900, 5787901, 5787906), "a document of named arguments"
    return check_names(argument, entry.required, entry.optional, path, codes, form, "argument")


def count_of(name: str, value: Any) -> int:
    """Return ``n`` as a positive whole number. Raises AggregationError for anything else."""
    if not rank(value):
        raise mistyped(f"the n of {name} must be a number, not", value, 5787902)
    number = integral(value)
    if number is None or number > INT64_MAX:
        raise AggregationError(f"the n of {name} must be a whole number, not {value}", code=5787903)
    if number < 1:
        raise AggregationError(f"the n of {name} must be greater than 0", code=5787908)
    return number


def null_for_missing(value: Any) -> Any:
    """Return the value as an element of an array, where null takes the place of MISSING."""
    return None if value is MISSING else value


class _FirstN(Keeping):
    def __init__(self, most: int) -> None:
        self._most = most
        self._values: list[Any] = []

    def add(self, value: Any) -> None:
        self.last = MISSING
        if len(self._values) < self._most:
            self._values.append(null_for_missing(value))
            self.last = value

    def result(self) -> Any:
        return list(self._values)


class _LastN:
    def __init__(self, most: int) -> None:
        self._values: deque[Any] = deque(maxlen=min(most, 2**31))

    def add(self, value: Any) -> None:
        self._values.append(null_for_missing(value))

    def result(self) -> Any:
        return list(self._values)


class _Ranked:
    """The ``most`` values with the smallest or the largest keys. Values are added as pairs of key and value.

    Once ``most`` values are kept, a new value whose key equals the worst kept key is dropped.
    """

    def __init__(self, most: int, *, least: bool) -> None:
        self._most = most
        self._least = least
        self._pairs: list[tuple[Any, Any]] = []

    def add(self, value: Any) -> None:
        """Add a pair, and drop the pair farthest from the wanted end if there are too many."""
        found = value[0]
        if len(self._pairs) == self._most:
            worst = self._pairs[-1 if self._least else 0][0]
            if not (found < worst if self._least else worst < found):
                return
            del self._pairs[-1 if self._least else 0]
        insort_right(self._pairs, value, key=itemgetter(0))

    def result(self) -> Any:
        """Return the values from the smallest key to the largest."""
        return [value for _, value in self._pairs]


class _ExtremeN(_Ranked):
    def add(self, value: Any) -> None:
        if not is_nullish(value):
            super().add((key(value), value))

    def result(self) -> Any:
        return super().result()[:: 1 if self._least else -1]


class _FirstRanked(_Ranked):
    """The state of ``$top`` or ``$bottom``, whose result is a single value instead of a list."""

    def result(self) -> Any:
        return next(iter(super().result()), None)


STATES: dict[str, Callable[[int], State]] = {
    "$firstN": _FirstN,
    "$lastN": _LastN,
    "$minN": lambda most: _ExtremeN(most, least=True),
    "$maxN": lambda most: _ExtremeN(most, least=False),
}


def _starting(name: str, count: Any, scope: Scope, path: Path, make: Callable[[int], State]) -> Any:
    """Return the factory of states for ``n``, which may be computed from the group's key."""
    node = compile_expression(count, scope, path)
    number = placed(lambda document: count_of(name, node.run(document)), path)
    if node.constant:
        most = number({})
        return lambda _: make(most)
    return lambda document: make(number(document))


@form(*STATES)
def _several(argument: Any, scope: Scope, path: Path) -> Accumulator:
    name = str(path[-1])
    given = _check_arguments(argument, path)
    evaluate = compile_expression(given["input"], scope, (*path, "input")).run
    return Accumulator(evaluate, _starting(name, given["n"], scope, (*path, "n"), STATES[name]))


@form("$top", "$bottom", "$topN", "$bottomN")
def _compile_ranking(argument: Any, scope: Scope, path: Path) -> Accumulator:
    name = str(path[-1])
    given = _check_arguments(argument, path)
    evaluate = _compile_ranked_value(given, scope, path)

    top = name.startswith("$top")
    if "n" not in given:
        return Accumulator(evaluate, lambda _: _FirstRanked(1, least=top))
    make = partial(_Ranked, least=top)
    return Accumulator(evaluate, _starting(name, given["n"], scope, (*path, "n"), make))


def _compile_ranked_value(given: Mapping[str, Any], scope: Scope, path: Path) -> Evaluate:
    order = given["sortBy"]
    if not isinstance(order, Mapping):
        raise AggregationError("sortBy must be a document of fields and directions", (*path, "sortBy"), 10065)
    pattern = value_order.parse(order, (*path, "sortBy"), "sortBy") if order else value_order.SortPattern(())
    output = compile_expression(given["output"], scope, (*path, "output")).run
    # `$sort` compares elements of arrays. These accumulators compare whole arrays, but treat an empty array as `$sort`
    # does.
    fields = [paths.getter(part.path) for part in pattern.parts]

    def evaluate(document: Document) -> tuple[Any, Any]:
        values = [null_for_missing(read(document)) for read in fields]
        keys = [value_order.EMPTY if value == [] else key(value) for value in values]
        return pattern.direct_keys(keys), null_for_missing(output(document))

    return evaluate


def quantiles(values: Sequence[Any], parts: list[float] | None) -> Any:
    """Return the quantiles of the numbers in ``values`` for the fractions ``parts`` (0 to 1). If ``parts`` is None,
    return the median.
    """
    doubles = (to_double(value) for value in values if rank(value))
    ordered = sorted(number for number in doubles if number == number)

    def at(part: float) -> float | None:
        if not ordered:
            return None
        return ordered[min(max(math.ceil(part * len(ordered)), 1), len(ordered)) - 1]

    return at(0.5) if parts is None else [at(part) for part in parts]


def compile_quantiles(given: Mapping[str, tuple[Any, Path]], scope: Scope) -> tuple[Node, list[float] | None]:
    """Return the node of the input, and the constant list ``p`` of fractions from 0 to 1, or None without ``p``."""
    method, path = given["method"]
    if method != "approximate":
        raise AggregationError("the method must be 'approximate'", path, 9)
    parts = _parts(*given["p"], scope) if "p" in given else None
    return compile_expression(given["input"][0], scope, given["input"][1]), parts


def _parts(spec: Any, path: Path, scope: Scope) -> list[float]:
    node = compile_expression(spec, scope, path)
    if not node.constant:
        raise AggregationError("p must be a list of constants", path, 7750300)
    listed = node.run({})
    if not isinstance(listed, list) or not listed:
        raise AggregationError("p must be a list of at least one number", path, 7750301)
    for value in listed:
        if not rank(value):
            raise AggregationError("p must be a list of numbers", path, 7750302)
        if not 0 <= to_double(value) <= 1:
            raise AggregationError("p must be a list of numbers from 0 to 1", path, 7750303)
    return [to_double(value) for value in listed]


class _Percentiles:
    def __init__(self, parts: list[float] | None) -> None:
        self._parts = parts
        self._values: list[Any] = []
        self.add = self._values.append

    def result(self) -> Any:
        return quantiles(self._values, self._parts)


@form("$median", "$percentile")
def _quantiles(argument: Any, scope: Scope, path: Path) -> Accumulator:
    given = {key: (value, (*path, key)) for key, value in _check_arguments(argument, path).items()}
    node, parts = compile_quantiles(given, scope)
    return Accumulator(node.run, lambda _: _Percentiles(parts))
