"""The documents of one collection as raw BSON, decoded no further than a pipeline reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bson

from preprocessor.aggregation.stages.joining import Collection
from preprocessor.results import rawbson, readpaths
from preprocessor.results.limits import OPTIONS

# Below these sizes in bytes a document, or a part of a larger one, is decoded whole: in C that is quicker than to
# choose in Python, and what one pipeline has decoded the next one finds.
_SMALL = 64_000
_SMALL_PART = 12_000

Document = dict[str, Any]


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
    """

    def __init__(self, raws: Sequence[bytes]) -> None:
        self._raws = raws
        self._whole: Collection | None = None
        self._small: dict[int, Document] = {}
        self._held: dict[readpaths.Path, _Held] = {}
        self._fields: list[dict[str, dict[str, Any]]] = [{} for _ in raws]

    @property
    def raws(self) -> Sequence[bytes]:
        """All documents as BSON."""
        return self._raws

    def documents(self) -> list[Document]:
        """All documents, decoded whole."""
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
        return self._whole_of(self._candidates(readpaths.leading_values(pipeline)))

    def _whole_of(self, numbers: Sequence[int]) -> list[Document]:
        if len(numbers) == len(self._raws) or self._whole is not None:
            whole = self.documents()
            return [whole[number] for number in numbers]
        return [bson.decode(self._raws[number], OPTIONS) for number in numbers]

    def documents_for(self, pipeline: Sequence[Mapping[str, Any]]) -> list[Document]:
        """Documents on which the pipeline gives what it gives on all of them, decoded whole.

        Left out are documents that its first ``$match`` is certain to drop, and fields that it cannot read.
        """
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
