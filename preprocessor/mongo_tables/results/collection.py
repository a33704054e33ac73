"""Collections that are read from files: immutable values, with an index for a ``$match`` by equality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import Any, Final

from bson.int64 import Int64
from bson.objectid import ObjectId

from mongo_tables.aggregation.fields import Parts, split_path
from mongo_tables.findings.finding import Finding

_WORTH: Final = 32
"""The number of documents from which an index pays off."""

Scalar = str | int | float | tuple[bool]
"""The value of an equality. 1 and 1.0 are equal; a boolean is wrapped in a tuple, because it is not a number."""
_NUMBERS_AND_TEXTS: Final = frozenset({str, int, Int64, float})
_NEVER_EQUAL: Final = frozenset({dict, NoneType, datetime, ObjectId})


@dataclass(frozen=True)
class Collection:
    """The documents of a collection, in the order of its files: complete, shared, never changed.

    ``digest`` is the digest of the bytes that they were read from. ``notes`` are about files that add no documents,
    ``decimals`` those that all numbers of a field were typed with.
    """

    name: str
    documents: Sequence[dict[str, Any]]
    digest: str = ""
    files: tuple[Path, ...] = ()
    plain: bool = False
    notes: tuple[Finding, ...] = ()
    decimals: Mapping[str, int] = field(default_factory=dict)
    _indexes: dict[Parts, ValueIndex] = field(default_factory=dict, compare=False)
    _texts: dict[str, frozenset[str]] = field(default_factory=dict, compare=False)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The names of the fields that documents have."""
        return frozenset().union(*self.documents)

    def choose(self, pipeline: Sequence[Mapping[str, Any]]) -> Sequence[dict[str, Any]]:
        """Return the documents that can pass the first ``$match`` of a pipeline, in order."""
        wanted = _leading_values(pipeline) if len(self.documents) >= _WORTH else {}
        found: list[Sequence[int]] = []
        for path, values in wanted.items():
            if path not in self._indexes:
                self._indexes[path] = ValueIndex(self.documents, path)
            found.append(self._indexes[path].find(values))
        if not found:
            return self.documents
        numbers = sorted(set(found[0]).intersection(*found[1:])) if len(found) > 1 else found[0]
        return [self.documents[number] for number in numbers]

    def texts(self, path: str) -> frozenset[str]:
        """Return the strings that documents have at a dotted path, without those in arrays."""
        if path not in self._texts:
            parts = split_path(path)
            values = {value for one in self.documents if isinstance(value := _value_at(one, parts), str)}
            self._texts[path] = frozenset(values)
        return self._texts[path]


class ValueIndex:
    """Document numbers by the scalar at a path.

    Documents with another kind of value there, such as an array, may equal anything: they are always found.
    """

    def __init__(self, documents: Iterable[Mapping[str, Any]], path: Parts) -> None:
        self._by_value: dict[Scalar, list[int]] = {}
        self._unclear: list[int] = []
        for number, document in enumerate(documents):
            value = _value_at(document, path)
            kind = type(value)
            if kind in _NUMBERS_AND_TEXTS and value == value:  # not NaN
                self._by_value.setdefault(value, []).append(number)
            elif kind is bool:
                self._by_value.setdefault((value,), []).append(number)
            elif kind not in _NEVER_EQUAL:
                self._unclear.append(number)

    def find(self, values: Iterable[Scalar]) -> Sequence[int]:
        """Return the numbers of the documents that may have one of the values, in order."""
        found = [self._unclear, *(self._by_value.get(value, []) for value in values)]
        some = [each for each in found if each]
        return some[0] if len(some) == 1 else sorted(chain.from_iterable(some))


def _value_at(value: Any, path: Parts) -> Any:
    """Return the value at a path, or None if there is none. An array on the way is returned whole."""
    for name in path:
        if type(value) is not dict:
            return value if type(value) is list else None
        if name not in value:
            return None
        value = value[name]
    return value


def _leading_values(pipeline: Sequence[Any]) -> dict[Parts, frozenset[Scalar]]:
    """Return the dotted paths for which the first ``$match`` requires one of some values.

    Only plain equality, ``$eq`` and ``$in`` with strings, numbers and booleans count. A filter with ``$expr`` gives
    nothing: an expression may fail on a document that the other conditions would have dropped.
    """
    condition = pipeline[0].get("$match") if pipeline and isinstance(pipeline[0], Mapping) else None
    if not isinstance(condition, Mapping) or any(str(key).startswith("$") for key in condition):
        return {}
    found = {split_path(key): _admitted(value) for key, value in condition.items()}
    return {path: values for path, values in found.items() if values and all(path)}


def _admitted(value: Any) -> frozenset[Scalar]:
    """Return the values that a condition admits, or nothing for other conditions (a list must equal an array)."""
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
