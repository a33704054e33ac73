"""Which fields documents have, and of which types: counted, not guessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mongo_tables.aggregation.values import type_name
from mongo_tables.findings.nearest import nearest_word


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its dotted path, and how many documents have it with each type, the most frequent first."""

    path: str
    types: tuple[tuple[str, int], ...]

    @property
    def present(self) -> int:
        """How many documents have the field, null or not."""
        return sum(count for _, count in self.types)

    @property
    def nulls(self) -> int:
        """In how many documents it is null."""
        return dict(self.types).get("null", 0)


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of ``documents`` documents, in the order of their first appearance, two levels deep.

    A field of a sub-document stands right behind it: ``_id``, ``_id.testname``.
    """

    documents: int
    fields: tuple[Field, ...]

    def get(self, path: str) -> Field | None:
        """The field at ``path``."""
        return next((field for field in self.fields if field.path == path), None)

    @property
    def top(self) -> tuple[Field, ...]:
        """The fields of the first level."""
        return tuple(field for field in self.fields if "." not in field.path)

    def below(self, path: str) -> tuple[Field, ...]:
        """The fields of the sub-document at ``path``."""
        return tuple(field for field in self.fields if field.path.startswith(path + "."))


def shape_of(rows: Sequence[Mapping[str, Any]]) -> Shape:
    """The shape of ``rows``."""
    first: dict[str, Counter[str]] = {}
    second: dict[str, dict[str, Counter[str]]] = {}
    for row in rows:
        for name, value in row.items():
            _count(first, name, value)
            if isinstance(value, Mapping):
                inner = second.setdefault(name, {})
                for key, below in value.items():
                    _count(inner, key, below)
    fields = []
    for name, types in first.items():
        fields.append(_field(name, types))
        fields += [_field(f"{name}.{key}", kinds) for key, kinds in second.get(name, {}).items()]
    return Shape(len(rows), tuple(fields))


def _count(counters: dict[str, Counter[str]], name: str, value: Any) -> None:
    counter = counters.get(name)
    if counter is None:
        counter = counters[name] = Counter()
    counter[type_name(value)] += 1


def _field(path: str, types: Counter[str]) -> Field:
    return Field(path, tuple(sorted(types.items(), key=lambda item: (-item[1], item[0]))))


@dataclass(frozen=True, slots=True)
class Difference:
    """What a stage did to the fields of the first level: which came, which went, which changed their types."""

    came: tuple[Field, ...]
    went: tuple[Field, ...]
    changed: tuple[tuple[Field, Field], ...]


def difference(before: Shape, after: Shape) -> Difference:
    """The difference of two shapes; none where one has no documents, because nothing is known then.

    A type counts as changed when it is another one, not when fewer documents have it.
    """
    if not before.documents or not after.documents:
        return Difference((), (), ())
    old = {field.path: field for field in before.top}
    new = {field.path: field for field in after.top}
    return Difference(
        tuple(field for path, field in new.items() if path not in old),
        tuple(field for path, field in old.items() if path not in new),
        tuple(
            (old[path], field)
            for path, field in new.items()
            if path in old and not _names(field) <= _names(old[path])
        ),
    )


def _names(field: Field) -> set[str]:
    return {name for name, _ in field.types}


def has_path(value: Any, path: Sequence[str]) -> bool:
    """Whether a dotted path leads to something in a document, null included; arrays on the way are looked into."""
    if not path:
        return True
    if isinstance(value, Mapping):
        return path[0] in value and has_path(value[path[0]], path[1:])
    if isinstance(value, list):
        if path[0].isdigit() and int(path[0]) < len(value) and has_path(value[int(path[0])], path[1:]):
            return True
        return any(has_path(item, path) for item in value)
    return False


def nearest_path(path: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """The path that somebody who wrote ``path`` may have meant, of those that ``rows`` have; "" without one."""
    rows = list(rows)
    parts = path.split(".")
    return _sibling(parts, rows) or _elsewhere(parts, rows)


def _sibling(parts: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """The path with its first wrong part replaced by a field that stands at that very place."""
    level: list[Any] = list(rows)
    for depth, part in enumerate(parts):
        keys = _keys(level)
        if part not in keys:
            near = nearest_word(part, keys)
            mended = [*parts[:depth], near, *parts[depth + 1 :]] if near else []
            return ".".join(mended) if mended and any(has_path(row, mended) for row in rows) else ""
        level = [item[part] for item in _documents(level) if part in item]
    return ""


def _elsewhere(parts: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """A path of at most two levels that ends as the wrong one does: ``testname`` for ``_id.testname``."""
    paths = [field.path for field in shape_of(rows).fields]
    by_last = {path.rpartition(".")[2]: path for path in reversed(paths)}
    near = nearest_word(parts[-1], by_last)
    return by_last[near] if near else ""


def _keys(level: Iterable[Any]) -> dict[str, None]:
    return {key: None for item in _documents(level) for key in item}


def _documents(level: Iterable[Any]) -> Iterable[Mapping[str, Any]]:
    for item in level:
        if isinstance(item, Mapping):
            yield item
        elif isinstance(item, list):
            yield from (each for each in item if isinstance(each, Mapping))
