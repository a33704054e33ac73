"""What the documents of a collection have at each path, looked up in their bytes when it is asked for.

Whole documents of results are large, and of each question one level is wanted: nothing is decoded but single values.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from mongo_tables.aggregation.bsontypes import name_type
from mongo_tables.lint.shape.learn import FEW
from mongo_tables.lint.shape.units import of_field
from mongo_tables.lint.shape.values import Shape, Traits
from mongo_tables.results import rawbson
from mongo_tables.results.rawdocuments import RawPlace

_DOUBLE: Final = 0x01
_SCALARS: Final = frozenset({_DOUBLE, rawbson.STRING, 0x10, 0x12})
_UNPACK_DOUBLE: Final = struct.Struct("<d").unpack_from
_WIDE: Final = 100
"""Of more fields beside each other the values are not looked at: counters of a server, each another one every time."""
_ELEMENTS: Final = 2_000
"""So many elements of arrays are looked at, at one path."""


class _Value:
    """A value within a document: its type, and where it stands in the bytes."""

    __slots__ = ("end", "kind", "raw", "start")

    def __init__(self, raw: bytes, kind: int, start: int, end: int) -> None:
        self.raw, self.kind, self.start, self.end = raw, kind, start, end

    def decode(self) -> str | int | float:
        """The value itself, which is a text or a number."""
        if self.kind == rawbson.STRING:
            return str(self.raw[self.start + 4 : self.end - 1], "utf-8", "replace")
        if self.kind == _DOUBLE:
            number: float = _UNPACK_DOUBLE(self.raw, self.start)[0]
            return number
        return int.from_bytes(self.raw[self.start : self.end], "little", signed=True)


class Observed:
    """The values at one path of some documents. ``among`` is how many there could be, ``beside`` how many fields."""

    def __init__(self, values: Sequence[_Value], path: str, among: int, beside: int = 0) -> None:
        self._values, self.path, self.among, self._beside = values, path, among, beside
        self._children: dict[str, Observed] = {}

    @classmethod
    def of(cls, documents: Sequence[RawPlace]) -> Observed:
        """Whole documents, where they stand in the bytes of their collection."""
        values = [_Value(content, rawbson.DOCUMENT, start, end) for content, start, end in documents]
        return cls(values, "", len(documents))

    @property
    def present(self) -> int:
        """How many values there are."""
        return len(self._values)

    @cached_property
    def kinds(self) -> Counter[str]:
        """How many values there are of each kind."""
        return Counter(name_type(value.kind) for value in self._values)

    @cached_property
    def _members(self) -> dict[str, list[_Value]]:
        found: dict[str, list[_Value]] = {}
        for value in self._values:
            if value.kind == rawbson.DOCUMENT:
                for kind, name, _, start, end in rawbson.elements(value.raw, value.start):
                    found.setdefault(name, []).append(_Value(value.raw, kind, start, end))
        return found

    @property
    def names(self) -> Sequence[str]:
        """The names of fields of those that are documents."""
        return list(self._members)

    def begins_with_more(self, amount: int) -> bool:
        """Whether the first of those that are documents has more fields than that."""
        first = next((one for one in self._values if one.kind == rawbson.DOCUMENT), None)
        if first is None:
            return False
        return next(islice(rawbson.elements(first.raw, first.start), amount, None), None) is not None

    def member(self, name: str) -> Observed:
        """The values of a field of those that are documents."""
        if name not in self._children:
            path = f"{self.path}.{name}" if self.path else name
            listed = not self._is_wide or "_members" in self.__dict__
            values = self._members.get(name, []) if listed else list(self._find(name))
            beside = len(self._members) if listed else _WIDE + 1
            self._children[name] = Observed(values, path, self.kinds["object"], beside)
        return self._children[name]

    @cached_property
    def _is_wide(self) -> bool:
        """Whether documents have so many fields that one is found sooner than all are listed."""
        return self.begins_with_more(_WIDE)

    def _find(self, name: str) -> Iterator[_Value]:
        """The values of one field."""
        for value in self._values:
            found = rawbson.find(value.raw, value.start, name) if value.kind == rawbson.DOCUMENT else None
            if found is not None:
                yield _Value(value.raw, *found)

    @cached_property
    def elements(self) -> Observed | None:
        """The elements of those that are arrays; None where there are none."""
        found: list[_Value] = []
        for value in self._values:
            if value.kind == rawbson.ARRAY and len(found) < _ELEMENTS:
                for kind, _, _, start, end in rawbson.elements(value.raw, value.start):
                    found.append(_Value(value.raw, kind, start, end))
        return Observed(found, self.path, len(found)) if found else None

    @cached_property
    def few(self) -> frozenset[str | int | float] | None:
        """The different values, where all are texts or numbers, and few."""
        if not self._values or self._beside > _WIDE or any(one.kind not in _SCALARS for one in self._values):
            return None
        found: set[str | int | float] = set()
        for value in self._values:
            found.add(value.decode())
            if len(found) > FEW:
                return None
        return frozenset(found)

    @cached_property
    def shape(self) -> Shape:
        """What the values look like."""
        own = Traits(self.path, frozenset({self.path}), self.few, unit=of_field(self.path.rpartition(".")[2]))
        return Shape(
            frozenset(self.kinds),
            self.present < self.among,
            _Fields(self) if self.kinds["object"] else {},
            False,
            self.elements.shape if self.elements else None,
            own,
        )


class _Fields(Mapping[str, Shape]):
    """The shapes of the fields of documents, each looked up when it is asked for."""

    __slots__ = ("_of",)

    def __init__(self, of: Observed) -> None:
        self._of = of

    def __getitem__(self, name: str) -> Shape:
        found = self._of.member(name)
        if not found.present:
            raise KeyError(name)
        return found.shape

    def __iter__(self) -> Iterator[str]:
        return iter(self._of.names)

    def __len__(self) -> int:
        return len(self._of.names)


def has_more_fields(shape: Shape, amount: int) -> bool:
    """Whether a document has more fields than that; of those that were not looked into yet the first one says it."""
    fields = shape.fields
    return fields._of.begins_with_more(amount) if isinstance(fields, _Fields) else len(fields) > amount
