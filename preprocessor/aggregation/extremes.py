"""The least and the greatest of values in the server's order, null and missing left out."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import Any

from bson.int64 import Int64

from preprocessor.aggregation.ordering import key
from preprocessor.aggregation.values import is_nullish

_NUMBERS = frozenset({int, float, Int64})


def smallest(values: Sequence[Any]) -> Any:
    """The least value that is not null or missing, the first of equals; None when there is none."""
    numbers = _plain_numbers(values)
    if numbers is not None:
        return min(numbers, default=None)
    return min((value for value in values if not is_nullish(value)), key=key, default=None)


def largest(values: Sequence[Any]) -> Any:
    """The greatest value that is not null or missing, the first of equals; None when there is none."""
    numbers = _plain_numbers(values)
    if numbers is not None:
        return max(numbers, default=None)
    return max((value for value in values if not is_nullish(value)), key=key, default=None)


def _plain_numbers(values: Sequence[Any]) -> Sequence[Any] | None:
    """The numbers among numbers and nulls, where Python orders them as the server does; None where it may not."""
    kinds = set(map(type, values))
    if NoneType in kinds:
        kinds.remove(NoneType)
        values = [value for value in values if value is not None]
    if not kinds <= _NUMBERS:
        return None
    total = sum(values)  # NaN, which equals nothing here, makes it NaN.
    return values if total == total else None
