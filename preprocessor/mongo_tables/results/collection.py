"""Collections that are read from files. They never change, and have an index for ``$match`` by equality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

from mongo_tables.aggregation.fields import Parts, split_path
from mongo_tables.aggregation.query.conditions import values_at
from mongo_tables.aggregation.value_order import Key, key
from mongo_tables.findings.finding import Finding

_WORTH: Final = 32
"""The smallest number of documents for which an index saves time."""
_UNCLEAR: Final[Key] = (20,)
"""The key of documents for which the index cannot decide."""

Scalar = str | int | float
"""A value that a condition compares a field with."""


@dataclass(frozen=True)
class Collection:
    """All documents of a collection, in the order of its files. They are shared and never changed.

    Attributes:
        digest: A digest of the bytes from which the documents were read.
        plain: Whether another program wrote the files.
        notes: Notes about files without documents.
        decimals: The number of decimals of each field whose numbers all have equally many decimals in the files.
    """

    name: str
    documents: Sequence[dict[str, Any]]
    digest: str = ""
    files: tuple[Path, ...] = ()
    plain: bool = False
    notes: tuple[Finding, ...] = ()
    decimals: Mapping[str, int] = field(default_factory=dict)
    _indexes: dict[Parts, dict[Key, list[int]]] = field(default_factory=dict, compare=False)
    _texts: dict[str, frozenset[str]] = field(default_factory=dict, compare=False)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The names of the fields that documents have."""
        return frozenset().union(*self.documents)

    def choose(self, pipeline: Sequence[Mapping[str, Any]]) -> tuple[Sequence[dict[str, Any]], bool]:
        """Return the documents that can pass the first ``$match`` of a pipeline, in order.

        Also return whether all returned documents certainly pass. If the index cannot help, return all documents.
        """
        wanted = _leading_values(pipeline) if len(self.documents) >= _WORTH else {}
        found: list[set[int]] = []
        sure = True
        for path, values in wanted.items():
            if not values:
                sure = False
                continue
            if path not in self._indexes:
                self._indexes[path] = _index_places(self.documents, path)
            places = self._indexes[path]
            unclear = places.get(_UNCLEAR, ())
            sure = sure and not unclear
            found.append({*unclear, *(place for value in values for place in places.get(key(value), ()))})
        if not found:
            return self.documents, False
        return [self.documents[place] for place in sorted(set.intersection(*found))], sure

    def texts(self, path: str) -> frozenset[str]:
        """Return the strings at a dotted path of the documents, including strings within arrays."""
        if path not in self._texts:
            parts = split_path(path)
            found: set[str] = set()
            for one in self.documents:
                for value in values_at(one, parts):
                    if type(value) is str:  # ``Code`` is a subclass of str without a hash.
                        found.add(value)
            self._texts[path] = frozenset(found)
        return self._texts[path]


def _index_places(documents: Iterable[dict[str, Any]], path: Parts) -> dict[Key, list[int]]:
    """Return the indexes of documents by their scalar at a path. Arrays and documents have the key ``_UNCLEAR``."""
    places: dict[Key, list[int]] = {}
    for place, document in enumerate(documents):
        # An array gives itself and its elements, which may be millions. Two values show that it is an array.
        values = [*islice(values_at(document, path), 2)]
        clear = len(values) == 1 and not isinstance(values[0], list | dict)
        places.setdefault(key(values[0]) if clear else _UNCLEAR, []).append(place)
    return places


def _leading_values(pipeline: Sequence[Any]) -> dict[Parts, Sequence[Scalar]]:
    """Return the values that the first ``$match`` accepts, by dotted path. A path without values is not indexed.

    Only equality, ``$eq`` and ``$in`` with strings, numbers and booleans are indexed. A filter with ``$expr`` gives
    nothing, because an expression may fail on a document that the index would skip.
    """
    condition = pipeline[0].get("$match") if pipeline and isinstance(pipeline[0], Mapping) else None
    if not isinstance(condition, Mapping) or any(str(name).startswith("$") for name in condition):
        return {}
    found = {split_path(name): _admitted(value) for name, value in condition.items()}
    return {path: values if all(path) else () for path, values in found.items()}


def _admitted(value: Any) -> Sequence[Scalar]:
    """Return the scalars that a condition accepts, or nothing for any other condition."""
    accepted: Any = [value]
    if isinstance(value, Mapping) and len(value) == 1:
        accepted = value["$in"] if "$in" in value else [value.get("$eq")]
    are_scalars = isinstance(accepted, list) and all(
        type(one) is str or isinstance(one, int | float) for one in accepted
    )
    return accepted if are_scalars else ()
