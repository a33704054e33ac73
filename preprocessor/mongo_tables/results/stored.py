"""The documents of one collection as raw BSON, decoded no further than a pipeline reads."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from itertools import accumulate, chain
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import bson
import bson.errors
from bson.datetime_ms import DatetimeMS
from bson.int64 import Int64
from bson.objectid import ObjectId
from bson.timestamp import Timestamp

from mongo_tables.aggregation.fields import Parts, holds_documents, split_path
from mongo_tables.aggregation.stages.joining import Collection
from mongo_tables.results import rawbson, readpaths
from mongo_tables.results.limits import OPTIONS
from mongo_tables.results.rawdocuments import RawDocuments, RawPlace
from mongo_tables.results.readpaths import Reads

if TYPE_CHECKING:
    from mongo_tables.results.keptparts import KeptParts

# Below these sizes in bytes a document, or a part of a larger one, is decoded whole: in C that is quicker than to
# choose in Python, and what one pipeline has decoded the next one finds.
_SMALL = 64_000
_SMALL_PART = 12_000
_KEPT = 8 * 2**20
"""Decoded documents of a collection are kept up to so many bytes of small documents."""

_CHOSEN = 8_000
"""Of documents of so many bytes in the mean, and fewer than ``_SMALL``, what is read is chosen before it is decoded."""
_DECODED = 2_000
"""Documents of so many bytes in the mean are looked into sooner when they are decoded whole."""
_PLAIN = frozenset({str, int, Int64, float})
_NO_SCALARS = frozenset({dict, NoneType, datetime, DatetimeMS, ObjectId, Timestamp})
_UNCLEAR = rawbson.Unclear()

Document = dict[str, Any]

BROKEN = (bson.errors.BSONError, ValueError, IndexError, RecursionError, struct.error)
"""The errors of reading bytes that are not a BSON document."""

_T = TypeVar("_T")


class _Held(NamedTuple):
    """An index of the values at a path: document numbers by value, and documents that must be decoded first."""

    by_value: dict[rawbson.Scalar, array[int]]
    unclear: array[int]

    def add(self, number: int, found: rawbson.Scalar | rawbson.Unclear | None) -> None:
        """Take in what one document has."""
        if isinstance(found, rawbson.Unclear):
            self.unclear.append(number)
        elif found is not None:
            self.by_value.setdefault(found, array("L")).append(number)

    def numbers(self, values: Iterable[rawbson.Scalar]) -> Sequence[int]:
        """The documents that may have one of the values, in order."""
        found = [self.unclear, *(self.by_value.get(value, array("L")) for value in values)]
        some = [each for each in found if each]
        return some[0] if len(some) == 1 else sorted(chain.from_iterable(some))


class StoredCollection:
    """Raw documents in their order, and of them what is decoded: shared by later pipelines, nobody may change it.

    Decoded documents take ten times the room of their bytes. They are kept as long as all that are kept had few bytes;
    of more, a pipeline is handed one after the other, and each only as far as it is read.

    Of documents of some kilobytes, too many to be kept, a pipeline is handed those that it asks for, with what it reads
    of them. ``parts`` are copies of that from other runs: while they answer, no document is read.

    ``anew`` gives the documents once more, from where they were first: it is asked when bytes turn out to be no BSON.
    """

    def __init__(
        self,
        raws: RawDocuments | Callable[[], RawDocuments],
        anew: Callable[[], RawDocuments] | None = None,
        parts: KeptParts | None = None,
    ) -> None:
        self._anew = anew
        self._parts = parts
        self._begin(raws)

    def _begin(self, raws: RawDocuments | Callable[[], RawDocuments]) -> None:
        self._given = raws
        self.__dict__.pop("_large", None)
        self._held: dict[Parts, _Held] = {}
        self._may_have: dict[tuple[str, ...], bool] = {}
        self._texts: dict[str, frozenset[str]] = {}
        self.said: dict[str, dict[str, Any]] = {}
        """What documents say of themselves, by the ``repr`` of their ``_id``, as far as a figure asked for it."""
        self.forget()

    @property
    def _raws(self) -> RawDocuments:
        if not isinstance(self._given, RawDocuments):
            self._given = self._given()
        return self._given

    @cached_property
    def _large(self) -> frozenset[int]:
        return self._raws.large(_SMALL)

    def forget(self) -> None:
        """Drop what is decoded; the next pipeline decodes it anew."""
        self._whole: Collection | None = None
        self._small: dict[int, Document] = {}
        self._kept_bytes = 0
        self._fields: dict[int, dict[str, dict[str, Any]]] = {}
        self._handed: dict[str, Collection] = {}

    def _sound(self, read: Callable[[], _T]) -> _T:
        """The result of ``read``; after bytes that are not BSON it runs again on documents taken anew."""
        try:
            return read()
        except BROKEN:
            if self._anew is None:
                raise
            anew, self._anew, self._parts = self._anew, None, None
            self._begin(anew())
            return read()

    def raws(self) -> list[bytes]:
        """All documents as BSON, each one sound."""

        def read() -> list[bytes]:
            for raw in self._raws if self._anew else ():
                bson.decode(raw, OPTIONS)
            return list(self._raws)

        return self._sound(read)

    def documents(self) -> list[Document]:
        """All documents, decoded whole."""
        return self._sound(self._documents)

    def _documents(self) -> list[Document]:
        if self._whole is None:
            self._whole = Collection(self._decode_all())
        return self._whole

    def _decode_all(self) -> Iterator[Document]:
        if self._small:
            for number, raw in enumerate(self._raws):
                yield self._small.get(number) or bson.decode(raw, OPTIONS)
            return
        for _, run in self._raws.runs(()):
            yield from bson.decode_all(run, OPTIONS)

    def __len__(self) -> int:
        return len(self._raws)

    @property
    def is_empty(self) -> bool:
        """Whether there is no document; of files that are large enough for copies of parts there is one."""
        return self._parts is None and not len(self._raws)

    def may_have(self, fields: Sequence[str]) -> bool:
        """Whether a document may have one of some fields: none has where their names stand nowhere in the bytes.

        They are not looked for in documents that need not be read, because copies of parts answer.
        """
        if self._parts is not None:
            return True
        names = tuple(fields)
        if names not in self._may_have:
            self._may_have[names] = self._sound(
                lambda: self._raws.hold_any(f"{name}\0".encode() for name in names)
            )
        return self._may_have[names]

    def texts(self, field: str) -> frozenset[str]:
        """The texts that documents have in a field, looked for once."""
        if field not in self._texts:
            read = partial(texts_in, field=field)
            self._texts[field] = self.with_documents([{"$project": {field: 1}}], read)
        return self._texts[field]

    def candidates(self, pipeline: Sequence[Mapping[str, Any]]) -> list[Document]:
        """The documents, decoded whole, that the pipeline's first ``$match`` is not certain to drop."""
        wanted = readpaths.leading_values(pipeline)
        return self._sound(lambda: self._whole_of(self._candidates(wanted)))

    def raw_places(self, pipeline: Sequence[Mapping[str, Any]]) -> list[RawPlace]:
        """Where the documents, as BSON, stand that the pipeline's first ``$match`` is not certain to drop."""
        wanted = readpaths.leading_values(pipeline)
        return self._sound(lambda: [self._raws.find(number) for number in self._candidates(wanted)])

    def _whole_of(self, numbers: Sequence[int]) -> list[Document]:
        if len(numbers) == len(self._raws) or self._whole is not None:
            whole = self._documents()
            return [whole[number] for number in numbers]
        return [bson.decode(self._raws[number], OPTIONS) for number in numbers]

    def with_documents(
        self,
        pipeline: Sequence[Mapping[str, Any]],
        use: Callable[[Iterable[Document]], _T],
        *,
        pruned: bool = False,
    ) -> _T:
        """The same as ``LocalDocuments.with_documents``, for this collection."""
        return self._sound(lambda: use(self._documents_for(pipeline, pruned)))

    def _documents_for(self, pipeline: Sequence[Mapping[str, Any]], pruned: bool) -> Iterable[Document]:
        wanted = readpaths.leading_values(pipeline)
        tree = readpaths.read_tree(pipeline) if self._parts is not None else None
        if tree is not None:
            reads = Reads(wanted, tree)
            if (found := self._find_chosen(reads)) is not None:
                return found
            if self._is_chosen_from():
                return self._choose(reads)
        numbers = self._candidates(wanted)
        if self._whole is not None:
            return self._whole_of(numbers)
        large = self._large and not self._large.isdisjoint(numbers)
        kept = self._is_kept(numbers)
        tree = readpaths.read_tree(pipeline) if large or not kept else {}
        if not kept:
            if tree is not None and self._is_chosen_from():
                return self._choose(Reads(wanted, tree))
            held = pruned or (tree is not None and holds_documents(pipeline))
            return self._one_by_one(numbers, tree, held)
        if tree is None or (not large and len(numbers) == len(self._raws)):
            return self._whole_of(numbers)
        if large:
            return self._parts_of(Reads(wanted, tree), numbers)
        return [self._part(number, tree) for number in numbers]

    def _parts_of(self, reads: Reads, numbers: Sequence[int]) -> Collection:
        """Large documents with what is read, as they were when the same was read before."""
        key = reads.text
        if key not in self._handed:
            self._handed[key] = Collection(self._part(number, reads.tree) for number in numbers)
        return self._handed[key]

    def chosen(self, reads: Reads) -> list[Document]:
        """At least the documents that are read, with at least the fields that are read."""
        return self._sound(lambda: self._list_chosen(reads))

    def _list_chosen(self, reads: Reads) -> list[Document]:
        key = reads.text
        if key in self._handed:
            return self._handed[key]
        if (found := self._find_chosen(reads)) is not None:
            return self._handed.setdefault(key, Collection(found))
        if self._whole is not None or self._raws.size <= _KEPT:
            return self._documents()
        if self._is_chosen_from():
            return self._handed.setdefault(key, Collection(self._choose(reads)))
        if len(self._large) < len(self._raws):
            return self._documents()
        return self._parts_of(reads, self._candidates(reads.wanted))

    def _is_chosen_from(self) -> bool:
        """Whether documents are large, and not so large that what is decoded of them is kept."""
        return _CHOSEN <= self._raws.size / max(len(self._raws), 1) < _SMALL

    def _find_chosen(self, reads: Reads) -> Iterable[Document] | None:
        """The documents with what is read alone from a copy of an earlier run; None where there is none."""
        found = self._parts.get(reads) if self._parts is not None else None
        return None if found is None else _decode(found)

    def _choose(self, reads: Reads) -> Iterable[Document]:
        """The documents with what is read alone, of which a copy is kept."""
        numbers = self._candidates(reads.wanted)
        try:
            found = b"".join(rawbson.prune(self._raws[number], reads.tree, _SMALL_PART) for number in numbers)
        except rawbson.Unclear:
            return self._one_by_one(numbers, reads.tree, held=True)
        if self._parts is not None:
            self._parts.put(reads, found)
        return _decode(found)

    def _is_kept(self, numbers: Sequence[int]) -> bool:
        """Whether the small ones of these documents, and what is kept already, are few enough bytes to be kept."""
        few = _KEPT - self._kept_bytes
        if self._raws.size <= few:
            return True
        fresh = (number for number in numbers if number not in self._large and number not in self._small)
        return all(total <= few for total in accumulate(self._raws.sizes(fresh)))

    def _one_by_one(
        self, numbers: Sequence[int], tree: readpaths.Tree | None, held: bool
    ) -> Iterator[Document]:
        """The documents, each decoded when it is asked for, and not kept; without what is not read, if ``held``."""
        if len(numbers) == len(self._raws):
            runs = self._raws.runs(self._large)
        else:
            runs = self._raws.runs_of(numbers, self._large)
        for first, run in runs:
            if tree is not None and first in self._large:
                yield self._part(first, tree)
                continue
            documents: list[Document] = bson.decode_all(run, OPTIONS)
            yield from [_prune(document, tree) for document in documents] if tree and held else documents

    def _candidates(self, wanted: Mapping[Parts, frozenset[rawbson.Scalar]]) -> Sequence[int]:
        """The numbers of the documents that may have one of the values at every path, in order."""
        found = [self._index_values(path).numbers(values) for path, values in wanted.items()]
        if len(found) > 1:
            return sorted(set(found[0]).intersection(*found[1:]))
        return found[0] if found else range(len(self._raws))

    def _index_values(self, path: Parts) -> _Held:
        if path not in self._held:
            held = _Held({}, array("L"))
            for number, found in enumerate(self._scalars(path)):
                held.add(number, found)
            self._held[path] = held  # Only now: of some documents alone it would hide all others.
        return self._held[path]

    def _scalars(self, path: Parts) -> Iterator[rawbson.Scalar | rawbson.Unclear | None]:
        """The result of ``rawbson.scalar_at``, or its error, for each document."""
        if self._raws.size > _DECODED * len(self._raws):
            for raw in self._raws:
                try:
                    yield rawbson.scalar_at(raw, path)
                except rawbson.Unclear as unclear:
                    yield unclear
        else:
            for _, run in self._raws.runs(()):
                yield from (_scalar_in(document, path) for document in bson.decode_all(run, OPTIONS))

    def _part(self, number: int, tree: readpaths.Tree) -> Document:
        raw = self._raws[number]
        if number not in self._large:
            if number not in self._small:
                self._small[number] = bson.decode(raw, OPTIONS)
                self._kept_bytes += len(raw)
            return self._small[number]
        known = self._fields.setdefault(number, {})
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


