"""A collection that is read from files: a value, which nothing changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from mongo_tables.aggregation.fields import split_path

ONCE: Final = "a server holds each _id once; drop one of the two"
"""What to do about an ``_id`` that is repeated."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The bytes of the files of a collection, in their order; ``plain``: other programs wrote them."""

    name: str
    files: tuple[tuple[Path, bytes], ...]
    plain: bool = False
    digest: str = field(init=False)
    """A SHA-256 of names and bytes."""

    def __post_init__(self) -> None:
        total = hashlib.sha256(f"{self.name}\0{self.plain}\n".encode("utf-8", "surrogateescape"))
        for path, content in self.files:
            total.update(f"{path}\0{len(content)}\n".encode("utf-8", "surrogateescape"))
            total.update(content)
        object.__setattr__(self, "digest", total.hexdigest())


@dataclass(frozen=True)
class Collection:
    """The documents of a collection, in the order of its files: whole, shared, never changed.

    ``digest`` is that of the bytes that they were read from.
    """

    name: str
    documents: Sequence[dict[str, Any]]
    digest: str = ""
    files: tuple[Path, ...] = ()
    plain: bool = False

    @cached_property
    def fields(self) -> frozenset[str]:
        """The names of the fields that documents have."""
        return frozenset().union(*self.documents)

    @cached_property
    def by_id(self) -> Mapping[str, dict[str, Any]]:
        """The documents by the ``repr`` of their ``_id``."""
        return {repr(one["_id"]): one for one in self.documents}

    def texts(self, path: str) -> frozenset[str]:
        """The texts that documents have at a dotted path; those in arrays are not among them."""
        parts = split_path(path)
        return frozenset(text for one in self.documents if isinstance(text := _value_at(one, parts), str))


def _value_at(value: Any, parts: Sequence[str]) -> Any:
    for name in parts:
        if type(value) is not dict or name not in value:
            return None
        value = value[name]
    return value


def find_repeated_ids(documents: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, int]]:
    """Yield the number of each document with the ``_id`` of an earlier one, and the number of that one."""
    import bson

    seen: dict[bytes, int] = {}
    for number, document in enumerate(documents):
        first = seen.setdefault(bson.encode({"": document["_id"]}), number)
        if first != number:
            yield number, first
