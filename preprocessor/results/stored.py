"""The documents of one collection as raw BSON, decoded no further than a pipeline reads."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import bson
import bson.errors

from preprocessor.aggregation.stages.joining import Collection
from preprocessor.results import rawbson, readpaths
from preprocessor.results.limits import OPTIONS

# Below these sizes in bytes a document, or a part of a larger one, is decoded whole: in C that is quicker than to
# choose in Python, and what one pipeline has decoded the next one finds.
_SMALL = 64_000
_SMALL_PART = 12_000

Document = dict[str, Any]

BROKEN = (bson.errors.BSONError, ValueError, IndexError, RecursionError, struct.error)
"""What reading bytes raises that are no BSON document."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Held:
    """What documents have at a path: their numbers by value, and those that must be decoded to be known."""

    by_value: dict[rawbson.Scalar, list[int]]
    unclear: list[int]

    def add(self, number: int, raw: bytes, path: readpaths.Path) -> None:
        """Take in what one document has."""
        try:
            found = rawbson.scalar_at(raw, path)
        except rawbson.Unclear:
            self.unclear.append(number)
            return
        if found is not None:
            self.by_value.setdefault(found, []).append(number)


class StoredCollection:
    """Raw documents in their order. What is decoded is kept and shared by later pipelines: nobody may
    change it.

    ``anew`` gives the documents once more, from where they were first: it is asked when bytes turn out to be no BSON.
    """

    def __init__(self, raws: Sequence[bytes], anew: Callable[[], Sequence[bytes]] | None = None) -> None:
        self._anew = anew
        self._begin(raws)

    def _begin(self, raws: Sequence[bytes]) -> None:
        self._raws = raws
        self._whole: Collection | None = None
        self._small: dict[int, Document] = {}
        self._held: dict[readpaths.Path, _Held] = {}
        self._fields: list[dict[str, dict[str, Any]]] = [{} for _ in raws]

    def _sound(self, read: Callable[[], _T]) -> _T:
        """What ``read`` gives; where it meets bytes that are no BSON, what it gives on the documents taken anew."""
        try:
            return read()
        except BROKEN:
            if self._anew is None:
                raise
            anew, self._anew = self._anew, None
            self._begin(anew())
            return read()

    def raws(self) -> Sequence[bytes]:
        """All documents as BSON, each one sound."""

        def read() -> Sequence[bytes]:
            for raw in self._raws if self._anew else ():
                bson.decode(raw, OPTIONS)
            return self._raws

        return self._sound(read)

    def documents(self) -> list[Document]:
        """All documents, decoded whole."""
        return self._sound(self._documents)

    def _documents(self) -> list[Document]:
        if self._whole is None:
            self._whole = Collection(
                self._small.get(number) or bson.decode(raw, OPTIONS) for number, raw in enumerate(self._raws)
            )
        return self._whole

    def forget(self) -> None:
        """Drop what is decoded; the next pipeline decodes it anew."""
        self._whole = None
        self._small.clear()
        self._fields = [{} for _ in self._raws]

    def __len__(self) -> int:
        return len(self._raws)

    def candidates(self, pipeline: Sequence[Mapping[str, Any]]) -> list[Document]:
        """The documents, decoded whole, that the pipeline's first ``$match`` is not certain to drop."""
        wanted = readpaths.leading_values(pipeline)
        return self._sound(lambda: self._whole_of(self._candidates(wanted)))

    def _whole_of(self, numbers: Sequence[int]) -> list[Document]:
        if len(numbers) == len(self._raws) or self._whole is not None:
            whole = self._documents()
            return [whole[number] for number in numbers]
        return [bson.decode(self._raws[number], OPTIONS) for number in numbers]

    def documents_for(self, pipeline: Sequence[Mapping[str, Any]]) -> list[Document]:
        """Documents on which the pipeline gives what it gives on all of them, decoded whole.

        Left out are documents that its first ``$match`` is certain to drop, and fields that it cannot read.
        """
        return self._sound(lambda: self._documents_for(pipeline))

    def _documents_for(self, pipeline: Sequence[Mapping[str, Any]]) -> list[Document]:
        numbers = self._candidates(readpaths.leading_values(pipeline))
        is_large = any(len(self._raws[number]) >= _SMALL for number in numbers)
        tree = readpaths.read_tree(pipeline) if is_large else {}
        if tree is None:
            return self._whole_of(numbers)
        return [self._part(number, tree) for number in numbers]

    def _candidates(self, wanted: Mapping[readpaths.Path, frozenset[rawbson.Scalar]]) -> list[int]:
        """The numbers of the documents that may have one of the values at every path, in order."""
        kept: set[int] | None = None
        for path, values in wanted.items():
            held = self._held_at(path)
            here = set(held.unclear).union(*(held.by_value.get(value, ()) for value in values))
            kept = here if kept is None else kept & here
        return list(range(len(self._raws))) if kept is None else sorted(kept)

    def _held_at(self, path: readpaths.Path) -> _Held:
        if path not in self._held:
            held = self._held[path] = _Held({}, [])
            for number, raw in enumerate(self._raws):
                held.add(number, raw, path)
        return self._held[path]

    def _part(self, number: int, tree: readpaths.Tree) -> Document:
        if self._whole is not None:
            return self._whole[number]
        raw, known = self._raws[number], self._fields[number]
        if len(raw) < _SMALL:
            if number not in self._small:
                self._small[number] = bson.decode(raw, OPTIONS)
            return self._small[number]
        document: Document = {}
        try:
            for kind, name, start, value, end in rawbson.elements(raw):
                below = tree.get(name)
                if below is None:
                    continue
                key = repr(below)
                kept = known.setdefault(name, {})
                if key not in kept:
                    kept[key] = _value(raw, kind, name, start, value, end, below)
                document[name] = kept[key]
        except rawbson.Unclear:
            return bson.decode(raw, OPTIONS)
        return document


def _value(raw: bytes, kind: int, name: str, start: int, value: int, end: int, below: readpaths.Tree) -> Any:
    if kind == rawbson.DOCUMENT and below and end - value >= _SMALL_PART:
        return bson.decode(rawbson.pruned(raw, below, _SMALL_PART, value), OPTIONS)
    element = raw[start:end]
    return bson.decode((len(element) + 5).to_bytes(4, "little") + element + b"\0", OPTIONS)[name]
