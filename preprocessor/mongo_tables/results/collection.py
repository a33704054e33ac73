"""A collection that is read from files: a value, which nothing changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from mongo_tables.aggregation.fields import Parts, split_path
from mongo_tables.files.digests import digest_of
from mongo_tables.results.value_index import ValueIndex, leading_values, value_at

_WORTH: Final = 32
"""So many documents are worth an index."""
ONCE: Final = "a server holds each _id once; drop one of the two"
"""What to do about an ``_id`` that is repeated."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The bytes of the files of a collection, in their order; ``plain``: other programs wrote them."""

    name: str
    files: tuple[tuple[Path, bytes], ...]
    plain: bool = False
    digest: str = field(init=False)
    """A digest of names and bytes."""

    def __post_init__(self) -> None:
        parts = (part for path, content in self.files for part in (str(path), content))
        object.__setattr__(self, "digest", digest_of(self.name, str(self.plain), *parts))


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
    def _indexes(self) -> dict[Parts, ValueIndex]:
        return {}

    def choose(self, pipeline: Sequence[Mapping[str, Any]]) -> Sequence[dict[str, Any]]:
        """The documents that the first ``$match`` of a pipeline may keep, in order: others lack a value of it."""
        wanted = leading_values(pipeline) if len(self.documents) >= _WORTH else {}
        found: list[Sequence[int]] = []
        for path, values in wanted.items():
            if path not in self._indexes:
                self._indexes[path] = ValueIndex(self.documents, path)
            found.append(self._indexes[path].find(values))
        if not found:
            return self.documents
        numbers = sorted(set(found[0]).intersection(*found[1:])) if len(found) > 1 else found[0]
        return [self.documents[number] for number in numbers]

    @cached_property
    def by_id(self) -> Mapping[str, dict[str, Any]]:
        """The documents by the ``repr`` of their ``_id``."""
        return {repr(one["_id"]): one for one in self.documents}

    def texts(self, path: str) -> frozenset[str]:
        """The texts that documents have at a dotted path; those in arrays are not among them."""
        parts = split_path(path)
        return frozenset(text for one in self.documents if isinstance(text := value_at(one, parts), str))


def find_repeated_ids(documents: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, int]]:
    """Yield the number of each document with the ``_id`` of an earlier one, and the number of that one."""
    import bson

    seen: dict[bytes, int] = {}
    for number, document in enumerate(documents):
        first = seen.setdefault(bson.encode({"": document["_id"]}), number)
        if first != number:
            yield number, first
