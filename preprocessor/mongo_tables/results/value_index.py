"""Documents by the values that they have at a path, so that a ``$match`` by equality need not look at all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from types import NoneType
from typing import Any

from bson.int64 import Int64
from bson.objectid import ObjectId

from mongo_tables.aggregation.fields import Parts, split_path

Scalar = str | int | float | tuple[bool]
"""A value of an equality: 1 and 1.0 are the same; a boolean is in a tuple, as it is no number."""

_NUMBERS_AND_TEXTS = frozenset({str, int, Int64, float})
_NEVER_EQUAL = frozenset({dict, NoneType, datetime, ObjectId})


class ValueIndex:
    """The numbers of documents by the scalar that they have at a path.

    Documents with another kind of value there, such as an array, may be equal to anything: they are always found.
    """

    def __init__(self, documents: Iterable[Mapping[str, Any]], path: Parts) -> None:
        self._by_value: dict[Scalar, list[int]] = {}
        self._unclear: list[int] = []
        for number, document in enumerate(documents):
            value = value_at(document, path)
            kind = type(value)
            if kind in _NUMBERS_AND_TEXTS and value == value:  # not NaN
                self._by_value.setdefault(value, []).append(number)
            elif kind is bool:
                self._by_value.setdefault((value,), []).append(number)
            elif kind not in _NEVER_EQUAL:
                self._unclear.append(number)

    def find(self, values: Iterable[Scalar]) -> Sequence[int]:
        """The numbers of the documents that may have one of the values, in order."""
        found = [self._unclear, *(self._by_value.get(value, []) for value in values)]
        some = [each for each in found if each]
        return some[0] if len(some) == 1 else sorted(chain.from_iterable(some))


def value_at(value: Any, path: Parts) -> Any:
    """The value at a path; an array on the way as a whole, None where there is no value."""
    for name in path:
        if type(value) is not dict:
            return value if type(value) is list else None
        if name not in value:
            return None
        value = value[name]
    return value


def leading_values(pipeline: Sequence[Any]) -> dict[Parts, frozenset[Scalar]]:
    """Dotted paths that must equal one of some values for a document to pass the first ``$match``.

    Only plain equality, ``$eq`` and ``$in`` with strings, numbers and booleans count. A filter with ``$expr`` gives
    nothing: an expression may fail on a document that the other conditions would have dropped.
    """
    if not pipeline or not isinstance(pipeline[0], Mapping):
        return {}
    condition = pipeline[0].get("$match")
    if not isinstance(condition, Mapping) or any(str(key).startswith("$") for key in condition):
        return {}
    found = {split_path(key): _admitted(value) for key, value in condition.items()}
    return {path: values for path, values in found.items() if values and all(path)}


def _admitted(value: Any) -> frozenset[Scalar]:
    """The values that a condition admits; empty when it is of another kind (a list is an array to equal)."""
    accepted: Any = [value]
    if isinstance(value, Mapping) and len(value) == 1:
        accepted = value["$in"] if "$in" in value else [value.get("$eq")]
    scalars = [_scalar(one) for one in accepted] if isinstance(accepted, list) else [None]
    return frozenset(one for one in scalars if one is not None) if None not in scalars else frozenset()


def _scalar(value: Any) -> Scalar | None:
    if isinstance(value, bool):
        return (value,)
    if type(value) is str or isinstance(value, int):
        return value
    return value if isinstance(value, float) and value == value else None
