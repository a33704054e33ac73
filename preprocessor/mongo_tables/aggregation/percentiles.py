"""Percentiles: the value at a rank of the sorted numbers.

Source: https://www.mongodb.com/docs/manual/reference/operator/aggregation/percentile/ . The rank is
``ceil(p * count)``, counted from 1. The server's approximation (t-digest) gives the same while every number
has a place of its own in it, which it has for as many numbers as tables of results are made of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mongo_tables.aggregation.compiler import Scope, compile_expression
from mongo_tables.aggregation.errors import AggregationError, Path
from mongo_tables.aggregation.numbers import rank, to_double

_METHODS = ("approximate",)


def numbers_of(values: Sequence[Any]) -> list[float]:
    """The numbers among ``values`` as sorted doubles, NaN left out."""
    doubles = (to_double(value) for value in values if rank(value))
    return sorted(number for number in doubles if number == number)


def at(ordered: Sequence[float], part: float) -> float | None:
    """The number at ``part`` (0 to 1) of the ordered numbers; None when there are none."""
    if not ordered:
        return None
    return ordered[min(max(math.ceil(part * len(ordered)), 1), len(ordered)) - 1]


def check_method(given: Mapping[str, tuple[Any, Path]]) -> None:
    """Raises AggregationError unless the method is one that the server has."""
    method, path = given["method"]
    if method not in _METHODS:
        raise AggregationError("the method is 'approximate'", path, 9)


def parts_of(given: Mapping[str, tuple[Any, Path]], scope: Scope) -> list[float]:
    """The constant list ``p`` of parts from 0 to 1."""
    spec, path = given["p"]
    node = compile_expression(spec, scope, path)
    if not node.constant:
        raise AggregationError("p is a list of constants", path, 7750300)
    listed = node.run({})
    if not isinstance(listed, list) or not listed:
        raise AggregationError("p is a list of at least one number", path, 7750301)
    for value in listed:
        if not rank(value):
            raise AggregationError("p is a list of numbers", path, 7750302)
        if not 0 <= to_double(value) <= 1:
            raise AggregationError("p is a list of numbers from 0 to 1", path, 7750303)
    return [to_double(value) for value in listed]
