"""The server's order of values of all types, for ``$sort``, ``$lt``, ``$max``, ``$group`` and sets.

``key(value)`` returns a tuple that Python compares and hashes as the server compares and groups: numbers by
value across types, strings by code point (byte order of UTF-8), documents field by field.

Source: https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cmp_to_key
from types import NoneType
from typing import Any

from bson.decimal128 import Decimal128
from bson.int64 import Int64

from mongo_tables.aggregation.limits import check_key, count_array, spend
from mongo_tables.aggregation.values import (
    binary_parts,
    is_date,
    is_nullish,
    millis,
    regex_parts,
    type_order,
)

Key = tuple[Any, ...]
# Bytes of a key.
_KEY = 100


def _number_key(value: Any) -> Key:
    """Return a key with NaN first, then by exact value: Python compares int, float and Fraction exactly."""
    if not isinstance(value, Decimal128):
        return (10, 1, value) if value == value else (10, 0, 0)
    exact = value.to_decimal()
    if exact.is_nan():
        return 10, 0, 0
    if exact.is_infinite():
        return 10, 1, math.inf if exact > 0 else -math.inf
    if exact == exact.to_integral_value():
        return 10, 1, int(exact)
    from fractions import Fraction  # only needed for a Decimal128 with a fraction

    return 10, 1, Fraction(exact)


def key(value: Any) -> Key:
    """Return a sortable, hashable tuple for ``value`` in the server's order.

    ``1``, ``Int64(1)``, ``1.0`` and ``Decimal128("1.0")`` have equal keys, as they are equal on the server.
    """
    kind = type(value)
    if kind is str:
        return 15, value
    if kind is int or kind is float:
        return (10, 1, value) if value == value else (10, 0, 0)
    if value is None:
        return (5,)
    order = type_order(value)
    if order == 10:
        return _number_key(value)
    if order == 15:
        return 15, str(value)
    if order == 20 or order == 25:
        if kind is dict or kind is list:
            check_key(value)
        return _document_key(value) if order == 20 else _array_key(value)
    return _other_key(order, value)


def _document_key(value: Any) -> Key:
    # Field by field: type of the value, then name, then value (BSONObj::woCompare); a prefix comes first.
    pairs = value.items() if isinstance(value, Mapping) else value.as_doc().items()
    keys = [(name, _key_of(type(item), key)(item)) for name, item in pairs]
    spend(len(keys))
    return 20, tuple([(found[0], name, found) for name, found in keys])


def _array_key(value: Any) -> Key:
    count_array(len(value), _KEY)
    spend(len(value))
    return 25, tuple([_key_of(type(item), key)(item) for item in value])


# Nested documents and arrays: their size was checked with that of the outermost.
_INNER: dict[type, Callable[[Any], Key]] = {dict: _document_key, list: _array_key}
_key_of = _INNER.get


def key_of_checked(value: Any) -> Key:
    """Return the ``key`` of a value whose size is already checked, or needs no check."""
    return _key_of(type(value), key)(value)


def _other_key(order: int, value: Any) -> Key:
    if is_date(value):
        return 45, millis(value)
    if order == 30:
        subtype, data = binary_parts(value)
        # Subtype 2 repeats its length inside the value, in four bytes.
        return 30, len(data) + 4 * (subtype == 2), subtype, data
    if order == 35:
        return 35, value.binary
    if order == 40:
        return 40, bool(value)
    if order == 47:
        return 47, value.time, value.inc
    if order == 50:
        return 50, *regex_parts(value)
    if order == 60:
        return 60, str(value)
    if order == 65:
        return 65, str(value), key(value.scope)
    return (order,)


def compare(left: Any, right: Any) -> int:
    """Return -1, 0 or 1, as the server's ``$cmp`` orders two values (missing before null).

    Example:
        >>> compare(2, 1.5), compare(1, "a")
        (1, -1)
    """
    a, b = key(left), key(right)
    return (a > b) - (a < b)


def reverse_key(value: Key) -> Any:
    """Return a key that sorts in reverse; for descending parts of a compound sort."""
    return _Descending((value,))


_Descending = cmp_to_key(lambda a, b: (a < b) - (a > b))  # type: ignore[operator]

_PLAIN_NUMBERS = frozenset({int, float, Int64})


def smallest(values: Sequence[Any]) -> Any:
    """Return the least value that is not null or missing, the first of equals, or None if there is none.

    Example:
        >>> smallest([3, None, 2.5])
        2.5
    """
    return _outermost(min, values)


def largest(values: Sequence[Any]) -> Any:
    """Return the greatest value that is not null or missing, the first of equals, or None if there is none."""
    return _outermost(max, values)


def _outermost(choose: Callable[..., Any], values: Sequence[Any]) -> Any:
    kinds = set(map(type, values))
    if NoneType in kinds:
        kinds.remove(NoneType)
        values = [value for value in values if value is not None]
    if kinds <= _PLAIN_NUMBERS:
        total = sum(values)  # NaN among the values makes it NaN, which equals nothing.
        if total == total:  # Python orders them as the server does.
            return choose(values, default=None)
    return choose((value for value in values if not is_nullish(value)), key=key, default=None)
