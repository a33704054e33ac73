"""What the documents of a collection have at each path, looked up when it is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from mongo_tables.aggregation.values import type_name
from mongo_tables.lint.shape.document_shapes import FEW
from mongo_tables.lint.shape.units import of_field
from mongo_tables.lint.shape.values import Shape, Traits

_SCALARS: Final = frozenset({"string", "int", "long", "double"})
_WIDE: Final = 100
"""Of more fields beside each other the values are not looked at: counters of a server, each another one every time."""
_ELEMENTS: Final = 2_000
"""So many elements of arrays are looked at, at one path."""


class Observed:
    """The values at one path of some documents. ``among`` is how many there could be, ``beside`` how many fields."""

    def __init__(self, values: Sequence[Any], path: str = "", among: int = 0, beside: int = 0) -> None:
        self._values, self.path, self._beside = values, path, beside
        self.among = among or len(values)
        self._children: dict[str, Observed] = {}

    @property
    def present(self) -> int:
        """How many values there are."""
        return len(self._values)

    @cached_property
    def kinds(self) -> Counter[str]:
        """How many values there are of each kind."""
        return Counter(map(type_name, self._values))

    @property
    def _documents(self) -> Iterator[Mapping[str, Any]]:
        return (value for value in self._values if isinstance(value, Mapping))

    @cached_property
    def _members(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for document in self._documents:
            for name, value in document.items():
                found.setdefault(name, []).append(value)
        return found

    @property
    def names(self) -> Sequence[str]:
        """The names of fields of those that are documents."""
        return list(self._members)

    def begins_with_more(self, amount: int) -> bool:
        """Whether the first of those that are documents has more fields than that."""
        return len(next(self._documents, ())) > amount

    def member(self, name: str) -> Observed:
        """The values of a field of those that are documents."""
        if name not in self._children:
            path = f"{self.path}.{name}" if self.path else name
            beside = max(map(len, self._documents), default=0)
            values = [document[name] for document in self._documents if name in document]
            self._children[name] = Observed(values, path, self.kinds["object"], beside)
        return self._children[name]

    @cached_property
    def elements(self) -> Observed | None:
        """The elements of those that are arrays; None where there are none."""
        found: list[Any] = []
        for value in self._values:
            if isinstance(value, list) and len(found) < _ELEMENTS:
                found += value
        return Observed(found, self.path) if found else None

    @cached_property
    def few(self) -> frozenset[str | int | float] | None:
        """The different values, where all are texts or numbers, and few."""
        if not self._values or self._beside > _WIDE or not _SCALARS.issuperset(self.kinds):
            return None
        found: set[str | int | float] = set()
        for value in self._values:
            found.add(value)
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