def _decode(documents: bytes) -> Iterator[Document]:
    """Documents that are end to end, each decoded when it is asked for, or not long before."""
    for _, run in RawDocuments([documents]).runs(()):
        yield from bson.decode_all(run, OPTIONS)


def texts_in(documents: Iterable[Document], field: str) -> frozenset[str]:
    """The texts that documents have in a field, those in arrays not among them."""
    path = split_path(field)
    found = (_scalar_in(document, path) for document in documents)
    return frozenset(one for one in found if isinstance(one, str))


def _scalar_in(value: Any, path: Parts) -> rawbson.Scalar | rawbson.Unclear | None:
    """The same as ``rawbson.scalar_at``, for a decoded document."""
    for name in path:
        if type(value) is not dict or name not in value:
            return _UNCLEAR if type(value) is list else None
        value = value[name]
    kind = type(value)
    if kind in _PLAIN:
        scalar: rawbson.Scalar = value
        return scalar if value == value else _UNCLEAR  # one NaN equals the other
    if kind is bool:
        return (value,)
    return None if kind in _NO_SCALARS else _UNCLEAR


def _prune(document: Document, tree: readpaths.Tree) -> Document:
    """The document with only what the tree names, in its order; an array stays whole."""
    return {
        name: _prune(value, tree[name]) if type(value) is dict and tree[name] else value
        for name, value in document.items()
        if name in tree
    }


def _value(raw: bytes, kind: int, name: str, start: int, value: int, end: int, below: readpaths.Tree) -> Any:
    if kind == rawbson.DOCUMENT and below and end - value >= _SMALL_PART:
        return bson.decode(rawbson.prune(raw, below, _SMALL_PART, value), OPTIONS)
    element = raw[start:end]
    return bson.decode((len(element) + 5).to_bytes(4, "little") + element + b"\0", OPTIONS)[name]
