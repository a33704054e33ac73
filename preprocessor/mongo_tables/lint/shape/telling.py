"""Of very many documents those that say all that a shape learns from them; the others say nothing new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

from mongo_tables.lint.shape.learn import FEW

_MANY: Final = 10_000
"""Up to so many documents all are taken: to look into each costs more than to keep them."""
Document = dict[str, Any]


def select_telling(documents: Iterable[Document]) -> list[Document]:
    """The documents, or, of a large collection, a selection that shows the same kinds, fields and values."""
    rest = iter(documents)
    first = list(islice(rest, _MANY + 1))
    return first if len(first) <= _MANY else list(_new(chain(first, rest)))


def _new(documents: Iterable[Document]) -> Iterator[Document]:
    known = _Place()
    return (document for document in documents if known.learns(document))


class _Place:
    """What was seen at one path: kinds of values, some values, names of fields and which were missing, elements."""

    __slots__ = ("_elements", "_fields", "_kinds", "_missing", "_values")

    def __init__(self) -> None:
        self._kinds: set[type] = set()
        self._values: set[Any] = set()
        self._fields: dict[str, _Place] = {}
        self._missing: set[str] = set()
        self._elements: _Place | None = None

    def learns(self, value: Any) -> bool:
        """Take a value in; whether it shows anything that none before it did."""
        kind = type(value)
        new = kind not in self._kinds
        self._kinds.add(kind)
        if isinstance(value, (str, int, float)):
            if len(self._values) <= FEW and value not in self._values:
                self._values.add(value)
                return True
        elif isinstance(value, dict):
            return self._learns_fields(value) or new
        elif kind is list:
            self._elements = self._elements or _Place()
            for item in value:
                new = self._elements.learns(item) or new
        return new

    def _learns_fields(self, document: Mapping[str, Any]) -> bool:
        new = False
        for name, value in document.items():
            if name not in self._fields:
                self._fields[name] = _Place()
                new = True
            new = self._fields[name].learns(value) or new
        if len(document) < len(self._fields):
            missing = self._fields.keys() - document.keys() - self._missing
            self._missing |= missing
            new = bool(missing) or new
        return new
