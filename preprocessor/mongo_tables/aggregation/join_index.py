"""Index of a collection by the values at a path, for `$lookup` and `$graphLookup`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from mongo_tables.aggregation.limits import each, watch_clock
from mongo_tables.aggregation.query.conditions import values_at
from mongo_tables.aggregation.value_order import NOTHING, Key, key
from mongo_tables.aggregation.values import MISSING, Document

Places = dict[Key, list[int]]


class IndexedCollection(list[Document]):
    """The documents of an immutable collection. All joins to the collection share its indexes."""

    @cached_property
    def indexes(self) -> dict[tuple[str, ...], Places]:
        """Return the indexes of all paths that a join has used: for each path, the positions of documents by value."""
        return {}


class JoinIndex:
    """An index of a collection by the values at one path. It is built on first use."""

    def __init__(self, source: Sequence[Document], path: tuple[str, ...]) -> None:
        self._source, self._path = source, path
        self._indexes = source.indexes if isinstance(source, IndexedCollection) else {}

    def find(self, values: Sequence[Any], *, missing: bool = True) -> list[Document]:
        """Return the documents that have one of the values at the path, in collection order.

        ``missing``: null also finds documents without a value at the path.
        """
        places = self._indexes.get(self._path)
        if places is None:
            places = self._indexes[self._path] = self._build()
        found: set[int] = set()
        keys = {key(value) for value in each(values)}
        if missing and key(None) in keys:
            keys.add(NOTHING)
        for one in keys:
            found.update(places.get(one, ()))
        return [self._source[place] for place in sorted(found)]

    def _build(self) -> Places:
        places: Places = {}
        for place, document in enumerate(watch_clock(self._source)):
            keys = {key(value) for value in values_at(document, self._path)}
            if NOTHING in keys and len(keys) > 1:
                # An array element without the field counts as null if another element has the field.
                keys = (keys - {NOTHING}) | {key(None)}
            for found in keys:
                places.setdefault(found, []).append(place)
        return places


def path_values(document: Mapping[str, Any], parts: tuple[str, ...]) -> Iterator[Any]:
    """Yield the values at a path of a document, for a join. An array yields its elements."""
    value, parts = document.get(parts[0], MISSING), parts[1:]
    while parts and type(value) is list and parts[0].isascii() and parts[0].isdigit():
        place = int(parts[0])
        value, parts = (value[place] if place < len(value) else MISSING), parts[1:]
    if not parts:
        if type(value) is list:
            yield from value
        elif value is not MISSING:
            yield value
    else:
        for item in value if type(value) is list else [value]:
            if isinstance(item, Mapping):
                yield from path_values(item, parts)
