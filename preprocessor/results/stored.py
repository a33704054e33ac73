"""The documents of one collection as raw BSON, decoded no further than a pipeline reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bson

from preprocessor.results import rawbson, readpaths
from preprocessor.results.limits import OPTIONS

# Below this size in bytes a sub-document is decoded whole: quicker in C than choosing its elements in Python.
_SMALL = 12_000

Document = dict[str, Any]


class StoredCollection:
    """Raw documents in their order. What is decoded is kept and shared by later pipelines: nobody may
    change it.
    """

    def __init__(self, raws: Sequence[bytes]) -> None:
        self._raws = raws
        self._whole: list[Document] | None = None
        self._strings: dict[readpaths.Path, list[str | type[rawbson.Unclear] | None]] = {}
        self._fields: list[dict[str, dict[str, Any]]] = [{} for _ in raws]

    def documents(self) -> list[Document]:
        """All documents, decoded whole."""
        if self._whole is None:
            self._whole = [bson.decode(raw, OPTIONS) for raw in self._raws]
        return self._whole

    def __len__(self) -> int:
        return len(self._raws)

    def candidates(self, pipeline: Sequence[Mapping[str, Any]]) -> list[Document]:
        """The documents, decoded whole, that the pipeline's first ``$match`` is not certain to drop."""
        return self._whole_of(self._candidates(readpaths.leading_strings(pipeline)))

    def _whole_of(self, numbers: Sequence[int]) -> list[Document]:
        if len(numbers) == len(self._raws) or self._whole is not None:
            whole = self.documents()
            return [whole[number] for number in numbers]
        return [bson.decode(self._raws[number], OPTIONS) for number in numbers]

    def documents_for(self, pipeline: Sequence[Mapping[str, Any]]) -> list[Document]:
        """Documents on which the pipeline gives what it gives on all of them, decoded whole.

        Left out are documents that its first ``$match`` is certain to drop, and fields that it cannot read.
        """
        numbers = self._candidates(readpaths.leading_strings(pipeline))
        tree = readpaths.read_tree(pipeline)
        if tree is None:
            return self._whole_of(numbers)
        return [self._part(number, tree) for number in numbers]

    def _candidates(self, wanted: Mapping[readpaths.Path, frozenset[str]]) -> list[int]:
        numbers = list(range(len(self._raws)))
        for path, strings in wanted.items():
            held = self._strings_at(path)
            numbers = [n for n in numbers if held[n] is rawbson.Unclear or held[n] in strings]
        return numbers

    def _strings_at(self, path: readpaths.Path) -> list[str | type[rawbson.Unclear] | None]:
        if path not in self._strings:
            self._strings[path] = [_string_at(raw, path) for raw in self._raws]
        return self._strings[path]

    def _part(self, number: int, tree: readpaths.Tree) -> Document:
        raw, known = self._raws[number], self._fields[number]
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
    if kind == rawbson.DOCUMENT and below and end - value >= _SMALL:
        return bson.decode(rawbson.pruned(raw, below, _SMALL, value), OPTIONS)
    element = raw[start:end]
    return bson.decode((len(element) + 5).to_bytes(4, "little") + element + b"\0", OPTIONS)[name]


def _string_at(raw: bytes, path: readpaths.Path) -> str | type[rawbson.Unclear] | None:
    try:
        return rawbson.string_at(raw, path)
    except rawbson.Unclear:
        return rawbson.Unclear
