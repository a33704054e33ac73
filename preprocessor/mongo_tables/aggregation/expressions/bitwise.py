"""Bits of integers: `$bitAnd`, `$bitNot`, `$bitOr`, `$bitXor`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mongo_tables.aggregation.compiler import operator
from mongo_tables.aggregation.errors import AggregationError
from mongo_tables.aggregation.expressions.associative import associative
from mongo_tables.aggregation.numbers import INT32, INT64, integer, rank
from mongo_tables.aggregation.values import is_nullish, type_name


def _integer_rank(name: str, value: Any) -> int:
    kind = rank(value)
    if kind not in (INT32, INT64):
        raise AggregationError(f"{name} works on int32 and int64 only, not on {type_name(value)}", code=14)
    return kind


def _combining(name: str, neutral: int, combine: Callable[[int, int], int]) -> None:
    @associative(name, commutative=True)
    def compute(values: Iterable[Any]) -> Any:
        widest, result = INT32, neutral
        for value in values:
            if is_nullish(value):
                return None
            widest = max(widest, _integer_rank(name, value))
            result = combine(result, int(value))
        return integer(result, widest)


_combining("$bitAnd", -1, lambda left, right: left & right)
_combining("$bitOr", 0, lambda left, right: left | right)
_combining("$bitXor", 0, lambda left, right: left ^ right)


@operator("$bitNot")
def _bit_not(value: Any) -> Any:
    if is_nullish(value):
        return None
    kind = _integer_rank("$bitNot", value)
    return integer(~int(value), kind)
